//! Seats for connections. A new connection always gets a seat at once: while all are taken, a connection
//! that waits for its client is closed for it.
//!
//! A connection *waits* while the next step is its client's: to send a request, or to take an answer. It
//! does not wait while a request of it is answered. Of all that wait, the one is closed whose peer has the
//! most connections, and among those of one peer the one that has waited longest. There always is one,
//! because fewer requests are answered at once than there are seats.
//!
//! How many bytes a client sends or takes does not count, so that a byte now and then holds no seat.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

/// The most connections at once.
const SEATS: usize = 256;

/// The most requests that are answered at once, those in a queue included: of all peers, and of one.
const REQUESTS: usize = SEATS / 2;
const PEER_REQUESTS: usize = REQUESTS / 2;

/// Who a connection is from: an IPv4 address, or the first 64 bits of an IPv6 address, since one machine
/// usually has all addresses that begin with them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Peer(IpAddr);

impl Peer {
    fn of(address: SocketAddr) -> Self {
        Self(match address.ip().to_canonical() {
            IpAddr::V6(ip) => {
                let network = ip.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            ip @ IpAddr::V4(_) => ip,
        })
    }
}

/// The connections that have seats.
#[derive(Default)]
pub(super) struct Seats(Mutex<Connections>);

#[derive(Default)]
struct Connections {
    by_number: BTreeMap<u64, Connection>,
    /// How many there have been.
    numbers: u64,
}

struct Connection {
    peer: Peer,
    /// Since when it waits for its client; `None` while a request of it is answered.
    waits_since: Option<Instant>,
    /// Closes the connection when it is dropped.
    _open: oneshot::Sender<()>,
}

/// A connection's seat; it is free again when this is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
}

/// Ends, with an error, when the connection has to close because another one got its seat.
pub(super) type Closed = oneshot::Receiver<()>;

/// A request that is answered; until it is dropped, the connection does not wait for its client.
pub(super) struct Answering(Arc<Seat>);

impl Seats {
    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new connection a seat; if all are taken, that of one that waits for its client.
    pub(super) fn seat(self: &Arc<Self>, address: SocketAddr) -> (Seat, Closed) {
        let peer = Peer::of(address);
        let mut connections = self.lock();
        if connections.by_number.len() >= SEATS {
            connections.close_one(Some(peer));
        }
        let (open, closed) = oneshot::channel();
        let number = connections.numbers;
        connections.numbers += 1;
        let connection = Connection {
            peer,
            waits_since: Some(Instant::now()),
            _open: open,
        };
        connections.by_number.insert(number, connection);
        let seats = Arc::clone(self);
        (Seat { seats, number }, closed)
    }

    /// Closes a connection that waits for its client; false if none does.
    pub(super) fn close_one(&self) -> bool {
        self.lock().close_one(None)
    }
}

impl Connections {
    /// Closes the connection that waits longest, of the peer that has the most connections, a new one
    /// included.
    fn close_one(&mut self, new: Option<Peer>) -> bool {
        let mut of_peer: BTreeMap<Peer, usize> = BTreeMap::new();
        let peers = self.by_number.values().map(|connection| connection.peer);
        for peer in peers.chain(new) {
            *of_peer.entry(peer).or_default() += 1;
        }
        let waiting = self.by_number.iter().filter_map(|(number, connection)| {
            let since = connection.waits_since?;
            let connections = of_peer.get(&connection.peer);
            Some((connections, Reverse((since, *number))))
        });
        let Some((_, Reverse((_, number)))) = waiting.max() else {
            return false;
        };
        self.by_number.remove(&number);
        true
    }
}

impl Seat {
    /// Counts a request as being answered; `None` if too many are already, or the connection is to close.
    pub(super) fn answering(self: &Arc<Self>) -> Option<Answering> {
        let mut connections = self.seats.lock();
        let peer = connections.by_number.get(&self.number)?.peer;
        let all = connections.by_number.values();
        let answered = all.filter(|connection| connection.waits_since.is_none());
        let peers: Vec<Peer> = answered.map(|connection| connection.peer).collect();
        let of_peer = peers.iter().filter(|other| **other == peer).count();
        if peers.len() >= REQUESTS || of_peer >= PEER_REQUESTS {
            return None;
        }
        connections.by_number.get_mut(&self.number)?.waits_since = None;
        Some(Answering(Arc::clone(self)))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut connections = self.0.seats.lock();
        if let Some(connection) = connections.by_number.get_mut(&self.0.number) {
            connection.waits_since = Some(Instant::now());
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().unwrap(), 1)
    }

