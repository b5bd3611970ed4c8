//! Requests and answers, errors and panics of handlers, and the end of a command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use seedbank_cluster::{ClusterError, Failure, Outcome, Peer, Stop, coordinate, finish, join};

use crate::support::{Folder, agreement, messages, never, start_member};

/// Answers with the bytes of the request in reverse order.
#[expect(clippy::unnecessary_wraps, reason = "a handler")]
fn reverse(request: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(request.iter().rev().copied().collect())
}

#[test]
fn answers_belong_to_their_requests() {
    const THREADS: u8 = 6;
    const CALLS: u8 = 40;
    let folder = Folder::new(3, "");
    let members = folder.members();
    thread::scope(|scope| {
        let threads = [1, 2].map(|process| start_member(scope, &members, process, &reverse));
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        assert_eq!(peers.iter().map(Peer::process).collect::<Vec<_>>(), [1, 2]);
        thread::scope(|scope| {
            for (thread, peer) in
                (0..THREADS).flat_map(|thread| peers.iter().map(move |peer| (thread, peer)))
            {
                scope.spawn(move || {
                    for call in 0..CALLS {
                        let answer = peer.call(&[thread, call, 3]).unwrap();
                        assert_eq!(answer, [3, call, thread]);
                    }
                });
            }
        });
        for peer in &peers {
            let calls = u64::from(THREADS) * u64::from(CALLS);
            assert_eq!(peer.requests(), calls);
            // 5 bytes of header, 8 of the number, 3 of the body; heartbeats add to that.
            assert!(peer.sent_bytes() >= 16 * calls);
            assert!(peer.received_bytes() >= 16 * calls);
        }
        finish(peers, &Outcome::Succeeded).unwrap();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
        }
    });
}

#[test]
fn requests_are_in_flight_at_the_same_time() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    // Each handler waits for the other one.
    let both = Barrier::new(2);
    let handler = |request: &[u8]| {
        both.wait();
        reverse(request)
    };
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        thread::scope(|scope| {
            let calls = [b"ab", b"cd"].map(|request| scope.spawn(|| peers[0].call(request)));
            let answers = calls.map(|call| call.join().unwrap().unwrap());
            assert_eq!(answers, [b"ba", b"dc"]);
        });
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

#[test]
fn large_payloads_arrive_whole() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &reverse);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        let request: Vec<u8> = (0..5_u32 << 20)
            .map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8)
            .collect();
        // Several at once, so that their parts could be mixed up.
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut answer = peers[0].call(&request).unwrap();
                    answer.reverse();
                    assert!(answer == request);
                });
            }
        });
        assert!(peers[0].call(&[]).unwrap().is_empty());
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

#[test]
fn an_error_of_a_handler_ends_one_call() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    let handler = |request: &[u8]| match request {
        b"fail" => Err("there is no table 7".to_owned().into()),
        _ => reverse(request),
    };
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        let error = peers[0].call(b"fail").unwrap_err();
        assert_eq!(error.to_string(), "process 1 reports: there is no table 7");
        assert_eq!(peers[0].call(b"ok").unwrap(), b"ko");
        let outcome = Outcome::Failed(error.to_string());
        finish(peers, &outcome).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), outcome);
    });
}

#[test]
fn requests_without_an_answer_are_handled_in_order() {
    const NOTICES: u32 = 2000;
    let folder = Folder::new(2, "");
    let members = folder.members();
    let requests = Mutex::new(Vec::new());
    // Errors are dropped.
    let handler = |request: &[u8]| {
        requests.lock().unwrap().push(request.to_vec());
        Err("nobody reads this".to_owned().into())
    };
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        for notice in 0..NOTICES {
            peers[0].notify(&notice.to_le_bytes()).unwrap();
        }
        // A request is received after the notices before it.
        peers[0].call(b"last").unwrap_err();
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
    let notices = (0..NOTICES).map(|notice| notice.to_le_bytes().to_vec());
    let expected = notices.chain([b"last".to_vec()]);
    assert!(requests.into_inner().unwrap().into_iter().eq(expected));
}

