//! Settings and log of a command.

use std::{env, ffi::OsString, path::PathBuf};

use keyrack_runtime::settings::Settings;
use keyrack_telemetry::log;
use secrecy::{ExposeSecret, SecretString};

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigurationFile {
    /// The settings file. The environment wins over it; docs/keyrack.sample.toml lists everything.
    #[arg(long = "config", value_name = "FILE")]
    path: Option<PathBuf>,
}

impl ConfigurationFile {
    pub(crate) fn load(&self) -> Result<Settings, Failure> {
        let settings = Settings::load(self.path.as_deref(), environment())?;
        set_up_log(&settings)?;
        Ok(settings)
    }

    /// With this database, whatever other one is named.
    pub(crate) fn load_in(&self, database_url: &SecretString) -> Result<Settings, Failure> {
        const OURS: &str = "KEYRACK_DIRECTORY__DATABASE_URL";
        let others = environment().filter(|(name, _)| name != OURS && name != "DATABASE_URL");
        let ours = (OURS.to_owned(), database_url.expose_secret().to_owned());
        let settings = Settings::load(self.path.as_deref(), others.chain([ours]))?;
        set_up_log(&settings)?;
        Ok(settings)
    }

    /// Where the database may be missing. `not_settings` are variables that the command reads itself.
    pub(crate) fn load_for_sandbox(&self, not_settings: &[&str]) -> Result<Settings, Failure> {
        let environment = environment().filter(|(name, _)| !not_settings.contains(&name.as_str()));
        let settings = Settings::load_for_sandbox(self.path.as_deref(), environment)?;
        set_up_log(&settings)?;
        Ok(settings)
    }
}

fn set_up_log(settings: &Settings) -> Result<(), Failure> {
    Ok(log::set_up(settings.log.format, &settings.log.filter)?)
}

/// What is not Unicode is kept, so that a name of ours with it is refused and not passed over.
fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |part: OsString| part.to_string_lossy().into_owned();
    env::vars_os().map(move |(name, value)| (text(name), text(value)))
}
