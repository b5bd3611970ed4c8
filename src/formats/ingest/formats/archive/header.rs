//! The heads of a web archive (ISO 28500): a line with the version, lines of names and values, a blank
//! line. What a server answered begins with a head of the same shape.
//!
//! ```text
//! WARC/1.0\r\n
//! WARC-Type: metadata\r\n
//! Content-Type: application/json\r\n
//! Content-Length: 1386\r\n
//! \r\n
//! ```

/// What every record begins with.
pub(crate) const MAGIC: &[u8] = b"WARC/";

/// What is taken of a record's head; a value that is missing is empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WarcHeader<'a> {
    /// The length of the record's block in bytes; `None` where there is none or it is no number.
    pub(crate) length: Option<u64>,
    /// `WARC-Type`.
    pub(crate) kind: &'a [u8],
    /// `Content-Type`, without what follows the name.
    pub(crate) content: &'a [u8],
    /// `WARC-Target-URI`; `None` where there is none.
    pub(crate) url: Option<&'a [u8]>,
    /// `WARC-Date`.
    pub(crate) date: Option<&'a [u8]>,
    /// `WARC-Payload-Digest`.
    pub(crate) digest: Option<&'a [u8]>,
    /// `WARC-Record-ID`.
    pub(crate) id: &'a [u8],
    /// `WARC-Segment-Number`.
    pub(crate) segment: &'a [u8],
    /// `WARC-Truncated`.
    pub(crate) truncated: &'a [u8],
}

impl WarcHeader<'_> {
    /// Whether it is of this type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind.as_bytes())
    }

    /// Whether it has all that every record must have.
    pub(super) fn is_whole(&self) -> bool {
        let texts = [self.kind, self.id, self.date.unwrap_or_default()];
        self.length.is_some() && texts.iter().all(|text| !text.is_empty())
    }
}

/// The length of the head that a text begins with, with its blank line; `None` where it goes on.
pub(crate) fn end(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find_map(|at| match text.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// The names and values of a head, after its first line.
pub(crate) fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').skip(1).map(|line| {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default().trim_ascii();
        (name, parts.next().unwrap_or_default().trim_ascii())
    })
}

/// The name of a media type, without its parameters.
pub(crate) fn media_type(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';');
    let name = value.get(..end.unwrap_or(value.len()));
    name.unwrap_or_default().trim_ascii()
}

/// Reads a head. Names are compared without case; the first of several lines of a name counts.
pub(crate) fn read(head: &[u8]) -> WarcHeader<'_> {
    let mut length = None;
    let mut kind = None;
    let mut content = None;
    let mut url = None;
    let mut date = None;
    let mut digest = None;
    let mut id = None;
    let mut segment = None;
    let mut truncated = None;
    for (name, value) in fields(head) {
        let place = match () {
            () if name.eq_ignore_ascii_case(b"Content-Length") => &mut length,
            () if name.eq_ignore_ascii_case(b"WARC-Type") => &mut kind,
            () if name.eq_ignore_ascii_case(b"Content-Type") => &mut content,
            () if name.eq_ignore_ascii_case(b"WARC-Target-URI") => &mut url,
            () if name.eq_ignore_ascii_case(b"WARC-Date") => &mut date,
            () if name.eq_ignore_ascii_case(b"WARC-Payload-Digest") => &mut digest,
            () if name.eq_ignore_ascii_case(b"WARC-Record-ID") => &mut id,
            () if name.eq_ignore_ascii_case(b"WARC-Segment-Number") => &mut segment,
            () if name.eq_ignore_ascii_case(b"WARC-Truncated") => &mut truncated,
            () => continue,
        };
        place.get_or_insert(value);
    }
    WarcHeader {
        length: length.and_then(number),
        kind: kind.unwrap_or_default(),
        content: content.map(media_type).unwrap_or_default(),
        // Old writers put it in angle brackets.
        url: url.map(|url| {
            let inside = url.strip_prefix(b"<");
            inside.and_then(|url| url.strip_suffix(b">")).unwrap_or(url)
        }),
        date,
        digest,
        id: id.unwrap_or_default(),
        segment: segment.unwrap_or_default(),
        truncated: truncated.unwrap_or_default(),
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
        let lines = "WARC/1.0\r\nwarc-type: Metadata\r\nCONTENT-LENGTH: 12\r\nContent-Length: 13\r\n\
            warc-target-uri: <http://a.example/>\r\nContent-Type: application/JSON; charset=utf-8\r\n";
        let head = read(lines.as_bytes());
        assert!(head.is("metadata") && !head.is_whole());
        assert_eq!(head.length, Some(12));
        assert_eq!(head.url, Some(&b"http://a.example/"[..]));
        assert_eq!(head.content, b"application/JSON");
        for length in ["", "-1", "+1", "1e3", "18446744073709551616", "0x1", "1 2"] {
            let head = format!("WARC/1.0\r\nContent-Length: {length}\r\n");
            assert_eq!(read(head.as_bytes()), WarcHeader::default(), "{length}");
        }
    }
}
