use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{ops::OpsNotice, page::Page};
use keyrack_booking::{
    Desk, EventRow,
    ops::{self, MAX_PAGE, UnmatchedRow},
};
use keyrack_domain::{clock::Moment, ids::NoticeId};
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, page_of, refused};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `unmatched` (when left out): about what is not there. `found`: recorded, and not in agreement with what was
    /// known.
    state: Option<Listed>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<NoticeId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OpsNoticeState)]
pub(crate) enum Listed {
    #[default]
    Unmatched,
    Found,
}

/// Providers' notices that somebody must look at, oldest first. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_notices_to_look_at",
    params(Wanted),
    responses(
        (status = 200, body = Page<OpsNotice>),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/notices")]
pub(crate) async fn notices(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    Ok(match wanted.state.unwrap_or_default() {
        Listed::Unmatched => {
            page_of(ops::unmatched_notices(&desk, &caller, after, limit).await.map_err(refused)?, unmatched)
        }
        Listed::Found => {
            page_of(ops::notices_with_a_finding(&desk, &caller, after, limit).await.map_err(refused)?, found)
        }
    })
}

fn unmatched(row: UnmatchedRow) -> OpsNotice {
    OpsNotice {
        id: row.id,
        provider: row.provider.to_string(),
        event_id: row.event,
        kind: row.kind,
        reference: row.reference,
        received_at: row.received_at.into(),
        attempt_id: row.attempt,
        amount: None,
        outcome: None,
        finding: None,
    }
}

fn found((event, received_at): (EventRow, Moment)) -> OpsNotice {
    OpsNotice {
        id: event.id,
        provider: event.provider.to_string(),
        event_id: event.event,
        kind: event.kind,
        reference: event.reference,
        received_at: received_at.into(),
        attempt_id: Some(event.attempt),
        amount: event.amount.map(Into::into),
        outcome: OpsNotice::outcome_of(event.outcome),
        finding: OpsNotice::finding_of(event.finding),
    }
}
