mod charge_paid;
mod check_in;
mod check_out;
mod no_show;
mod refund;
mod step;
mod undo_no_show;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes
        .service(check_in::check_in)
        .service(check_out::check_out)
        .service(no_show::no_show)
        .service(undo_no_show::undo_no_show)
        .service(refund::refund)
        .service(charge_paid::charge_paid);
}