#[test]
fn a_panic_without_an_answer_ends_the_member() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    let handler = |_: &[u8]| -> Result<Vec<u8>, Failure> { panic!("row {} is missing", 3) };
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        peers[0].notify(b"x").unwrap();
        let error = thread.join().unwrap().unwrap_err().to_string();
        assert_eq!(error, "the handler of a request panicked: row 3 is missing");
        let error = finish(peers, &Outcome::Succeeded).unwrap_err();
        assert!(
            matches!(error, ClusterError::Lost { process: 1, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_panic_of_a_handler_ends_the_member() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    let handler = |_: &[u8]| -> Result<Vec<u8>, Failure> { panic!("row {} is missing", 3) };
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &handler);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        let error = peers[0].call(b"x").unwrap_err().to_string();
        assert_eq!(
            error,
            "process 1 reports: the handler of a request panicked: row 3 is missing"
        );
        let error = thread.join().unwrap().unwrap_err().to_string();
        assert_eq!(error, "the handler of a request panicked: row 3 is missing");
        let error = peers[0].call(b"x").unwrap_err();
        assert!(
            matches!(error, ClusterError::Lost { process: 1, .. }),
            "{error}"
        );
        let error = finish(peers, &Outcome::Succeeded).unwrap_err();
        assert!(
            matches!(error, ClusterError::Lost { process: 1, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_request_above_the_limit_is_not_sent() {
    let folder = Folder::new(2, "");
    let members = folder.members();
    thread::scope(|scope| {
        let thread = start_member(scope, &members, 1, &reverse);
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        // The pages of zeros are not touched, so they take no memory.
        let request = vec![0; seedbank_cluster::MAX_PAYLOAD + 1];
        let error = peers[0].call(&request).unwrap_err().to_string();
        assert_eq!(
            error,
            "expected a request of at most 1073741824 bytes, found 1073741825"
        );
        assert_eq!(peers[0].requests(), 0);
        finish(peers, &Outcome::Succeeded).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), Outcome::Succeeded);
    });
}

#[test]
fn stop_ends_every_wait() {
    let folder = Folder::new(3, "");
    let members = folder.members();
    // Without members, without a coordinator.
    let error = coordinate(&members, 0, &agreement(), &|| true).unwrap_err();
    assert!(matches!(error, ClusterError::Interrupted), "{error}");
    let error = join(&members, 1, 0, &agreement(), &|| true).unwrap_err();
    assert!(matches!(error, ClusterError::Interrupted), "{error}");

    let (is_stopped, may_answer) = (AtomicBool::new(false), Barrier::new(2));
    let stop = || is_stopped.load(Ordering::Relaxed).then_some(Stop::Ended);
    let handler = |request: &[u8]| {
        may_answer.wait();
        reverse(request)
    };
    thread::scope(|scope| {
        let first = start_member(scope, &members, 1, &handler);
        let second =
            scope.spawn(|| join(&members, 2, 0, &agreement(), &never)?.serve(&reverse, 1, &stop));
        let peers = coordinate(&members, 0, &agreement(), &never).unwrap();
        // A call whose answer does not come.
        let error = peers[0].call_until(b"x", &|| true).unwrap_err();
        assert!(matches!(error, ClusterError::Interrupted), "{error}");
        may_answer.wait();
        // A member that serves.
        is_stopped.store(true, Ordering::Relaxed);
        let error = second.join().unwrap().unwrap_err();
        assert!(matches!(error, ClusterError::Interrupted), "{error}");
        // The answer to the interrupted call is dropped; the connection can still be used.
        let answer = scope.spawn(|| may_answer.wait());
        assert_eq!(peers[0].call(b"ab").unwrap(), b"ba");
        answer.join().unwrap();
        let error = finish(peers, &Outcome::Failed("interrupted".to_owned())).unwrap_err();
        assert_eq!(
            messages(&error),
            ["the connection to process 2 (member2.test:7101) is lost: it closed the connection"]
        );
        assert_eq!(
            first.join().unwrap().unwrap(),
            Outcome::Failed("interrupted".to_owned())
        );
    });
}
