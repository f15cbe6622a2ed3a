//! The loop, driven by a worker that does what the test says. Waits are seen through the jitter, which
//! may make them none.

use std::{
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use keyrack_runtime::{
    Drained, Stop,
    worker::{Cadence, Ended, Jitter, Progress, Worker, WorkerWatch, Workers},
};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
    time::timeout,
};

const HOUR: Duration = Duration::from_hours(1);

/// What the loop did.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Run,
    Wait(Duration),
}

/// Takes up to ten from a heap of things to do, at times failing.
#[derive(Clone)]
struct Heap {
    left: Arc<AtomicUsize>,
    failures: Arc<AtomicUsize>,
    seen: mpsc::UnboundedSender<Seen>,
    feeds: Arc<Mutex<Option<Heap>>>,
}

impl Heap {
    fn of(left: usize) -> (Self, mpsc::UnboundedReceiver<Seen>) {
        let (seen, told) = mpsc::unbounded_channel();
        let left = Arc::new(AtomicUsize::new(left));
        (Self { left, failures: Arc::default(), seen, feeds: Arc::default() }, told)
    }

    /// Tells of every wait and makes it none.
    fn no_waits(&self) -> Jitter {
        let seen = self.seen.clone();
        Jitter::from_fn(move |wait| {
            let _ = seen.send(Seen::Wait(wait));
            Duration::ZERO
        })
    }
}

#[async_trait]
impl Worker for Heap {
    fn name(&self) -> &'static str {
        "heap"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        // The test may have stopped listening.
        let _ = self.seen.send(Seen::Run);
        if self.failures.try_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
            return Err("told to fail".into());
        }
        let before = self.left.load(Ordering::SeqCst);
        let done = before.min(10);
        self.left.fetch_sub(done, Ordering::SeqCst);
        if let Some(next) = &*self.feeds.lock().unwrap() {
            next.left.fetch_add(done, Ordering::SeqCst);
        }
        Ok(Progress::of_batch(done, 10))
    }
}

fn start(stop: &Stop, worker: impl Worker, cadence: Cadence) -> WorkerWatch {
    start_with(stop, worker, cadence, Jitter::none())
}

fn start_with(stop: &Stop, worker: impl Worker, cadence: Cadence, jitter: Jitter) -> WorkerWatch {
    let mut workers = Workers::new(Handle::current(), stop.clone());
    workers.start(worker, cadence, jitter);
    workers.watch()
}

async fn next<const N: usize>(told: &mut mpsc::UnboundedReceiver<Seen>) -> Vec<Seen> {
    let mut seen = Vec::new();
    while seen.len() < N {
        seen.push(told.recv().await.unwrap());
    }
    seen
}

