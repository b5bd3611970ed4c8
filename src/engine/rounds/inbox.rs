//! The messages that a process has received in a job and has not taken yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::request::{Piece, malformed};
use seedbank_algorithms::watch::{Interrupted, Watch};
use seedbank_store::StoreError;

/// The time between two looks at the watch while messages are awaited.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The messages of the round that is taken next, and those of the round after it, which others may have begun.
pub(super) struct Inbox {
    /// The number of this process.
    process: usize,
    state: Mutex<State>,
    /// Notified once all messages of the next round are there.
    are_there: Condvar,
}

struct State {
    /// The number of the round that is taken next.
    next: u64,
    /// That round and the one after it.
    rounds: [Round; 2],
}

/// The messages of a round.
struct Round {
    /// By process: the bytes, and whether these are all.
    messages: Vec<(Vec<u8>, bool)>,
    /// The number of messages that are not complete.
    missing: usize,
}

impl Round {
    /// Creates an empty round. Each of the other processes sends one message.
    fn new(processes: usize) -> Self {
        Self {
            messages: vec![(Vec::new(), false); processes],
            missing: processes.saturating_sub(1),
        }
    }
}

impl Inbox {
    /// Creates the empty inbox of one of several processes.
    pub(super) fn new(process: usize, processes: usize) -> Self {
        Self {
            process,
            state: Mutex::new(State {
                next: 0,
                rounds: [Round::new(processes), Round::new(processes)],
            }),
            are_there: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change leaves the state complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, or a piece of one.
    ///
    /// Fails if the message is of another round than the next two, or complete already.
    pub(super) fn receive(&self, piece: Piece<'_>) -> Result<(), StoreError> {
        let from = piece.from as usize;
        let mut state = self.lock();
        let ahead = piece.round.checked_sub(state.next);
        let ahead = ahead.and_then(|ahead| usize::try_from(ahead).ok());
        let round = ahead.and_then(|ahead| state.rounds.get_mut(ahead));
        let round = round.ok_or(StoreError::Protocol("a message is of another round"))?;
        let message = round.messages.get_mut(from);
        let (bytes, is_complete) = message
            .filter(|(_, is_complete)| !*is_complete && from != self.process)
            .ok_or_else(malformed)?;
        bytes.extend_from_slice(piece.bytes);
        if !piece.has_more {
            *is_complete = true;
            round.missing -= 1;
            if round.missing == 0 && ahead == Some(0) {
                self.are_there.notify_all();
            }
        }
        Ok(())
    }

    /// Waits for the messages of a round, which is the next one, and returns them by process, with nothing for this one.
    ///
    /// Fails soon after the watch stops.
    pub(super) fn take(&self, watch: &dyn Watch) -> Result<Vec<Vec<u8>>, Interrupted> {
        let mut state = self.lock();
        while state.rounds[0].missing > 0 {
            watch.proceed()?;
            let woken = self.are_there.wait_timeout(state, POLL_INTERVAL);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.next += 1;
        state.rounds.swap(0, 1);
        let processes = state.rounds[1].messages.len();
        let taken = std::mem::replace(&mut state.rounds[1], Round::new(processes));
        Ok(taken.messages.into_iter().map(|(bytes, _)| bytes).collect())
    }
}
