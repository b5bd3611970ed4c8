//! Rounds of messages among the jobs of several processes that call each other without a network.

use std::sync::Arc;
use std::thread;

use proptest::prelude::*;

use super::communicator::JobCommunicator;
use super::job::{Job, JobWatch};
use super::request::{JobRequest, Kind, Piece};
use crate::engine::EngineError;
use crate::engine::request_topic::RequestTopic;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::watch::{Interrupted, Unwatched, Watch};
use seedbank_store::{RemoteProcess, StoreError};

const JOB: u64 = 7;

/// The job of another process, which receives the messages; `None` for a process that is lost.
struct Link(Option<Arc<Job>>);

impl RemoteProcess for Link {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let job = self.0.as_ref().ok_or(StoreError::Protocol("lost"))?;
        let JobRequest {
            kind,
            job: number,
            body,
        } = JobRequest::parse(request)?.unwrap();
        assert_eq!((kind, number), (Kind::Message, JOB));
        job.receive(body).map(|()| Vec::new())
    }
}

fn jobs(processes: usize) -> Vec<Arc<Job>> {
    let job = |process| Arc::new(Job::new(JOB, process, processes, Arc::new(Unwatched)));
    (0..processes).map(job).collect()
}

/// The rounds of a process; `lost` cannot be called.
fn rounds(jobs: &[Arc<Job>], process: usize, lost: Option<usize>) -> Arc<dyn Communicator> {
    let link = |(other, job): (usize, &Arc<Job>)| -> Option<Arc<dyn RemoteProcess>> {
        let job = (lost != Some(other)).then(|| Arc::clone(job));
        (other != process).then(|| -> Arc<dyn RemoteProcess> { Arc::new(Link(job)) })
    };
    let others: Vec<_> = jobs.iter().enumerate().map(link).collect();
    JobCommunicator::begin(&jobs[process], &others)
}

/// A process that was lost after the last request to it.
struct Lost;

impl RemoteProcess for Lost {
    fn call(&self, _request: &[u8]) -> Result<Vec<u8>, StoreError> {
        Ok(Vec::new())
    }

    fn loss(&self) -> Option<StoreError> {
        Some(StoreError::Protocol("silent"))
    }
}

/// A command that was stopped.
struct Stopped;

impl Watch for Stopped {
    fn stopped(&self) -> bool {
        true
    }
}

/// The message of a round from one process to another: empty, short, or of several pieces.
fn message(round: usize, from: usize, to: usize) -> Vec<u8> {
    let length = match (round + from * 3 + to * 5) % 7 {
        0 => 0,
        1 => (1 << 20) * (to + 1),
        2 => (1 << 20) + round * 9_999,
        short => short * round,
    };
    let byte = |at: usize| (at * 31 + round + from * 7 + to * 11).to_le_bytes()[0];
    (0..length).map(byte).collect()
}

#[test]
fn all_messages_arrive_in_their_rounds() {
    for processes in [1, 2, 4] {
        let jobs = jobs(processes);
        thread::scope(|scope| {
            for process in 0..processes {
                let rounds = rounds(&jobs, process, None);
                scope.spawn(move || {
                    assert_eq!((rounds.process(), rounds.processes()), (process, processes));
                    for round in 0..14 {
                        let sent = (0..processes).map(|to| message(round, process, to));
                        let received = rounds.all_to_all(sent.collect()).unwrap();
                        let expected = (0..processes).map(|from| message(round, from, process));
                        assert!(received.into_iter().eq(expected), "{round}");
                    }
                });
            }
        });
        assert!(jobs.iter().all(|job| !job.stopped()));
    }
}

/// Returns the error with which a job has failed.
fn cause(job: &Job) -> String {
    job.own::<()>(Err(Interrupted.into()))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_failure_ends_the_waiting() {
    // The job has failed elsewhere, the command is stopped, another process is lost before or after it was called,
    // messages are missing.
    let two = jobs(2);
    let waiting = rounds(&two, 0, None);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| waiting.all_to_all(vec![Vec::new(); 2]));
        two[0].fail(EngineError::Internal("elsewhere"));
        assert_eq!(waiting.join().unwrap(), Err(Interrupted));
    });
    assert!(cause(&two[0]).contains("elsewhere"));

    let two = jobs(2);
    let waiting = rounds(&two, 0, None);
    let watch = JobWatch {
        job: &two[0],
        watch: &Stopped,
    };
    let result = watch.run(|| Ok(waiting.all_to_all(vec![Vec::new(); 2])?));
    assert!(matches!(result, Err(EngineError::Interrupted(_))));

    let two = jobs(2);
    let waiting = rounds(&two, 0, Some(1));
    assert_eq!(waiting.all_to_all(vec![Vec::new(); 2]), Err(Interrupted));
    assert!(cause(&two[0]).contains("lost"));

    let two = jobs(2);
    let waiting = JobCommunicator::begin(&two[0], &[None, Some(Arc::new(Lost))]);
    assert_eq!(waiting.all_to_all(vec![Vec::new(); 2]), Err(Interrupted));
    assert!(cause(&two[0]).contains("silent"));

    let two = jobs(2);
    let waiting = rounds(&two, 0, None);
    assert_eq!(waiting.all_to_all(vec![Vec::new()]), Err(Interrupted));
    assert!(cause(&two[0]).contains("a message for each process"));
}

#[test]
fn unexpected_messages_are_refused() {
    let jobs = jobs(3);
    let piece = |from, round, has_more| Piece {
        from,
        round,
        has_more,
        bytes: b"ab",
    };
    let receive = |piece: Piece<'_>| {
        let request = piece.request(JOB);
        let JobRequest { body, .. } = JobRequest::parse(&request).unwrap().unwrap();
        jobs[1].receive(body).is_ok()
    };
    assert!(receive(piece(0, 1, false)), "the next round may begin");
    assert!(!receive(piece(0, 2, false)), "the round after it may not");
    assert!(receive(piece(0, 0, true)) && receive(piece(0, 0, false)));
    assert!(!receive(piece(0, 0, false)), "the message is complete");
    assert!(
        !receive(piece(1, 0, false)),
        "a process does not send to itself"
    );
    assert!(!receive(piece(3, 0, false)), "there is no such process");
    assert!(receive(piece(2, 0, false)));
    let rounds = rounds(&jobs, 1, None);
    let received = rounds.all_to_all(vec![Vec::new(), b"own".to_vec(), Vec::new()]);
    assert_eq!(received.unwrap(), [&b"abab"[..], b"own", b"ab"]);
    assert!(!receive(piece(2, 0, false)), "the round is over");
}

proptest! {
    #[test]
    fn any_bytes_are_a_request_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let jobs = jobs(2);
        let request = [&[RequestTopic::Job as u8, Kind::Message as u8][..], &bytes].concat();
        if let Ok(Some(JobRequest { body, .. })) = JobRequest::parse(&request) {
            let _ = jobs[0].receive(body);
        }
        let _ = JobRequest::parse(&bytes);
    }

    #[test]
    fn pieces_are_read_back(
        from: u32, round: u64, has_more: bool, job: u64,
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let piece = Piece { from, round, has_more, bytes: &bytes };
        let request = piece.request(job);
        let JobRequest { kind, job: number, body } = JobRequest::parse(&request).unwrap().unwrap();
        prop_assert_eq!((kind, number), (Kind::Message, job));
        prop_assert_eq!(Piece::parse(body).unwrap(), piece);
        prop_assert!(Piece::parse(&body[..12]).is_err());
    }
}
