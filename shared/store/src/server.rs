//! What a PostgreSQL server is and how it is set, as far as the promises of the product depend on it.

use std::collections::BTreeMap;

use keyrack_db::{DbError, PgConnection};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// `150014` is 15.14.
    pub version: i32,
    pub is_standby: bool,
    /// By name.
    pub settings: BTreeMap<String, String>,
}

pub async fn look(connection: &mut PgConnection, settings: &[&str]) -> Result<Server, DbError> {
    let names: Vec<String> = settings.iter().map(|name| (*name).to_owned()).collect();
    let about = sqlx::query!(
        r#"-- store::server::look
        SELECT current_setting('server_version_num')::integer AS "version!",
            pg_is_in_recovery() AS "is_standby!""#
    )
    .fetch_one(&mut *connection)
    .await?;
    let rows = sqlx::query!(
        r#"-- store::server::settings
        SELECT name AS "name!", setting AS "setting!"
        FROM pg_settings
        WHERE name = ANY ($1)
        ORDER BY name"#,
        &names
    )
    .fetch_all(connection)
    .await?;
    let settings = rows.into_iter().map(|row| (row.name, row.setting)).collect();
    Ok(Server { version: about.version, is_standby: about.is_standby, settings })
}
