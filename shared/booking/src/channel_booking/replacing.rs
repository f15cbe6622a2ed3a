//! A delivered stay in the place of the one that is booked: which rooms are meant, and what they drop and
//! take.

use std::collections::{BTreeMap, BTreeSet};

use keyrack_domain::{money::Money, quote::QuotedRoom};
use keyrack_ledger::{ReservationFacts, ReservationMove, StayReplaced, UnitNight};

use super::input::Wanted;
use crate::place_hold::operation::units_of;

/// Rooms keep their numbers where the delivery still has one like them: the same type, plan and guests
/// before the same type before any other, each in order. What is left over goes, or is new.
pub(super) fn replace(reservation: &ReservationFacts, wanted: &Wanted) -> StayReplaced {
    let row = &reservation.row;
    let standing: Vec<(i16, &QuotedRoom)> = (1_i16..)
        .zip(&row.document.rooms)
        .filter(|(number, _)| reservation.rooms.iter().any(|r| r.room == *number && r.cancelled.is_none()))
        .collect();
    let meant = meant(&standing, &wanted.document.rooms);
    let mut document = wanted.document.clone();
    document.rooms.clone_from(&row.document.rooms);
    let (mut kept, mut removed, mut new_rooms) = (Vec::new(), Vec::new(), Vec::new());
    for (number, sold) in &standing {
        let place = usize::try_from(*number - 1).unwrap_or(usize::MAX);
        match (meant.iter().position(|of| *of == Some(*number)), document.rooms.get_mut(place)) {
            (Some(now), Some(room)) => {
                room.clone_from(&wanted.document.rooms[now]);
                kept.push((*number, room.total));
            }
            _ => removed.push((*number, Money::zero(sold.total.currency()))),
        }
    }
    for (now, _) in meant.iter().enumerate().filter(|(_, of)| of.is_none()) {
        let room = wanted.document.rooms[now].clone();
        // At most so many rooms as there were deliveries of ten.
        new_rooms.push((i16::try_from(document.rooms.len() + 1).unwrap_or(i16::MAX), room.total));
        document.rooms.push(room);
    }
    let lives: BTreeSet<i16> = kept.iter().chain(&new_rooms).map(|(number, _)| *number).collect();
    let after = units_of(&document).into_iter().filter(|unit| lives.contains(&unit.room));
    let after: Vec<UnitNight> = after.collect();
    let dropped = beyond(&reservation.units, &after);
    let added = beyond(&after, &reservation.units);
    StayReplaced {
        shift: ReservationMove {
            id: row.id,
            from: row.state,
            to: row.state,
            from_version: row.version,
            to_version: row.version + 1,
        },
        stay: document.stay,
        total: document.total,
        change_fees: row.change_fees,
        guest: wanted.guest.clone(),
        document,
        dropped,
        added,
        kept,
        removed,
        new_rooms,
    }
}

/// What of `units` is not the same in `others`. A room has one unit a night.
fn beyond(units: &[UnitNight], others: &[UnitNight]) -> Vec<UnitNight> {
    let place = |unit: &UnitNight| (unit.room, unit.date);
    let others: BTreeMap<_, _> = others.iter().map(|unit| (place(unit), unit)).collect();
    units.iter().filter(|unit| others.get(&place(unit)) != Some(unit)).cloned().collect()
}

/// For each delivered room the number of the standing one that it is.
fn meant(standing: &[(i16, &QuotedRoom)], wanted: &[QuotedRoom]) -> Vec<Option<i16>> {
    let mut meant = vec![None; wanted.len()];
    let mut left: Vec<&(i16, &QuotedRoom)> = standing.iter().collect();
    for is_like in [sold_alike, of_one_type, any] {
        for (now, place) in wanted.iter().zip(&mut meant) {
            if place.is_none()
                && let Some(found) = left.iter().position(|(_, sold)| is_like(sold, now))
            {
                *place = Some(left.remove(found).0);
            }
        }
    }
    meant
}

fn sold_alike(one: &QuotedRoom, other: &QuotedRoom) -> bool {
    let guests = |room: &QuotedRoom| (room.adults, room.children_ages.clone());
    of_one_type(one, other) && one.rate_plan_id == other.rate_plan_id && guests(one) == guests(other)
}

fn of_one_type(one: &QuotedRoom, other: &QuotedRoom) -> bool {
    one.room_type_id == other.room_type_id
}

const fn any(_: &QuotedRoom, _: &QuotedRoom) -> bool {
    true
}
