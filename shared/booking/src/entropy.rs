//! The one place of this crate that draws by chance.

use uuid::Uuid;

/// For a new row; ordered by time, which spares the indexes.
pub(crate) fn id() -> Uuid {
    Uuid::now_v7()
}

/// For a principal: tells nothing, not even when it came into being.
pub(crate) fn principal() -> Uuid {
    Uuid::new_v4()
}

/// 256 bits for a bearer token.
pub(crate) fn secret() -> [u8; 32] {
    rand::random()
}
