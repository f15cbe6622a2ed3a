//! What a fault is told with: what was asked and answered, and one of the worlds that the model has.

use keyrack_domain::quote::QuoteDocument;
use keyrack_model::{Call, Night, NightKey};

use super::lane::{Lane, UNITS};

impl Lane {
    fn one_world(&self) -> String {
        let world = self.world();
        let mut lines = vec![format!("now {:?}", world.now)];
        let held = |(key, night): (&NightKey, &Night)| format!("{} {}: {night:?}", key.date, key.room_type);
        lines.extend(world.nights.iter().filter(|(_, night)| night.available() != UNITS).map(held));
        let holds = world.holds.iter().map(|(id, hold)| {
            format!("{id} {:?} until {:?}, {:?}", hold.state, hold.expires_at, hold.deferred_until)
        });
        lines.extend(holds);
        lines.extend(world.attempts.iter().map(|(id, attempt)| {
            format!(
                "{id} {:?} of {} {:?} until {:?}",
                attempt.state, attempt.hold, attempt.change, attempt.deadline
            )
        }));
        lines.extend(world.reservations.iter().map(|(id, made)| {
            format!("{id} {:?} v{} {:?} paid by {:?}", made.state, made.version, made.nights, made.paid_by)
        }));
        lines.extend(world.changes.iter().map(|(id, change)| {
            format!(
                "{id} {:?} of v{} of {} {:?}",
                change.state, change.base_version, change.reservation, change.attempt
            )
        }));
        lines.join("\n")
    }

    pub(super) fn contradiction(&self, what: &str) -> ! {
        let tail = self.log.len().saturating_sub(60);
        panic!(
            "{}: {what}\n{} worlds, one of them:\n{}\nafter:\n{}",
            self.code,
            self.worlds.iter().count(),
            self.one_world(),
            self.log[tail..].join("\n")
        )
    }
}

pub(super) fn in_short(call: &Call) -> String {
    let document = |document: &QuoteDocument| {
        let rooms: Vec<String> =
            document.rooms.iter().map(|room| format!("{} {}", room.room_type, room.rate_plan)).collect();
        format!("{:?} {rooms:?} {}", document.stay, document.total)
    };
    match call {
        Call::Quote(call) => format!("quote {} {}", call.id, document(&call.document)),
        Call::Price(call) => {
            format!("price {} of {} v{} {}", call.id, call.reservation, call.if_match, document(&call.wanted))
        }
        Call::Deliver(call) => {
            format!("deliver {} r{} {}", call.booking.1, call.revision, document(&call.document))
        }
        other => format!("{other:?}"),
    }
}
