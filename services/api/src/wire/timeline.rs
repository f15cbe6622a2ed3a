use keyrack_api_types::timeline::{
    AttemptPart, BookingParts, ChangePart, Happened, HoldPart, RefundPart, ReservationPart, TimelineEntry,
    TimelineEvent, TimelineItem, TimelineMovement,
};
use keyrack_booking::timeline::{self, Belongings, Entry, Event, Item, Movement};

pub(crate) fn belongings(of: Belongings) -> BookingParts {
    BookingParts {
        hotel: of.hotel.code.to_string(),
        reservation: of.reservation.map(|row| ReservationPart {
            id: row.id,
            state: row.state.as_str().to_owned(),
            version: row.version,
        }),
        quotes: of.quotes,
        holds: of
            .holds
            .into_iter()
            .map(|row| HoldPart {
                id: row.id,
                state: row.state.as_str().to_owned(),
                expires_at: row.expires_at.into(),
            })
            .collect(),
        attempts: of
            .attempts
            .into_iter()
            .map(|row| AttemptPart {
                id: row.id,
                purpose: row.purpose.as_str().to_owned(),
                state: row.state.as_str().to_owned(),
                hold_id: row.hold,
                amount: row.amount.into(),
                captured: row.captured.into(),
                refund_committed: row.refund_committed.into(),
                deadline: row.deadline_at.into(),
                reason: row.failure,
            })
            .collect(),
        changes: of
            .changes
            .into_iter()
            .map(|row| ChangePart {
                id: row.id,
                state: row.state.as_str().to_owned(),
                attempt_id: row.attempt,
            })
            .collect(),
        refunds: of
            .refunds
            .into_iter()
            .map(|row| RefundPart {
                id: row.id,
                attempt_id: row.attempt,
                state: row.state.as_str().to_owned(),
                amount: row.amount.into(),
                number: row.number,
                r#try: row.try_number,
            })
            .collect(),
    }
}

pub(crate) fn timeline_item(item: Item) -> TimelineItem {
    TimelineItem { at: item.at.into(), happened: happened(item.happened) }
}

fn happened(of: timeline::Happened) -> Happened {
    use timeline::Happened as Told;
    match of {
        Told::Quote { quote, expires_at } => {
            Happened::Quote { quote_id: quote, expires_at: expires_at.into() }
        }
        Told::Transaction { transaction, entries, events, movements } => Happened::Transaction {
            transaction_id: transaction,
            entries: entries.into_iter().map(entry).collect(),
            events: events.into_iter().map(event).collect(),
            movements: movements.into_iter().map(movement).collect(),
        },
        Told::ProviderCall { call, reference, answered_at, outcome, detail } => {
            let answered_at = answered_at.map(Into::into);
            Happened::ProviderCall { call, reference, answered_at, outcome, detail }
        }
        Told::Notice { provider, event, told, reference, amount, outcome, finding, transaction } => {
            let (event_id, transaction_id, amount) = (event, transaction, amount.map(Into::into));
            Happened::Notice { provider, event_id, told, reference, amount, outcome, finding, transaction_id }
        }
        Told::Replay { action, subject, actor, request_id, state, picked_up } => {
            Happened::Replay { action, subject, actor, request_id, state, picked_up }
        }
    }
}

fn entry(of: Entry) -> TimelineEntry {
    let Entry { action, subject, actor, request_id, before, after } = of;
    TimelineEntry { action, subject, actor, request_id, before, after }
}

fn event(of: Event) -> TimelineEvent {
    TimelineEvent { r#type: of.name, payload: of.payload }
}

fn movement(of: Movement) -> TimelineMovement {
    TimelineMovement { kind: of.kind, reference: of.reference, amount: of.amount.into() }
}
