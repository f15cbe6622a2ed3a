use keyrack_telemetry::log::{LogError, LogFormat, set_up};

#[test]
fn a_filter_that_cannot_be_read_is_refused_and_the_log_is_set_up_once() {
    assert!(matches!(set_up(LogFormat::Json, "keyrack=loud"), Err(LogError::Filter(_))));
    set_up(LogFormat::Text, "info").unwrap();
    assert!(matches!(set_up(LogFormat::Text, "info"), Err(LogError::SetUpAlready(_))));
}