    fn is_closed(closed: &mut Closed) -> bool {
        closed.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    /// Seats this many connections of one peer.
    fn seated(seats: &Arc<Seats>, peer: &str, count: usize) -> Vec<(Arc<Seat>, Closed)> {
        let one = || {
            let (seat, closed) = seats.seat(address(peer));
            (Arc::new(seat), closed)
        };
        std::iter::repeat_with(one).take(count).collect()
    }

    /// Which of these connections are closed, by their place.
    fn closed(connections: &mut [(Arc<Seat>, Closed)]) -> Vec<usize> {
        let closed = connections.iter_mut().enumerate();
        let closed = closed.filter_map(|(at, (_, closed))| is_closed(closed).then_some(at));
        closed.collect()
    }

    #[test]
    fn who_waits_longest_makes_room() {
        let seats = Arc::new(Seats::default());
        let mut all = seated(&seats, "10.0.0.1", SEATS);
        assert!(closed(&mut all).is_empty());
        // An answer has just been made for the first; the second is being answered.
        drop(all[0].0.answering());
        let answering = all[1].0.answering();
        let mut more = seated(&seats, "10.0.0.1", 2);
        assert_eq!(closed(&mut all), [2, 3]);
        drop(answering);
        // A free seat is taken first.
        all.truncate(SEATS - 1);
        more.extend(seated(&seats, "10.0.0.1", 1));
        assert_eq!(closed(&mut all), [2, 3]);
        // Then the others make room; the second has begun to wait after all of them.
        more.extend(seated(&seats, "10.0.0.1", SEATS - 4));
        let others: Vec<usize> = (0..SEATS - 1).filter(|at| *at != 1).collect();
        assert_eq!(closed(&mut all), others);
        assert!(closed(&mut more).is_empty());
    }

    #[test]
    fn a_peer_makes_room_only_for_one_that_has_fewer() {
        let seats = Arc::new(Seats::default());
        let mut first = seated(&seats, "10.0.0.1", 3);
        let mut many = seated(&seats, "10.0.0.2", SEATS - 3);
        let mut more = seated(&seats, "10.0.0.2", 10 * SEATS);
        assert!(closed(&mut first).is_empty());
        assert_eq!(closed(&mut many).len(), SEATS - 3);
        // Until both have as many.
        let mut others = seated(&seats, "10.0.0.3", SEATS);
        assert!(closed(&mut first).is_empty());
        let left = more.len() - closed(&mut more).len();
        assert!(left.abs_diff((SEATS - 3) / 2) <= 1, "{left}");
        let left = others.len() - closed(&mut others).len();
        assert!(left.abs_diff((SEATS - 3) / 2) <= 1, "{left}");
    }

    #[test]
    fn requests_that_are_answered_never_hold_all_seats() {
        let seats = Arc::new(Seats::default());
        let mut all = Vec::new();
        let mut answered = Vec::new();
        for peer in ["10.0.0.1", "10.0.0.2"] {
            let of_peer = seated(&seats, peer, REQUESTS);
            let answering = |(seat, _): &(Arc<Seat>, Closed)| seat.answering();
            answered.extend(of_peer.iter().filter_map(answering));
            all.extend(of_peer);
        }
        // Each peer has its half, the first of its connections.
        assert_eq!(answered.len(), 2 * PEER_REQUESTS);
        // Whatever comes, their connections stay.
        drop(seated(&seats, "10.0.0.3", 10 * SEATS));
        let first = |at: &usize| at % REQUESTS < PEER_REQUESTS;
        let closed_now = closed(&mut all);
        assert!(!closed_now.is_empty() && !closed_now.iter().any(first));
        while seats.close_one() {}
        let others: Vec<usize> = (0..SEATS).filter(|at| !first(at)).collect();
        assert_eq!(closed(&mut all), others);
        // There is no place for another request, and one as soon as a request is done.
        let next = seated(&seats, "10.0.0.3", 2);
        assert!(next[0].0.answering().is_none());
        answered.pop();
        assert!(next[0].0.answering().is_some());
        assert!(seats.close_one());
        // Nothing waits any more.
        drop(next);
        drop(answered);
        drop(all);
        assert!(!seats.close_one());
    }

    #[test]
    fn one_machine_is_one_peer() {
        let same = |a: &str, b: &str| Peer::of(address(a)) == Peer::of(address(b));
        assert!(same("10.0.0.1", "10.0.0.1"));
        assert!(same("10.0.0.1", "::ffff:10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
        assert!(!same("::ffff:10.0.0.1", "::ffff:10.0.0.2"));
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
    }
}
