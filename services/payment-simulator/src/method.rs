use serde::{Deserialize, Serialize};

/// What a payment method does. Tokens that are not in this list are refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Method {
    /// Everything works.
    #[serde(rename = "pm_ok")]
    Ok,
    /// The authorization is declined.
    #[serde(rename = "pm_declined")]
    Declined,
    /// The authorization is received, nothing happens, no answer comes.
    #[serde(rename = "pm_timeout")]
    Timeout,
    /// The capture happens, and every answer to it is lost on its way.
    #[serde(rename = "pm_lost_response")]
    LostResponse,
    /// The capture happens, but only after the client's deadline.
    #[serde(rename = "pm_slow")]
    Slow,
    /// Authorizes, and refuses every capture.
    #[serde(rename = "pm_capture_fails")]
    CaptureFails,
    /// The customer is asked first, on the simulator's page.
    #[serde(rename = "pm_3ds")]
    ThreeDs,
    /// Everything works, and every notice is sent twice, and once more under another event id.
    #[serde(rename = "pm_duplicate_webhooks")]
    DuplicateWebhooks,
    /// Everything works, and the notice of the authorization is sent after that of the capture.
    #[serde(rename = "pm_reordered_webhooks")]
    ReorderedWebhooks,
    /// Another amount is captured than was asked for, and the provider says so.
    #[serde(rename = "pm_wrong_amount")]
    WrongAmount,
    /// The first two tries of a refund are refused for good, the third succeeds.
    #[serde(rename = "pm_refund_fails_twice")]
    RefundFailsTwice,
    /// Any other token. Kept without its text: it might be somebody's real one.
    #[serde(other, rename = "unknown")]
    Unknown,
}
