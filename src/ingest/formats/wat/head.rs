//! The head of a record of a web archive (ISO 28500): a line with the version, lines of names and
//! values, a blank line.
//!
//! ```text
//! WARC/1.0\r\n
//! WARC-Type: metadata\r\n
//! Content-Type: application/json\r\n
//! Content-Length: 1386\r\n
//! \r\n
//! ```

/// What every record begins with.
pub(super) const MAGIC: &[u8] = b"WARC/";

/// What is taken of a record's head.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The length of the record's block in bytes; `None` where there is none or it is no number.
    pub(super) length: Option<u64>,
    /// Whether the block is JSON that describes another record.
    pub(super) is_metadata: bool,
}

/// The length of the head that a text begins with, with its blank line; `None` where it goes on.
pub(super) fn end(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find_map(|at| match text.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// Reads a head. Names are compared without case; the first of several lines of a name counts.
pub(super) fn read(head: &[u8]) -> Head {
    let mut length = None;
    let mut kind: Option<&[u8]> = None;
    let mut content: Option<&[u8]> = None;
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default().trim_ascii();
        let value = parts.next().unwrap_or_default().trim_ascii();
        let place = match () {
            () if name.eq_ignore_ascii_case(b"Content-Length") => &mut length,
            () if name.eq_ignore_ascii_case(b"WARC-Type") => &mut kind,
            () if name.eq_ignore_ascii_case(b"Content-Type") => &mut content,
            () => continue,
        };
        place.get_or_insert(value);
    }
    let is_json = content.is_none_or(|content| {
        let end = content.iter().position(|byte| *byte == b';');
        let content = content.get(..end.unwrap_or(content.len()));
        content.is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"application/json"))
    });
    Head {
        length: length.and_then(number),
        is_metadata: is_json && kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"metadata")),
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_its_blank_line() {
        assert_eq!(end(b"WARC/1.0\r\nA: b\r\n\r\n{}"), Some(18));
        assert_eq!(end(b"WARC/1.0\nA: b\n\n{}"), Some(15));
        assert_eq!(end(b"WARC/1.0\r\nA: b\r\n\r"), None);
        assert_eq!(end(b"WARC/1.0"), None);
    }

    #[test]
    fn names_have_no_case_and_lengths_are_numbers() {
        let of = |lines: &str| read(format!("WARC/1.0\r\n{lines}\r\n").as_bytes());
        let metadata = Head {
            length: Some(12),
            is_metadata: true,
        };
        let lines = "warc-type: Metadata\r\nCONTENT-LENGTH: 12\r\nContent-Length: 13\r\n";
        assert_eq!(of(lines), metadata);
        let json = format!("{lines}Content-Type: application/JSON; charset=utf-8\r\n");
        assert_eq!(of(&json), metadata);
        let fields = format!("{lines}Content-Type: application/warc-fields\r\n");
        assert!(!of(&fields).is_metadata);
        for length in ["", "-1", "+1", "1e3", "18446744073709551616", "0x1", "1 2"] {
            let head = of(&format!("Content-Length: {length}\r\n"));
            assert_eq!(head, Head::default(), "{length}");
        }
    }
}
