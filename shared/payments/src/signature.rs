//! The signature of a notice: `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>`. Several `v1` are
//! those of several secrets, ours of several secrets too, so that one can be replaced without a gap.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

use crate::notice::NotAccepted;

/// A header longer than this is nobody's signature.
const MAX_HEADER: usize = 4096;

/// Signatures in one header, and secrets at once: bounds of the work that anybody can cause.
const MAX_SIGNATURES: usize = 16;
const MAX_SECRETS: usize = 8;

/// Bytes of an HMAC-SHA256.
const LENGTH: usize = 32;

/// Longest tolerance: with more, an old notice could be told again long after.
const MAX_TOLERANCE: Duration = Duration::from_secs(3600);

/// Says whether a body was signed with one of our secrets, and lately.
pub struct SignatureCheck {
    secrets: Vec<SecretString>,
    tolerance: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadSignatureSettings {
    #[error("there must be 1 to {MAX_SECRETS} secrets, and none of them may be empty")]
    Secrets,
    /// Zero would refuse everything, or, as elsewhere, mean that nothing is checked.
    #[error("the tolerance must be 1 s to {} s", MAX_TOLERANCE.as_secs())]
    Tolerance,
}

impl SignatureCheck {
    /// `tolerance` is how far the signature's time may lie from now, before or after.
    pub fn new(secrets: Vec<SecretString>, tolerance: Duration) -> Result<Self, BadSignatureSettings> {
        let is_empty = |secret: &SecretString| secret.expose_secret().is_empty();
        if !(1..=MAX_SECRETS).contains(&secrets.len()) || secrets.iter().any(is_empty) {
            return Err(BadSignatureSettings::Secrets);
        }
        if tolerance < Duration::from_secs(1) || tolerance > MAX_TOLERANCE {
            return Err(BadSignatureSettings::Tolerance);
        }
        Ok(Self { secrets, tolerance })
    }

    /// `header` as it came; `now` is real time.
    pub fn check(&self, header: Option<&[u8]>, body: &[u8], now: SystemTime) -> Result<(), NotAccepted> {
        let signed = header.and_then(Signed::read).ok_or(NotAccepted::NotAuthentic)?;
        let now = now.duration_since(UNIX_EPOCH).map_err(|_| NotAccepted::NotAuthentic)?.as_secs();
        if now.abs_diff(signed.time) > self.tolerance.as_secs() {
            return Err(NotAccepted::NotAuthentic);
        }
        // All pairs are compared whatever they come to, so that the time tells nothing.
        let mut fits = Choice::from(0);
        for secret in &self.secrets {
            let ours = digest(secret, signed.time_as_written, body);
            for theirs in &signed.signatures {
                fits |= ours.ct_eq(theirs);
            }
        }
        if bool::from(fits) { Ok(()) } else { Err(NotAccepted::NotAuthentic) }
    }
}

impl fmt::Debug for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureCheck").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

/// The header for a body that is signed at `at`: what a provider writes.
pub fn sign(secret: &SecretString, at: SystemTime, body: &[u8]) -> String {
    let time = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
    format!("t={time},v1={}", hex::encode(digest(secret, &time, body)))
}

fn digest(secret: &SecretString, time: &str, body: &[u8]) -> [u8; LENGTH] {
    // Safety of expect: an HMAC takes a key of any length.
    #[expect(clippy::expect_used, reason = "see above")]
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("any length");
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().into()
}

/// A header taken apart. Schemes other than `v1` are somebody else's and are passed over.
struct Signed<'h> {
    time: u64,
    time_as_written: &'h str,
    signatures: Vec<[u8; LENGTH]>,
}

