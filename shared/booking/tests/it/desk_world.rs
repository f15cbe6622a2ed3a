//! A world with everything behind the counter: the desk, and the payment simulator over real HTTP.

use std::{net::TcpListener, sync::Arc, time::Duration};

use keyrack_booking::{
    Answered, Desk, Settings, bookings,
    create_hotel::HotelInput,
    edit_inventory::{self, EditInventory, InventoryChange},
    expire,
    night_range::NightRange,
    place_hold::{self, PlaceHold, PlaceHoldError},
    rates::RateChange,
    reconcile, refund,
    start_attempt::{self, StartAttempt, StartAttemptError},
    verify,
    views::{BookingView, HoldView, Standing},
};
use keyrack_db::Points;
use keyrack_domain::{
    code::HotelCode,
    guest::{Guest, GuestDetails},
    ids::{AttemptId, HoldId, QuoteId, ShardId},
    occupancy::RoomRequest,
    operation_key::OperationKey,
    principal::Caller,
};
use keyrack_ledger::Ledger;
use keyrack_payment_simulator::{Charge, Kind, ReferenceName, Running, Settings as SimulatorSettings, State};
use keyrack_payments::{SignatureCheck, SimulatorNotices, SimulatorProvider};
use keyrack_testkit::TestDatabase;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::world::{HORIZON, World, asked, day, fresh_key, htl_204, rate_change};

/// With which the provider signs what it tells.
pub(crate) const SECRET: &str = "whsec_of_tests";

pub(crate) struct DeskWorld {
    pub(crate) world: World,
    pub(crate) desk: Desk,
    pub(crate) hotel: HotelCode,
    pub(crate) simulator: Running,
}

impl DeskWorld {
    /// HTL-204, 6,500.00 a night.
    pub(crate) async fn new() -> Self {
        Self::with(Points::default(), Settings { horizon: HORIZON, ..Settings::default() }).await
    }

    /// A desk whose transactions stop at the points of a test.
    pub(crate) async fn with_points(points: Points) -> Self {
        Self::with(points, Settings { horizon: HORIZON, ..Settings::default() }).await
    }

    /// A desk that gives a provider up that does not answer soon. On a loaded machine the simulator needs a
    /// good part of this for the calls that it does answer.
    pub(crate) async fn impatient(points: Points) -> Self {
        let provider_deadline = Duration::from_secs(2);
        Self::with(points, Settings { horizon: HORIZON, provider_deadline, ..Settings::default() }).await
    }

    pub(crate) async fn with(points: Points, settings: Settings) -> Self {
        Self::of(htl_204(), points, settings).await
    }

    /// At 6,500.00 a night of RT-DLX.
    pub(crate) async fn of(hotel: HotelInput, points: Points, settings: Settings) -> Self {
        let world = World::new().await;
        let hotel = world.open(hotel, "6500.00").await;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let slow =
            SimulatorSettings { slow_capture: Duration::from_hours(1), ..SimulatorSettings::default() };
        let simulator =
            keyrack_payment_simulator::run(listener, slow, &Handle::current()).expect("the simulator");
        let desk = desk(&world, &simulator, &points, settings);
        Self { world, desk, hotel, simulator }
    }

    pub(crate) fn database(&self) -> &TestDatabase {
        self.world.database()
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        self.desk.ledgers().next().expect("a shard").1
    }

    pub(crate) async fn sellable(&self, stay: (&str, &str), sellable: u32) {
        self.sellable_of("RT-DLX", stay, sellable).await;
    }

    pub(crate) async fn sellable_of(&self, room_type: &str, stay: (&str, &str), sellable: u32) {
        let request = self.edit(room_type, stay, sellable, fresh_key());
        edit_inventory::run(&self.desk, &self.world.operator, request).await.expect("the edit");
    }

    pub(crate) fn edit(
        &self,
        room_type: &str,
        stay: (&str, &str),
        sellable: u32,
        key: OperationKey,
    ) -> EditInventory {
        let last = day(stay.1).pred_opt().expect("a night");
        let change = InventoryChange {
            room_type: room_type.parse().expect("a code"),
            nights: NightRange::new(day(stay.0), last, None),
            sellable,
        };
        EditInventory { hotel: self.hotel.clone(), changes: vec![change], key }
    }

    /// RT-STD at 4,200.00 a night, too.
    pub(crate) async fn price_standard(&self, nights: (&str, &str)) {
        let price = rate_change(day(nights.0), day(nights.1), "4200.00");
        let price = RateChange { room_type: "RT-STD".parse().expect("a code"), ..price };
        self.world.set_rates(&self.hotel, vec![price]).await;
    }

    pub(crate) async fn quote(&self, guest: &Caller, stay: (&str, &str)) -> QuoteId {
        self.world.quote(guest, &self.hotel, stay).await.expect("a quote").id
    }

    pub(crate) async fn quote_rooms(
        &self,
        guest: &Caller,
        stay: (&str, &str),
        rooms: Vec<RoomRequest>,
    ) -> QuoteId {
        let input = keyrack_booking::quote::QuoteInput { rooms, ..asked(&self.hotel, stay) };
        let made = keyrack_booking::quote::make(&self.world.hotels, HORIZON, guest, input, fresh_key()).await;
        made.expect("a quote").answer.id
    }

    pub(crate) async fn hold_quote(
        &self,
        guest: &Caller,
        quote: QuoteId,
        key: OperationKey,
    ) -> Result<Answered<HoldView>, PlaceHoldError> {
        place_hold::run(&self.desk, guest, PlaceHold { quote, replaces: None, key }).await
    }

