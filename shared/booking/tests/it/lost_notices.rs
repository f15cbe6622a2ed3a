//! Notices that cannot be written, and those about what is not there: none of them is lost.

use keyrack_booking::{
    Fault, ops,
    receive_notice::{ReceiveNoticeError, Received, unmatched},
    views::Standing,
};
use keyrack_domain::{
    ids::{AttemptId, HotelId},
    notice::NoticeOutcome,
};
use serde_json::json;
use uuid::Uuid;

use crate::{
    desk_world::DeskWorld,
    notices::{is_confirmed_once, unanswered},
    telling::captured,
    world::guest,
};

const APPLIED: Received = Received::Recorded(NoticeOutcome::Applied);

#[tokio::test]
async fn b035_a_database_that_refuses_writes_is_told_and_the_repeat_confirms() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    let refusing = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
                    CREATE TRIGGER refuse BEFORE INSERT ON provider_events EXECUTE FUNCTION refuse();
                    CREATE TRIGGER refuse BEFORE INSERT ON directory.unmatched_notices EXECUTE FUNCTION refuse();";
    at.database().execute(refusing).await;
    let nobody = AttemptId::new(HotelId(77), Uuid::new_v4());
    for body in [captured("evt_1", attempt), captured("evt_2", nobody)] {
        for _ in 0..3 {
            let refused = at.try_tell(&body).await.expect_err("not durable");
            assert!(matches!(refused, ReceiveNoticeError::Fault(Fault::Unavailable(_))), "{refused:?}");
        }
    }
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Pending { .. }));
    assert_eq!((at.count("reservations").await, at.count("provider_events").await), (0, 0));
    at.verify().await;
    at.database()
        .execute("DROP TRIGGER refuse ON provider_events; DROP TRIGGER refuse ON directory.unmatched_notices")
        .await;
    assert_eq!(at.tell(&captured("evt_1", attempt)).await, APPLIED);
    assert_eq!(at.tell(&captured("evt_2", nobody)).await, Received::Unmatched);
    let mut other = captured("evt_3", attempt);
    other["type"] = json!("customer.created");
    assert_eq!(at.tell(&other).await, Received::NotOurs);
    is_confirmed_once(&at, &guest, attempt).await;
}

#[tokio::test]
async fn b035_a_notice_about_what_is_not_there_is_kept_listed_and_applied_when_it_appears() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let attempt = unanswered(&at, &guest).await.attempt;
    // As before a copy of the database is complete.
    let elsewhere = Uuid::new_v4();
    let rename = |from: Uuid, to: Uuid| {
        format!("UPDATE payment_attempts SET attempt_id = '{to}' WHERE attempt_id = '{from}'")
    };
    at.database().execute(&rename(attempt.uuid(), elsewhere)).await;
    let mut of_nobody = captured("evt_2", attempt);
    of_nobody["reference"] = json!("re_123");
    let of_another_hotel = captured("evt_3", AttemptId::new(HotelId(77), Uuid::new_v4()));
    for body in [captured("evt_1", attempt), of_nobody, of_another_hotel] {
        assert_eq!(at.tell(&body).await, Received::Unmatched);
        assert_eq!(at.tell(&body).await, Received::Duplicate);
    }
    let listed = || async {
        let page = ops::unmatched_notices(&at.desk, &at.world.operator, None, 10).await.expect("a list");
        page.items.into_iter().map(|row| (row.event, row.attempt)).collect::<Vec<_>>()
    };
    let kept = listed().await;
    assert_eq!(kept.len(), 3);
    assert_eq!((kept[0].clone(), kept[1].1), (("evt_1".to_owned(), Some(attempt)), None));
    at.database().execute(&rename(elsewhere, attempt.uuid())).await;
    let matched = unmatched::run_once(&at.desk).await.expect("a run");
    assert_eq!((matched.taken, matched.applied), (2, 1));
    let left: Vec<String> = listed().await.into_iter().map(|(event, _)| event).collect();
    assert_eq!(left, ["evt_2", "evt_3"]);
    assert_eq!(at.tell(&captured("evt_1", attempt)).await, Received::Duplicate);
    is_confirmed_once(&at, &guest, attempt).await;
    let page = ops::unmatched_notices(&at.desk, &guest, None, 10).await;
    assert!(matches!(page, Err(ops::OpsError::NotFound)));
}
