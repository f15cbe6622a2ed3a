//! Stops a transaction at a named point until the test lets it go on, so that an interleaving is
//! stepped and never hoped for.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::ready};
use keyrack_db::Points;
use tokio::{sync::oneshot, time::timeout};

/// A point that is not reached within this is not reached at all.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
struct State {
    closed: VecDeque<Closed>,
    passed: Vec<String>,
}

#[derive(Debug)]
struct Closed {
    point: String,
    skip: usize,
    reached: oneshot::Sender<()>,
    open: oneshot::Receiver<()>,
}

/// Makes the hook for [`Points`], and the gates in it.
#[derive(Debug, Clone, Default)]
pub struct Gates(Arc<Mutex<State>>);

impl Gates {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn points(&self) -> Points {
        let gates = self.clone();
        Points::hooked(move |transaction, step| match gates.arrive(format!("{transaction}.{step}")) {
            None => ready(()).boxed(),
            Some(gate) => async move {
                let _ = gate.reached.send(());
                // An error means that the gate was dropped, which opens it too.
                let _ = gate.open.await;
            }
            .boxed(),
        })
    }

    /// The next arrival at this point (`place_hold.before_commit`) waits here. Several gates at one point catch one arrival each.
    pub fn close(&self, point: &str) -> Gate {
        self.close_after(point, 0)
    }

    /// Lets so many arrivals pass first.
    pub fn close_after(&self, point: &str, skip: usize) -> Gate {
        let (reached, told) = oneshot::channel();
        let (opener, open) = oneshot::channel();
        self.state().closed.push_back(Closed { point: point.into(), skip, reached, open });
        Gate { point: point.into(), told: Some(told), opener: Some(opener) }
    }

    /// Every point reached so far, in order.
    pub fn passed(&self) -> Vec<String> {
        self.state().passed.clone()
    }

    fn arrive(&self, point: String) -> Option<Closed> {
        let mut state = self.state();
        let place = state.closed.iter().position(|gate| gate.point == point);
        state.passed.push(point);
        match place.and_then(|place| state.closed.get_mut(place)) {
            Some(gate) if gate.skip > 0 => {
                gate.skip -= 1;
                None
            }
            _ => state.closed.remove(place?),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A closed gate. Dropping it opens it.
#[derive(Debug)]
pub struct Gate {
    point: String,
    told: Option<oneshot::Receiver<()>>,
    opener: Option<oneshot::Sender<()>>,
}

impl Gate {
    /// Returns once somebody stands at the gate.
    pub async fn reached(&mut self) {
        if let Some(told) = self.told.take() {
            let told = timeout(PATIENCE, told).await;
            assert!(matches!(told, Ok(Ok(()))), "nobody reached the point {}", self.point);
        }
    }

    pub fn open(mut self) {
        if let Some(opener) = self.opener.take() {
            let _ = opener.send(());
        }
    }
}
