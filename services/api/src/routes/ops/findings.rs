use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{
    ops::{FindingClosed, OpsSettlementFinding},
    page::Page,
};
use keyrack_booking::{
    Desk,
    ops::{self, FindingRow, MAX_PAGE},
};
use keyrack_domain::{clock::Moment, ids::FindingId, notice::ProviderName};
use keyrack_http::{Cursor, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::{USUAL_PAGE, page_of, refused};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `open` (when left out): somebody must look, or the money is on its way back. `closed`: somebody has looked, or
    /// it is back.
    state: Option<Listed>,
    /// Of this provider alone.
    #[param(value_type = Option<String>, example = "simulator")]
    provider: Option<ProviderName>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<FindingId>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OpsFindingState)]
pub(crate) enum Listed {
    #[default]
    Open,
    Closed,
}

/// Lines of providers' settlement exports that did not agree with what is recorded, oldest first. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_settlement_findings",
    params(Wanted),
    responses(
        (status = 200, body = Page<OpsSettlementFinding>),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 422, description = "INVALID"),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/v1/ops/settlement-findings")]
pub(crate) async fn findings(
    Signed(caller): Signed,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|cursor| cursor.0);
    let ended = wanted.state.unwrap_or_default() == Listed::Closed;
    let page = ops::settlement_findings(&desk, &caller, ended, wanted.provider.as_ref(), after, limit).await;
    Ok(page_of(page.map_err(refused)?, finding))
}

pub(super) fn finding(row: FindingRow) -> OpsSettlementFinding {
    OpsSettlementFinding {
        id: row.id,
        provider: row.provider.to_string(),
        entry: row.entry,
        kind: row.kind.as_str().to_owned(),
        state: row.state.as_str().to_owned(),
        attempt_id: row.attempt,
        reference: row.reference,
        amount: row.amount.into(),
        happened_at: Moment(row.happened_at).into(),
        found_at: row.found_at.into(),
        settled_at: row.settled_at.map(Into::into),
        closed: row.closing.map(|closing| FindingClosed {
            by: closing.by.to_string(),
            note: closing.note,
            request_id: closing.request_id,
        }),
    }
}
