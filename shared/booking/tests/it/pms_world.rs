//! A hotel's own system, and what it sends.

use keyrack_booking::{
    Answered, Desk,
    apply_pms_batch::{self, BatchInput, LineInput, PmsBatchError, Taken, Window},
    create_hotel::{HotelInput, RoomTypeInput},
    pms_conflicts::{self, ConflictError, ConflictView},
};
use keyrack_db::Points;
use keyrack_domain::{
    ids::ConflictId,
    pms::{BatchMode, LineOutcome, Resolution},
    principal::{Caller, Role},
};

use crate::{
    desk_world::DeskWorld,
    world::{HORIZON, caller, day, fresh_key, htl_204},
};

/// The nights of the large hotel: twenty room types and five hundred days.
pub(crate) const LARGE: (usize, u64) = (20, 500);

/// Calls the desk as the credential of its hotel's system.
pub(crate) struct Pms {
    pub(crate) caller: Caller,
}

impl Pms {
    pub(crate) async fn of(at: &DeskWorld) -> Self {
        let hotel = at.world.hotels.by_code(&at.hotel).await.expect("the hotel").id;
        Self { caller: Caller { hotel: Some(hotel), ..caller(Role::Pms) } }
    }

    pub(crate) async fn send_to(
        &self,
        desk: &Desk,
        at: &DeskWorld,
        batch: BatchInput,
    ) -> Result<Taken, PmsBatchError> {
        apply_pms_batch::run(desk, &self.caller, &at.hotel, batch).await
    }

    pub(crate) async fn try_send(&self, at: &DeskWorld, batch: BatchInput) -> Result<Taken, PmsBatchError> {
        self.send_to(&at.desk, at, batch).await
    }

    pub(crate) async fn send(&self, at: &DeskWorld, batch: BatchInput) -> Taken {
        self.try_send(at, batch).await.expect("it is taken")
    }

    pub(crate) async fn cursor(&self, at: &DeskWorld) -> i64 {
        apply_pms_batch::cursor(&at.desk, &self.caller, &at.hotel).await.expect("a cursor")
    }
}

/// Of RT-DLX.
pub(crate) fn night(night: &str, sellable: i64) -> LineInput {
    of("RT-DLX", night, sellable)
}

pub(crate) fn of(room_type: &str, night: &str, sellable: i64) -> LineInput {
    LineInput {
        room_type: room_type.to_owned(),
        night: Some(day(night)),
        sellable: Some(sellable),
        ..LineInput::default()
    }
}

pub(crate) fn range(first: &str, last: &str, sellable: i64) -> LineInput {
    LineInput {
        night: None,
        first_night: Some(day(first)),
        last_night: Some(day(last)),
        ..night(first, sellable)
    }
}

pub(crate) fn change(on: &str, change: i64) -> LineInput {
    LineInput { sellable: None, change: Some(change), ..night(on, 0) }
}

pub(crate) fn absolute(sequence: i64, lines: Vec<LineInput>) -> BatchInput {
    BatchInput { sequence, mode: BatchMode::Absolute, window: None, lines }
}

pub(crate) fn delta(sequence: i64, lines: Vec<LineInput>) -> BatchInput {
    BatchInput { mode: BatchMode::Delta, ..absolute(sequence, lines) }
}

pub(crate) fn full(sequence: i64, window: (&str, &str), lines: Vec<LineInput>) -> BatchInput {
    let window = Some(Window { first_night: day(window.0), last_night: day(window.1) });
    BatchInput { mode: BatchMode::Full, window, ..absolute(sequence, lines) }
}

pub(crate) fn outcomes(taken: &Taken) -> Vec<LineOutcome> {
    taken.batch.verdicts.lines().map(|line| line.outcome).collect()
}

/// Why each line was not applied.
pub(crate) fn reasons(taken: &Taken) -> Vec<Option<&str>> {
    taken.batch.verdicts.lines().map(|line| line.reason.as_ref().map(|reason| reason.code.as_ref())).collect()
}

/// Those that wait.
pub(crate) async fn waiting(at: &DeskWorld) -> Vec<ConflictView> {
    let page = pms_conflicts::list(&at.desk, &at.world.operator, &at.hotel, None, None, 100).await;
    page.expect("a page").items
}

pub(crate) async fn resolve(
    at: &DeskWorld,
    id: ConflictId,
    resolution: Resolution,
) -> Result<Answered<ConflictView>, ConflictError> {
    pms_conflicts::resolve(&at.desk, &at.world.operator, &at.hotel, id, resolution, fresh_key()).await
}

/// HTL-204 with twenty room types, RT-DLX among them.
pub(crate) async fn large_hotel(points: Points) -> DeskWorld {
    let mut hotel: HotelInput = htl_204();
    let more = (hotel.room_types.len()..LARGE.0).map(|number| RoomTypeInput {
        code: format!("RT-{number}"),
        name: "A room".to_owned(),
        base_occupancy: 2,
        max_adults: 2,
        max_children: 2,
        max_occupancy: 3,
        units: 5,
    });
    hotel.room_types.extend(more);
    let settings = keyrack_booking::Settings { horizon: HORIZON, ..keyrack_booking::Settings::default() };
    DeskWorld::of(hotel, points, settings).await
}

/// Ten thousand single nights, each with so many units.
pub(crate) fn ten_thousand(sequence: i64, sellable: i64) -> BatchInput {
    let codes = ["RT-DLX".to_owned(), "RT-STD".to_owned()];
    let codes = codes.into_iter().chain((2..LARGE.0).map(|number| format!("RT-{number}")));
    let first = day("2026-02-01");
    let lines = codes.flat_map(|code| {
        (0..LARGE.1).map(move |n| of(&code, &(first + chrono::Days::new(n)).to_string(), sellable))
    });
    absolute(sequence, lines.collect())
}
