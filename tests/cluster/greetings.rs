//! Which processes connect, and what the others learn.

use std::thread;

use seedbank_cluster::{Agreement, ClusterError, Failure, Outcome, coordinate, finish, join};

use crate::support::{Folder, agreement, messages, never, start_member, to_the_end};

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
fn echo(request: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(request.to_vec())
}

#[test]
fn a_wrong_secret_is_refused_and_the_coordinator_goes_on() {
    let folder = Folder::new(2, "");
    folder.write_secret("other.txt", "another secret of 30 characters", 0o600);
    folder.write_members("other.toml", 2, "other.txt", "");
    let (members, others) = (folder.members(), folder.read("other.toml").unwrap());
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let error = join(&others, 1, 0, &agreement(), &never).unwrap_err();
        let expected = format!(
            "process 0 ({}) does not accept the secret of this process",
            folder.address
        );
        assert_eq!(error.to_string(), expected);
        let thread = start_member(scope, &members, 1, &echo);
        let peers = coordinator.join().unwrap().unwrap();
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

#[test]
fn a_different_agreement_ends_all_with_the_same_sentence() {
    let folder = Folder::new(3, "");
    let members = folder.members();
    let other = Agreement::new([("version", "2"), ("command", "refresh")]);
    let expected = r#"the processes do not agree on version: process 0 has "1", process 2 has "2""#;
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let first = join(&members, 1, 0, &agreement(), &never).unwrap();
        let error = join(&members, 2, 0, &other, &never).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let error = coordinator.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), expected);
        // A member that was connected gets the sentence as the outcome of the command.
        let outcome = first.serve(&echo, 1, &to_the_end).unwrap();
        assert_eq!(outcome, Outcome::Failed(expected.to_owned()));
    });
}

#[test]
fn different_members_files_are_noticed() {
    let folder = Folder::new(2, "");
    folder.write_members("more.toml", 3, "secret.txt", "");
    folder.write_members("slow.toml", 2, "secret.txt", "patience = 7");
    for (file, expected) in [
        (
            "more.toml",
            r#"the processes do not agree on the number of processes: process 0 has "2", process 1 has "3""#,
        ),
        (
            "slow.toml",
            r#"the processes do not agree on the patience in seconds: process 0 has "30", process 1 has "7""#,
        ),
    ] {
        let (members, others) = (folder.members(), folder.read(file).unwrap());
        thread::scope(|scope| {
            let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
            let error = join(&others, 1, 0, &agreement(), &never).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!(
                coordinator.join().unwrap().unwrap_err().to_string(),
                expected
            );
        });
    }
}

#[test]
fn missing_processes_are_named() {
    let folder = Folder::new(4, "deadline = 1");
    folder.write_secret("other.txt", "another secret of 30 characters", 0o600);
    folder.write_members("other.toml", 4, "other.txt", "deadline = 20");
    folder.write_members("patient.toml", 4, "secret.txt", "deadline = 20");
    let members = folder.members();
    let (others, patient) = (
        folder.read("other.toml").unwrap(),
        folder.read("patient.toml").unwrap(),
    );
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let connected = start_member(scope, &patient, 2, &echo);
        join(&others, 1, 0, &agreement(), &never).unwrap_err();
        let error = coordinator.join().unwrap().unwrap_err();
        let ClusterError::Missing {
            seconds,
            missing,
            refused,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(*seconds, 1);
        assert_eq!(
            *missing,
            [1, 3].map(|process| (process, folder.address_of(process)))
        );
        assert!(
            refused
                .as_ref()
                .unwrap()
                .ends_with(": it does not know the secret"),
            "{refused:?}"
        );
        let start = "not connected within 1 s: process 1 (member1.test:7101), process 3 (member3.test:7101); the last refused caller: 127.";
        assert!(error.to_string().starts_with(start), "{error}");
        // The member that was connected learns why the command ended.
        let outcome = connected.join().unwrap().unwrap();
        assert_eq!(outcome, Outcome::Failed(error.to_string()));
    });
}

#[test]
fn a_missing_coordinator_is_named() {
    let folder = Folder::new(2, "deadline = 1");
    let error = join(&folder.members(), 1, 0, &agreement(), &never).unwrap_err();
    let expected = format!(
        "process 0 ({}) did not accept a connection within 1 s: Connection refused (os error 111)",
        folder.address
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_second_process_with_the_same_number_is_refused() {
    let folder = Folder::new(3, "");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let first = join(&members, 1, 0, &agreement(), &never).unwrap();
        let error = join(&members, 1, 0, &agreement(), &never).unwrap_err();
        assert_eq!(
            error.to_string(),
            "another process is connected as process 1"
        );
        let first = scope.spawn(move || first.serve(&echo, 1, &to_the_end));
        let second = start_member(scope, &members, 2, &echo);
        finish(coordinator.join().unwrap().unwrap(), &Outcome::Succeeded).unwrap();
        for member in [first, second] {
            assert_eq!(member.join().unwrap().unwrap(), Outcome::Succeeded);
        }
    });
}

#[test]
fn only_processes_of_the_members_file_connect() {
    let folder = Folder::new(3, "");
    // A process, the one that it connects to, and the two numbers in the error.
    for (process, to, except, found) in [(0, 0, 0, 0), (3, 0, 0, 3), (1, 1, 1, 1), (1, 3, 1, 3)] {
        let error = join(&folder.members(), process, to, &agreement(), &never).unwrap_err();
        let ClusterError::Number(error) = error else {
            panic!("{error}");
        };
        assert_eq!(
            error.to_string(),
            format!("expected a process number below 3 other than {except}, found {found}")
        );
    }
    let error = coordinate(&folder.members(), 3, &agreement(), &never).unwrap_err();
    assert_eq!(
        messages(&error)[1],
        r#"the given number: expected a number below 3, found "3""#
    );
}

#[test]
fn an_address_in_use_is_an_error() {
    let folder = Folder::new(2, "");
    let _listener = std::net::TcpListener::bind(&folder.address).unwrap();
    let error = coordinate(&folder.members(), 0, &agreement(), &never).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("process 0 cannot listen on {}", folder.address)
    );
}

#[test]
fn a_cluster_of_one_process_waits_for_nobody() {
    let folder = Folder::new(1, "");
    let peers = coordinate(&folder.members(), 0, &agreement(), &never).unwrap();
    assert_eq!(peers.len(), 0);
    finish(peers, &Outcome::Succeeded).unwrap();
}
