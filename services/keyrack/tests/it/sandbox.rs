//! A sandbox of a test's own.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use chrono::{DateTime, NaiveDate, Utc};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    booking::{Guest, body},
    process::{Process, run, stderr, stdout},
};

pub(crate) struct Sandbox {
    folder: TempDir,
    notices: bool,
}

impl Sandbox {
    /// Its provider answers when it is asked and tells nothing by itself: requests and workers are on trial.
    pub(crate) fn new() -> Self {
        Self { notices: false, ..Self::with_notices() }
    }

    /// PostgreSQL may run as another user, who has to get in.
    pub(crate) fn with_notices() -> Self {
        let open = Permissions::from_mode(0o711);
        let folder = tempfile::Builder::new().permissions(open).tempdir().expect("a folder");
        Self { folder, notices: true }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.path().to_str().expect("a path")
    }

    /// One that ends itself, as a power cut would, at this point of a transaction.
    pub(crate) async fn start_dying_at(&self, point: &str) -> (Process, String) {
        self.start(&[("KEYRACK_ABORT_AT", point)]).await
    }

    /// The process and the address that it has said.
    pub(crate) async fn start(&self, environment: &[(&str, &str)]) -> (Process, String) {
        let arguments = ["dev", "--port", "0", "--data-dir", self.path()];
        let mut environment = environment.to_vec();
        if !self.notices {
            environment.push(("KEYRACK_PROVIDER__SANDBOX_NOTICES", "false"));
        }
        let (process, line) = Process::start(&arguments, &environment).await;
        let base_url = line.strip_prefix("keyrack dev is ready at ").expect("the ready line").to_owned();
        assert_eq!(self.credentials()["base_url"], json!(base_url));
        (process, base_url)
    }

    pub(crate) fn credentials(&self) -> Value {
        let text = fs::read_to_string(self.folder.path().join("credentials.json")).expect("credentials");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(crate) fn operator(&self, base_url: &str) -> Guest {
        let token = self.credentials()["tokens"]["operator"].as_str().expect("a token").to_owned();
        Guest::with_token(base_url, &token)
    }

    /// The credential of HTL-204's channels.
    pub(crate) fn channel(&self, base_url: &str) -> Guest {
        let token = self.credentials()["tokens"]["channel:HTL-204"].as_str().expect("a token").to_owned();
        Guest::with_token(base_url, &token)
    }

    /// The clock after the move.
    pub(crate) async fn advance(&self, base_url: &str, seconds: u32) -> String {
        let answer = self.try_advance(base_url, seconds).await.expect("an answer");
        body(answer, StatusCode::OK).await["now"].as_str().expect("an instant").to_owned()
    }

    /// `Err` when the process dies of what is due then.
    pub(crate) async fn try_advance(&self, base_url: &str, seconds: u32) -> reqwest::Result<Response> {
        let operator = self.operator(base_url);
        operator.post("/v1/sandbox/clock", "unused", &json!({ "advance_s": seconds })).await
    }

    /// The same, to an instant.
    pub(crate) async fn try_advance_to(
        &self,
        base_url: &str,
        now: DateTime<Utc>,
    ) -> reqwest::Result<Response> {
        self.operator(base_url).post("/v1/sandbox/clock", "unused", &json!({ "now": now })).await
    }

    /// Held and confirmed on the first night of a stay in the deluxe room.
    pub(crate) async fn claimed(&self, base_url: &str, night: NaiveDate) -> (u64, u64) {
        let query = format!("room_type=RT-DLX&first_night={night}&last_night={night}");
        let page = self.operator(base_url).get(&format!("/v1/hotels/HTL-204/inventory?{query}")).await;
        let count = |name: &str| page["items"][0][name].as_u64().expect("a number");
        (count("held"), count("confirmed"))
    }

    /// Nothing of that night is sold any more.
    pub(crate) async fn close(&self, base_url: &str, night: NaiveDate) {
        let change = json!({"room_type": "RT-DLX", "first_night": night, "last_night": night, "sellable": 0});
        let path = "/v1/hotels/HTL-204/inventory";
        let key = format!("close-{night}");
        let operator = self.operator(base_url);
        let closed = operator.put(path, &key, &json!({ "changes": [change] })).await.expect("an answer");
        body(closed, StatusCode::OK).await;
    }

    pub(crate) async fn must_verify(&self) {
        let verified = run(&["verify", "--data-dir", self.path()], &[]).await;
        assert_eq!(verified.status.code(), Some(0), "{}{}", stdout(&verified), stderr(&verified));
    }

    pub(crate) fn postgres_pid(&self) -> u32 {
        let mark = fs::read_to_string(self.folder.path().join("postgres/data/postmaster.pid"));
        mark.expect("a running server").lines().next().and_then(|pid| pid.parse().ok()).expect("a process id")
    }
}

pub(crate) async fn charges(base_url: &str) -> Vec<Value> {
    let answer = reqwest::get(format!("{base_url}/simulator/charges")).await.expect("an answer");
    body(answer, StatusCode::OK).await["items"].as_array().expect("charges").clone()
}
