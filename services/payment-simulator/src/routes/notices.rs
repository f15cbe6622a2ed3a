use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse, get, post,
    web::{Data, Json},
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::{notice::Notice, simulator::Simulator};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Losing {
    lose: bool,
}

/// Whether notices are lost on their way from now on. One that is lost is never sent.
#[post("/notices")]
pub(crate) async fn lose(simulator: Data<Simulator>, Json(losing): Json<Losing>) -> HttpResponse {
    simulator.lose_notices(losing.lose);
    HttpResponse::Ok().json(losing)
}

#[derive(Serialize)]
struct Undelivered {
    items: Vec<Notice>,
}

/// Whoever waits for notices to arrive waits so long at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Notices that nobody took, the latest first. `Prefer: wait-for=told`: when none is on its way any more.
#[get("/notices")]
pub(crate) async fn undelivered(simulator: Data<Simulator>, request: HttpRequest) -> HttpResponse {
    if request.headers().get("prefer").is_some_and(|wish| wish == "wait-for=told") {
        // What is still on its way then is no reason to answer nothing.
        let _ = timeout(PATIENCE, simulator.all_notices_told()).await;
    }
    HttpResponse::Ok().json(Undelivered { items: simulator.undelivered_notices() })
}
