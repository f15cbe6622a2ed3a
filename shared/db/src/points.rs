//! Named points inside a transaction, at which a test may hold it, watch it or end the process.
//! In production there is no hook and reaching a point costs one branch.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

type Hook = dyn Fn(&'static str, &'static str) -> BoxFuture<'static, ()> + Send + Sync;

#[derive(Clone, Default)]
pub struct Points(Option<Arc<Hook>>);

impl Points {
    /// The hook gets the transaction's name and the step reached.
    pub fn hooked(
        hook: impl Fn(&'static str, &'static str) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(hook)))
    }

    /// Ends the process, as a power cut would, when the named point (`place_hold.after_claim`) is
    /// reached for the `count`th time.
    pub fn aborting_at(name: String, count: usize) -> Self {
        let reached = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        Self::hooked(move |transaction, step| {
            let here = name.split_once('.').is_some_and(|(t, s)| t == transaction && s == step);
            if here && reached.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 == count {
                std::process::abort();
            }
            Box::pin(std::future::ready(()))
        })
    }

    pub async fn reach(&self, transaction: &'static str, step: &'static str) {
        if let Some(hook) = &self.0 {
            hook(transaction, step).await;
        }
    }
}

impl fmt::Debug for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Points(hooked)" } else { "Points" })
    }
}
