//! Where events and spans go: standard error, as text for people or as JSON for machines.

use std::io::{self, IsTerminal};

use serde::Deserialize;
use tracing_subscriber::{EnvFilter, filter::ParseError, fmt::format::FmtSpan, util::TryInitError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the log filter cannot be read")]
    Filter(#[from] ParseError),
    #[error("the log is set up already")]
    SetUpAlready(#[source] TryInitError),
}

/// For the whole process, once. Standard output stays free for what a command answers.
pub fn set_up(format: LogFormat, filter: &str) -> Result<(), LogError> {
    use tracing_subscriber::util::SubscriberInitExt;

    let filter = EnvFilter::try_new(filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::NONE)
        // Colours are for eyes; a file or a collector gets the bare text.
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    match format {
        LogFormat::Text => builder.finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    }
    .map_err(LogError::SetUpAlready)
}
