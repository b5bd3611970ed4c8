//! Processes that all send requests to each other, and connections that reach the wrong process.

use std::thread;

use seedbank_cluster::{Agreement, ClusterError, Members, Outcome, Peer, coordinate, finish, join};

use crate::support::{Folder, agreement, never, to_the_end};

/// A folder with a members file of three processes on this machine, and their addresses.
fn mesh(settings: &str) -> (Folder, Vec<String>) {
    let folder = Folder::new(3, "");
    let (host, _) = folder.address.rsplit_once(':').unwrap();
    let addresses: Vec<_> = (7101..7104).map(|port| format!("{host}:{port}")).collect();
    folder.write_addresses("members.toml", &addresses, "secret.txt", settings);
    (folder, addresses)
}

/// Runs a process of a mesh: calls all others once and serves them until they have done the same. Returns the
/// answers.
fn run(members: &Members, process: u8) -> Vec<Vec<u8>> {
    thread::scope(|scope| {
        let others = (0..3).filter(|&other| other != process);
        let threads: Vec<_> = others
            .map(|to| {
                let serve = move || {
                    let host = join(members, process.into(), to.into(), &agreement(), &never)?;
                    assert_eq!(host.process(), usize::from(to));
                    let handler = |request: &[u8]| Ok([&[process, to], request].concat());
                    host.serve(&handler, 1, &to_the_end)
                };
                scope.spawn(serve)
            })
            .collect();
        let peers = coordinate(members, process.into(), &agreement(), &never).unwrap();
        let calls = peers.iter().map(|peer| peer.call(&[process + 10]).unwrap());
        let answers = calls.collect();
        finish(peers, &Outcome::Succeeded).unwrap();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
        }
        answers
    })
}

#[test]
fn each_process_of_a_mesh_calls_each_other_one() {
    let (folder, _) = mesh("");
    let members = folder.members();
    thread::scope(|scope| {
        let members = &members;
        let threads = [0, 1, 2].map(|process| scope.spawn(move || run(members, process)));
        let answers = threads.map(|thread| thread.join().unwrap());
        // The process that answers, the one that calls, and the request.
        let expected = [
            [[1, 0, 10], [2, 0, 10]],
            [[0, 1, 11], [2, 1, 11]],
            [[0, 2, 12], [1, 2, 12]],
        ];
        assert_eq!(answers, expected);
    });
}

/// Lets process 2 coordinate. Process `process` connects to process `to`, whose address is that of process 2
/// in its members file. Returns its error; the others connect to process 2 as if nothing had happened.
fn reach_process_2(process: usize, to: usize) -> (ClusterError, String) {
    let (folder, addresses) = mesh("");
    let mut others = addresses.clone();
    others.swap(to, 2);
    folder.write_addresses("swapped.toml", &others, "secret.txt", "");
    let (members, swapped) = (folder.members(), folder.read("swapped.toml").unwrap());
    let error = thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 2, &agreement(), &never));
        let error = join(&swapped, process, to, &agreement(), &never).unwrap_err();
        let threads = [0, 1].map(|process| {
            let members = &members;
            scope.spawn(move || {
                join(members, process, 2, &agreement(), &never)?.serve(
                    &|_| Ok(vec![]),
                    1,
                    &to_the_end,
                )
            })
        });
        let peers = coordinator.join().unwrap().unwrap();
        assert_eq!(peers.iter().map(Peer::process).collect::<Vec<_>>(), [0, 1]);
        finish(peers, &Outcome::Succeeded).unwrap();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
        }
        error
    });
    (error, addresses[2].clone())
}

#[test]
fn another_process_on_the_address_is_an_error() {
    let (error, address) = reach_process_2(0, 1);
    assert_eq!(
        error.to_string(),
        format!("expected process 1 to listen on {address}, found process 2")
    );
    let ClusterError::WrongProcess {
        expected: 1,
        found: 2,
        ..
    } = error
    else {
        panic!("{error}");
    };
}

#[test]
fn a_caller_with_the_number_of_the_coordinator_is_refused() {
    let (error, address) = reach_process_2(2, 0);
    assert_eq!(
        error.to_string(),
        format!("expected process 0 to listen on {address}, found process 2")
    );
}

#[test]
fn errors_name_the_process_that_coordinates() {
    let (folder, addresses) = mesh("deadline = 1");
    folder.write_secret("other.txt", "another secret of 30 characters", 0o600);
    folder.write_addresses("other.toml", &addresses, "other.txt", "");
    folder.write_addresses("patient.toml", &addresses, "secret.txt", "");
    let (members, others) = (folder.members(), folder.read("other.toml").unwrap());
    let address = &addresses[1];
    let error = join(&members, 2, 1, &agreement(), &never).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "process 1 ({address}) did not accept a connection within 1 s: Connection refused (os error 111)"
        )
    );
    let listener = std::net::TcpListener::bind(address).unwrap();
    let error = coordinate(&members, 1, &agreement(), &never).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("process 1 cannot listen on {address}")
    );
    drop(listener);
    let patient = folder.read("patient.toml").unwrap();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&patient, 1, &agreement(), &never));
        let error = join(&others, 0, 1, &agreement(), &never).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("process 1 ({address}) does not accept the secret of this process")
        );
        let other = Agreement::new([("version", "1"), ("command", "status")]);
        let error = join(&patient, 0, 1, &other, &never).unwrap_err();
        let expected = r#"the processes do not agree on command: process 0 has "status", process 1 has "refresh""#;
        assert_eq!(error.to_string(), expected);
        let error = coordinator.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), expected);
    });
}
