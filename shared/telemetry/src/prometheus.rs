//! The recorder behind the metrics, and what `/metrics` shows.

use std::sync::{Mutex, PoisonError};

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::names;

/// Half a millisecond to the provider's deadline and past it.
const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0];
const MEMBERS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

#[derive(Debug, thiserror::Error)]
#[error("the metrics recorder cannot be installed")]
pub struct InstallError(#[from] BuildError);

/// The metrics of this process. There is one recorder a process; all copies show it.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

static INSTALLED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);

impl Metrics {
    /// The first call installs the recorder, further ones find it: several servers of one test process
    /// share it.
    pub fn install() -> Result<Self, InstallError> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = &*installed {
            return Ok(Self(handle.clone()));
        }
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), SECONDS)?
            .set_buckets_for_metric(Matcher::Full(names::LEDGER_BATCH_MEMBERS.into()), MEMBERS)?
            .install_recorder()?;
        for metric in names::ALL {
            metric.describe();
        }
        *installed = Some(handle.clone());
        Ok(Self(handle))
    }

    /// In Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Folds recorded samples into their buckets. To be called now and then: a process that nobody
    /// scrapes would keep every sample.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
