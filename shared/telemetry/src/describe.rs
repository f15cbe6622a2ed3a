//! What is said about a metric: to Prometheus, and in the docs.

use metrics::Unit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

#[derive(Debug, Clone, Copy)]
pub struct Metric {
    pub name: &'static str,
    pub kind: MetricKind,
    pub unit: Unit,
    pub labels: &'static [&'static str],
    pub description: &'static str,
}

/// A constant for each name, and [`ALL`](crate::names::ALL) of them with what is said about them.
macro_rules! metrics {
    ($($constant:ident: $kind:ident, $unit:ident, $name:literal, [$($label:literal),*], $description:literal;)*) => {
        $(
            #[doc = $description]
            pub const $constant: &str = $name;
        )*

        /// In the order of this file.
        pub const ALL: &[$crate::names::Metric] = &[$(
            $crate::names::Metric {
                name: $name,
                kind: $crate::names::MetricKind::$kind,
                unit: ::metrics::Unit::$unit,
                labels: &[$($label),*],
                description: $description,
            },
        )*];
    };
}
pub(crate) use metrics;

impl Metric {
    pub(crate) fn describe(&self) {
        let Self { name, unit, description, .. } = *self;
        match self.kind {
            MetricKind::Counter => metrics::describe_counter!(name, unit, description),
            MetricKind::Gauge => metrics::describe_gauge!(name, unit, description),
            MetricKind::Histogram => metrics::describe_histogram!(name, unit, description),
        }
    }

    /// A row of the table in `docs/metrics.md`.
    pub fn row(&self) -> String {
        let Self { name, kind, unit, labels, description } = self;
        let kind = format!("{kind:?}").to_lowercase();
        let labels = if labels.is_empty() { "none".to_owned() } else { format!("`{}`", labels.join("`, `")) };
        format!("| `{name}` | {kind} | {} | {labels} | {description} |\n", unit.as_str())
    }
}
