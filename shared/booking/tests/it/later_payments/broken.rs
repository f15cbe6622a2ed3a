//! Each rule of the charges broken on its own, behind the application's back: `verify` names it.

use keyrack_booking::verify;
use keyrack_domain::policy::PaymentPolicy;

use super::{book, collect, world};
use crate::world::guest;

#[tokio::test]
async fn charges_that_do_not_fit_their_stay_or_their_attempt_are_named() {
    let owed = "UPDATE scheduled_charges SET amount = amount";
    let cases = [
        (false, format!("{owed} + 1 WHERE number = 2"), "no more is kept and owed than the stay costs"),
        (
            false,
            format!("{owed} - 1 WHERE number = 2"),
            "what was paid and what is owed make up what the stay costs",
        ),
        (
            true,
            "UPDATE scheduled_charges SET amount = 1 WHERE number = 2".to_owned(),
            "a PAID charge has its CONFIRMED attempt, or the desk's word, charge 2",
        ),
        (
            true,
            "UPDATE scheduled_charges SET state = 'DUE' WHERE number = 2".to_owned(),
            "a charge that is being paid has an open attempt, charge 2",
        ),
        (
            true,
            "UPDATE scheduled_charges SET attempt_id = NULL WHERE number = 2".to_owned(),
            "an attempt to collect a charge is that of one charge",
        ),
    ];
    for (collected, statement, rule) in cases {
        let at = world(PaymentPolicy::Deposit).await;
        book(&at, &guest(), 1, "pm_ok").await;
        if collected {
            at.world.clock("2026-11-06T18:30:01Z").await;
            collect(&at).await;
        }
        at.verify().await;
        at.database().execute(&statement).await;
        let report = verify::run(at.world.hotels.shards(), verify::Options::default()).await;
        let rules: Vec<_> = report.told().map(|(.., violation)| violation.rule.clone()).collect();
        assert!(rules.iter().any(|told| told == rule), "{statement}: {rules:?}");
    }
}
