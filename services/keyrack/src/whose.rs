//! Whose database a command looks at: an installation's, or that of a running sandbox.

use std::path::PathBuf;

use keyrack_runtime::{
    private_postgres::{PrivatePostgres, USER},
    settings::Settings,
};

use crate::{configuration::ConfigurationFile, dev, failure::Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Whose {
    #[command(flatten)]
    configuration: ConfigurationFile,
    /// The folder of a running sandbox: its database.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Whose {
    /// A sandbox with a database of its own is found in its folder, whatever the environment names: the
    /// folder was asked for. One that was started on a named database is asked there.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let Some(data_dir) = &self.data_dir else { return self.configuration.load() };
        if let Some(server) = PrivatePostgres::running_in(dev::postgres_under(data_dir))? {
            return self.configuration.load_in(&server.url(USER));
        }
        let settings = self.configuration.load_for_sandbox(&[])?;
        if settings.names_a_database() { Ok(settings) } else { Err(Failure::NoSandbox(data_dir.clone())) }
    }
}
