//! A `nats-server` of one test, with JetStream on a folder of its own, gone when the test ends.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use uuid::Uuid;

/// Where Debian puts it, which is not on everybody's path.
const PROGRAMS: [&str; 3] = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server"];

#[derive(Debug)]
pub struct NatsServer {
    program: &'static str,
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl NatsServer {
    /// Ready when it has said so. `None` where the program is missing: that is told, and is a failure where
    /// everything has to be tested (`KEYRACK_TEST_ALL`, as in `.ci/run`).
    pub fn start() -> Option<Self> {
        let program = PROGRAMS.into_iter().find(|path| fs::exists(path).unwrap_or(false));
        let Some(program) = program else {
            let missing =
                format!("not tested: none of {PROGRAMS:?} exists; sudo apt-get install nats-server");
            assert!(std::env::var_os("KEYRACK_TEST_ALL").is_none(), "{missing}");
            eprintln!("{missing}");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let folder = std::env::temp_dir().join(format!("keyrack-nats-{}", Uuid::new_v4()));
        fs::create_dir(&folder).expect("its folder");
        let child = launch(program, &folder, port);
        Some(Self { program, child, folder, port })
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn kill(&mut self) {
        // What fails here has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// As after a crash: on the same folder and port.
    pub fn kill_and_start_again(&mut self) {
        self.kill();
        self.child = launch(self.program, &self.folder, self.port);
    }
}

/// It ends with this process, however that ends.
fn launch(program: &str, folder: &PathBuf, port: u16) -> Child {
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "--", program, "--jetstream", "--addr", "127.0.0.1"])
        .args(["--port", &port.to_string(), "--store_dir"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nats-server starts");
    let mut log = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
    let mut told = Vec::new();
    let is_up = log.any(|line| {
        told.push(line);
        told.last().is_some_and(|line| line.contains("Server is ready"))
    });
    assert!(is_up, "nats-server does not start: {told:?}");
    // Somebody has to read on, or it waits for that.
    thread::spawn(move || log.for_each(drop));
    child
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
