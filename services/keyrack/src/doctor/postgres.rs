//! A database: reachable, new enough, writable, safe, current.

use std::time::Duration;

use keyrack_db::{Database, DbError, Schema};
use keyrack_runtime::settings::Settings;
use keyrack_store::server::{self, Server};

use super::Finding;
use crate::{failure::reason, installation};

/// The statements of the store need nothing newer.
const OLDEST: i32 = 14;

const PATIENCE: Duration = Duration::from_secs(5);

/// Each with the value without which an acknowledged booking can be lost, and how.
const MUST_BE_ON: [(&str, &str); 3] = [
    ("fsync", "a power cut loses acknowledged bookings and can break the database"),
    ("full_page_writes", "a power cut can break the database"),
    ("synchronous_commit", "a crash loses the last acknowledged bookings"),
];

/// In milliseconds, as pg_settings tells it.
const DEADLOCK_TIMEOUT: &str = "deadlock_timeout";

pub(super) async fn look_at(name: &str, database: &Database, settings: &Settings) -> Vec<Finding> {
    if let Err(error) = database.probe(PATIENCE).await {
        return vec![Finding::Bad(format!(
            "{name} cannot be reached ({}); check its URL, that PostgreSQL runs there, and that it lets us in",
            reason(&error)
        ))];
    }
    let mut findings = match look(database).await {
        Ok(server) => of_server(name, &server, settings),
        Err(error) => vec![Finding::Bad(format!("{name} does not answer ({})", reason(&error)))],
    };
    findings.push(match database.schema().await {
        Ok(Schema::Current) => Finding::Good(format!("{name} has this program's schema")),
        Ok(schema) => Finding::Bad(format!("{name}: {}", installation::tell(&schema))),
        Err(error) => Finding::Bad(format!("{name} does not tell its schema ({})", reason(&error))),
    });
    findings
}

async fn look(database: &Database) -> Result<Server, DbError> {
    let mut connection = database.connection().await?;
    let others = ["max_connections", DEADLOCK_TIMEOUT];
    let names: Vec<&str> = MUST_BE_ON.iter().map(|(name, _)| *name).chain(others).collect();
    server::look(&mut connection, &names).await
}

fn of_server(name: &str, server: &Server, settings: &Settings) -> Vec<Finding> {
    let (major, minor) = (server.version / 10_000, server.version % 10_000);
    let mut findings = Vec::new();
    findings.push(if major >= OLDEST {
        Finding::Good(format!("{name} is PostgreSQL {major}.{minor}"))
    } else {
        Finding::Bad(format!("{name} is PostgreSQL {major}.{minor}; {OLDEST} or newer is needed"))
    });
    if server.is_standby {
        findings.push(Finding::Bad(format!("{name} is a standby, which takes no writes; name the primary")));
    }
    for (setting, danger) in MUST_BE_ON {
        // synchronous_commit has values beside on, which wait for standbys in different ways.
        if matches!(server.settings.get(setting).map(String::as_str), Some("off")) {
            findings.push(Finding::Bad(format!("{name} has {setting} = off: {danger}; set it to on")));
        }
    }
    findings.extend(deadlocks(name, server, settings));
    findings.extend(connections(name, server, settings));
    findings
}

/// PostgreSQL looks for a cycle only when a wait has lasted this long. A wait that ends before is told as
/// a busy night, and the alert on deadlocks cannot fire.
fn deadlocks(name: &str, server: &Server, settings: &Settings) -> Option<Finding> {
    let looked_for: u128 = server.settings.get(DEADLOCK_TIMEOUT)?.parse().ok()?;
    let waited = settings.database.lock_timeout().as_millis();
    (looked_for >= waited).then(|| {
        Finding::Bad(format!(
            "{name} looks for deadlocks after {looked_for} ms, when a wait has ended after {waited} ms \
             (database.lock_timeout_ms): none would ever be told; set deadlock_timeout to 200ms"
        ))
    })
}

fn connections(name: &str, server: &Server, settings: &Settings) -> Option<Finding> {
    let all: u32 = server.settings.get("max_connections")?.parse().ok()?;
    let ours = settings.database.pool_connections.get();
    let fits = ours < all;
    let text = format!("{name} takes {all} connections, of which this process may use {ours}");
    let what_to_do = "raise max_connections or lower database.pool_connections; all processes count";
    Some(if fits { Finding::Good(text) } else { Finding::Bad(format!("{text}; {what_to_do}")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(version: i32, settings: &[(&str, &str)]) -> Server {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Server { version, is_standby: false, settings: settings.iter().map(own).collect() }
    }

    fn bad(server: &Server) -> Vec<String> {
        let environment = [("DATABASE_URL".to_owned(), "postgres://a/b".to_owned())];
        let settings = Settings::load(None, environment).unwrap();
        let told = of_server("it", server, &settings).into_iter();
        told.filter(|finding| matches!(finding, Finding::Bad(_))).map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn what_endangers_bookings_is_told_with_what_to_do() {
        let safe = [("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "remote_apply")];
        assert!(bad(&server(150_014, &safe)).is_empty());
        let unsafe_ones = bad(&server(150_014, &[("fsync", "off"), ("synchronous_commit", "off")]));
        assert!(unsafe_ones.iter().all(|told| told.ends_with("set it to on")) && unsafe_ones.len() == 2);
        assert!(bad(&server(130_009, &safe))[0].contains("14 or newer"));
        assert!(bad(&Server { is_standby: true, ..server(150_014, &safe) })[0].contains("name the primary"));
        assert!(bad(&server(150_014, &[("max_connections", "16")]))[0].contains("raise max_connections"));
        assert!(bad(&server(150_014, &[("deadlock_timeout", "499")])).is_empty());
        for late in ["500", "1000"] {
            let told = bad(&server(150_014, &[("deadlock_timeout", late)]));
            assert!(told[0].ends_with("set deadlock_timeout to 200ms"), "{told:?}");
        }
    }
}
