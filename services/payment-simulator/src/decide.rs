//! The rules of this provider, as a pure function of what it knows and what it is asked.

use crate::{
    book::{Book, Entry},
    charge::{Kind, State},
    input::{Amount, Input, ReferenceName},
    method::Method,
};

/// Nothing happened, and asking the same again will not help by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    UnknownMethod,
    /// The reference stands for another call, or for the same one with other input.
    ReferenceInUse,
    NotAuthorized,
    AuthorizationVoided,
    AlreadyCaptured,
    /// A capture is under way and can no longer be stopped.
    CapturePending,
    ExceedsAuthorization,
    NotCaptured,
    ExceedsCapture,
    /// This try of a refund is lost; another one is a new call.
    RefundFailed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    New(State),
    /// The call is known; its answer is what became of it.
    Same,
    Refuse(Refusal),
}

pub(crate) fn decide(book: &Book, reference: &ReferenceName, input: &Input) -> Verdict {
    if let Some(entry) = book.get(reference).filter(|entry| entry.state != State::Refused) {
        return match &entry.input {
            Some(known) if known == input => Verdict::Same,
            None if input.kind() == Kind::Authorize => Verdict::Refuse(Refusal::AuthorizationVoided),
            _ => Verdict::Refuse(Refusal::ReferenceInUse),
        };
    }
    let decided = match input {
        Input::Authorize { method, .. } => authorize(*method),
        Input::Capture { authorization, amount } => capture(book, authorization, amount),
        Input::Void { authorization } => void(book, authorization),
        Input::Refund { capture, amount } => refund(book, reference, capture, amount),
        Input::RefundByHand { capture, amount } => refundable(book, capture, amount).map(|_| State::Refunded),
    };
    decided.map_or_else(Verdict::Refuse, Verdict::New)
}

fn authorize(method: Method) -> Result<State, Refusal> {
    match method {
        Method::Ok
        | Method::LostResponse
        | Method::Slow
        | Method::CaptureFails
        | Method::DuplicateWebhooks
        | Method::ReorderedWebhooks
        | Method::WrongAmount
        | Method::RefundFailsTwice => Ok(State::Authorized),
        Method::ThreeDs => Ok(State::ActionRequired),
        Method::Declined => Ok(State::Declined),
        Method::Timeout => Ok(State::Waiting),
        Method::Unknown => Err(Refusal::UnknownMethod),
    }
}

fn capture(book: &Book, authorization: &ReferenceName, amount: &Amount) -> Result<State, Refusal> {
    let entry = book.get_as(Kind::Authorize, authorization).ok_or(Refusal::NotAuthorized)?;
    may_still_be_captured(book, entry)?;
    match entry.state {
        State::Authorized => {}
        State::Voided => return Err(Refusal::AuthorizationVoided),
        _ => return Err(Refusal::NotAuthorized),
    }
    let authorized = entry.input.as_ref().and_then(Input::amount).ok_or(Refusal::NotAuthorized)?;
    if amount.currency != authorized.currency || amount.amount > authorized.amount {
        return Err(Refusal::ExceedsAuthorization);
    }
    Ok(match entry.method() {
        Some(Method::CaptureFails) => State::Failed,
        Some(Method::Slow) => State::Waiting,
        _ => State::Captured,
    })
}

/// One capture per authorization: a second one under another reference would be a second charge.
fn may_still_be_captured(book: &Book, authorization: &Entry) -> Result<(), Refusal> {
    match authorization.captured_by.as_ref().and_then(|capture| book.get(capture)) {
        None => Ok(()),
        Some(capture) if capture.state == State::Waiting => Err(Refusal::CapturePending),
        Some(_) => Err(Refusal::AlreadyCaptured),
    }
}

/// Also of what was never asked for: the cancel may have overtaken it, and then it must not happen.
fn void(book: &Book, authorization: &ReferenceName) -> Result<State, Refusal> {
    match book.get(authorization) {
        None => Ok(State::Voided),
        Some(entry) if entry.kind() != Kind::Authorize => Err(Refusal::NotAuthorized),
        Some(entry) => may_still_be_captured(book, entry).map(|()| State::Voided),
    }
}

/// How many tries a refund loses whose method says so.
pub(crate) const LOST_TRIES: usize = 2;

fn refund(
    book: &Book,
    reference: &ReferenceName,
    capture: &ReferenceName,
    amount: &Amount,
) -> Result<State, Refusal> {
    let entry = refundable(book, capture, amount)?;
    let fails = book.method_behind(entry) == Some(Method::RefundFailsTwice);
    if fails && (entry.lost_refunds.contains(reference) || entry.lost_refunds.len() < LOST_TRIES) {
        return Err(Refusal::RefundFailed);
    }
    Ok(State::Refunded)
}

/// The capture, where so much of it can still go back.
fn refundable<'b>(book: &'b Book, capture: &ReferenceName, amount: &Amount) -> Result<&'b Entry, Refusal> {
    let entry = book.get_as(Kind::Capture, capture).filter(|entry| entry.state == State::Captured);
    let captured = entry.and_then(|entry| Some((entry, entry.moved()?)));
    let (entry, captured) = captured.ok_or(Refusal::NotCaptured)?;
    let together = entry.refunded.checked_add(amount.amount).ok_or(Refusal::ExceedsCapture)?;
    if amount.currency != captured.currency || together > captured.amount {
        return Err(Refusal::ExceedsCapture);
    }
    Ok(entry)
}
