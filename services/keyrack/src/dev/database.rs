//! The sandbox's database: the one that is named, or one of its own.

use std::future::pending;

use keyrack_runtime::{
    private_postgres::{PrivatePostgres, PrivatePostgresSettings, USER},
    settings::Settings,
};

use super::folder::Folder;
use crate::failure::Failure;

/// None when a database was named.
pub(super) struct OwnPostgres(Option<PrivatePostgres>);

/// With the settings that name the database.
pub(super) async fn start(folder: &Folder, settings: Settings) -> Result<(OwnPostgres, Settings), Failure> {
    if settings.names_a_database() {
        return Ok((OwnPostgres(None), settings));
    }
    let postgres = PrivatePostgres::start(PrivatePostgresSettings::durable(folder.postgres())).await?;
    postgres.ensure_database(USER).await?;
    let settings = settings.in_database(postgres.url(USER))?;
    Ok((OwnPostgres(Some(postgres)), settings))
}

impl OwnPostgres {
    /// Returns when our own server ends before we have told it to.
    pub(super) async fn failed(&self) -> Failure {
        match &self.0 {
            Some(postgres) => {
                postgres.ended().await;
                Failure::PostgresEnded(postgres.log())
            }
            None => pending().await,
        }
    }

    pub(super) async fn stop(self) -> Result<(), Failure> {
        match self.0 {
            Some(postgres) => Ok(postgres.stop().await?),
            None => Ok(()),
        }
    }
}
