//! `customer_actions`: attempts whose customer has to act first.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, ChangeId, HotelId, PrincipalId, ReservationId},
    money::Money,
    page_url::PageUrl,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::money;

/// A payment for a reservation that exists, waiting for its customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingPayment {
    pub reservation: ReservationId,
    pub attempt: AttemptId,
    /// The charge of the schedule that it pays, or the change.
    pub charge: Option<i16>,
    pub change: Option<ChangeId>,
    pub amount: Money,
    pub page: PageUrl,
    /// Until then the customer may act.
    pub deadline: Moment,
}

struct Raw {
    hotel_id: i32,
    reservation_id: Uuid,
    attempt_id: Uuid,
    number: Option<i16>,
    change_id: Option<Uuid>,
    amount: Decimal,
    currency: String,
    url: String,
    deadline_at: chrono::DateTime<chrono::Utc>,
}

impl TryFrom<Raw> for WaitingPayment {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            reservation: ReservationId::new(hotel, r.reservation_id),
            attempt: AttemptId::new(hotel, r.attempt_id),
            charge: r.number,
            change: r.change_id.map(|id| ChangeId::new(hotel, id)),
            amount: money(r.amount, &r.currency)?,
            page: page(&r.url)?,
            deadline: Moment(r.deadline_at),
        })
    }
}

fn page(url: &str) -> Result<PageUrl, DbError> {
    url.parse().map_err(|e| DbError::unreadable("page for a customer", &e))
}

/// Payments for these reservations that wait for this principal: the page is told to nobody else.
pub async fn waiting(
    connection: &mut PgConnection,
    reservations: &[ReservationId],
    principal: PrincipalId,
) -> Result<Vec<WaitingPayment>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        r#"-- store::customer_actions::waiting
        SELECT a.hotel_id, a.reservation_id AS "reservation_id!", a.attempt_id, c.number AS "number?", a.change_id,
               a.amount, a.currency, p.url, a.deadline_at
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN payment_attempts a
          ON a.hotel_id = w.hotel_id
         AND a.reservation_id = w.reservation_id
         AND a.state = 'PENDING_PAYMENT'
         AND a.principal_id = $3
        JOIN customer_actions p ON p.hotel_id = a.hotel_id AND p.attempt_id = a.attempt_id
        LEFT JOIN scheduled_charges c ON c.hotel_id = a.hotel_id AND c.attempt_id = a.attempt_id
        ORDER BY a.hotel_id, a.reservation_id, a.created_at, a.attempt_id"#,
        &reservations.iter().map(|id| id.hotel().0).collect::<Vec<i32>>(),
        &reservations.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>(),
        principal.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Waits for the customer until `deadline`. The attempt is locked by the caller, and PENDING_PAYMENT.
pub async fn insert(
    connection: &mut PgConnection,
    attempt: AttemptId,
    url: &PageUrl,
    now: Moment,
    deadline: Moment,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::customer_actions::insert
        INSERT INTO customer_actions (hotel_id, attempt_id, url, asked_at)
        VALUES ($1, $2, $3, $4)",
        attempt.hotel().0,
        attempt.uuid(),
        url.expose(),
        now.0
    )
    .execute(&mut *connection)
    .await?
    .exactly(1, "store::customer_actions::insert")?;
    sqlx::query!(
        "-- store::customer_actions::put_off
        UPDATE payment_attempts
        SET deadline_at = $3
        WHERE hotel_id = $1
          AND attempt_id = $2
          AND state = 'PENDING_PAYMENT'",
        attempt.hotel().0,
        attempt.uuid(),
        deadline.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::customer_actions::put_off")
}

/// Where the customer was sent, if anywhere.
pub async fn read(connection: &mut PgConnection, attempt: AttemptId) -> Result<Option<PageUrl>, DbError> {
    let url = sqlx::query_scalar!(
        "-- store::customer_actions::read
        SELECT url
        FROM customer_actions
        WHERE hotel_id = $1
          AND attempt_id = $2",
        attempt.hotel().0,
        attempt.uuid()
    )
    .fetch_optional(connection)
    .await?;
    url.map(|url| page(&url)).transpose()
}
