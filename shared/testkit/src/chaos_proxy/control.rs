//! What the test has told the proxy to do.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::Fault;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mode {
    pub(super) refusing: bool,
    pub(super) paused: bool,
    pub(super) delay: Duration,
    /// Another server than the one that it was made for.
    pub(super) leads_to: Option<SocketAddr>,
}

#[derive(Debug)]
pub(super) struct Armed {
    pub(super) fault: Fault,
    pub(super) tell: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
pub(super) struct Control {
    mode: watch::Sender<Mode>,
    armed: Mutex<Vec<Armed>>,
    /// Parent of every connection's token; replaced by a fresh one at each cut.
    connected: Mutex<CancellationToken>,
    open: AtomicUsize,
}

/// A connection's place; leaving it is counted.
pub(super) struct Entered<'a> {
    pub(super) token: CancellationToken,
    open: &'a AtomicUsize,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What becomes of a request.
pub(super) enum Verdict {
    Pass,
    /// Neither it nor anything after it arrives.
    Lose,
    /// It arrives, and whatever is answered from here on is lost.
    LoseAnswer,
}

impl Control {
    pub(super) fn set(&self, change: impl FnOnce(&mut Mode)) {
        self.mode.send_modify(change);
    }

    pub(super) fn mode(&self) -> Mode {
        *self.mode.borrow()
    }

    /// Returns while nothing is paused.
    pub(super) async fn flowing(&self) {
        // The sender is ours and outlives the wait.
        let _ = self.mode.subscribe().wait_for(|mode| !mode.paused).await;
    }

    pub(super) fn arm(&self, armed: Armed) {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner).push(armed);
    }

    pub(super) fn enter(&self) -> Entered<'_> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let token = self.connected.lock().unwrap_or_else(PoisonError::into_inner).child_token();
        Entered { token, open: &self.open }
    }

    pub(super) fn cut(&self) {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.cancel();
        *connected = CancellationToken::new();
    }

    pub(super) fn connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    pub(super) fn judge_request(&self, bytes: &[u8]) -> Verdict {
        let fired = self.fire(|fault| match fault {
            Fault::LoseRequest(wanted) | Fault::LoseAnswer(wanted) => contains(bytes, wanted),
            Fault::CutAnswerAfter(_) => false,
        });
        match fired {
            Some(Fault::LoseRequest(_)) => Verdict::Lose,
            Some(Fault::LoseAnswer(_)) => Verdict::LoseAnswer,
            Some(Fault::CutAnswerAfter(_)) | None => Verdict::Pass,
        }
    }

    /// How much of these bytes of an answer arrives; less than all of them ends the connection.
    pub(super) fn judge_answer(&self, bytes: &[u8]) -> usize {
        let mut arrives = bytes.len();
        self.fire(|fault| match fault {
            Fault::CutAnswerAfter(left) if *left < bytes.len() => {
                arrives = *left;
                true
            }
            Fault::CutAnswerAfter(left) => {
                *left -= bytes.len();
                false
            }
            _ => false,
        });
        arrives
    }

    fn fire(&self, mut meets: impl FnMut(&mut Fault) -> bool) -> Option<Fault> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let place = armed.iter_mut().position(|armed| meets(&mut armed.fault))?;
        let Armed { fault, tell } = armed.remove(place);
        // Nobody has to wait for it.
        let _ = tell.send(());
        Some(fault)
    }
}

/// Both protocols send what a test names in one write, so a chunk is looked at on its own.
fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    !wanted.is_empty() && bytes.windows(wanted.len()).any(|window| window == wanted)
}
