//! Looking into a test's database, and writing into it behind the application's back.

use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::TestDatabase;

impl TestDatabase {
    /// Each row of the query as a JSON object.
    pub async fn rows(&self, query: &str) -> Vec<Value> {
        let query = AssertSqlSafe(format!("SELECT to_jsonb(r) FROM ({query}) AS r"));
        sqlx::query_scalar(query).fetch_all(&mut self.connect().await).await.expect("a query of the test")
    }

    /// The only value of the only row.
    pub async fn value(&self, query: &str) -> Value {
        let rows = self.rows(query).await;
        let value = match rows.as_slice() {
            [Value::Object(row)] => row.values().next().cloned(),
            _ => None,
        };
        value.unwrap_or_else(|| panic!("not one value: {query}: {rows:?}"))
    }

    /// Runs statements as they stand.
    pub async fn execute(&self, statements: &str) {
        self.execute_on(&mut self.connect().await, statements).await;
    }

    /// The same on a session that the test keeps, with the locks it takes.
    pub async fn execute_on(&self, session: &mut PgConnection, statements: &str) {
        let statements = AssertSqlSafe(statements.to_owned());
        sqlx::raw_sql(statements).execute(session).await.expect("a statement of the test");
    }

    /// The first column, as text, of each row that a statement of any kind answers on a session that
    /// the test keeps.
    pub async fn rows_on(&self, session: &mut PgConnection, statement: &str) -> Vec<String> {
        let statement = AssertSqlSafe(statement.to_owned());
        let rows = sqlx::raw_sql(statement).fetch_all(session).await.expect("a statement of the test");
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// The name of the constraint that refuses a statement; `None` when nothing does.
    pub async fn refusing_constraint(&self, statement: &str) -> Option<String> {
        let statement = AssertSqlSafe(statement.to_owned());
        let outcome = sqlx::raw_sql(statement).execute(&mut self.connect().await).await;
        let refused = outcome.err()?;
        let database = refused.as_database_error().expect("refused by the database");
        Some(database.constraint().expect("refused by a constraint").to_owned())
    }

    /// The SQLSTATE with which the database refuses a statement; `None` when it does not.
    pub async fn refusal(&self, statement: &str) -> Option<String> {
        let statement = AssertSqlSafe(statement.to_owned());
        let outcome = sqlx::raw_sql(statement).execute(&mut self.connect().await).await;
        let refused = outcome.err()?;
        let database = refused.as_database_error().expect("refused by the database");
        database.code().map(std::borrow::Cow::into_owned)
    }
}
