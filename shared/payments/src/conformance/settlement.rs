//! What the port promises of a provider's books. [`settlement_conformance!`](crate::settlement_conformance)
//! makes a test of each check.

use async_trait::async_trait;
use chrono::DateTime;
use keyrack_domain::{ids::AttemptId, money::Money};

use super::{Provider, ProviderControl, captured, money, price, soon};
use crate::{ChargeName, Moved, Refund, RefundTry, Settlement, SettlementFrom, SettlementLine};

/// What goes wrong at a provider without anybody having asked for it.
#[async_trait]
pub trait SettlementControl: ProviderControl {
    /// Takes the price once more, under a name that is none of ours. Its name.
    async fn charge_again(&self, attempt: AttemptId) -> ChargeName;
}

type Books<'a> = &'a dyn SettlementControl;

/// More pages than any check has.
const MAX_PAGES: usize = 100;

#[macro_export]
macro_rules! settlement_conformance {
    ($world:path) => {
        $crate::settlement_conformance!($world;
            everything_that_moved_is_a_line_in_its_order
            pages_of_any_size_are_the_same_lines_each_once
            b055_a_charge_of_another_name_is_a_line_and_goes_back_once
            books_without_a_deadline_left_are_not_asked_for
        );
    };
    ($world:path; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            let (provider, control) = $world().await;
            $crate::conformance::settlement::$check(&provider, &control).await;
        }
    )*};
}

/// From the first line on, in pages of that size.
async fn lines(provider: Provider<'_>, limit: u16) -> Vec<SettlementLine> {
    let mut from = SettlementFrom::Instant(DateTime::UNIX_EPOCH);
    let mut lines = Vec::new();
    for _ in 0..MAX_PAGES {
        let page = match provider.settlement(&from, limit, soon()).await {
            Settlement::Page(page) => page,
            Settlement::Unknown(doubt) => panic!("the books could not be read: {doubt:?}"),
        };
        assert!(page.lines.len() <= usize::from(limit));
        lines.extend(page.lines);
        if let Some(next) = page.next {
            from = SettlementFrom::Position(next);
        }
        if !page.more {
            return lines;
        }
    }
    panic!("the books have no end");
}

async fn refunded(provider: Provider<'_>, attempt: AttemptId, number: u32, amount: Money) -> RefundTry {
    let refund = RefundTry { attempt, number, try_number: 1 };
    let answer = provider.refund(refund, amount, soon()).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    refund
}

pub async fn everything_that_moved_is_a_line_in_its_order(provider: Provider<'_>, control: Books<'_>) {
    let first = captured(provider, control).await;
    let part = money("560.00", "INR");
    let refund = refunded(provider, first, 1, part).await;
    let second = captured(provider, control).await;
    let told = lines(provider, 100).await;
    let moved: Vec<_> = told.iter().map(|line| (line.moved.clone(), line.amount)).collect();
    let zero = Money::zero(part.currency());
    let expected = [
        (Moved::Captured { attempt: first, refunded: part }, price()),
        (Moved::Refunded { refund }, part),
        (Moved::Captured { attempt: second, refunded: zero }, price()),
    ];
    assert_eq!(moved, expected);
}

pub async fn pages_of_any_size_are_the_same_lines_each_once(provider: Provider<'_>, control: Books<'_>) {
    for number in 1..=3 {
        let attempt = captured(provider, control).await;
        refunded(provider, attempt, number, money("1.00", "INR")).await;
    }
    let all = lines(provider, 100).await;
    assert_eq!(all.len(), 6);
    for limit in [1, 2, 5, 6] {
        assert_eq!(lines(provider, limit).await, all, "{limit} a page");
    }
    let Settlement::Page(after) =
        provider.settlement(&SettlementFrom::Position(all[5].next.clone()), 5, soon()).await
    else {
        panic!("the books could not be read")
    };
    assert!(after.lines.is_empty() && !after.more, "{after:?}");
    let mut entries: Vec<_> = all.iter().map(|line| &line.entry).collect();
    entries.dedup();
    assert_eq!(entries.len(), 6);
}

pub async fn b055_a_charge_of_another_name_is_a_line_and_goes_back_once(
    provider: Provider<'_>,
    control: Books<'_>,
) {
    let attempt = captured(provider, control).await;
    let charge = control.charge_again(attempt).await;
    let told = lines(provider, 100).await;
    let expected = Moved::Charged { charge: charge.to_string(), attempt: Some(attempt) };
    assert_eq!(told.last().map(|line| (&line.moved, line.amount)), Some((&expected, price())));
    for _ in 0..2 {
        let answer = provider.return_charge(&charge, price(), soon()).await;
        assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    }
    let told = lines(provider, 100).await;
    let returned = Moved::Returned { charge: charge.to_string() };
    assert_eq!((told.len(), told.last().map(|line| &line.moved)), (3, Some(&returned)));
    assert!(matches!(&told[0].moved, Moved::Captured { refunded, .. } if refunded.is_zero()), "{told:?}");
}

pub async fn books_without_a_deadline_left_are_not_asked_for(provider: Provider<'_>, _control: Books<'_>) {
    let past = crate::Deadline::after(std::time::Duration::ZERO);
    let answer = provider.settlement(&SettlementFrom::Instant(DateTime::UNIX_EPOCH), 1, past).await;
    assert!(matches!(answer, Settlement::Unknown(crate::Doubt::NotAsked(_))), "{answer:?}");
}
