//! A sandbox brings its own database where nobody names one.

use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::{Settings, SettingsError};

impl Settings {
    /// As [`load`](Self::load), but the directory's database may be missing: it is given later,
    /// by [`in_database`](Self::in_database). Everything else is checked already.
    pub fn load_for_sandbox(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let settings = Self::read(file, environment)?;
        if settings.names_a_database() {
            return settings.checked();
        }
        settings.clone().in_database("postgres://".into())?;
        Ok(settings)
    }

    pub fn names_a_database(&self) -> bool {
        !self.directory.database_url.expose_secret().is_empty()
    }

    pub fn in_database(mut self, url: SecretString) -> Result<Self, SettingsError> {
        self.directory.database_url = url;
        self.checked()
    }
}
