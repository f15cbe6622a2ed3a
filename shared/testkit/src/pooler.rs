//! A `PgBouncer` in transaction mode in front of a test's database, gone when the test ends.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::{MetadataExt, OpenOptionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use keyrack_db::{Database, Limits};
use secrecy::{ExposeSecret, SecretString};
use sqlx::ConnectOptions;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::TestDatabase;

/// Where Debian puts it, which is not on everybody's path.
const PROGRAMS: [&str; 3] = ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/usr/bin/pgbouncer"];

/// Fewer than the clients have connections: each of them meets servers that others have used.
const SERVERS: u32 = 3;

#[derive(Debug)]
pub struct Pooler {
    child: Child,
    configuration: PathBuf,
    url: SecretString,
}

impl Pooler {
    /// Ready when it has said so. `None` where the program is missing: that is told, and is a failure where
    /// everything has to be tested (`KEYRACK_TEST_ALL`, as in `.ci/run`).
    pub fn start(database: &TestDatabase) -> Option<Self> {
        let program = PROGRAMS.iter().find(|path| fs::exists(path).unwrap_or(false));
        let Some(program) = program else {
            let missing = format!("not tested: none of {PROGRAMS:?} exists; sudo apt-get install pgbouncer");
            assert!(std::env::var_os("KEYRACK_TEST_ALL").is_none(), "{missing}");
            eprintln!("{missing}");
            return None;
        };
        let server = database.options().to_url_lossy();
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("its address").port();
        let configuration = std::env::temp_dir().join(format!("keyrack-pooler-{}.ini", Uuid::new_v4()));
        let password = server.password().unwrap_or_default();
        let text = format!(
            "[databases]\n* = host={} port={} user={} password='{password}'\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = {SERVERS}\nmax_client_conn = 200\n",
            server.host_str().unwrap_or_default(),
            server.port().unwrap_or(5432),
            server.username(),
        );
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&configuration);
        file.as_mut().expect("its configuration").write_all(text.as_bytes()).expect("its configuration");
        drop(free);
        let mut child = command(program, &configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("PgBouncer starts");
        let mut log = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
        let mut told = Vec::new();
        let is_up = log.any(|line| {
            told.push(line);
            told.last().is_some_and(|line| line.contains("process up"))
        });
        assert!(is_up, "PgBouncer does not start: {told:?}");
        // Somebody has to read on, or it waits for that.
        thread::spawn(move || log.for_each(drop));
        let url = format!("postgres://anybody@127.0.0.1:{port}/{}", database.name());
        Some(Self { child, configuration, url: url.into() })
    }

    pub fn url(&self) -> SecretString {
        self.url.expose_secret().into()
    }

    /// The database behind it, by the setting that is made for this.
    pub fn database(&self) -> Database {
        let limits = Limits { behind_transaction_pooler: true, ..Limits::default() };
        Database::connect_lazily(&self.url, limits, Handle::current()).expect("the database of this test")
    }
}

/// It refuses to run as root, who steps down and gives it its configuration. It ends with this process,
/// however that ends.
fn command(program: &str, configuration: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        let users = fs::read_to_string("/etc/passwd").expect("the users of this machine");
        let user = users.lines().find_map(|line| line.strip_prefix("postgres:")).expect("the user postgres");
        let ids: Vec<u32> = user.split(':').skip(1).take(2).filter_map(|id| id.parse().ok()).collect();
        chown(configuration, Some(ids[0]), Some(ids[1])).expect("its configuration");
        command.args([format!("--reuid={}", ids[0]), format!("--regid={}", ids[1])]).arg("--clear-groups");
    }
    command.args(["--pdeathsig", "KILL", "--", program]).arg(configuration).current_dir("/");
    command
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It has nothing to lose. What fails here has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.configuration);
    }
}
