//! Processes that end, stop or are killed before the end of the command.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use seedbank_cluster::{ClusterError, Host, Outcome, Peer, Stop, coordinate, finish, join};

use crate::support::{Folder, agreement, never, start_member, to_the_end};

/// Names the members file to a child process.
const MEMBERS: &str = "SEEDBANK_CLUSTER_TEST_MEMBERS";

/// Above the time for an event that happens at once, on a machine with other work.
const AT_ONCE: Duration = Duration::from_secs(10);

/// This test binary as a child process, killed at the end of the test.
struct Process(Child);

impl Process {
    /// Runs one test again, in a child process that finds the members file in the environment.
    fn start(test: &str, folder: &Folder) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", test, "--nocapture"])
            .env(MEMBERS, folder.path("members.toml"));
        Self(command.spawn().unwrap())
    }

    fn send(&self, signal: &str) {
        let number = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &number]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The members file if this is a child process.
fn members_of_child() -> Option<seedbank_cluster::Members> {
    let path = std::env::var_os(MEMBERS)?;
    Some(seedbank_cluster::Members::read(path.as_ref()).unwrap())
}

/// Serves in a child process; the handler of `wait` does not answer before the test is over.
fn serve_in_child(members: &seedbank_cluster::Members) {
    let handler = |request: &[u8]| {
        if request == b"wait" {
            thread::sleep(Duration::from_secs(60));
        }
        Ok(request.to_vec())
    };
    let host = join(members, 1, 0, &agreement(), &never).unwrap();
    host.serve(&handler, 2, &to_the_end).unwrap();
}