#[tokio::test]
async fn runs_follow_each_other_while_more_is_due() {
    let (heap, _) = Heap::of(95);
    let watch = start(&Stop::new(), heap.clone(), Cadence::every(HOUR));
    watch.nothing_is_due().await.unwrap();
    assert_eq!(heap.left.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn after_so_many_runs_in_a_row_the_interval_passes() {
    use Seen::{Run, Wait};
    let (heap, mut told) = Heap::of(100);
    let cadence = Cadence { runs_in_a_row: 3, ..Cadence::every(HOUR) };
    let _watch = start_with(&Stop::new(), heap.clone(), cadence, heap.no_waits());
    let seen = next::<8>(&mut told).await;
    assert_eq!(seen, [Run, Run, Run, Wait(HOUR), Run, Run, Run, Wait(HOUR)]);
}

#[tokio::test]
async fn failures_are_tried_again_later_and_later_and_a_success_ends_that() {
    use Seen::{Run, Wait};
    let (heap, mut told) = Heap::of(0);
    heap.failures.store(3, Ordering::SeqCst);
    let cadence = Cadence::every(Duration::from_secs(4));
    let _watch = start_with(&Stop::new(), heap.clone(), cadence, heap.no_waits());
    // Sooner than by its interval, which it has again afterwards.
    let [one, two, four, interval] = [1, 2, 4, 4].map(|s| Wait(Duration::from_secs(s)));
    let seen = next::<8>(&mut told).await;
    assert_eq!(seen, [Run, one, Run, two, Run, four, Run, interval]);
}

#[tokio::test]
async fn a_wake_up_runs_a_worker_before_its_interval_is_over() {
    let (heap, mut told) = Heap::of(0);
    let watch = start(&Stop::new(), heap.clone(), Cadence::every(HOUR));
    told.recv().await.unwrap();
    watch.wake("somebody_else");
    watch.wake("heap");
    timeout(Duration::from_secs(20), told.recv()).await.unwrap().unwrap();
    heap.left.store(5, Ordering::SeqCst);
    watch.all_have_run().await.unwrap();
    assert_eq!(heap.left.load(Ordering::SeqCst), 0, "the run that is waited for began after the call");
}

#[tokio::test]
async fn nothing_is_due_only_when_no_worker_makes_work_for_another() {
    let stop = Stop::new();
    let (first, _) = Heap::of(0);
    let (second, _) = Heap::of(0);
    *second.feeds.lock().unwrap() = Some(first.clone());
    let mut workers = Workers::new(Handle::current(), stop);
    for heap in [&first, &second] {
        workers.start(heap.clone(), Cadence::every(HOUR), Jitter::none());
    }
    workers.watch().all_have_run().await.unwrap();
    second.left.store(25, Ordering::SeqCst);
    workers.watch().nothing_is_due().await.unwrap();
    assert_eq!((first.left.load(Ordering::SeqCst), second.left.load(Ordering::SeqCst)), (0, 0));
}

/// Enters its run and stays there until it is let go.
struct Stays {
    entered: mpsc::UnboundedSender<()>,
    leave: Arc<Semaphore>,
}

#[async_trait]
impl Worker for Stays {
    fn name(&self) -> &'static str {
        "stays"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        self.entered.send(())?;
        self.leave.acquire().await?.forget();
        Ok(Progress { done: 1, more_is_due: true })
    }
}

fn stays() -> (Stays, mpsc::UnboundedReceiver<()>, Arc<Semaphore>) {
    let (entered, seen) = mpsc::unbounded_channel();
    let leave = Arc::new(Semaphore::new(0));
    (Stays { entered, leave: Arc::clone(&leave) }, seen, leave)
}

#[tokio::test]
async fn a_stop_lets_the_run_at_hand_finish_and_begins_no_other() {
    let stop = Stop::new();
    let (worker, mut entered, leave) = stays();
    let watch = start(&stop, worker, Cadence::every(HOUR));
    entered.recv().await.unwrap();
    stop.request();
    leave.add_permits(2);
    assert_eq!(stop.drain(Duration::from_secs(20)).await, Drained::Complete);
    assert!(entered.recv().await.is_none(), "more was due, and no run began");
    assert_eq!(leave.available_permits(), 1);
    assert_eq!(watch.all_have_run().await, Err(Ended("stays")));
}

#[tokio::test]
async fn a_run_that_hangs_is_dropped_at_the_final_call() {
    let stop = Stop::new();
    let (worker, mut entered, _leave) = stays();
    let _watch = start(&stop, worker, Cadence { longest_run: HOUR, ..Cadence::every(HOUR) });
    entered.recv().await.unwrap();
    assert_eq!(stop.drain(Duration::from_millis(1)).await, Drained::Cut(1));
    assert!(entered.recv().await.is_none());
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_dropped_and_tried_again() {
    let (worker, mut entered, _leave) = stays();
    let cadence = Cadence { longest_run: Duration::from_millis(1), ..Cadence::every(HOUR) };
    let _watch = start_with(&Stop::new(), worker, cadence, Jitter::from_fn(|_| Duration::ZERO));
    for _ in 0..2 {
        entered.recv().await.unwrap();
    }
}

/// Panics once.
struct Panics(AtomicUsize);

#[async_trait]
impl Worker for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), 0, "told to panic");
        Ok(Progress::NOTHING)
    }
}

#[tokio::test]
async fn a_panic_ends_the_run_and_not_the_worker() {
    let panics = Panics(AtomicUsize::new(0));
    let watch = start_with(&Stop::new(), panics, Cadence::every(HOUR), Jitter::from_fn(|_| Duration::ZERO));
    timeout(Duration::from_secs(20), watch.all_have_run()).await.unwrap().unwrap();
}
