//! The greeting of a connection: both sides prove that they know the secret, then compare their agreements.
//!
//! ```text
//! member (calls)                           coordinator
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
//! depends on the secret.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use blake3::{Hash, Hasher};

use crate::agreement::{Agreement, Difference};
use crate::frame::{self, Kind};
use crate::members::{Key, Members};

/// The protocol and its version.
const MAGIC: [u8; 8] = *b"SBCLUST1";
/// The largest encoded agreement, in bytes.
const MAX_AGREEMENT: usize = 1 << 22;
/// The time for a verdict to be written.
const VERDICT_TIME: Duration = Duration::from_secs(1);

/// What a process needs for a greeting.
pub(crate) struct Session {
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
    #[error("expected the number of a member, above 0 and below {processes}, found {found}")]
    Number { processes: usize, found: u32 },
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
    pub(crate) fn new(members: &Members, agreement: &Agreement) -> Self {
        let processes = members.processes();
        let mut agreement = agreement.clone();
        agreement.add("the number of processes", processes.len().to_string());
        agreement.add(
            "the patience in seconds",
            members.patience().as_secs().to_string(),
        );
        for (number, process) in processes.iter().enumerate() {
            agreement.add(
                format!("the banks of process {number}"),
                &process.banks_text,
            );
        }
        Self {
            key: members.key.clone(),
            agreement,
            processes: processes.len(),
        }
    }

    /// Greets process 0 as the calling member.
    pub(crate) fn call(
        &self,
        stream: &TcpStream,
        process: usize,
        until: Instant,
    ) -> Result<(), GreetingError> {
        let mut stream = Timed { stream, until };
        let member = Hello::new(u32::try_from(process).unwrap_or(u32::MAX))?;
        member.write(&mut stream)?;
        let coordinator = Hello::read(&mut stream)?;
        if coordinator.process != 0 {
            return Err(GreetingError::Protocol);
        }
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
        frame::write(&mut stream, Kind::Agreement, 0, &self.agreement.encode())?;
        let theirs = read_agreement(&mut stream)?;
        Agreement::compare(&theirs, process, &self.agreement)?;
        let verdict = frame::read(&mut stream, 1)?;
        match (verdict.kind, &verdict.body[..]) {
            (Kind::Verdict, [1]) => Ok(()),
            (Kind::Verdict, [0]) => Err(GreetingError::Duplicate(process)),
            _ => Err(GreetingError::Protocol),
        }
    }

    /// Answers the greeting of a caller as process 0, except for the verdict. Returns the number of the member.
    pub(crate) fn answer(
        &self,
        stream: &TcpStream,
        until: Instant,
    ) -> Result<usize, GreetingError> {
        let mut stream = Timed { stream, until };
        let member = Hello::read(&mut stream)?;
        let coordinator = Hello::new(0)?;
        coordinator.write(&mut stream)?;
        if read_hash(&mut stream)? != self.proof(Role::Member, &member, &coordinator) {
            stream.write_all(&[0])?;
            return Err(GreetingError::Unproved);
        }
        let proof = self.proof(Role::Coordinator, &member, &coordinator);
        stream.write_all(&[&[1], &proof.as_bytes()[..]].concat())?;
        let theirs = read_agreement(&mut stream)?;
        frame::write(&mut stream, Kind::Agreement, 0, &self.agreement.encode())?;
        let process = member.process as usize;
        Agreement::compare(&self.agreement, process, &theirs)?;
        if !(1..self.processes).contains(&process) {
            return Err(GreetingError::Number {
                processes: self.processes,
                found: member.process,
            });
        }
        Ok(process)
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
    fn new(process: u32) -> io::Result<Self> {
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
