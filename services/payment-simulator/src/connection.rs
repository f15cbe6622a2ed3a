//! How an answer is lost: the connection under the request is shut down.

use std::{any::Any, net, net::Shutdown, os::fd::AsFd as _};

use actix_web::{HttpRequest, HttpResponse, dev::Extensions, rt::net::TcpStream};

/// A second handle on the connection's socket.
struct Connection(net::TcpStream);

/// Run by the server for each connection that it accepts.
pub(crate) fn remember(io: &dyn Any, extensions: &mut Extensions) {
    let stream = io.downcast_ref::<TcpStream>();
    if let Some(Ok(socket)) = stream.map(|stream| stream.as_fd().try_clone_to_owned()) {
        extensions.insert(Connection(socket.into()));
    }
}

/// Shuts the connection down. The response goes nowhere; were the socket not known, the client
/// would read a 500, which tells it as little.
pub(crate) fn cut(request: &HttpRequest) -> HttpResponse {
    if let Some(Connection(socket)) = request.conn_data() {
        // It fails only where the client has gone first.
        let _ = socket.shutdown(Shutdown::Both);
    }
    HttpResponse::InternalServerError().force_close().finish()
}
