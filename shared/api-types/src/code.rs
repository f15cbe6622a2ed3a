//! Every code that a problem document can carry. They are stable: clients decide by them.
//! Each has a page in `docs/problems/`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! codes {
    ($($(#[doc = $meaning:literal])* $code:ident $status:literal $name:literal $title:literal,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        #[schema(as = ProblemCode)]
        pub enum Code {
            $($(#[doc = $meaning])* $code,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            /// HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Self::$code => $status,)* }
            }

            /// The same words every time; what is particular stands in `detail`.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$code => $title,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$code => concat!($($meaning),*).trim_ascii(),)* }
            }
        }
    };
}

codes! {
    /// The body is not JSON, or the request is not HTTP as we read it.
    Malformed 400 "MALFORMED" "The request cannot be read",
    /// A write without the `Idempotency-Key` header.
    IdempotencyKeyRequired 400 "IDEMPOTENCY_KEY_REQUIRED" "An Idempotency-Key is required",
    /// The `Idempotency-Key` is not 1 to 255 visible ASCII characters, or was sent twice.
    IdempotencyKeyInvalid 400 "IDEMPOTENCY_KEY_INVALID" "The Idempotency-Key cannot be used",
    /// No credential, or one that is unknown, has ended or was withdrawn.
    Unauthenticated 401 "UNAUTHENTICATED" "Authentication is required",
    /// The payment was not made and nothing was taken.
    PaymentDeclined 402 "PAYMENT_DECLINED" "The payment was not made",
    /// There is no such thing, or it belongs to someone else: the answer does not tell which.
    NotFound 404 "NOT_FOUND" "Not found",
    /// The path exists, the method does not.
    MethodNotAllowed 405 "METHOD_NOT_ALLOWED" "The method is not allowed here",
    /// The request did not arrive in time.
    RequestTimeout 408 "REQUEST_TIMEOUT" "The request took too long to arrive",
    /// The request contradicts the present state, in a way that has no code of its own.
    Conflict 409 "CONFLICT" "The request contradicts the present state",
    /// A night has too few units left. Nothing was held.
    RoomNightUnavailable 409 "ROOM_NIGHT_UNAVAILABLE" "A night is not available",
    /// A rule of the hotel is in the way.
    RestrictionViolated 409 "RESTRICTION_VIOLATED" "A restriction is in the way",
    /// The hold was released, or a reservation has taken it over.
    HoldNotActive 409 "HOLD_NOT_ACTIVE" "The hold is not active",
    /// A payment for the hold is open; until it has ended the hold cannot be released, replaced or paid again.
    AttemptInProgress 409 "ATTEMPT_IN_PROGRESS" "A payment for the hold is in progress",
    /// Money was taken and there is no room. It is on its way back.
    BookingFailed 409 "BOOKING_FAILED" "Paid, but not booked: the money goes back",
    /// Another change of the reservation is being paid for.
    ChangeInProgress 409 "CHANGE_IN_PROGRESS" "A change of the stay is in progress",
    /// Money was taken for a change that could not be made any more. It is on its way back, and the stay is what it was.
    ChangeFailed 409 "CHANGE_FAILED" "Paid, but not changed: the money goes back",
    /// The channel booking was cancelled.
    BookingInactive 409 "BOOKING_INACTIVE" "The booking was cancelled",
    /// Another content of the booking is known under this revision or a higher one. Nothing was changed.
    StaleRevision 409 "STALE_REVISION" "The revision is not higher",
    /// A message of the hotel system is missing in between.
    SequenceGap 409 "SEQUENCE_GAP" "A message in between is missing",
    /// An edit would leave fewer units than are held and sold. Nothing was applied.
    BelowCommitted 409 "BELOW_COMMITTED" "Fewer units than are committed",
    /// An earlier call with this key is still being worked on.
    OperationInProgress 409 "OPERATION_IN_PROGRESS" "An earlier call with this key is in progress",
    /// The key is too old for a blind repeat: look first.
    IdempotencyKeyExpired 409 "IDEMPOTENCY_KEY_EXPIRED" "The key is too old to be repeated blindly",
    /// The code is taken.
    AlreadyExists 409 "ALREADY_EXISTS" "It exists already",
    /// The price promise has ended. Quote anew.
    QuoteExpired 410 "QUOTE_EXPIRED" "The quote has expired",
    /// The hold has ended. Quote and hold anew.
    HoldExpired 410 "HOLD_EXPIRED" "The hold has expired",
    /// The price of the change has ended. Price it anew.
    ChangeExpired 410 "CHANGE_EXPIRED" "The price of the change has expired",
    /// Somebody else changed it meanwhile.
    VersionConflict 412 "VERSION_CONFLICT" "The version is not the present one",
    /// The body is larger than the endpoint accepts.
    PayloadTooLarge 413 "PAYLOAD_TOO_LARGE" "The body is too large",
    /// The body is not declared as JSON, or is compressed.
    UnsupportedMediaType 415 "UNSUPPORTED_MEDIA_TYPE" "The media type is not supported",
    /// The body or a parameter is understood, and wrong: `errors` names what.
    Invalid 422 "INVALID" "The request is not valid",
    /// The key was used for other input.
    IdempotencyKeyReused 422 "IDEMPOTENCY_KEY_REUSED" "The key was used with other input",
    /// `If-Match` is required here.
    PreconditionRequired 428 "PRECONDITION_REQUIRED" "If-Match is required",
    /// Too many open holds at this hotel.
    HoldLimit 429 "HOLD_LIMIT" "Too many open holds",
    /// Our defect. The outcome of a write is unknown; the same key tells.
    Internal 500 "INTERNAL" "An internal error",
    /// A lock was not had in time. Nothing was done.
    HotNightBusy 503 "HOT_NIGHT_BUSY" "The night is busy",
    /// The hotel is being moved to another shard. Nothing was done.
    HotelMoving 503 "HOTEL_MOVING" "The hotel is being moved",
    /// The queue is full. Nothing was done.
    Overloaded 503 "OVERLOADED" "Too much at once",
    /// The database or another part cannot be reached. The outcome of a write is unknown; the same key tells.
    Unavailable 503 "UNAVAILABLE" "A part of the service cannot be reached",
}

impl Code {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The name of its page: `room_night_unavailable`.
    pub fn page(self) -> String {
        self.as_str().to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_code_is_the_same_in_json() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).expect("json"), code.as_str());
            assert_eq!(Code::from_name(code.as_str()), Some(*code));
            assert!(!code.meaning().is_empty());
        }
    }
}
