//! ARC: archives with the responses of servers, as crawlers wrote them before WARC (Common Crawl until 2012, Heritrix 1).
//!
//! ```text
//! filedesc://crawl.arc 0.0.0.0 20080430204825 text/plain 76
//! 1 0 InternetArchive
//! URL IP-address Archive-date Content-type Archive-length
//!
//! http://a.example/ 192.0.2.1 20080430204826 text/html 122
//! HTTP/1.1 200 OK
//! ```
//!
//! A record is a line with its URL, time and length, and a response of that length. So the text is read as that of the
//! WARC file with the same responses: [`ArcReader`] replaces each line by a header of WARC. Where no such line
//! follows a record, the length of the record is wrong; the reader of WARC rejects it, and goes on with the next one.

use std::io::{self, BufRead, BufReader, Read, Take};

/// The longest line that can be the header of a record, in bytes.
const MAX_LINE: u64 = 128 << 10;

/// The text of an ARC file as that of a WARC file.
pub(super) struct ArcReader<R> {
    arc: BufReader<R>,
    /// Text that is not from the file, of which the first `at` bytes are read.
    made: Vec<u8>,
    at: usize,
    /// Bytes of the current block that are not read.
    left: u64,
    /// Number of records so far.
    number: u64,
}

impl<R: Read> ArcReader<R> {
    pub(super) fn new(arc: R) -> Self {
        Self {
            arc: BufReader::new(arc),
            made: Vec::new(),
            at: 0,
            left: 0,
            number: 0,
        }
    }

    /// Replaces the text that was read by the header of the next record; by nothing at the end of the file.
    fn next_header(&mut self) -> io::Result<()> {
        self.made.clear();
        self.at = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut limited: Take<_> = self.arc.by_ref().take(MAX_LINE);
            if limited.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(header) = ArcHeader::parse(&line) {
                self.number += 1;
                self.left = header.length;
                header.write(self.number, &mut self.made);
                return Ok(());
            }
            // A line that is not in its place is enough to reject the record before it.
            if self.made.is_empty() {
                self.made.extend_from_slice(b"no record of ARC\r\n");
            }
        }
    }
}

impl<R: Read> Read for ArcReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.made.len() && self.left == 0 {
            self.next_header()?;
        }
        let made = self.made.get(self.at..).unwrap_or_default();
        if !made.is_empty() {
            let read = Read::read(&mut { made }, buffer)?;
            self.at += read;
            return Ok(read);
        }
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let read = self.arc.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left -= read as u64;
        if self.left == 0 && read > 0 {
            self.made = b"\r\n\r\n".to_vec();
            self.at = 0;
        }
        Ok(read)
    }
}

/// The line of a record.
#[derive(Debug, PartialEq, Eq)]
struct ArcHeader<'a> {
    url: &'a str,
    date: &'a str,
    length: u64,
}

impl<'a> ArcHeader<'a> {
    /// Parses the five columns of version 1, or the ten of version 2. URLs of old crawlers may contain spaces.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim_ascii_end();
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_date = |text: &str| matches!(text.len(), 12 | 14) && is_number(text);
        let (before, length) = line.rsplit_once(' ')?;
        let length = Some(length)
            .filter(|length| is_number(length))?
            .parse()
            .ok()?;
        // Between the date and the length: the type; then also status, checksum, location, offset and file.
        [1, 6].into_iter().find_map(|columns| {
            let mut parts = before.rsplitn(columns + 2, ' ').skip(columns);
            let date = parts.next().filter(|date| is_date(date))?;
            let (url, _) = parts.next()?.rsplit_once(' ')?;
            url.contains(':').then_some(Self { url, date, length })
        })
    }

    fn write(&self, number: u64, to: &mut Vec<u8>) {
        // The first record describes the file.
        let kind = if self.url.starts_with("filedesc:") {
            "warcinfo"
        } else {
            "response"
        };
        let Self { url, date, length } = self;
        // Old crawlers leave out the seconds.
        let seconds = if date.len() == 12 { "00" } else { "" };
        let header = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:arc:{number}>\r\nWARC-Target-URI: {url}\r\n\
             WARC-Date: {date}{seconds}\r\nContent-Type: application/http\r\nContent-Length: {length}\r\n\r\n"
        );
        to.extend_from_slice(header.as_bytes());
        if *length == 0 {
            to.extend_from_slice(b"\r\n\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_versions_are_headers() {
        let header = |url, length| {
            let date = "20080430204826";
            Some(ArcHeader { url, date, length })
        };
        for (line, parsed) in [
            (
                "http://a.example/ 192.0.2.1 20080430204826 text/html 122\n",
                header("http://a.example/", 122),
            ),
            (
                "http://a.example/b c 192.0.2.1 20080430204826 text/html 0\r\n",
                header("http://a.example/b c", 0),
            ),
            (
                "http://a.example/ 192.0.2.1 20080430204826 text/html 200 - - 0 x.arc 7\n",
                header("http://a.example/", 7),
            ),
            ("http://a.example/ 192.0.2.1 2008 text/html 122\n", None),
            (
                "http://a.example/ 192.0.2.1 20080430204826 text/html -\n",
                None,
            ),
            ("<p>20080430204826 text/html 122\n", None),
            ("\n", None),
        ] {
            assert_eq!(ArcHeader::parse(line.as_bytes()), parsed, "{line}");
        }
    }

    #[test]
    fn a_wrong_length_shows_in_the_text_that_is_made() {
        let read = |arc: &str| {
            let mut text = String::new();
            ArcReader::new(arc.as_bytes())
                .read_to_string(&mut text)
                .unwrap();
            text
        };
        let record = |length| {
            format!("http://a.example/ 192.0.2.1 20080430204826 text/html {length}\nabc\n")
        };
        let whole = read(&(record(3) + &record(3)));
        assert_eq!(
            whole
                .matches("Content-Length: 3\r\n\r\nabc\r\n\r\n")
                .count(),
            2,
            "{whole}"
        );
        assert!(!whole.contains("no record"), "{whole}");
        let short = read(&(record(1) + &record(3)));
        assert!(
            short.contains("\r\n\r\na\r\n\r\nno record of ARC\r\nWARC/1.0\r\n"),
            "{short}"
        );
    }
}
