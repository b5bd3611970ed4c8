//! The encoding of messages: a length (u32, little-endian), a kind (u8), and as many bytes as the length.
//! A request and its answer start with the number of the request (u64, little-endian).

use std::io::{self, ErrorKind, Read, Write};

/// The largest request and answer, in bytes: 1 GiB.
pub const MAX_PAYLOAD: usize = 1 << 30;

/// The size of the steps in which a buffer grows while it is filled.
const STEP: usize = 1 << 20;
/// Bodies up to this size are written together with their header, as one packet if it fits.
const JOINED: usize = 1 << 14;
/// The size of a length and a kind.
const HEADER: usize = 5;
/// The size of the number of a request.
const ID: usize = 8;

/// What a frame contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing; it shows that the process is alive.
    Heartbeat = 0,
    /// A request of a coordinator.
    Request = 1,
    /// The answer to a request.
    Answer = 2,
    /// The error of a handler.
    Failure = 3,
    /// The outcome of the command; a member sends it back as confirmation.
    Finish = 4,
    /// The agreement of a process, during the greeting.
    Agreement = 5,
    /// Whether the coordinator accepts a member, at the end of the greeting.
    Verdict = 6,
    /// A request without an answer.
    Notice = 7,
    /// The member was interrupted. What it sends after that is not read.
    Interruption = 8,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Heartbeat,
        Self::Request,
        Self::Answer,
        Self::Failure,
        Self::Finish,
        Self::Agreement,
        Self::Verdict,
        Self::Notice,
        Self::Interruption,
    ];

    const fn has_id(self) -> bool {
        matches!(self, Self::Request | Self::Answer | Self::Failure)
    }
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    /// The number of the request; 0 for kinds that have none.
    pub(crate) id: u64,
    pub(crate) body: Vec<u8>,
}

impl Frame {
    /// The number of bytes on the connection.
    pub(crate) fn size(&self) -> u64 {
        size(self.kind, self.body.len())
    }
}

/// Returns the number of bytes of a frame with a body of this length.
pub(crate) const fn size(kind: Kind, body: usize) -> u64 {
    (HEADER + if kind.has_id() { ID } else { 0 } + body) as u64
}

/// Reads a frame with a body of at most `limit` bytes. Bytes that are no frame are `InvalidData`.
pub(crate) fn read(reader: &mut impl Read, limit: usize) -> io::Result<Frame> {
    let mut header = [0; HEADER];
    reader.read_exact(&mut header)?;
    let [length @ .., kind] = header;
    let invalid = |text: String| io::Error::new(ErrorKind::InvalidData, text);
    let kind = *(Kind::ALL.get(usize::from(kind)))
        .ok_or_else(|| invalid(format!("expected a frame kind below 9, found {kind}")))?;
    let length = u32::from_le_bytes(length) as usize;
    let id_length = if kind.has_id() { ID } else { 0 };
    let body_length = (length.checked_sub(id_length))
        .filter(|&length| length <= limit)
        .ok_or_else(|| {
            let most = limit + id_length;
            invalid(format!(
                "expected a frame of {id_length} to {most} bytes, found {length}"
            ))
        })?;
    let mut id = [0; ID];
    reader.read_exact(&mut id[..id_length])?;
    let mut body = Vec::new();
    read_body(reader, body_length, &mut body)?;
    Ok(Frame {
        kind,
        id: u64::from_le_bytes(id),
        body,
    })
}

/// Fills `body` with `length` bytes. The capacity never exceeds what was received by more than one step,
/// whatever length was announced.
fn read_body(reader: &mut impl Read, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
    while body.len() < length {
        let step = STEP.min(length - body.len());
        body.reserve_exact(step);
        if reader.by_ref().take(step as u64).read_to_end(body)? < step {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Writes a frame. `id` is ignored for kinds that have none.
pub(crate) fn write(writer: &mut impl Write, kind: Kind, id: u64, body: &[u8]) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEADER + ID + body.len().min(JOINED));
    let length = body.len() + if kind.has_id() { ID } else { 0 };
    let length = u32::try_from(length).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    head.extend(length.to_le_bytes());
    head.push(kind as u8);
    if kind.has_id() {
        head.extend(id.to_le_bytes());
    }
    if body.len() <= JOINED {
        head.extend(body);
        return writer.write_all(&head);
    }
    writer.write_all(&head)?;
    writer.write_all(body)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_layout_is_fixed() {
        let mut bytes = Vec::new();
        write(&mut bytes, Kind::Request, 258, b"ab").unwrap();
        assert_eq!(bytes, [10, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0, 0, 0, b'a', b'b']);
        bytes.clear();
        write(&mut bytes, Kind::Heartbeat, 7, b"").unwrap();
        assert_eq!(bytes, [0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_announced_length_above_the_limit_is_an_error() {
        let mut bytes = u32::MAX.to_le_bytes().to_vec();
        bytes.push(Kind::Request as u8);
        let error = read(&mut &bytes[..], MAX_PAYLOAD).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a frame of 8 to 1073741832 bytes, found 4294967295"
        );
    }

    proptest! {
        #[test]
        fn frames_round_trip(kind in 0..9_usize, id: u64, body: Vec<u8>) {
            let kind = Kind::ALL[kind];
            let mut bytes = Vec::new();
            write(&mut bytes, kind, id, &body).unwrap();
            let frame = read(&mut &bytes[..], MAX_PAYLOAD).unwrap();
            prop_assert_eq!(frame.size(), bytes.len() as u64);
            let id = if kind.has_id() { id } else { 0 };
            prop_assert_eq!(frame, Frame { kind, id, body });
        }

        #[test]
        fn arbitrary_bytes_are_a_frame_or_an_error(bytes: Vec<u8>, kind in 0..10_u8, length: u32) {
            for bytes in [&bytes[..], &[&length.to_le_bytes()[..], &[kind], &bytes].concat()] {
                if let Ok(frame) = read(&mut &bytes[..], MAX_PAYLOAD) {
                    let mut again = Vec::new();
                    write(&mut again, frame.kind, frame.id, &frame.body).unwrap();
                    prop_assert_eq!(&again[..], &bytes[..again.len()]);
                }
            }
        }

        #[test]
        fn memory_is_bounded_by_what_was_sent(sent in 0..5 * STEP, announced in 0..=MAX_PAYLOAD) {
            let mut body = Vec::new();
            let result = read_body(&mut io::repeat(7).take(sent as u64), announced, &mut body);
            prop_assert_eq!(result.is_ok(), announced <= sent);
            prop_assert_eq!(body.len(), sent.min(announced));
            prop_assert!(body.capacity() <= sent + STEP);
        }
    }
}
