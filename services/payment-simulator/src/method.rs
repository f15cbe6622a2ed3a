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
    /// Any other token. Kept without its text: it might be somebody's real one.
    #[serde(other, rename = "unknown")]
    Unknown,
}
