//! Dropping databases beside the test. DROP DATABASE waits for every session of the server, and one that is only
//! just signing in answers when its client goes on. Its client may live on the runtime of the thread that drops: so
//! that thread does not wait, and its runtime ends first. It waits when it ends itself: until then nothing is left.

use std::{
    cell::RefCell,
    thread::{self, JoinHandle},
};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::runtime;

/// A session that was told to end and is slow makes a try fail after five seconds.
const TRIES: usize = 6;

thread_local! {
    static LEAVING: RefCell<Leaving> = const { RefCell::new(Leaving(Vec::new())) };
}

/// Of one thread of tests.
struct Leaving(Vec<Going>);

struct Going {
    name: String,
    thread: JoinHandle<Result<(), sqlx::Error>>,
}

pub(super) fn leave(name: String, maintenance: PgConnectOptions) {
    let gone = name.clone();
    let thread = thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(drop_database(&gone, &maintenance))
    });
    let mut going = Some(Going { name, thread });
    // A thread that is ending already has nothing left that could wait for it.
    let _ = LEAVING.try_with(|leaving| leaving.borrow_mut().0.extend(going.take()));
    if let Some(going) = going {
        going.wait();
    }
}

async fn drop_database(name: &str, maintenance: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let mut tried = 0;
    loop {
        tried += 1;
        let dropped = async {
            let mut connection = PgConnection::connect_with(maintenance).await?;
            let drop = AssertSqlSafe(format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"));
            sqlx::raw_sql(drop).execute(&mut connection).await
        };
        match dropped.await {
            Ok(_) => return Ok(()),
            Err(error) if tried == TRIES => return Err(error),
            Err(_) => {}
        }
    }
}

impl Going {
    fn wait(self) {
        let ended = self.thread.join();
        assert!(matches!(ended, Ok(Ok(()))), "the database {} was left behind: {ended:?}", self.name);
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Going::wait);
    }
}
