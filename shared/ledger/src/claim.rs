//! Step 3: claiming keys, identifiers and caps of a batch by advisory try-locks. Nobody waits inside the transaction.

use std::collections::HashSet;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    channel_booking::ChannelBookingKey,
    ids::{HotelId, PrincipalId},
    operation_key::Fingerprint,
};
use keyrack_store::{attempts, keys, keys::KeyScope, locks, pms_batches::BatchKey};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::operation::Found;

/// The key of one try of a call.
#[derive(Clone, Debug)]
pub struct KeyClaim {
    pub scope: KeyScope,
    pub fingerprint: Fingerprint,
    /// This very try: a record that carries it was written by us, though the commit's outcome was unknown.
    pub try_id: Uuid,
    pub home: KeyHome,
}

/// Where the record of a key lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyHome {
    /// `idempotency_keys`, for some days.
    Keys,
    /// The attempt itself, as long as the reservation.
    Attempts,
}

/// The key's lock: 64 bits of a hash, the same in every process.
pub(crate) fn key_lock(scope: &KeyScope) -> i64 {
    lock_of(&[
        b"key",
        &scope.hotel.0.to_be_bytes(),
        scope.principal.0.as_bytes(),
        scope.endpoint.0.as_bytes(),
        scope.key.as_str().as_bytes(),
    ])
}

pub(crate) fn cap_lock(hotel: HotelId, principal: PrincipalId) -> i64 {
    lock_of(&[b"cap", &hotel.0.to_be_bytes(), principal.0.as_bytes()])
}

/// Orders the calls about one booking of a channel, whoever makes them.
pub(crate) fn identifier_lock(booking: &ChannelBookingKey) -> i64 {
    lock_of(&[
        b"channel booking",
        &booking.hotel.0.to_be_bytes(),
        booking.channel.as_str().as_bytes(),
        booking.booking.as_str().as_bytes(),
    ])
}

/// Orders the deliveries of one connector of a hotel's system.
pub(crate) fn connector_lock(batch: &BatchKey) -> i64 {
    lock_of(&[b"pms connector", &batch.hotel.0.to_be_bytes(), batch.connector.0.as_bytes()])
}

fn lock_of(parts: &[&[u8]]) -> i64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    i64::from_be_bytes(first)
}

/// Those of `locks` that were had, tried in the order of their values.
pub(crate) async fn try_locks(
    connection: &mut PgConnection,
    mut wanted: Vec<i64>,
) -> Result<HashSet<i64>, DbError> {
    wanted.sort_unstable();
    wanted.dedup();
    locks::try_all(connection, &wanted).await
}

/// What is recorded under each key, in the order of `claims`. Always read after the state on which a
/// refusal could rest: read before it, it could refuse a copy whose original has just won.
pub(crate) async fn look_up(
    connection: &mut PgConnection,
    claims: &[&KeyClaim],
) -> Result<Vec<Option<Found>>, DbError> {
    let of = |home: KeyHome| -> (Vec<usize>, Vec<KeyScope>) {
        claims
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.home == home)
            .map(|(place, claim)| (place, claim.scope.clone()))
            .unzip()
    };
    let mut found: Vec<Option<Found>> = vec![None; claims.len()];
    let (places, scopes) = of(KeyHome::Keys);
    for (place, record) in places.into_iter().zip(keys::look_up(connection, &scopes).await?) {
        found[place] = record.map(Found::Record);
    }
    let (places, scopes) = of(KeyHome::Attempts);
    for (place, row) in places.into_iter().zip(attempts::look_up(connection, &scopes).await?) {
        found[place] = row.map(|row| Found::Attempt(Box::new(row)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_lock_cannot_run_into_each_other() {
        assert_ne!(lock_of(&[b"ab", b"c"]), lock_of(&[b"a", b"bc"]));
        assert_eq!(lock_of(&[b"ab", b"c"]), lock_of(&[b"ab", b"c"]));
    }
}
