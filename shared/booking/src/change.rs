//! Every kind of counter change as one type, so that one batch can mix them.

use keyrack_db::DbError;
use keyrack_ledger::{Decision, Facts, Found, KeyClaim, Needs, Operation};

use crate::{
    allocate_anew::{AllocateAnewOp, AllocateAnswer},
    cancel::operation::{CancelAnswer, CancelOp},
    change_guest::{ChangeGuestAnswer, ChangeGuestOp},
    change_stay::start::{StartChangeAnswer, StartChangeOp},
    channel_booking::{
        operation::{BookAnswer, ChannelBookOp},
        withdrawal::{ChannelCancelOp, WithdrawAnswer},
    },
    confirm::{ConfirmAnswer, ConfirmOp},
    edit_inventory::operation::{EditAnswer, EditInventoryOp},
    expire::{ExpireAnswer, ExpireOp},
    fail_attempt::{FailAnswer, FailAttemptOp},
    front_desk::operation::{StepAnswer, StepOp},
    give_up_booking::{GiveUpAnswer, GiveUpBookingOp},
    place_hold::operation::{HoldAnswer, PlaceHoldOp},
    receive_notice::payment::{ApplyNoticeOp, NoticeAnswer},
    release::operation::{ReleaseAnswer, ReleaseOp},
    staff_refund::{StaffRefundAnswer, StaffRefundOp},
    start_attempt::operation::{AttemptAnswer, StartAttemptOp},
};

macro_rules! changes {
    ($($kind:ident($operation:ty) -> $answer:ty),* $(,)?) => {
        #[derive(Clone, Debug)]
        pub enum Change {
            $($kind($operation)),*
        }

        #[derive(Clone, Debug)]
        pub enum ChangeAnswer {
            $($kind($answer)),*
        }

        $(impl From<$operation> for Change {
            fn from(operation: $operation) -> Self {
                Self::$kind(operation)
            }
        })*

        impl Operation for Change {
            type Answer = ChangeAnswer;

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(operation) => operation.name()),*
                }
            }

            fn key(&self) -> Option<&KeyClaim> {
                match self {
                    $(Self::$kind(operation) => operation.key()),*
                }
            }

            fn yields(&self) -> bool {
                match self {
                    $(Self::$kind(operation) => operation.yields()),*
                }
            }

            fn runs_alone(&self) -> bool {
                match self {
                    $(Self::$kind(operation) => operation.runs_alone()),*
                }
            }

            fn needs(&self, facts: &Facts) -> Needs {
                match self {
                    $(Self::$kind(operation) => operation.needs(facts)),*
                }
            }

            fn unseen(&self, facts: &Facts) -> Option<ChangeAnswer> {
                match self {
                    $(Self::$kind(operation) => operation.unseen(facts).map(ChangeAnswer::$kind)),*
                }
            }

            fn decide(&self, facts: &Facts) -> Decision<ChangeAnswer> {
                match self {
                    $(Self::$kind(operation) => operation.decide(facts).map(ChangeAnswer::$kind)),*
                }
            }

            fn replay(&self, found: &Found) -> Result<ChangeAnswer, DbError> {
                match self {
                    $(Self::$kind(operation) => operation.replay(found).map(ChangeAnswer::$kind)),*
                }
            }
        }
    };
}

changes! {
    PlaceHold(PlaceHoldOp) -> HoldAnswer,
    Release(ReleaseOp) -> ReleaseAnswer,
    StartAttempt(StartAttemptOp) -> AttemptAnswer,
    Confirm(ConfirmOp) -> ConfirmAnswer,
    AllocateAnew(AllocateAnewOp) -> AllocateAnswer,
    FailAttempt(FailAttemptOp) -> FailAnswer,
    ApplyNotice(ApplyNoticeOp) -> NoticeAnswer,
    GiveUpBooking(GiveUpBookingOp) -> GiveUpAnswer,
    Expire(ExpireOp) -> ExpireAnswer,
    Cancel(CancelOp) -> CancelAnswer,
    ChangeGuest(ChangeGuestOp) -> ChangeGuestAnswer,
    StartChange(StartChangeOp) -> StartChangeAnswer,
    Step(StepOp) -> StepAnswer,
    StaffRefund(StaffRefundOp) -> StaffRefundAnswer,
    ChannelBook(ChannelBookOp) -> BookAnswer,
    ChannelCancel(ChannelCancelOp) -> WithdrawAnswer,
    EditInventory(EditInventoryOp) -> EditAnswer,
}
