//! The real program, started as a user starts it: on a fresh folder and a free port.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod booking;
mod changes;
mod crash_points;
mod crashes;
mod dev;
mod methods;
mod pooler;
mod process;
mod processes;
mod random;
mod refusals;
mod sandbox;
mod settlement;
mod simulation;
mod storm;
mod stripe;
mod timeline;
mod told;
