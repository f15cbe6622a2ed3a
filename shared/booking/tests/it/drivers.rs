//! Whoever may end a captured attempt, started one by one while its request stands at the way back from the provider.

use keyrack_booking::{
    Desk,
    compare_settlement::{self, Compared},
    receive_notice::Received,
    reconcile::{self, Swept},
    start_attempt,
    views::{BookingView, Standing},
};
use keyrack_domain::{ids::AttemptId, principal::Caller};
use keyrack_testkit::{Gate, Gates};
use tokio::{runtime::Handle, task::JoinHandle};
use uuid::Uuid;

use crate::{
    desk_world::{DeskWorld, payment},
    telling::{PAISE, captured, notice, tell},
    world::{fresh_key, guest},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Driver {
    /// It comes back from the provider, and runs T3.
    Request,
    Notice,
    /// The same event again.
    Repeat,
    /// The provider calls the capture a failure.
    Failure,
    /// The sweep.
    Resolver,
    /// The comparison with the provider's books.
    Books,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// 201
    Confirmed,
    /// 409 with its refund.
    GivenBack,
    /// 202
    Pending,
    Notice(Received),
    Swept(Swept),
    Compared(Compared),
}

/// Every order of these.
pub(crate) fn orders<T: Copy>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |place: usize| {
        let mut rest = of.to_vec();
        let first = rest.remove(place);
        orders(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..of.len()).flat_map(beginning_with).collect()
}

/// One attempt whose money the provider has taken; its request stands before its T3.
pub(crate) struct Taken {
    pub(crate) guest: Caller,
    pub(crate) attempt: AttemptId,
    desk: Desk,
    request: Option<(Gate, JoinHandle<BookingView>)>,
}

impl Taken {
    /// Past the attempt's deadline, so that the sweep may take it too.
    pub(crate) async fn new(at: &DeskWorld, gates: &Gates, stay: (&str, &str)) -> Self {
        let (desk, guest) = (at.desk.clone(), guest());
        let hold = at.hold(&guest, stay).await.id;
        let mut gate = gates.close("pay.after_provider");
        let (to, payer) = (desk.clone(), guest.clone());
        let paying = Handle::current().spawn(async move {
            let request = payment(hold, "pm_ok", fresh_key());
            start_attempt::run(&to, &payer, request).await.expect("an answer").answer
        });
        gate.reached().await;
        let open = "SELECT attempt_id FROM payment_attempts WHERE state = 'PENDING_PAYMENT'";
        let attempt: Uuid = at.database().value(open).await.as_str().expect("an id").parse().expect("an id");
        let attempt = AttemptId::new(hold.hotel(), attempt);
        at.advance(121).await;
        Self { guest, attempt, desk, request: Some((gate, paying)) }
    }

    /// The request once; the others as often as wanted.
    pub(crate) fn start(&mut self, driver: Driver) -> JoinHandle<Told> {
        let (desk, attempt) = (self.desk.clone(), self.attempt);
        match driver {
            Driver::Request => {
                let (gate, paying) = self.request.take().expect("one request");
                gate.open();
                Handle::current()
                    .spawn(async move { said(&paying.await.expect("the request ends").standing) })
            }
            Driver::Notice | Driver::Repeat => Handle::current().spawn(async move {
                Told::Notice(tell(&desk, &captured(&format!("evt_{attempt}"), attempt)).await)
            }),
            Driver::Failure => Handle::current().spawn(async move {
                let body = notice(&format!("fail_{attempt}"), "capture.failed", attempt, "capture", PAISE);
                Told::Notice(tell(&desk, &body).await)
            }),
            Driver::Resolver => Handle::current().spawn(async move {
                let (_, ledger) = desk.ledgers().next().expect("a shard");
                Told::Swept(reconcile::run_once(&desk, ledger).await.expect("the sweep runs"))
            }),
            Driver::Books => Handle::current().spawn(async move {
                Told::Compared(compare_settlement::run_once(&desk).await.expect("the comparison runs"))
            }),
        }
    }

    /// To its end, alone.
    pub(crate) async fn run(&mut self, driver: Driver) -> Told {
        self.start(driver).await.expect("it ends")
    }
}

pub(crate) fn said(standing: &Standing) -> Told {
    match standing {
        Standing::Confirmed(_) => Told::Confirmed,
        Standing::NoRoom { .. } => Told::GivenBack,
        Standing::Pending { .. } => Told::Pending,
        Standing::Declined { .. } => panic!("money was taken: {standing:?}"),
    }
}
