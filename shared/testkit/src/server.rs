//! The PostgreSQL that tests run against: the one that `with-postgres` started for the whole run, or,
//! when a test is run by hand, one of this process's own. Never one that was there before.

use std::{env, str::FromStr};

use keyrack_runtime::private_postgres::{
    PrivatePostgres,
    scratch::{self, TEST_SERVER_VARIABLE},
};
use secrecy::{ExposeSecret, SecretString};
use sqlx::{ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use tokio::sync::OnceCell;

use crate::template;

/// Ends with the process, by the kernel's parent-death signal: a static is never dropped.
static OWN: OnceCell<PrivatePostgres> = OnceCell::const_new();

/// How to reach a database of the server.
pub(crate) async fn options(database: &str) -> PgConnectOptions {
    let url = match env::var(TEST_SERVER_VARIABLE) {
        Ok(url) => SecretString::from(url),
        Err(_) => OWN.get_or_init(start).await.url("postgres"),
    };
    PgConnectOptions::from_str(url.expose_secret())
        .expect("the URL of the test server")
        .database(database)
        .disable_statement_logging()
}

async fn start() -> PrivatePostgres {
    scratch::start(&template::name()).await.expect("a PostgreSQL for tests")
}

/// A connection for making and dropping databases.
pub(crate) async fn maintenance() -> PgConnection {
    PgConnection::connect_with(&options("postgres").await).await.expect("the test server answers")
}
