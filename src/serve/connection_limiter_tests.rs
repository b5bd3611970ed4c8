use super::*;

fn address(text: &str) -> SocketAddr {
    SocketAddr::new(text.parse().unwrap(), 1)
}

fn is_evicted(evicted: &mut Evicted) -> bool {
    evicted.try_recv() == Err(oneshot::error::TryRecvError::Closed)
}

/// Admits this many connections of one peer.
fn admitted(
    limiter: &Arc<ConnectionLimiter>,
    peer: &str,
    count: usize,
) -> Vec<(Arc<ConnectionSlot>, Evicted)> {
    let one = || {
        let (slot, evicted) = limiter.admit(address(peer));
        (Arc::new(slot), evicted)
    };
    std::iter::repeat_with(one).take(count).collect()
}

/// Returns the positions of the connections that are evicted.
fn evicted(connections: &mut [(Arc<ConnectionSlot>, Evicted)]) -> Vec<usize> {
    let evicted = connections.iter_mut().enumerate();
    let evicted = evicted.filter_map(|(at, (_, evicted))| is_evicted(evicted).then_some(at));
    evicted.collect()
}

#[test]
fn the_connection_that_is_idle_longest_is_evicted() {
    let limiter = Arc::new(ConnectionLimiter::default());
    let mut all = admitted(&limiter, "10.0.0.1", MAX_CONNECTIONS);
    assert!(evicted(&mut all).is_empty());
    // The first was busy until now; the second is still busy.
    drop(all[0].0.begin_request());
    let answering = all[1].0.begin_request();
    let mut more = admitted(&limiter, "10.0.0.1", 2);
    assert_eq!(evicted(&mut all), [2, 3]);
    drop(answering);
    // A free slot is used first.
    all.truncate(MAX_CONNECTIONS - 1);
    more.extend(admitted(&limiter, "10.0.0.1", 1));
    assert_eq!(evicted(&mut all), [2, 3]);
    // Then the others are evicted; the second became idle after all of them.
    more.extend(admitted(&limiter, "10.0.0.1", MAX_CONNECTIONS - 4));
    let others: Vec<usize> = (0..MAX_CONNECTIONS - 1).filter(|at| *at != 1).collect();
    assert_eq!(evicted(&mut all), others);
    assert!(evicted(&mut more).is_empty());
}

#[test]
fn a_peer_loses_connections_only_to_peers_with_fewer() {
    let limiter = Arc::new(ConnectionLimiter::default());
    let mut first = admitted(&limiter, "10.0.0.1", 3);
    let mut many = admitted(&limiter, "10.0.0.2", MAX_CONNECTIONS - 3);
    let mut more = admitted(&limiter, "10.0.0.2", 10 * MAX_CONNECTIONS);
    assert!(evicted(&mut first).is_empty());
    assert_eq!(evicted(&mut many).len(), MAX_CONNECTIONS - 3);
    // Until both have the same number.
    let mut others = admitted(&limiter, "10.0.0.3", MAX_CONNECTIONS);
    assert!(evicted(&mut first).is_empty());
    let left = more.len() - evicted(&mut more).len();
    assert!(left.abs_diff((MAX_CONNECTIONS - 3) / 2) <= 1, "{left}");
    let left = others.len() - evicted(&mut others).len();
    assert!(left.abs_diff((MAX_CONNECTIONS - 3) / 2) <= 1, "{left}");
}

#[test]
fn active_requests_never_hold_all_connections() {
    let limiter = Arc::new(ConnectionLimiter::default());
    let mut all = Vec::new();
    let mut answered = Vec::new();
    for peer in ["10.0.0.1", "10.0.0.2"] {
        let of_peer = admitted(&limiter, peer, MAX_REQUESTS);
        let answering = |(slot, _): &(Arc<ConnectionSlot>, Evicted)| slot.begin_request();
        answered.extend(of_peer.iter().filter_map(answering));
        all.extend(of_peer);
    }
    // Half of the requests of each peer are accepted, those of its first connections.
    assert_eq!(answered.len(), 2 * MAX_PEER_REQUESTS);
    // Busy connections are never evicted.
    drop(admitted(&limiter, "10.0.0.3", 10 * MAX_CONNECTIONS));
    let first = |at: &usize| at % MAX_REQUESTS < MAX_PEER_REQUESTS;
    let evicted_now = evicted(&mut all);
    assert!(!evicted_now.is_empty() && !evicted_now.iter().any(first));
    while limiter.evict_one() {}
    let others: Vec<usize> = (0..MAX_CONNECTIONS).filter(|at| !first(at)).collect();
    assert_eq!(evicted(&mut all), others);
    // Another request is accepted only after one has ended.
    let next = admitted(&limiter, "10.0.0.3", 2);
    assert!(next[0].0.begin_request().is_none());
    answered.pop();
    assert!(next[0].0.begin_request().is_some());
    assert!(limiter.evict_one());
    // No connection is left.
    drop(next);
    drop(answered);
    drop(all);
    assert!(!limiter.evict_one());
}

#[test]
fn one_machine_is_one_peer() {
    let same = |a: &str, b: &str| Peer::from(address(a)) == Peer::from(address(b));
    assert!(same("10.0.0.1", "10.0.0.1"));
    assert!(same("10.0.0.1", "::ffff:10.0.0.1"));
    assert!(!same("10.0.0.1", "10.0.0.2"));
    assert!(!same("::ffff:10.0.0.1", "::ffff:10.0.0.2"));
    assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
    assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
}
