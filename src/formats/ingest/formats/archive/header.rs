//! Headers of WARC records (ISO 28500): a line with the version, lines of names and values, a blank
//! line. HTTP responses begin with a header of the same shape.
//!
//! ```text
//! WARC/1.0\r\n
//! WARC-Type: metadata\r\n
//! Content-Type: application/json\r\n
//! Content-Length: 1386\r\n
//! \r\n
//! ```

/// The first bytes of every record.
pub(crate) const MAGIC: &[u8] = b"WARC/";

/// The fields of a record's header that are used; a missing value is empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WarcHeader<'a> {
    /// Length of the block, in bytes; `None` if it is missing or not a number.
    pub(crate) length: Option<u64>,
    /// `WARC-Type`.
    pub(crate) kind: &'a [u8],
    /// `Content-Type`, without parameters.
    pub(crate) content: &'a [u8],
    /// `WARC-Target-URI`, without angle brackets.
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
    /// Returns whether the record has this type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind.as_bytes())
    }

    /// Returns whether every mandatory field is present.
    pub(super) fn is_complete(&self) -> bool {
        let texts = [self.kind, self.id, self.date.unwrap_or_default()];
        self.length.is_some() && texts.iter().all(|text| !text.is_empty())
    }
}

/// Returns the length of the header at the beginning of a text, with its blank line; `None` if the
/// text ends within it.
pub(crate) fn end(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find_map(|at| match text.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// Returns, for each name, the value of the first line of a header with this name in any case.
pub(crate) fn first_values<'a, const N: usize>(
    header: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut values = [None; N];
    for line in header.split(|byte| *byte == b'\n').skip(1) {
        let mut parts = line.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        let known = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        let place = names.iter().position(known);
        if let Some(value) = place.and_then(|at| values.get_mut(at)) {
            value.get_or_insert(parts.next().unwrap_or_default());
        }
    }
    values
}

/// Returns the name of a media type, without its parameters.
pub(crate) fn media_type(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';');
    let name = value.get(..end.unwrap_or(value.len()));
    name.unwrap_or_default().trim_ascii()
}

/// Parses a header. Names are compared without case; the first line with a name counts.
pub(crate) fn read(header: &[u8]) -> WarcHeader<'_> {
    let [
        length,
        kind,
        content,
        url,
        date,
        digest,
        id,
        segment,
        truncated,
    ] = first_values(
        header,
        [
            "Content-Length",
            "WARC-Type",
            "Content-Type",
            "WARC-Target-URI",
            "WARC-Date",
            "WARC-Payload-Digest",
            "WARC-Record-ID",
            "WARC-Segment-Number",
            "WARC-Truncated",
        ],
    );
    WarcHeader {
        length: length.and_then(number),
        kind: kind.unwrap_or_default(),
        content: content.map(media_type).unwrap_or_default(),
        // Old writers enclose it in angle brackets.
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
        assert!(head.is("metadata") && !head.is_complete());
        assert_eq!(head.length, Some(12));
        assert_eq!(head.url, Some(&b"http://a.example/"[..]));
        assert_eq!(head.content, b"application/JSON");
        for length in ["", "-1", "+1", "1e3", "18446744073709551616", "0x1", "1 2"] {
            let head = format!("WARC/1.0\r\nContent-Length: {length}\r\n");
            assert_eq!(read(head.as_bytes()), WarcHeader::default(), "{length}");
        }
    }
}
