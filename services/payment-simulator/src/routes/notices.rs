use actix_web::{
    HttpResponse, get, post,
    web::{Data, Json},
};
use serde::{Deserialize, Serialize};

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

/// Notices that nobody took, the latest first.
#[get("/notices")]
pub(crate) async fn undelivered(simulator: Data<Simulator>) -> HttpResponse {
    HttpResponse::Ok().json(Undelivered { items: simulator.undelivered_notices() })
}
