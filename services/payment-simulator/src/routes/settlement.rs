use actix_web::{
    HttpResponse, get,
    http::StatusCode,
    web::{Data, Query},
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{answer::error, settlement::Statement, simulator::Simulator};

const PAGE_MAX: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// The earliest line. Without it: from the first.
    from: Option<DateTime<Utc>>,
    /// Of an earlier line: from there on.
    cursor: Option<usize>,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Page {
    items: Vec<Statement>,
    more: bool,
}

/// What has moved, in the order in which it happened. Lines are only ever added.
#[get("/settlement")]
pub(crate) async fn settlement(simulator: Data<Simulator>, Query(ask): Query<Ask>) -> HttpResponse {
    let limit = ask.limit.unwrap_or(PAGE_MAX).clamp(1, PAGE_MAX);
    let from = ask.from.map_or(i64::MIN, |from| from.timestamp_millis());
    let place = ask.cursor.unwrap_or_default();
    let Some(mut lines) = simulator.settlement(from, place, limit + 1).await else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "unavailable", None);
    };
    let more = lines.len() > limit;
    lines.truncate(limit);
    HttpResponse::Ok().json(Page { items: lines, more })
}