    pub(crate) async fn try_hold(
        &self,
        guest: &Caller,
        stay: (&str, &str),
    ) -> Result<HoldView, PlaceHoldError> {
        let quote = self.quote(guest, stay).await;
        self.hold_quote(guest, quote, fresh_key()).await.map(|answered| answered.answer)
    }

    pub(crate) async fn hold(&self, guest: &Caller, stay: (&str, &str)) -> HoldView {
        self.try_hold(guest, stay).await.expect("a hold")
    }

    pub(crate) async fn try_pay(
        &self,
        guest: &Caller,
        hold: HoldId,
        method: &str,
        key: OperationKey,
    ) -> Result<Answered<BookingView>, StartAttemptError> {
        start_attempt::run(&self.desk, guest, payment(hold, method, key)).await
    }

    pub(crate) async fn pay(&self, guest: &Caller, hold: HoldId, method: &str) -> BookingView {
        self.try_pay(guest, hold, method, fresh_key()).await.expect("an attempt").answer
    }

    pub(crate) async fn expire(&self) -> expire::Expired {
        expire::run_once(self.ledger()).await.expect("the expiry runs")
    }

    pub(crate) async fn standing(&self, guest: &Caller, attempt: AttemptId) -> Standing {
        let read = bookings::find(&self.desk, guest, attempt).await.expect("a read");
        read.expect("the attempt").standing
    }

    /// Sweeps and sends refunds until neither finds anything.
    pub(crate) async fn settle_money(&self) {
        for _ in 0..20 {
            let swept = reconcile::run_once(&self.desk, self.ledger()).await.expect("the sweep runs");
            let sent = refund::run_once(&self.desk, self.ledger()).await.expect("refunds are sent");
            if swept.taken == 0 && sent.taken == 0 {
                return;
            }
        }
    }

    pub(crate) async fn advance(&self, seconds: u64) {
        let by = keyrack_booking::sandbox_clock::Move::By(Duration::from_secs(seconds));
        keyrack_booking::sandbox_clock::advance(self.world.hotels.shards(), by)
            .await
            .expect("the clock goes forward");
    }

    /// `(sellable, held, confirmed)` of RT-DLX.
    pub(crate) async fn counters(&self, night: &str) -> (i64, i64, i64) {
        self.counters_of("RT-DLX", night).await
    }

    pub(crate) async fn counters_of(&self, room_type: &str, night: &str) -> (i64, i64, i64) {
        let row = self
            .database()
            .value(&format!(
                "SELECT json_build_array(i.sellable, i.held, i.confirmed) FROM room_night_inventory i
                 JOIN room_types t USING (hotel_id, room_type_id)
                 WHERE t.code = '{room_type}' AND i.stay_date = '{night}'"
            ))
            .await;
        let counter = |n: usize| row[n].as_i64().expect("a counter");
        (counter(0), counter(1), counter(2))
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let value = self.database().value(&format!("SELECT count(*) FROM {table}")).await;
        value.as_i64().expect("a count")
    }

    /// Charges of which the provider has taken money.
    pub(crate) fn captures(&self) -> usize {
        let charges = self.simulator.simulator().charges("", None, 50_000);
        charges
            .iter()
            .filter(|charge| (charge.kind, charge.state) == (Kind::Capture, State::Captured))
            .count()
    }

    /// What the provider has of one call: `<attempt>-capture`.
    pub(crate) fn charge(&self, attempt: AttemptId, call: &str) -> Option<Charge> {
        self.simulator.simulator().charge(&call_of(attempt, call))
    }

    /// A capture that waits is made now.
    pub(crate) async fn let_captured(&self, attempt: AttemptId) {
        self.simulator.simulator().release(&call_of(attempt, "capture")).await;
    }

    /// The invariants, asked of the database as it is.
    pub(crate) async fn verify(&self) {
        let report = verify::run(self.world.hotels.shards(), verify::Options::default()).await;
        assert_eq!(report.exit_code(), 0, "{report}");
    }
}

fn call_of(attempt: AttemptId, call: &str) -> ReferenceName {
    format!("{attempt}-{call}").try_into().expect("a reference")
}

pub(crate) fn desk(world: &World, simulator: &Running, points: &Points, settings: Settings) -> Desk {
    let provider = SimulatorProvider::new(&simulator.base_url()).expect("the provider's address");
    let shards = world.hotels.shards();
    let databases = shards.all().map(|(id, database)| (id, database.clone().with_points(points.clone())));
    let shards = keyrack_db::Shards::new(
        shards.directory().clone().with_points(points.clone()),
        databases.collect::<std::collections::BTreeMap<ShardId, _>>(),
    );
    let signatures =
        SignatureCheck::new(vec![SECRET.into()], Duration::from_secs(300)).expect("fine settings");
    Desk::new(shards, Arc::new(provider), settings, Handle::current(), TaskTracker::new())
        .reading("simulator".parse().expect("a name"), Arc::new(SimulatorNotices::new(signatures)))
}

pub(crate) fn payment(hold: HoldId, method: &str, key: OperationKey) -> StartAttempt {
    let details = GuestDetails {
        name: "Asha Rao".to_owned(),
        email: Some("asha@example.com".to_owned()),
        ..GuestDetails::default()
    };
    StartAttempt {
        hold,
        method: method.parse().expect("a token"),
        guest: Guest::with_email(details).expect("a guest"),
        key,
    }
}
