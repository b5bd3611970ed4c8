//! The greeting of a connection: both sides prove that they know the secret, then compare their agreements.
//!
//! ```text
//! member (connects)                        coordinator (accepts)
//! magic, number, nonce           ->
//!                                <-        magic, number, nonce
//! proof                          ->
//!                                <-        1 and proof; 0 if the member's proof is wrong
//! agreement                      ->
//!                                <-        agreement
//!                                <-        verdict
//! ```
//!
//! A proof is a keyed BLAKE3 hash of the role, both nonces and both numbers; the key is derived from the
//! secret. The role keeps a proof from being sent back, the nonces keep it from being used again. The
//! coordinator proves nothing to a caller that has not proved itself, so a stranger learns nothing that
//! depends on the secret. After the proofs, each side checks the number of the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use blake3::{Hash, Hasher};

use crate::agreement::{Agreement, Difference};
use crate::frame::{self, Kind};
use crate::members::{Key, Members};

/// The protocol and its version.
const MAGIC: [u8; 8] = *b"SBCLUST3";
/// The largest encoded agreement, in bytes.
const MAX_AGREEMENT: usize = 1 << 22;
/// The time for a verdict to be written.
const VERDICT_TIME: Duration = Duration::from_secs(1);

/// What a process needs for a greeting.
pub(crate) struct Session {
    /// The number of this process.
    process: usize,
    key: Key,
    agreement: Agreement,
    processes: usize,
}

/// Why a greeting failed, with the other side as the subject.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GreetingError {
    #[error("{}", io_text(.0))]
    Io(#[from] io::Error),
    #[error("it does not use the protocol of this version of seedbank")]
    Protocol,
    #[error("expected a process number below {processes} other than {except}, found {found}")]
    Number {
        processes: usize,
        except: usize,
        found: usize,
    },
    #[error("it is process {0}")]
    WrongProcess(usize),
    #[error("it does not know the secret")]
    Unproved,
    #[error("it does not accept the secret")]
    SecretRefused,
    #[error(transparent)]
    Disagreement(#[from] Difference),
    #[error("process {0} is connected already")]
    Duplicate(usize),
}

/// Formats an error of a socket.
fn io_text(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
        ErrorKind::TimedOut => "it did not answer in time".to_owned(),
        _ => error.to_string(),
    }
}

impl Session {
    pub(crate) fn new(members: &Members, process: usize, agreement: &Agreement) -> Self {
        let processes = members.processes();
        let mut agreement = agreement.clone();
        agreement.add("the number of processes", processes.len().to_string());
        agreement.add(
            "the patience in seconds",
            members.patience().as_secs().to_string(),
        );
        for (number, entry) in processes.iter().enumerate() {
            agreement.add(format!("the banks of process {number}"), &entry.banks_text);
        }
        Self {
            process,
            key: members.key.clone(),
            agreement,
            processes: processes.len(),
        }
    }

    /// Greets process `to` as the connecting member.
    pub(crate) fn call(
        &self,
        stream: &TcpStream,
        to: usize,
        until: Instant,
    ) -> Result<(), GreetingError> {
        let mut stream = Timed { stream, until };
        let member = Hello::new(self.process)?;
        member.write(&mut stream)?;
        let coordinator = Hello::read(&mut stream)?;
        stream.write_all(self.proof(Role::Member, &member, &coordinator).as_bytes())?;
        let mut is_accepted = [0];
        stream.read_exact(&mut is_accepted)?;
        match is_accepted {
            [0] => return Err(GreetingError::SecretRefused),
            [1] => {}
            _ => return Err(GreetingError::Protocol),
        }
        if read_hash(&mut stream)? != self.proof(Role::Coordinator, &member, &coordinator) {
            return Err(GreetingError::Unproved);
        }
        // Not before the proof: a stranger may send any number.
        let found = coordinator.process as usize;
        if found != to {
            return Err(GreetingError::WrongProcess(found));
        }
        frame::write(&mut stream, Kind::Agreement, 0, &self.agreement.encode())?;
        let theirs = read_agreement(&mut stream)?;
        Agreement::compare((self.process, &self.agreement), (to, &theirs))?;
        let verdict = frame::read(&mut stream, 1)?;
        match (verdict.kind, &verdict.body[..]) {
            (Kind::Verdict, [1]) => Ok(()),
            (Kind::Verdict, [0]) => Err(GreetingError::Duplicate(self.process)),
            _ => Err(GreetingError::Protocol),
        }
    }

