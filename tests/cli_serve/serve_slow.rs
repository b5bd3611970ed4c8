//! Slow and idle connections: each is closed, and others are answered.
//!
//! Bug classes: an endless wait for a head or a body, slots held by idle connections, a server that
//! cannot stop because of an unfinished request.

use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use crate::support::command::Place;
use crate::support::http::{Connection, Served};

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
            // A body of which a byte comes now and then is told that it is late.
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
fn hundreds_of_idle_connections_keep_nobody_out_for_long() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let files = || {
        let folder = format!("/proc/{}/fd", served.process());
        std::fs::read_dir(folder).unwrap().count()
    };
    served.get("/");
    let before = files();
    let idle: Vec<Connection> = (0..300).map(|_| served.connect()).collect();
    let since = Instant::now();
    assert_eq!(served.get("/").status, 200);
    assert!(since.elapsed() < HEAD, "{:?}", since.elapsed());
    for connection in idle {
        assert_eq!(connection.rest(), b"");
    }
    assert!(since.elapsed() < 2 * HEAD, "{:?}", since.elapsed());
    assert_eq!(served.get("/").status, 200);
    let until = Instant::now() + Duration::from_secs(5);
    while files() > before + 8 {
        assert!(Instant::now() < until, "{before} files, then {}", files());
        sleep(Duration::from_millis(50));
    }
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
