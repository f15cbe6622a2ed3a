use keyrack_api_types::inventory::InventoryNight;
use keyrack_booking::edit_inventory::NightView;

pub(crate) fn inventory_night(view: NightView) -> InventoryNight {
    let NightView { room_type, night, sellable, held, confirmed } = view;
    InventoryNight {
        room_type: room_type.into(),
        night: night.into(),
        sellable,
        held,
        confirmed,
        // The database refuses what would make this negative.
        available: sellable.saturating_sub(held + confirmed),
    }
}
