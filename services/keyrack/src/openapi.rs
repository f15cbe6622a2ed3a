//! `keyrack openapi`: the contract, as it is served and committed.

use std::process::ExitCode;

use crate::{failure::Failure, stdout::say};

pub(crate) fn run() -> Result<ExitCode, Failure> {
    say(keyrack_api::document_as_json().trim_end())?;
    Ok(ExitCode::SUCCESS)
}
