//! Stands between the application and a server (PostgreSQL, the payment provider) and breaks the
//! connection where the test says: a lost request, a lost answer, a pause, a delay, a cut.

mod control;
mod pipe;

use std::{
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use secrecy::{ExposeSecret, SecretString};
use sqlx::{ConnectOptions, postgres::PgConnectOptions};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use control::{Armed, Control};

/// A fault that is not met within this is not met at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// What happens to one connection, once, when the proxy sees what the fault waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The request that contains these bytes never arrives; the connection is cut.
    LoseRequest(Vec<u8>),
    /// The request that contains these bytes arrives and is worked on; its answer never comes back.
    LoseAnswer(Vec<u8>),
    /// The answer stops after so many bytes, counted from now over all connections.
    CutAnswerAfter(usize),
}

impl Fault {
    pub fn lose_request(containing: &str) -> Self {
        Self::LoseRequest(containing.into())
    }

    pub fn lose_answer(to_request_containing: &str) -> Self {
        Self::LoseAnswer(to_request_containing.into())
    }
}

/// Tells when a fault has happened.
#[derive(Debug)]
pub struct Fired(oneshot::Receiver<()>);

impl Fired {
    pub async fn wait(self) {
        let fired = timeout(PATIENCE, self.0).await;
        assert!(matches!(fired, Ok(Ok(()))), "the fault never happened");
    }
}

/// Ends, with all of its connections, when dropped.
#[derive(Debug)]
pub struct ChaosProxy {
    address: SocketAddr,
    control: Arc<Control>,
    stop: CancellationToken,
}

impl ChaosProxy {
    pub async fn before(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let control = Arc::new(Control::default());
        let stop = CancellationToken::new();
        let tracker = TaskTracker::new();
        let accepting = accept(listener, target, Arc::clone(&control), tracker.clone(), stop.clone());
        tracker.spawn(accepting);
        Self { address, control, stop }
    }

    /// Before the server of this URL.
    pub async fn before_database(url: &SecretString) -> Self {
        let options = PgConnectOptions::from_str(url.expose_secret()).expect("a database URL");
        let target = tokio::net::lookup_host((options.get_host(), options.get_port())).await;
        let target = target.expect("the database's host").next();
        Self::before(target.expect("the database's address")).await
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same database, through the proxy.
    pub fn database_url(&self, url: &SecretString) -> SecretString {
        let options = PgConnectOptions::from_str(url.expose_secret()).expect("a database URL");
        let through = options.host(&self.address.ip().to_string()).port(self.address.port());
        through.to_url_lossy().to_string().into()
    }

    /// Happens once, to the first connection that meets it. Faults are tried in the order of arming.
    pub fn arm(&self, fault: Fault) -> Fired {
        let (tell, told) = oneshot::channel();
        self.control.arm(Armed { fault, tell });
        Fired(told)
    }

    /// Ends every connection that there is. New ones pass.
    pub fn cut(&self) {
        self.control.cut();
    }

    /// Ends every connection and closes new ones at once, until [`allow`](Self::allow).
    pub fn refuse(&self) {
        self.control.set(|mode| mode.refusing = true);
        self.control.cut();
    }

    pub fn allow(&self) {
        self.control.set(|mode| mode.refusing = false);
    }

    /// From now on new connections go there: a server that was started again has another port.
    pub fn lead_to(&self, target: SocketAddr) {
        self.control.set(|mode| mode.leads_to = Some(target));
    }

    /// Nothing moves in either direction, and nothing is cut, until [`resume`](Self::resume).
    pub fn pause(&self) {
        self.control.set(|mode| mode.paused = true);
    }

    pub fn resume(&self) {
        self.control.set(|mode| mode.paused = false);
    }

    /// Everything takes this much longer in each direction.
    pub fn delay(&self, by: Duration) {
        self.control.set(|mode| mode.delay = by);
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        self.control.connections()
    }
}

impl Drop for ChaosProxy {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    target: SocketAddr,
    control: Arc<Control>,
    tracker: TaskTracker,
    stop: CancellationToken,
) {
    while let Some(Ok((client, _))) = stop.run_until_cancelled(listener.accept()).await {
        let (control, stop) = (Arc::clone(&control), stop.clone());
        tracker.spawn(async move { stop.run_until_cancelled(serve(client, target, &control)).await });
    }
}

async fn serve(mut client: TcpStream, target: SocketAddr, control: &Control) {
    let mode = control.mode();
    if mode.refusing {
        return;
    }
    let target = mode.leads_to.unwrap_or(target);
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let cut = control.enter();
    let _ = cut.token.run_until_cancelled(pipe::both_ways(&mut client, &mut server, control)).await;
    let _ = client.shutdown().await;
}
