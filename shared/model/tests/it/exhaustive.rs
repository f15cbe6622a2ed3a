//! Every interleaving of hold, attempt, expiry, confirm and reconciliation.

use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model};

use crate::protocol::{Fault, Protocol, properties};

#[test]
fn no_interleaving_breaks_the_protocol_when_late_captures_are_refunded() {
    Protocol { reallocate: false, fault: None }.checker().spawn_bfs().join().assert_properties();
}

#[test]
fn no_interleaving_breaks_the_protocol_when_late_captures_are_allocated_anew() {
    Protocol { reallocate: true, fault: None }.checker().spawn_bfs().join().assert_properties();
}

/// A search that finds nothing proves something only if it would find what is there.
#[test]
fn the_search_notices_every_guard_that_is_left_out() {
    let faults = [
        (Fault::ConfirmWithoutHoldFence, properties::COUNTERS),
        (Fault::ResolveWithoutAttemptGuard, properties::PAID),
        (Fault::ExpireWithoutStateGuard, properties::COUNTERS),
        (Fault::HoldWithoutCondition, properties::NEVER_OVERSOLD),
        (Fault::TwoOpenAttempts, properties::AT_MOST_ONE),
        (Fault::NoSettlementComparison, properties::MONEY_ENDS),
        (Fault::RefundWithoutStableReference, properties::REFUNDED_ONCE),
    ];
    for (fault, broken) in faults {
        let rules = Protocol { reallocate: false, fault: Some(fault) };
        let until = HasDiscoveries::AllOf(BTreeSet::from([broken]));
        let searched = rules.checker().finish_when(until).spawn_bfs().join();
        assert!(searched.discovery(broken).is_some(), "{fault:?} does not break {broken:?}");
    }
}
