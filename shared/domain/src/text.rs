//! Text that people typed. It is kept as it came: never trimmed, folded or normalized.

/// Why a text is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextFault {
    #[error("must be given")]
    Missing,
    #[error("must not be empty or only spaces")]
    Blank,
    #[error("must have at most {max} characters")]
    TooLong { max: usize },
    /// NUL cannot be stored at all; the others break mails, exports and terminals.
    #[error("must not contain control characters")]
    ControlCharacter,
    #[error("must be an email address such as guest@example.com")]
    NotAnEmail,
}

impl TextFault {
    /// Stable name, for the `code` of an error in a request.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "MISSING",
            Self::Blank => "BLANK",
            Self::TooLong { .. } => "TOO_LONG",
            Self::ControlCharacter => "CONTROL_CHARACTER",
            Self::NotAnEmail => "NOT_AN_EMAIL",
        }
    }
}

/// One or more paragraphs of at most `max` code points. Tab and line ends are part of what people
/// paste, so they stay; every other control character is refused.
pub fn check_text(text: &str, max: usize) -> Result<(), TextFault> {
    check(text, max, |c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}

/// One line of at most `max` code points, without any control character.
pub fn check_line(text: &str, max: usize) -> Result<(), TextFault> {
    check(text, max, char::is_control)
}

fn check(text: &str, max: usize, refused: impl Fn(char) -> bool) -> Result<(), TextFault> {
    // A code point has at most four bytes, so a huge text is refused without walking through it.
    if text.len() > max.saturating_mul(4) || text.chars().count() > max {
        return Err(TextFault::TooLong { max });
    }
    if text.chars().any(refused) {
        return Err(TextFault::ControlCharacter);
    }
    if text.trim().is_empty() {
        return Err(TextFault::Blank);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_code_points() {
        assert_eq!(check_text(&"é".repeat(255), 255), Ok(()));
        assert_eq!(check_text(&"é".repeat(256), 255), Err(TextFault::TooLong { max: 255 }));
    }

    #[test]
    fn a_paragraph_may_have_line_ends_and_a_line_may_not() {
        assert_eq!(check_text("late arrival\r\n\tcall first", 100), Ok(()));
        assert_eq!(check_line("late arrival\r\n", 100), Err(TextFault::ControlCharacter));
    }
}
