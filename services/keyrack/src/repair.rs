//! `keyrack repair`: a hotel's counters, set to the facts that they stand for.

use std::process::ExitCode;

use keyrack_booking::repair::{self, Mode};
use keyrack_db::Points;
use keyrack_domain::{
    actor::Actor,
    code::HotelCode,
    ids::PrincipalId,
    principal::{Caller, Role},
};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{failure::Failure, installation, stdout::say, whose::Whose};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    whose: Whose,
    /// The hotel's code.
    #[arg(long, value_name = "CODE")]
    hotel: HotelCode,
    /// Not only show the difference, but set the counters right, with a row of audit.
    #[arg(long)]
    apply: bool,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.whose.settings()?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    installation::reach(&settings, &shards).await?;
    let mode = if args.apply { Mode::Apply(Actor::Caller(console())) } else { Mode::Show };
    let plan = repair::run(&shards, &args.hotel, mode).await?;
    installation::close(&shards).await;
    let is_done = args.apply || !plan.changes_something();
    let what_next = match (is_done, plan.leaves_something()) {
        (false, _) => "nothing was changed; --apply sets the counters right",
        (true, true) => "what is left as it is needs a decision of the hotel",
        (true, false) => "nothing is left to repair",
    };
    say(&format!("{plan}{what_next}"))?;
    Ok(if is_done && !plan.leaves_something() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Whoever can reach the database needs no token. The audit names the user of the machine in place of the
/// request, and no credential.
fn console() -> Caller {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten().map_or(uid.to_string(), |user| user.name);
    let request_id = format!("keyrack repair by {user}");
    Caller { principal: PrincipalId(Uuid::nil()), role: Role::Operator, hotel: None, request_id }
}
