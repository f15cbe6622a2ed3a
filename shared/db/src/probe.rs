//! Why a database cannot be reached.

use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use crate::{Database, DbError};

impl Database {
    /// Opens a connection beside the pool and closes it. The pool itself tries again until its time is
    /// over, and then can only say that it is.
    pub async fn probe(&self, bound: Duration) -> Result<(), DbError> {
        let options = self.pool.connect_options();
        let reach = async {
            let mut connection = options.connect().await?;
            connection.ping().await?;
            connection.close().await
        };
        match timeout(bound, reach).await {
            Ok(reached) => Ok(reached?),
            Err(late) => Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, late)).into()),
        }
    }
}
