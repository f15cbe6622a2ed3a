//! A Stripe server on this machine: localstripe, which others wrote, in a Python environment of its own
//! under the target folder. What it leaves out, and how tests steer it, stands in `localstripe/serve.py`.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Ends with its value, and with the process, whatever becomes of that: it reads from it until then.
#[derive(Debug)]
pub struct LocalStripe {
    process: Child,
    base_url: String,
}

impl LocalStripe {
    /// With nothing in it.
    pub fn start() -> Self {
        let mut process = Command::new(environment().join("bin/python"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("localstripe/serve.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python of the environment runs");
        let output = process.stdout.take().expect("was asked for");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("localstripe says where it listens");
        let said: serde_json::Value = serde_json::from_str(&line).expect("localstripe has started");
        let base_url = format!("http://127.0.0.1:{}", said["port"]);
        Self { process, base_url }
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for LocalStripe {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Made by the first test that needs it, where `make test` has not made it.
fn environment() -> PathBuf {
    let program = env::current_exe().expect("this program's path");
    let target = program.ancestors().nth(3).expect("<target>/<profile>/deps/<program>");
    let folder = target.join("localstripe");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/localstripe");
    let made = Command::new(script).arg(&folder).stdin(Stdio::null()).status().expect("the script runs");
    assert!(made.success(), "localstripe is not there; the lines above say why");
    folder
}
