//! Callers that are no members: they neither get in nor keep members out.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use seedbank_cluster::{ClusterError, Outcome, coordinate, finish, join};

use crate::support::{Folder, agreement, never, start_member};

/// Connects as soon as the coordinator listens.
fn connect(address: &str) -> TcpStream {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        thread::yield_now();
    }
}

#[test]
fn strangers_do_not_keep_members_out() {
    let folder = Folder::new(3, "deadline = 20");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        // 20 that send nothing, 20 that send garbage, 20 that start a greeting and stop.
        let strangers: Vec<_> = (0..60)
            .map(|number| {
                let mut stream = connect(&folder.address);
                match number % 3 {
                    0 => {}
                    1 => stream.write_all(&[0xFF; 1000]).unwrap(),
                    _ => stream.write_all(b"SBCLUST3").unwrap(),
                }
                stream
            })
            .collect();
        let threads =
            [1, 2].map(|process| start_member(scope, &members, process, &|_| Ok(vec![7])));
        let peers = coordinator.join().unwrap().unwrap();
        for peer in &peers {
            assert_eq!(peer.call(b"x").unwrap(), [7]);
        }
        finish(peers, &Outcome::Succeeded).unwrap();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
        }
        drop(strangers);
    });
}

#[test]
fn more_strangers_than_greetings_at_once_only_delay_members() {
    let folder = Folder::new(2, "deadline = 60");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        // Above the limit of 64, and silent until the coordinator ends their greetings.
        let strangers: Vec<_> = (0..80).map(|_| connect(&folder.address)).collect();
        let thread = start_member(scope, &members, 1, &|_| Ok(vec![]));
        finish(coordinator.join().unwrap().unwrap(), &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
        drop(strangers);
    });
}

#[test]
fn nothing_is_proved_to_a_stranger() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let mut stream = connect(&folder.address);
        stream.write_all(b"SBCLUST3\x01\0\0\0").unwrap();
        // The nonce and a wrong proof.
        stream.write_all(&[5; 64]).unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        // Magic, number and nonce of process 0, then the refusal; no proof.
        assert_eq!(received.len(), 45);
        assert_eq!(&received[..12], b"SBCLUST3\0\0\0\0");
        assert_eq!(received[44], 0);
        let thread = start_member(scope, &members, 1, &|_| Ok(vec![]));
        finish(coordinator.join().unwrap().unwrap(), &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

#[test]
fn a_stranger_on_the_address_of_the_coordinator_is_not_believed() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    let listener = TcpListener::bind(&folder.address).unwrap();
    thread::scope(|scope| {
        let member = scope.spawn(|| join(&members, 1, 0, &agreement(), &never));
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 44];
        stream.read_exact(&mut hello).unwrap();
        // Sends the nonce of the member back, and then its proof.
        hello[8] = 0;
        stream.write_all(&hello).unwrap();
        let mut proof = [0; 32];
        stream.read_exact(&mut proof).unwrap();
        stream.write_all(&[1]).unwrap();
        stream.write_all(&proof).unwrap();
        let error = member.join().unwrap().unwrap_err();
        assert!(
            matches!(error, ClusterError::NotCoordinator { .. }),
            "{error}"
        );
    });
}
