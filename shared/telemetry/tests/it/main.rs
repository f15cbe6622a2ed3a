mod log;
mod metrics;
