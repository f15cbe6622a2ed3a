//! What a hotel's own system says of its nights: whose turn a batch is, and what becomes of a night that it
//! reports below what is committed.

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == name)
            }
        }
    };
}

named!(
    /// What the numbers of a batch are.
    BatchMode {
        /// Units that may be sold in total, of the nights named.
        Absolute "absolute",
        /// What is added to them. None may be missing in between.
        Delta "delta",
        /// As absolute, and every other night of the window has none.
        Full "full",
    }
);

named!(
    /// What became of a batch when it was taken.
    BatchOutcome {
        Applied "applied",
        /// A later one had been taken before.
        Superseded "superseded",
    }
);

named!(
    LineOutcome {
        Applied "applied",
        /// The nights had that number already.
        Unchanged "unchanged",
        Superseded "superseded",
        /// A night of it is reported below what is held and confirmed. Its other nights are applied.
        Conflict "conflict",
        /// Nothing of it was applied.
        Invalid "invalid",
    }
);

/// Whether a batch that nobody has seen is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    Apply,
    Superseded,
    /// One before it is missing.
    Gap {
        expected: i64,
    },
}

impl Turn {
    /// `cursor` is the last sequence that was applied, 0 where there is none.
    pub const fn of(mode: BatchMode, sequence: i64, cursor: i64) -> Self {
        if sequence <= cursor {
            return Self::Superseded;
        }
        match mode {
            BatchMode::Delta if sequence > cursor.saturating_add(1) => Self::Gap { expected: cursor + 1 },
            BatchMode::Delta | BatchMode::Absolute | BatchMode::Full => Self::Apply,
        }
    }
}

named!(
    /// Of a night that was reported below what is held and confirmed.
    ConflictState {
        /// Waits for the staff. Nothing more of the night is sold.
        Open "OPEN",
        /// The reported number stands, and guests are rebooked: still nothing is sold.
        Walking "WALKING",
        Accepted "ACCEPTED",
        Overridden "OVERRIDDEN",
        /// What is committed fell to the reported number.
        Settled "SETTLED",
        /// A later batch named the night.
        Replaced "REPLACED",
    }
);

named!(
    /// What the staff decides.
    Resolution {
        /// What is committed becomes what can be sold: nothing more, until units come back.
        Accept "accept",
        /// The number that we had stays.
        Override "override",
        /// The reported number stands.
        Walk "walk",
    }
);

impl ConflictState {
    pub const fn waits(self) -> bool {
        matches!(self, Self::Open | Self::Walking)
    }

    /// None where it has ended. A walk may still be called off.
    pub const fn resolve(self, resolution: Resolution) -> Option<Self> {
        match (self, resolution) {
            (Self::Open | Self::Walking, Resolution::Accept) => Some(Self::Accepted),
            (Self::Open | Self::Walking, Resolution::Override) => Some(Self::Overridden),
            (Self::Open | Self::Walking, Resolution::Walk) => Some(Self::Walking),
            (Self::Accepted | Self::Overridden | Self::Settled | Self::Replaced, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_its_turn_by_mode_sequence_and_cursor() {
        use BatchMode::{Absolute, Delta, Full};
        let cases = [
            (Absolute, 885, 884, Turn::Apply),
            (Absolute, 900, 884, Turn::Apply),
            (Absolute, 884, 884, Turn::Superseded),
            (Full, 883, 884, Turn::Superseded),
            (Full, 1, 0, Turn::Apply),
            (Delta, 885, 884, Turn::Apply),
            (Delta, 886, 884, Turn::Gap { expected: 885 }),
            (Delta, 884, 884, Turn::Superseded),
            (Delta, 1, 0, Turn::Apply),
            (Delta, 2, 0, Turn::Gap { expected: 1 }),
            (Delta, i64::MAX, i64::MAX, Turn::Superseded),
            (Delta, i64::MAX, i64::MAX - 1, Turn::Apply),
        ];
        for (mode, sequence, cursor, turn) in cases {
            assert_eq!(Turn::of(mode, sequence, cursor), turn, "{mode:?} {sequence} after {cursor}");
        }
    }

    #[test]
    fn what_waits_can_be_resolved_and_what_has_ended_cannot() {
        for state in ConflictState::ALL {
            for resolution in Resolution::ALL {
                let to = state.resolve(*resolution);
                assert_eq!(to.is_some(), state.waits(), "{state:?} {resolution:?}");
                assert_eq!(
                    to.is_some_and(ConflictState::waits),
                    state.waits() && *resolution == Resolution::Walk
                );
            }
        }
    }
}
