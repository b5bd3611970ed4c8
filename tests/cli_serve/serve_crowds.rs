//! Slow, idle and hundreds of connections that keep the server waiting, in every way that a client can: each is closed, and
//! other requests, also from the same address, are answered within a second.
//!
//! Bug classes: an endless wait for a head or a body, an answer that is sent without a deadline, a body that blocks an active
//! request, a rejection that keeps its connection, a client that takes the connections of others, a server that cannot stop
//! because of an unfinished request.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use crate::serve::ok;
use crate::support::command::{Place, record};
use crate::support::crowds::{Conduct, Crowd};
use crate::support::http::{Connection, Served};
use crate::support::long;

/// How many milliseconds anybody may wait, whatever a crowd does.
const SOON: u128 = 1000;

const TOKEN: &str = "0123456789abcdef";

/// How long a client may take nothing of an answer, and what a busy machine adds.
const SENDING: Duration = Duration::from_secs(10 + 5);

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Addresses of this machine that are not the one that the test asks from.
const OTHERS: [Ipv4Addr; 5] = [
    Ipv4Addr::new(127, 0, 0, 2),
    Ipv4Addr::new(127, 0, 0, 3),
    Ipv4Addr::new(127, 0, 0, 4),
    Ipv4Addr::new(127, 0, 0, 5),
    Ipv4Addr::new(127, 0, 0, 6),
];

/// How long a crowd stays: this many seconds, or as many as `LONG_CROWDS` says.
fn stay(seconds: u64) -> Duration {
    Duration::from_secs(long("LONG_CROWDS").map_or(seconds, u64::from))
}

/// A crowd, and how long it stays.
struct Visit<'a> {
    clients: usize,
    conducts: &'a [Conduct],
    stays: Duration,
}

impl Visit<'_> {
    /// Runs the crowd, once from the address that the test asks from and once from others, and asks
    /// meanwhile.
    fn delays_nobody(&self, targets: &[&'static str]) {
        const PLACES: [&[Ipv4Addr]; 2] = [&OTHERS, &[HERE]];
        let place = Place::with_seeds();
        place.write("token", TOKEN);
        // Of a crowd that stays for long, one place is enough in the suite.
        let is_long = self.stays > Duration::from_secs(5) && long("LONG_CROWDS").is_none();
        for from in &PLACES[usize::from(is_long)..] {
            let served = Served::start(&place, &["bank", "--token-file", "token"]);
            let crowd = Crowd::start(served.address, self.clients, self.conducts, from);
            for (target, longest) in longest_waits(&served, targets, self.stays) {
                let longest = longest.as_millis();
                eprintln!(
                    "{} connections from {} addresses ({} with those that came back): {target} took {longest} ms at most",
                    self.clients,
                    from.len(),
                    crowd.connections()
                );
                assert!(longest < SOON, "{target}: {longest} ms");
            }
            drop(crowd);
            served.stop();
        }
    }
}

