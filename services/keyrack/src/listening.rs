//! The socket of the API.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use tokio::net::TcpSocket;

use crate::failure::Failure;

/// Connections that wait to be accepted: a crowd that comes at one instant is not turned away.
const BACKLOG: u32 = 1024;

/// Bound before anything else is started, so that a taken port is told at once.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    bind(address).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Failure::PortTaken(address),
        _ => Failure::Listen { address, source },
    })
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port whose last connections of a former process still linger is free.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// How a client on this machine reaches it.
pub(crate) fn base_url(address: SocketAddr) -> String {
    let mut reached = address;
    if address.ip().is_unspecified() {
        reached.set_ip(if address.is_ipv4() {
            [127, 0, 0, 1].into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    format!("http://{reached}")
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn an_address_that_stands_for_all_of_them_is_reached_on_loopback() {
        for (address, url) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:8080", "http://[::1]:8080"),
            ("192.0.2.7:1", "http://192.0.2.7:1"),
        ] {
            assert_eq!(base_url(address.parse().unwrap()), url);
        }
    }
}