    /// Answers the greeting of a caller as the coordinator, except for the verdict. Returns the number of the
    /// member.
    pub(crate) fn answer(
        &self,
        stream: &TcpStream,
        until: Instant,
    ) -> Result<usize, GreetingError> {
        let mut stream = Timed { stream, until };
        let member = Hello::read(&mut stream)?;
        let coordinator = Hello::new(self.process)?;
        coordinator.write(&mut stream)?;
        if read_hash(&mut stream)? != self.proof(Role::Member, &member, &coordinator) {
            stream.write_all(&[0])?;
            return Err(GreetingError::Unproved);
        }
        let proof = self.proof(Role::Coordinator, &member, &coordinator);
        stream.write_all(&[&[1], &proof.as_bytes()[..]].concat())?;
        let found = member.process as usize;
        let number_error = GreetingError::Number {
            processes: self.processes,
            except: self.process,
            found,
        };
        // The caller ends the greeting now, since this is not the process that it wants to reach.
        if found == self.process {
            return Err(number_error);
        }
        let theirs = read_agreement(&mut stream)?;
        frame::write(&mut stream, Kind::Agreement, 0, &self.agreement.encode())?;
        Agreement::compare((self.process, &self.agreement), (found, &theirs))?;
        // After the comparison, which includes the number of processes.
        if found >= self.processes {
            return Err(number_error);
        }
        Ok(found)
    }

    fn proof(&self, role: Role, member: &Hello, coordinator: &Hello) -> Hash {
        let mut hasher = Hasher::new_keyed(&self.key.0);
        // All parts have a fixed length, so no two inputs have the same bytes.
        hasher.update(&[role as u8]);
        for hello in [member, coordinator] {
            hasher.update(&hello.process.to_le_bytes());
            hasher.update(&hello.nonce);
        }
        hasher.finalize()
    }
}

/// Tells a member whether it is accepted, as the last step of a greeting.
pub(crate) fn send_verdict(stream: &TcpStream, is_accepted: bool) -> io::Result<()> {
    let until = Instant::now() + VERDICT_TIME;
    let mut stream = Timed { stream, until };
    frame::write(&mut stream, Kind::Verdict, 0, &[u8::from(is_accepted)])
}

/// The side that sends a proof.
#[derive(Clone, Copy)]
enum Role {
    Member = 1,
    Coordinator = 2,
}

/// The first message of each side.
struct Hello {
    process: u32,
    nonce: [u8; 32],
}

impl Hello {
    fn new(process: usize) -> io::Result<Self> {
        let process = u32::try_from(process).map_err(io::Error::other)?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        Ok(Self { process, nonce })
    }

    fn write(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(&[&MAGIC[..], &self.process.to_le_bytes(), &self.nonce].concat())
    }

    fn read(reader: &mut impl Read) -> Result<Self, GreetingError> {
        let mut magic = [0; MAGIC.len()];
        reader.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(GreetingError::Protocol);
        }
        let (mut process, mut nonce) = ([0; 4], [0; 32]);
        reader.read_exact(&mut process)?;
        reader.read_exact(&mut nonce)?;
        Ok(Self {
            process: u32::from_le_bytes(process),
            nonce,
        })
    }
}

/// Reads a proof. The comparison of hashes takes constant time.
fn read_hash(reader: &mut impl Read) -> io::Result<Hash> {
    let mut bytes = [0; 32];
    reader.read_exact(&mut bytes)?;
    Ok(Hash::from_bytes(bytes))
}

fn read_agreement(reader: &mut impl Read) -> Result<Agreement, GreetingError> {
    let frame = frame::read(reader, MAX_AGREEMENT)?;
    (frame.kind == Kind::Agreement)
        .then(|| Agreement::decode(&frame.body))
        .flatten()
        .ok_or(GreetingError::Protocol)
}

/// A socket whose reads and writes fail after a point in time.
struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Timed<'_> {
    fn time_left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

/// A socket reports an expired timeout as `WouldBlock`.
fn timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.time_left()?)?;
        self.stream.read(buffer).map_err(timed_out)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.time_left()?)?;
        self.stream.write(buffer).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Lets a process call process `to`, and process 1 of three answer. Returns the results of both.
    fn greet(
        process: usize,
        to: usize,
    ) -> (Result<(), GreetingError>, Result<usize, GreetingError>) {
        let [caller, coordinator] = [process, 1].map(|process| Session {
            process,
            key: Key([7; 32]),
            agreement: Agreement::new([("version", "1")]),
            processes: 3,
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        thread::scope(|scope| {
            let thread = scope.spawn(move || caller.call(&stream, to, until));
            let answered = coordinator.answer(&accepted, until);
            if answered.is_ok() {
                send_verdict(&accepted, true).unwrap();
            }
            drop(accepted);
            (thread.join().unwrap(), answered)
        })
    }

    #[test]
    fn both_sides_check_the_number_of_the_other() {
        let (called, answered) = greet(2, 1);
        assert!(called.is_ok());
        assert!(matches!(answered, Ok(2)));
        // The address leads to another process.
        let (called, _) = greet(2, 0);
        assert!(matches!(called, Err(GreetingError::WrongProcess(1))));
        // The caller has the number of the process that answers, or one that the members file does not have.
        for found in [1, 3] {
            let (called, answered) = greet(found, 1);
            assert!(called.is_err());
            let expected = format!("expected a process number below 3 other than 1, found {found}");
            assert_eq!(answered.unwrap_err().to_string(), expected);
        }
    }
}
