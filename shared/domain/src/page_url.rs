//! Where a customer is sent to confirm a payment: a page of the provider's.

use std::{fmt, str::FromStr};

/// `http` or `https`, visible ASCII, at most 2048 characters. Whoever has it may act for the customer, so
/// `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct PageUrl(String);

const MAX_LENGTH: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the address of a page")]
pub struct NotAPageUrl;

impl PageUrl {
    /// To be stored, and told to the customer.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for PageUrl {
    type Err = NotAPageUrl;

    fn from_str(text: &str) -> Result<Self, NotAPageUrl> {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let has_host =
            host.is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if has_host && visible && text.len() <= MAX_LENGTH {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPageUrl)
        }
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PageUrl(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_web_page_is_one_and_it_is_not_shown() {
        let url: PageUrl = "http://127.0.0.1:8081/simulator/customer/a-auth".parse().expect("a page");
        assert_eq!(format!("{url:?}"), "PageUrl(..)");
        let long = format!("https://h/{}", "x".repeat(MAX_LENGTH));
        for text in ["", "https://", "http:///a", "javascript:alert(1)", "ftp://h/", "https://h/ a", &long] {
            assert_eq!(text.parse::<PageUrl>(), Err(NotAPageUrl), "{text}");
        }
    }
}