/// Asks for each of these on new connections while a crowd stays; how long each took at most.
fn longest_waits(
    served: &Served,
    targets: &[&'static str],
    stays: Duration,
) -> Vec<(&'static str, Duration)> {
    scope(|scope| {
        let threads = targets.iter().map(|target| {
            let ask = move || {
                let begun = Instant::now();
                let mut longest = Duration::ZERO;
                while begun.elapsed() < stays {
                    let since = Instant::now();
                    assert_eq!(status(served, target), 200, "{target}");
                    longest = longest.max(since.elapsed());
                    sleep(Duration::from_millis(20));
                }
                (*target, longest)
            };
            scope.spawn(ask)
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Asks on a new connection; the status of the answer.
fn status(served: &Served, target: &str) -> u16 {
    let token = format!("Authorization: Bearer {TOKEN}");
    let (method, list): (_, &[u8]) = match target {
        "/compare" => ("POST", b"http://h1.example/"),
        _ => ("GET", b""),
    };
    let lines = [&*token, "Content-Type: text/plain"];
    served.ask(method, target, &lines, list).status
}

#[test]
fn crowds_of_one_kind_delay_no_one() {
    let crowds: [(usize, &[Conduct], &[&'static str]); 4] = [
        (300, &[Conduct::NeverReads], &["/healthz"]),
        // Requests for another host, or without the token.
        (
            300,
            &[Conduct::Refused, Conduct::Untrusted],
            &["/healthz", "/"],
        ),
        (300, &[Conduct::SlowBody], &["/healthz", "/", "/compare"]),
        (150, &[Conduct::Compares], &["/healthz"]),
    ];
    for (clients, conducts, targets) in crowds {
        let visit = Visit {
            clients,
            conducts,
            stays: stay(1),
        };
        visit.delays_nobody(targets);
    }
}

#[test]
fn crowds_of_all_kinds_delay_no_one() {
    // They stay for longer than the head of a request may take.
    let visit = Visit {
        clients: 300,
        conducts: &Conduct::SLOW,
        stays: stay(7),
    };
    visit.delays_nobody(&["/healthz"]);
}

#[test]
fn who_takes_nothing_is_closed() {
    let place = Place::with_seeds();
    scope(|scope| {
        for conduct in [
            Conduct::NeverReads,
            Conduct::HalfClosed,
            Conduct::ReadsSlowly,
        ] {
            let place = &place;
            scope.spawn(move || {
                let served = Served::start(place, &["bank"]);
                // The state that is held open counts, and a connection that is about to close does not.
                served.get("/");
                sleep(Duration::from_millis(100));
                let before = served.files();
                let crowd = Crowd::start(served.address, 1, &[conduct], &[HERE]);
                let until = Instant::now() + SENDING;
                // It is accepted, and then closed; the client does not come back at once.
                for is_open in [true, false] {
                    while (served.files() > before) != is_open {
                        assert!(Instant::now() < until, "{conduct:?}, open: {is_open}");
                        sleep(Duration::from_millis(10));
                    }
                }
                drop(crowd);
                served.stop();
            });
        }
    });
}

#[test]
fn who_takes_an_answer_slowly_has_all_of_it() {
    let place = Place::with_bank();
    let page = |site: u32| {
        let url = format!("http://site{site}.example/");
        record(&url, &[&format!("{url}a")])
    };
    place.write("day.jsonl", (0..8000).map(page).collect::<String>());
    ok(&place, "ingest bank day.jsonl");
    ok(&place, "refresh bank --method greedy --per-site 1");
    let served = Served::start(&place, &["bank"]);
    let list = served.get("/seeds?format=jsonl").body;
    let request = format!(
        "GET /seeds?format=jsonl HTTP/1.1\r\nHost: {}\r\n\r\n",
        served.address
    );
    // In 12 seconds, which is longer than a client may take nothing.
    let taken = take_slowly(served.address, request.as_bytes(), list.len() / 120);
    assert!(
        taken.ends_with(&list),
        "{} of {} bytes",
        taken.len(),
        list.len()
    );
    served.stop();
}

/// Sends a request, and reads the answer a few bytes at a time, ten times a second.
fn take_slowly(server: SocketAddr, request: &[u8], step: usize) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.write_all(request).unwrap();
    let mut taken = Vec::new();
    let mut buffer = vec![0; step];
    // The connection is idle after the answer, and is closed then.
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        taken.extend_from_slice(&buffer[..count]);
        sleep(Duration::from_millis(100));
    }
    taken
}

#[test]
fn a_crowd_takes_seats_from_itself() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    // It has waited for longer than any connection of the crowd.
    let mut first = served.connect();
    assert!(first.send(&kept(&served)));
    assert_eq!(first.answer(true).unwrap().status, 200);
    let crowd = Crowd::start(served.address, 600, &[Conduct::Silent], &OTHERS[..1]);
    assert!(first.send(&kept(&served)));
    assert_eq!(first.answer(true).unwrap().status, 200);
    let files = served.files();
    assert!(files < 256 + 64, "{files} files");
    drop(crowd);
    served.stop();
}

/// A request after which the connection is kept.
fn kept(served: &Served) -> Vec<u8> {
    format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", served.address).into_bytes()
}

/// How long a head may take, and how long a body, each with what a busy machine adds.
const HEAD: Duration = Duration::from_secs(13);
const BODY: Duration = Duration::from_secs(16);

/// Sends a byte twice a second until the server has enough of it; what came, and after how long.
fn drip(mut connection: Connection, bytes: &[u8]) -> (Vec<u8>, Duration) {
    let since = Instant::now();
    for byte in bytes.iter().cycle() {
        let is_over = !connection.send(&[*byte]) || since.elapsed() > BODY;
        if is_over || connection.is_closed_within(Duration::from_millis(500)) {
            break;
        }
    }
    let took = since.elapsed();
    (connection.rest(), took)
}

#[test]
fn who_is_slow_is_closed_and_others_are_answered() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\n", served.address);
    let lines = ["Content-Type: text/plain", "Content-Length: 1000"];
    let request = served.request("POST", "/compare", &lines, b"");
    scope(|scope| {
        for _ in 0..5 {
            // A head of which a byte comes now and then, one of which nothing more comes, and none.
            scope.spawn(|| {
                let mut connection = served.connect();
                connection.send(head.as_bytes());
                let (came, took) = drip(connection, b"X");
                assert_eq!(came, b"", "{}", came.escape_ascii());
                assert!(took < HEAD, "{took:?}");
            });
            for start in ["", &head[..9]] {
                let served = &served;
                let start = start.to_owned();
                scope.spawn(move || {
                    let since = Instant::now();
                    let mut connection = served.connect();
                    connection.send(start.as_bytes());
                    assert_eq!(connection.rest(), b"");
                    let took = since.elapsed();
                    assert!(took < HEAD, "{start}: {took:?}");
                });
            }
        }
        // More than lists are compared at once.
        for _ in 0..6 {
            // A body of which a byte comes now and then is answered that it is late.
            scope.spawn(|| {
                let mut connection = served.connect();
                connection.send(&request);
                let (came, took) = drip(connection, b"a");
                let came = String::from_utf8_lossy(&came).into_owned();
                assert!(came.starts_with("HTTP/1.1 408 "), "{came}");
                assert!(came.contains("x-content-type-options: nosniff"));
                assert!(took < BODY, "{took:?}");
            });
        }
        // Meanwhile all others are answered at once.
        let list = || served.ask("POST", "/compare", &lines[..1], b"http://h1.example/");
        for at in 0..50 {
            let since = Instant::now();
            assert_eq!(served.get("/").status, 200);
            if at % 10 == 0 {
                assert_eq!(list().status, 200);
            }
            let took = since.elapsed();
            assert!(took < Duration::from_secs(5), "{took:?}");
            sleep(Duration::from_millis(200));
        }
    });
    served.stop();
}

#[test]
fn half_a_request_keeps_the_server_no_longer_than_it_may() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let mut half = served.connect();
    assert!(half.send(b"GET / HTTP/1.1\r\nHo"));
    // It has been accepted and read.
    assert_eq!(served.get("/").status, 200);
    served.terminate();
    served.ends(HEAD);
    assert_eq!(half.rest(), b"");
}
