//! Exchanges of many items among processes, a portion at a time.

use super::codec::{Decoder, Encoder};
use crate::communicator::Communicator;
use crate::watch::Interrupted;

/// The bytes of a message from which on a process sends what it has written; few in unit tests, so that these need
/// several messages.
const PORTION: usize = if cfg!(test) { 64 } else { 256 << 10 };

/// The cause of a failure if a message is not as expected.
const MALFORMED: &str = "a message about a graph cannot be decoded";

/// Returns the error of a message that is not as expected.
pub(crate) fn malformed(communicator: &dyn Communicator) -> Interrupted {
    communicator.fail(MALFORMED)
}

/// Sends items to processes and receives theirs. All processes call it at the same time.
///
/// `write` appends the next item to the messages of the processes that it is for, by number, and returns `false` if it had
/// none. `receive` reads one item of a message, given its sender; it returns `None` if the item is not as expected.
///
/// # Errors
///
/// If the work was stopped, or if a message is not as expected.
///
/// Memory: some 256 KiB for each process, and an item.
pub(crate) fn exchange(
    communicator: &dyn Communicator,
    mut write: impl FnMut(&mut [Encoder]) -> bool,
    mut receive: impl FnMut(usize, &mut Decoder<'_>) -> Option<()>,
) -> Result<(), Interrupted> {
    let mut has_more = true;
    loop {
        let mut messages = vec![Encoder::default(); communicator.processes()];
        while has_more && messages.iter().all(|message| message.0.len() < PORTION) {
            has_more = write(&mut messages);
        }
        let messages = messages.into_iter().map(|mut message| {
            message.0.push(u8::from(has_more));
            message.0
        });
        let mut any_has_more = false;
        let received = communicator.all_to_all(messages.collect())?;
        for (from, message) in received.iter().enumerate() {
            let (more, items) = message
                .split_last()
                .ok_or_else(|| malformed(communicator))?;
            any_has_more |= *more != 0;
            let mut items = Decoder(items);
            while !items.0.is_empty() {
                receive(from, &mut items).ok_or_else(|| malformed(communicator))?;
            }
        }
        if !any_has_more {
            return Ok(());
        }
    }
}

/// Sends a message to all processes, and returns what each has sent.
pub(crate) fn gather(
    communicator: &dyn Communicator,
    message: Encoder,
) -> Result<Vec<Vec<u8>>, Interrupted> {
    let messages = vec![message.0; communicator.processes()];
    communicator.all_to_all(messages)
}
