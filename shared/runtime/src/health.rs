//! Liveness and readiness: named checks, asked together, each within a bound.
//!
//! Alive: this process can do its work at all; when it is not, only a restart helps. Ready: it can do
//! it now; a database that is away makes it unready and never dead.

use std::{error::Error, fmt, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use tokio::time::timeout;

use crate::Stop;

type Asked = Result<(), Box<dyn Error + Send + Sync>>;
type Check = Box<dyn Fn() -> BoxFuture<'static, Asked> + Send + Sync>;

pub struct Health {
    alive: Vec<(&'static str, Check)>,
    ready: Vec<(&'static str, Check)>,
    stop: Stop,
    bound: Duration,
}

/// What was found. Reasons are logged and not shown: whoever may ask for it may not see inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub checks: Vec<(&'static str, bool)>,
}

impl Report {
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|(_, good)| *good)
    }
}

impl Health {
    /// A process that stops is not ready any more, so that a load balancer sends nothing new.
    pub const fn new(stop: Stop, bound: Duration) -> Self {
        Self { alive: Vec::new(), ready: Vec::new(), stop, bound }
    }

    #[must_use]
    pub fn alive_while<F, E>(
        mut self,
        name: &'static str,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.alive.push((name, boxed(check)));
        self
    }

    #[must_use]
    pub fn ready_while<F, E>(
        mut self,
        name: &'static str,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.ready.push((name, boxed(check)));
        self
    }

    pub async fn liveness(&self) -> Report {
        Report { checks: self.ask(&self.alive).await }
    }

    pub async fn readiness(&self) -> Report {
        let mut checks = self.ask(&self.ready).await;
        checks.push(("not_stopping", !self.stop.is_requested()));
        Report { checks }
    }

    async fn ask(&self, checks: &[(&'static str, Check)]) -> Vec<(&'static str, bool)> {
        join_all(checks.iter().map(|(name, check)| async move {
            let good = match timeout(self.bound, check()).await {
                Ok(Ok(())) => true,
                Ok(Err(error)) => {
                    tracing::warn!(check = name, %error, "health check failed");
                    false
                }
                Err(_) => {
                    tracing::warn!(check = name, bound = ?self.bound, "health check took too long");
                    false
                }
            };
            (*name, good)
        }))
        .await
    }
}

fn boxed<F, E>(check: impl Fn() -> F + Send + Sync + 'static) -> Check
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    Box::new(move || check().map(|asked| asked.map_err(Into::into)).boxed())
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |checks: &[(&'static str, Check)]| checks.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        f.debug_struct("Health")
            .field("alive", &names(&self.alive))
            .field("ready", &names(&self.ready))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn every_check_is_named_and_one_that_hangs_counts_as_failed() {
        let stop = Stop::new();
        let health = Health::new(stop.clone(), Duration::from_millis(1))
            .alive_while("process", || ready(Ok::<_, String>(())))
            .ready_while("directory", || ready(Ok::<_, String>(())))
            .ready_while("shard_1", || ready(Err("away")))
            .ready_while("shard_2", pending::<Result<(), String>>);
        let found = health.readiness().await;
        assert_eq!(
            found.checks,
            [("directory", true), ("shard_1", false), ("shard_2", false), ("not_stopping", true)]
        );
        assert!(!found.is_good() && health.liveness().await.is_good());
    }

    #[tokio::test]
    async fn a_process_that_stops_is_alive_and_not_ready() {
        let stop = Stop::new();
        let health = Health::new(stop.clone(), Duration::from_secs(2));
        assert!(health.readiness().await.is_good());
        stop.request();
        assert!(!health.readiness().await.is_good());
        assert!(health.liveness().await.is_good());
    }
}