impl<'h> Signed<'h> {
    fn read(header: &'h [u8]) -> Option<Self> {
        let text = Some(header).filter(|header| header.len() <= MAX_HEADER && header.is_ascii());
        let text = std::str::from_utf8(text?).ok()?;
        let mut times = Vec::new();
        let mut signatures = Vec::new();
        for part in text.split(',') {
            let (scheme, value) = part.split_once('=')?;
            match scheme.trim() {
                "t" => times.push(value.trim()),
                "v1" => {
                    let mut bytes = [0; LENGTH];
                    hex::decode_to_slice(value.trim(), &mut bytes).ok()?;
                    signatures.push(bytes);
                }
                _ => {}
            }
        }
        let [time_as_written] = times[..] else { return None };
        let is_number = !time_as_written.is_empty() && time_as_written.bytes().all(|b| b.is_ascii_digit());
        let time = time_as_written.parse().ok().filter(|_| is_number)?;
        let counted = (1..=MAX_SIGNATURES).contains(&signatures.len());
        counted.then_some(Self { time, time_as_written, signatures })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &[u8] = br#"{"id":"evt_1"}"#;
    const NOW: u64 = 1_768_032_000;

    fn secret(text: &str) -> SecretString {
        text.to_owned().into()
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn checking(secrets: &[&str]) -> SignatureCheck {
        let secrets = secrets.iter().map(|text| secret(text)).collect();
        SignatureCheck::new(secrets, Duration::from_secs(300)).expect("fine settings")
    }

    fn check(header: &[u8]) -> Result<(), NotAccepted> {
        checking(&["whsec_1"]).check(Some(header), BODY, at(NOW))
    }

    fn signature(secret_text: &str, time: u64) -> String {
        sign(&secret(secret_text), at(time), BODY)
    }

    /// Worked out with `openssl dgst -sha256 -hmac whsec_1` over `1768032000.{"id":"evt_1"}`.
    #[test]
    fn the_signature_is_the_one_that_others_work_out() {
        let hex = "858ff9fa358ed9cc0e81dcca012eec008d919e618711b5e77fb756d444ad734d";
        assert_eq!(signature("whsec_1", NOW), format!("t={NOW},v1={hex}"));
    }

    #[test]
    fn b040_a_signature_is_as_wrong_from_the_future_as_from_the_past() {
        for (time, fine) in [(NOW - 301, false), (NOW - 299, true), (NOW, true), (NOW + 299, true)] {
            assert_eq!(check(signature("whsec_1", time).as_bytes()).is_ok(), fine, "{time}");
        }
        assert_eq!(check(signature("whsec_1", NOW - 300).as_bytes()), Ok(()));
        assert_eq!(check(signature("whsec_1", NOW + 300).as_bytes()), Ok(()));
        assert_eq!(check(signature("whsec_1", NOW + 301).as_bytes()), Err(NotAccepted::NotAuthentic));
    }

    #[test]
    fn b041_a_header_that_is_no_signature_is_not_authentic() {
        let good = signature("whsec_1", NOW);
        let hex = &good[good.len() - 64..];
        let long = format!("{good},v0={}", "0".repeat(64 * 1024));
        let many = format!("t={NOW}{}", format!(",v1={hex}").repeat(17));
        for header in [
            "",
            "t,v1",
            "t=abc,v1=00",
            &format!("t={NOW},t={},v1={hex}", NOW + 1),
            &format!("t={NOW},t={NOW},v1={hex}"),
            "v1=é",
            &format!("{good},x=é"),
            &long,
            &many,
            &format!("v1={hex}"),
            &format!("t={NOW}"),
            &format!("t={NOW},v1="),
            &format!("t={NOW},v1={hex}00"),
            &format!("t=+{NOW},v1={hex}"),
            &format!("t=-1,v1={hex}"),
            &format!("t=99999999999999999999999,v1={hex}"),
            &format!("{good},"),
            &good.replace("v1", "v0"),
        ] {
            assert_eq!(check(header.as_bytes()), Err(NotAccepted::NotAuthentic), "{header:.80}");
        }
        assert_eq!(checking(&["whsec_1"]).check(None, BODY, at(NOW)), Err(NotAccepted::NotAuthentic));
        assert_eq!(check(good.as_bytes()), Ok(()));
    }

    #[test]
    fn while_a_secret_is_replaced_both_are_good_and_a_third_is_not() {
        let rotating = checking(&["whsec_new", "whsec_old"]);
        for (signer, fine) in [("whsec_new", true), ("whsec_old", true), ("whsec_other", false)] {
            let header = signature(signer, NOW);
            assert_eq!(rotating.check(Some(header.as_bytes()), BODY, at(NOW)).is_ok(), fine, "{signer}");
        }
        // The provider signs with both of its own: one that fits is enough.
        let other = signature("whsec_other", NOW);
        let both = format!("{other},{}", &signature("whsec_old", NOW)[format!("t={NOW},").len()..]);
        assert_eq!(rotating.check(Some(both.as_bytes()), BODY, at(NOW)), Ok(()));
    }

    #[test]
    fn b041_settings_that_would_check_nothing_are_refused() {
        let new = |secrets: &[&str], seconds| {
            let secrets = secrets.iter().map(|text| secret(text)).collect();
            SignatureCheck::new(secrets, Duration::from_secs(seconds)).err()
        };
        assert_eq!(new(&["whsec_1"], 0), Some(BadSignatureSettings::Tolerance));
        assert_eq!(new(&["whsec_1"], 3601), Some(BadSignatureSettings::Tolerance));
        assert_eq!(new(&[], 300), Some(BadSignatureSettings::Secrets));
        assert_eq!(new(&["whsec_1", ""], 300), Some(BadSignatureSettings::Secrets));
        assert_eq!(new(&["x"; 9], 300), Some(BadSignatureSettings::Secrets));
    }

    proptest! {
        #[test]
        fn bytes_that_we_did_not_sign_are_never_authentic(header in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(check(&header), Err(NotAccepted::NotAuthentic));
        }

        #[test]
        fn what_looks_like_a_header_is_never_authentic(header in "(t|v1|v0|x)?[=,]{0,2}[0-9a-f=,tv1 ]{0,140}") {
            prop_assert_eq!(check(header.as_bytes()), Err(NotAccepted::NotAuthentic));
        }

        #[test]
        fn one_changed_bit_of_the_body_or_the_signature_is_found(
            body in prop::collection::vec(any::<u8>(), 1..200),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let header = sign(&secret("whsec_1"), at(NOW), &body);
            let check = |header: &[u8], body: &[u8]| checking(&["whsec_1"]).check(Some(header), body, at(NOW));
            prop_assert_eq!(check(header.as_bytes(), &body), Ok(()));
            let mut other = body.clone();
            other[place.index(body.len())] ^= 1 << bit;
            prop_assert_eq!(check(header.as_bytes(), &other), Err(NotAccepted::NotAuthentic));
            let mut forged = header.into_bytes();
            let place = forged.len() - 1 - place.index(64);
            forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
            prop_assert_eq!(check(&forged, &body), Err(NotAccepted::NotAuthentic));
        }
    }
}
