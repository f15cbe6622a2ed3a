//! A client's end of the webhooks: takes what it is told to take, and keeps what it was sent.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, http::StatusCode, web};
use hmac::{Hmac, KeyInit as _, Mac as _};
use keyrack_payment_simulator::{Settings, Webhook};
use serde_json::Value;
use sha2::Sha256;
use tokio::{runtime::Handle, sync::mpsc, time::timeout};

pub(crate) const SECRET: &str = "whsec_of_the_tests";

pub(crate) struct Receiver {
    pub(crate) url: String,
    heard: mpsc::UnboundedReceiver<(String, Vec<u8>)>,
}

#[derive(Clone)]
struct Inbox {
    heard: mpsc::UnboundedSender<(String, Vec<u8>)>,
    /// So many are refused first.
    refuse: Arc<AtomicU32>,
}

async fn take(inbox: web::Data<Inbox>, request: HttpRequest, body: web::Bytes) -> HttpResponse {
    let signature = request.headers().get("keyrack-signature").and_then(|value| value.to_str().ok());
    let _ = inbox.heard.send((signature.unwrap_or_default().to_owned(), body.to_vec()));
    let refuses = inbox.refuse.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    let status = if refuses.is_ok() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::ACCEPTED };
    HttpResponse::new(status)
}

impl Receiver {
    pub(crate) fn start(refuse: u32) -> Self {
        let (sender, heard) = mpsc::unbounded_channel();
        let inbox = Inbox { heard: sender, refuse: Arc::new(AtomicU32::new(refuse)) };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/hooks", listener.local_addr().expect("an address"));
        let server = HttpServer::new(move || {
            App::new().app_data(web::Data::new(inbox.clone())).route("/hooks", web::post().to(take))
        });
        let server = server.workers(1).disable_signals().listen(listener).expect("serves").run();
        Handle::current().spawn(server);
        Self { url, heard }
    }

    pub(crate) fn settings(&self) -> Settings {
        let webhook = Webhook { url: self.url.clone(), secret: SECRET.into() };
        let webhook_backoff = Duration::from_millis(1);
        Settings { webhook: Some(webhook), webhook_tries: 3, webhook_backoff, ..Settings::default() }
    }

    /// The next one, whose signature has to stand for its body.
    pub(crate) async fn next(&mut self) -> Value {
        let heard = timeout(Duration::from_secs(20), self.heard.recv()).await.expect("a notice in time");
        let (signature, body) = heard.expect("a notice");
        let (time, mac) = signature.split_once(",v1=").expect("both parts");
        let time = time.strip_prefix("t=").expect("a time");
        let mut expected = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
        expected.update(format!("{time}.").as_bytes());
        expected.update(&body);
        expected.verify_slice(&hex::decode(mac).expect("hex")).expect("the signature of this body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Type and reference of the next one.
    pub(crate) async fn told(&mut self) -> (String, String) {
        let notice = self.next().await;
        let text = |name: &str| notice[name].as_str().expect("text").to_owned();
        (text("type"), text("reference"))
    }
}

pub(crate) fn of(what: &str, reference: &str) -> (String, String) {
    (what.to_owned(), reference.to_owned())
}
