use keyrack_api_types::hold::Hold;
use keyrack_booking::views::HoldView;
use keyrack_domain::ids::HoldId;

pub(crate) fn hold(view: HoldView) -> Hold {
    let HoldView { id, hotel, quote, state, stay, total, created_at, expires_at } = view;
    Hold {
        id,
        state: state.into(),
        expires_at: expires_at.into(),
        total: total.into(),
        hotel: hotel.into(),
        quote_id: quote,
        check_in: stay.check_in().into(),
        check_out: stay.check_out().into(),
        created_at: created_at.into(),
    }
}

pub(crate) fn hold_path(id: HoldId) -> String {
    format!("/v1/holds/{id}")
}
