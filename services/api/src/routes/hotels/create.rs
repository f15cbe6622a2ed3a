use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    code::Code,
    hotel::{CancellationRuleRequest, Hotel, HotelRequest, RatePlanRequest, RoomTypeRequest, TaxRequest},
    policy,
};
use keyrack_booking::{
    Desk, FieldError,
    create_hotel::{
        self, CreateHotelError, DepositInput, HotelInput, PenaltyInput, PenaltyKind, RatePlanInput,
        RoomTypeInput, RungInput, TaxInput,
    },
};
use keyrack_http::{Json, Key, Problem, Signed};
use rust_decimal::Decimal;

use crate::{refusal, reply, wire};

/// Set a hotel up and open its inventory over the horizon. For operators.
#[utoipa::path(
    tag = "hotels",
    operation_id = "create_hotel",
    params(("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters")),
    request_body = HotelRequest,
    responses(
        (status = 201, body = Hotel),
        (status = 404, description = "NOT_FOUND: not for you"),
        (status = 409, description = "ALREADY_EXISTS, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels")]
pub(crate) async fn create(
    Signed(caller): Signed,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<HotelRequest>,
) -> Result<HttpResponse, Problem> {
    let input = input(body)?;
    let horizon = desk.settings().horizon;
    let made = create_hotel::run(desk.hotels(), horizon, &caller, input, key).await.map_err(refused)?;
    let place = wire::hotel_path(&made.answer.code);
    Ok(reply::created(place, made.replayed).json(wire::hotel(made.answer)))
}

fn refused(error: CreateHotelError) -> Problem {
    match error {
        CreateHotelError::NotAnOperator => Problem::not_found(),
        CreateHotelError::Invalid(errors) => refusal::invalid(errors),
        CreateHotelError::CodeTaken(code) => {
            Problem::new(Code::AlreadyExists, format!("There is a hotel {code} already."))
        }
        CreateHotelError::Key(refused) => refusal::key(refused),
        CreateHotelError::Fault(fault) => refusal::fault(fault),
    }
}

fn input(body: HotelRequest) -> Result<HotelInput, Problem> {
    Ok(HotelInput {
        latitude: degrees("/latitude", body.latitude)?,
        longitude: degrees("/longitude", body.longitude)?,
        code: body.code,
        name: body.name,
        time_zone: body.time_zone,
        currency: body.currency,
        city: body.city,
        late_capture: body.late_capture.map(Into::into).unwrap_or_default(),
        taxes: body.taxes.into_iter().map(tax).collect(),
        room_types: body.room_types.into_iter().map(room_type).collect(),
        rate_plans: body.rate_plans.into_iter().map(rate_plan).collect(),
    })
}

fn degrees(pointer: &'static str, degrees: Option<f64>) -> Result<Option<Decimal>, Problem> {
    degrees.map(Decimal::try_from).transpose().map_err(|_| {
        refusal::invalid(vec![FieldError::new(pointer, "OUT_OF_RANGE", "must be a number of degrees")])
    })
}

fn tax(tax: TaxRequest) -> TaxInput {
    let TaxRequest { kind, label, value, included, from_amount, to_amount } = tax;
    TaxInput { kind: kind.into(), label, value: value.0, included, from_amount, to_amount }
}

fn room_type(room_type: RoomTypeRequest) -> RoomTypeInput {
    let RoomTypeRequest { code, name, base_occupancy, max_adults, max_children, max_occupancy, units } =
        room_type;
    RoomTypeInput { code, name, base_occupancy, max_adults, max_children, max_occupancy, units }
}

fn rate_plan(plan: RatePlanRequest) -> RatePlanInput {
    let RatePlanRequest { code, name, cancellation, payment, deposit } = plan;
    let cancellation = cancellation.into_iter().map(rung).collect();
    let deposit = deposit.map(|terms| DepositInput {
        percent: terms.percent.map(|share| share.0),
        amount: terms.amount,
        balance_due_days_before: terms.balance_due_days_before,
    });
    RatePlanInput { code, name, cancellation, payment: payment.into(), deposit }
}

fn rung(rule: CancellationRuleRequest) -> RungInput {
    let CancellationRuleRequest { until_days_before, until_time, penalty } = rule;
    let kind = match penalty.kind {
        policy::PenaltyKind::None => PenaltyKind::None,
        policy::PenaltyKind::FirstNight => PenaltyKind::FirstNight,
        policy::PenaltyKind::Percent => PenaltyKind::Percent,
        policy::PenaltyKind::Full => PenaltyKind::Full,
    };
    let penalty = PenaltyInput { kind, value: penalty.value.map(|value| value.0) };
    RungInput { until_days_before, until_time, penalty }
}
