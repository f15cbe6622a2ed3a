//! Is a database at the schema that this program was built for?

use std::collections::BTreeMap;

use sqlx::Row;

use crate::{Database, DbError, MIGRATIONS};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    Current,
    /// So many migrations have not been applied.
    Behind {
        missing: usize,
    },
    /// It carries a migration that this program does not know: the program is the older one.
    Newer {
        version: i64,
    },
    /// A migration was applied with another text than it has now, or did not end.
    Differs {
        version: i64,
    },
}

impl Database {
    pub async fn schema(&self) -> Result<Schema, DbError> {
        let applied = self.applied_migrations().await?;
        let known = MIGRATIONS.iter().map(|migration| (migration.version, &*migration.checksum));
        let known: BTreeMap<i64, &[u8]> = known.collect();
        for (version, applied) in &applied {
            match (known.get(version), applied) {
                (None, _) => return Ok(Schema::Newer { version: *version }),
                (Some(text), Some(checksum)) if text == checksum => {}
                _ => return Ok(Schema::Differs { version: *version }),
            }
        }
        let missing = known.len() - applied.len();
        Ok(if missing == 0 { Schema::Current } else { Schema::Behind { missing } })
    }

    /// Version and checksum; without one where it did not end.
    async fn applied_migrations(&self) -> Result<Vec<(i64, Option<Vec<u8>>)>, DbError> {
        let mut connection = self.connection().await?;
        let there = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS there";
        let there: bool = sqlx::raw_sql(there).fetch_one(&mut *connection).await?.try_get("there")?;
        if !there {
            return Ok(Vec::new());
        }
        let rows = sqlx::query("SELECT version, checksum, success FROM _sqlx_migrations ORDER BY version")
            .fetch_all(&mut *connection)
            .await?;
        let read = |row: sqlx::postgres::PgRow| {
            let ended: bool = row.try_get("success")?;
            let checksum: Vec<u8> = row.try_get("checksum")?;
            Ok((row.try_get("version")?, ended.then_some(checksum)))
        };
        rows.into_iter().map(read).collect()
    }
}
