use actix_web::{
    HttpResponse, get,
    web::{Data, Query},
};
use serde::{Deserialize, Serialize};

use crate::{charge::Charge, input::ReferenceName, simulator::Simulator};

/// So many that a test which counts charges rarely needs a second page.
const PAGE_MAX: usize = 50_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    #[serde(default)]
    prefix: String,
    cursor: Option<ReferenceName>,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Page {
    items: Vec<Charge>,
    next_cursor: Option<ReferenceName>,
}

/// Everything that this provider was asked, by reference.
#[get("/charges")]
pub(crate) async fn charges(simulator: Data<Simulator>, Query(ask): Query<Ask>) -> HttpResponse {
    let limit = ask.limit.unwrap_or(PAGE_MAX).clamp(1, PAGE_MAX);
    let mut items = simulator.charges(&ask.prefix, ask.cursor.as_ref(), limit + 1);
    let more = items.len() > limit;
    items.truncate(limit);
    let next_cursor = items.last().filter(|_| more).map(|charge| charge.reference.clone());
    HttpResponse::Ok().json(Page { items, next_cursor })
}
