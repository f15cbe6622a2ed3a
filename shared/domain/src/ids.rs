//! Identifiers. An id that a client sees carries its hotel in a fixed place, so that it
//! resolves to a shard without a look-up and a load balancer can route on it:
//! `hld_` + eight hex digits of the hotel + thirty-two of a version 7 UUID.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// Issued by the directory; never shown, a hotel is addressed by its [`HotelCode`](crate::code::HotelCode).
    HotelId
);
number_id!(
    /// Numbered within its hotel.
    RoomTypeId
);
number_id!(
    /// Numbered within its hotel, from 1.
    RatePlanId
);
number_id!(
    /// A PostgreSQL database that holds hotels.
    ShardId
);

/// Who is asking: guest, member, staff, connector, operator. Known to the directory, not to a shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PrincipalId(pub Uuid);

impl fmt::Display for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prn_{}", self.0.simple())
    }
}

/// What an id names; the prefix of its text form.
pub trait Kind {
    const PREFIX: &'static str;
}

/// An id of one hotel. Ordered by hotel first, which is the lock order within a kind.
pub struct Id<K> {
    hotel: HotelId,
    uuid: Uuid,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Id<K> {
    pub const fn new(hotel: HotelId, uuid: Uuid) -> Self {
        Self { hotel, uuid, kind: PhantomData }
    }

    pub const fn hotel(self) -> HotelId {
        self.hotel
    }

    pub const fn uuid(self) -> Uuid {
        self.uuid
    }
}

/// The text was not an id of this kind. A client is told only that nothing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind")]
pub struct NotAnId;

impl<K: Kind> FromStr for Id<K> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let rest = text.strip_prefix(K::PREFIX).and_then(|t| t.strip_prefix('_')).ok_or(NotAnId)?;
        if rest.len() != 40 || !rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(NotAnId);
        }
        let hotel = i32::from_str_radix(&rest[..8], 16).map_err(|_| NotAnId)?;
        let uuid = Uuid::try_parse(&rest[8..]).map_err(|_| NotAnId)?;
        Ok(Self::new(HotelId(hotel), uuid))
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{:08x}{}", K::PREFIX, self.hotel.0, self.uuid.simple())
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.hotel, self.uuid) == (other.hotel, other.uuid)
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.hotel, self.uuid).cmp(&(other.hotel, other.uuid))
    }
}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.hotel, self.uuid).hash(state);
    }
}
impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

macro_rules! kinds {
    ($($kind:ident $alias:ident $prefix:literal),* $(,)?) => {$(
        #[derive(Debug, Clone, Copy)]
        pub enum $kind {}
        impl Kind for $kind {
            const PREFIX: &'static str = $prefix;
        }
        pub type $alias = Id<$kind>;
    )*};
}

kinds! {
    Quote QuoteId "quo",
    Hold HoldId "hld",
    Attempt AttemptId "att",
    Reservation ReservationId "res",
    Refund RefundId "ref",
    Change ChangeId "chg",
    Credential CredentialId "crd",
    Notice NoticeId "ntc",
    Letter LetterId "dlt",
    Finding FindingId "fnd",
    Conflict ConflictId "cfl",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_carries_its_hotel_in_a_fixed_place() {
        let id = HoldId::new(HotelId(204), Uuid::from_u128(7));
        assert_eq!(id.to_string(), "hld_000000cc00000000000000000000000000000007");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn what_is_not_an_id_of_the_kind_is_refused() {
        let id = HoldId::new(HotelId(204), Uuid::from_u128(7)).to_string();
        for text in [
            "",
            "hld_",
            "hld_000000cc0000000000000000000000000000000",
            "hld_000000CC00000000000000000000000000000007",
            "hld_ffffffff00000000000000000000000000000007",
            "hld_000000cc0000000000000000000000000000é07",
            &id.replace("hld", "att"),
            &format!("{id} "),
        ] {
            assert_eq!(text.parse::<HoldId>(), Err(NotAnId), "{text:?}");
        }
    }
}
