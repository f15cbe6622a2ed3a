//! A write that touches another number of rows than it must is an error, never a surprise kept quiet.

use sqlx::postgres::PgQueryResult;

use crate::DbError;

pub trait ExactRows {
    /// `statement` names the query in the error, as its first comment line does.
    fn exactly(self, expected: usize, statement: &'static str) -> Result<(), DbError>;
}

impl ExactRows for PgQueryResult {
    fn exactly(self, expected: usize, statement: &'static str) -> Result<(), DbError> {
        let expected = expected as u64;
        match self.rows_affected() {
            got if got == expected => Ok(()),
            got => Err(DbError::RowCount { statement, expected, got }),
        }
    }
}
