use keyrack_api_types::inventory::InventoryNight;
use keyrack_booking::edit_inventory::NightView;

pub(crate) fn inventory_night(view: NightView) -> InventoryNight {
    let NightView { room_type, night, sellable, held, confirmed, reported } = view;
    InventoryNight {
        room_type: room_type.into(),
        night: night.into(),
        sellable,
        held,
        confirmed,
        // Below zero only where a conflict waits.
        available: reported.map_or(sellable, |most| most.min(sellable)).saturating_sub(held + confirmed),
        reported,
    }
}