/// Sends a signal to a member process while a call waits for it. Returns why it is lost, and after what time.
fn lose_member(test: &str, settings: &str, signal: &str) -> (String, Duration) {
    let folder = Folder::new(2, settings);
    let members = folder.members();
    let process = Process::start(test, &folder);
    let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
    assert_eq!(peers[0].call(b"echo").unwrap(), b"echo");
    thread::scope(|scope| {
        let call = scope.spawn(|| peers[0].call(b"wait"));
        // The answer comes after the request `wait` was received.
        assert_eq!(peers[0].call(b"echo").unwrap(), b"echo");
        process.send(signal);
        let start = Instant::now();
        let error = call.join().unwrap().unwrap_err();
        let time = start.elapsed();
        let ClusterError::Lost {
            process: 1,
            address,
            why,
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(address, "member1.test:7101");
        // Later calls fail with the same reason.
        let again = peers[0].call(b"echo").unwrap_err().to_string();
        assert!(again.ends_with(&why), "{again}");
        (why, time)
    })
}

#[test]
fn a_killed_member_is_noticed_at_once() {
    if let Some(members) = members_of_child() {
        return serve_in_child(&members);
    }
    let test = "losses::a_killed_member_is_noticed_at_once";
    let (why, time) = lose_member(test, "patience = 60", "-KILL");
    assert_eq!(why, "it closed the connection");
    assert!(time < AT_ONCE, "{time:?}");
}

#[test]
fn a_stopped_member_is_noticed_within_patience() {
    if let Some(members) = members_of_child() {
        return serve_in_child(&members);
    }
    let test = "losses::a_stopped_member_is_noticed_within_patience";
    let (why, time) = lose_member(test, "patience = 2", "-STOP");
    assert_eq!(why, "it sent nothing for 2 s");
    assert!(time < Duration::from_secs(2) + AT_ONCE, "{time:?}");
}

#[test]
fn a_stopped_coordinator_is_noticed_within_patience() {
    if let Some(members) = members_of_child() {
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        // Calls until the signal arrives.
        while peers[0].call(b"x").is_ok() {}
        return;
    }
    let folder = Folder::new(2, "patience = 2");
    let members = folder.members();
    let process = Process::start(
        "losses::a_stopped_coordinator_is_noticed_within_patience",
        &folder,
    );
    let (called, calls) = mpsc::channel();
    let handler = |_: &[u8]| {
        called.send(()).map_err(|error| error.to_string())?;
        Ok(vec![])
    };
    thread::scope(|scope| {
        let member = start_member(scope, &members, 1, &handler);
        calls.recv().unwrap();
        process.send("-STOP");
        let start = Instant::now();
        let error = member.join().unwrap().unwrap_err();
        let time = start.elapsed();
        assert!(
            error
                .to_string()
                .ends_with("is lost: it sent nothing for 2 s"),
            "{error}"
        );
        assert!(time < Duration::from_secs(2) + AT_ONCE, "{time:?}");
    });
}

#[test]
fn a_handler_may_take_longer_than_patience() {
    let folder = Folder::new(2, "patience = 1");
    let members = folder.members();
    let handler = |_: &[u8]| {
        thread::sleep(members.patience() * 5 / 2);
        Ok(vec![1])
    };
    thread::scope(|scope| {
        let member = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        assert_eq!(peers[0].call(b"x").unwrap(), [1]);
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(member.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

/// Process 0 and its connected member, process 1.
fn connected() -> (Vec<Peer>, Host) {
    let folder = Folder::new(2, "");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        let host = join(&members, 1, 0, &agreement(), &never).unwrap();
        (coordinator.join().unwrap().unwrap(), host)
    })
}

#[test]
fn a_running_handler_can_notice_that_the_coordinator_is_lost() {
    let (peers, host) = connected();
    assert!(host.loss().is_none());
    let (called, calls) = mpsc::channel();
    let handler = |_: &[u8]| {
        called.send(()).map_err(|error| error.to_string())?;
        while host.loss().is_none() {
            thread::yield_now();
        }
        Ok(vec![])
    };
    thread::scope(|scope| {
        let member = scope.spawn(|| host.serve(&handler, 1, &to_the_end));
        let error = peers[0].call_until(b"x", &|| true).unwrap_err();
        assert!(matches!(error, ClusterError::Interrupted), "{error}");
        calls.recv().unwrap();
        drop(peers);
        let error = member.join().unwrap().unwrap_err();
        assert_eq!(host.loss().unwrap().to_string(), error.to_string());
        assert!(
            matches!(error, ClusterError::Lost { process: 0, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_member_that_leaves_fails_pending_and_later_calls() {
    let (peers, host) = connected();
    thread::scope(|scope| {
        let peer = &peers[0];
        let calls = [1, 2, 3].map(|number| scope.spawn(move || peer.call(&[number])));
        while peer.requests() < 3 {
            thread::yield_now();
        }
        drop(host);
        for call in calls {
            let error = call.join().unwrap().unwrap_err();
            assert!(
                matches!(error, ClusterError::Lost { process: 1, .. }),
                "{error}"
            );
        }
    });
    let error = peers[0].call(b"later").unwrap_err();
    assert!(
        matches!(error, ClusterError::Lost { process: 1, .. }),
        "{error}"
    );
}

/// Whether process 1 was interrupted, as the error of its coordinator says.
fn is_interruption(error: &ClusterError) -> bool {
    matches!(error, ClusterError::MemberInterrupted { process: 1 })
}

#[test]
fn an_interrupted_member_says_so_before_it_leaves() {
    for _ in 0..8 {
        let (peers, host) = connected();
        let is_interrupted = AtomicBool::new(false);
        let stop = || {
            let is_interrupted = is_interrupted.load(Ordering::Relaxed);
            is_interrupted.then_some(Stop::Interrupted)
        };
        // Answers after the interruption, if at all.
        let handler = |request: &[u8]| {
            while stop().is_none() {
                thread::yield_now();
            }
            Ok(request.to_vec())
        };
        thread::scope(|scope| {
            let member = scope.spawn(|| host.serve(&handler, 2, &stop));
            let peer = &peers[0];
            let calls = [1, 2, 3, 4].map(|number| scope.spawn(move || peer.call(&[number])));
            while peer.requests() < 4 {
                thread::yield_now();
            }
            is_interrupted.store(true, Ordering::Relaxed);
            let begun = Instant::now();
            let error = member.join().unwrap().unwrap_err();
            assert!(matches!(error, ClusterError::Interrupted), "{error}");
            assert!(begun.elapsed() < AT_ONCE);
            for call in calls {
                match call.join().unwrap() {
                    Ok(answer) => assert_eq!(answer.len(), 1),
                    Err(error) => assert!(is_interruption(&error), "{error}"),
                }
            }
        });
        let error = peers[0].call(b"later").unwrap_err();
        assert!(is_interruption(&error), "{error}");
        assert!(is_interruption(&peers[0].loss().unwrap()));
        let error = finish(peers, &Outcome::Failed("interrupted".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "process 1 was interrupted");
    }
}

#[test]
fn an_interrupted_member_leaves_a_coordinator_that_does_not_read() {
    if let Some(members) = members_of_child() {
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        // Requests whose answers are read until the signal arrives.
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| while peers[0].call(b"x").is_ok() {});
            }
        });
        return;
    }
    let test = "losses::an_interrupted_member_leaves_a_coordinator_that_does_not_read";
    let folder = Folder::new(2, "patience = 60");
    let members = folder.members();
    let process = Process::start(test, &folder);
    let host = join(&members, 1, 0, &agreement(), &never).unwrap();
    let is_interrupted = AtomicBool::new(false);
    let stop = || {
        let is_interrupted = is_interrupted.load(Ordering::Relaxed);
        is_interrupted.then_some(Stop::Interrupted)
    };
    let (called, calls) = mpsc::channel();
    // More than the system keeps for a process that does not read.
    let handler = |_: &[u8]| {
        called.send(()).map_err(|error| error.to_string())?;
        Ok(vec![0; 64 << 20])
    };
    thread::scope(|scope| {
        let member = scope.spawn(|| host.serve(&handler, 2, &stop));
        calls.recv().unwrap();
        process.send("-STOP");
        // Both handlers have an answer to send.
        while calls.recv_timeout(Duration::from_secs(1)).is_ok() {}
        is_interrupted.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        let error = member.join().unwrap().unwrap_err();
        assert!(matches!(error, ClusterError::Interrupted), "{error}");
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    });
}

#[test]
fn a_member_that_leaves_before_all_are_connected_ends_the_command() {
    let folder = Folder::new(3, "");
    let members = folder.members();
    thread::scope(|scope| {
        let coordinator = scope.spawn(|| coordinate(&members, 0, &agreement(), &never));
        drop(join(&members, 1, 0, &agreement(), &never).unwrap());
        let error = coordinator.join().unwrap().unwrap_err();
        assert!(
            matches!(error, ClusterError::Lost { process: 1, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_coordinator_that_leaves_is_lost() {
    let folder = Folder::new(3, "");
    let members = folder.members();
    thread::scope(|scope| {
        let threads = [1, 2].map(|process| start_member(scope, &members, process, &|_| Ok(vec![])));
        drop(coordinate(&members, 0, &agreement(), &never).unwrap());
        for thread in threads {
            let error = thread.join().unwrap().unwrap_err().to_string();
            let expected = format!(
                "the connection to process 0 ({}) is lost: it closed the connection",
                folder.address
            );
            assert_eq!(error, expected);
        }
    });
}
