//! Character encodings of pages.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::tags::tags;

/// Number of bytes that are searched for the name of the encoding.
const PRESCAN: usize = 1_024;

/// Converts a page to UTF-8. Bytes that are not valid UTF-8 in a page that claims to be UTF-8 stay
/// as they are.
///
/// The encoding is that of the byte order mark, else that of the header `Content-Type`, else that of
/// a `meta` element in the first 1,024 bytes, else UTF-8 (WHATWG *HTML*, 13.2.3.2).
pub(super) fn in_utf8<'a>(page: &'a [u8], content_type: Option<&[u8]>) -> Cow<'a, [u8]> {
    let (encoding, page) = if let Some((encoding, length)) = Encoding::for_bom(page) {
        (encoding, page.get(length..).unwrap_or_default())
    } else {
        let header_encoding = content_type.and_then(charset);
        let named = header_encoding.or_else(|| encoding_of_meta(page));
        (named.unwrap_or(UTF_8), page)
    };
    if encoding == UTF_8 {
        return Cow::Borrowed(page);
    }
    match encoding.decode_without_bom_handling(page).0 {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Returns the encoding that a media type names.
fn charset(content_type: &[u8]) -> Option<&'static Encoding> {
    let place = content_type
        .windows(b"charset".len())
        .position(|name| name.eq_ignore_ascii_case(b"charset"))?;
    let rest = content_type.get(place + b"charset".len()..)?;
    let value = rest
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (value, end): (_, &[u8]) = match value {
        [b'"', value @ ..] => (value, b"\""),
        [b'\'', value @ ..] => (value, b"'"),
        _ => (value, b"; \t\r\n"),
    };
    Encoding::for_label_no_replacement(value.split(|byte| end.contains(byte)).next()?)
}

/// Returns the encoding that a `meta` element of the page names.
fn encoding_of_meta(page: &[u8]) -> Option<&'static Encoding> {
    let mut found = None;
    let head = page.get(..PRESCAN).unwrap_or(page);
    tags(head, |tag| {
        if found.is_some() || tag.name != b"meta" {
            return;
        }
        let is_type = tag
            .http_equiv
            .as_ref()
            .is_some_and(|name| name.eq_ignore_ascii_case(b"content-type"));
        found = match (&tag.charset, &tag.content) {
            (Some(label), _) => Encoding::for_label_no_replacement(label),
            (None, Some(content)) if is_type => charset(content),
            _ => None,
        };
    });
    // The page was readable as ASCII up to here, so it is in neither of these.
    found.map(|encoding| match encoding {
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        encoding if encoding.name() == "x-user-defined" => WINDOWS_1252,
        encoding => encoding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_the_encoding_that_it_says() {
        let utf16 =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
        for (page, header, text) in [
            (&b"\xe4"[..], Some("text/html; charset=iso-8859-1"), "\u{e4}"),
            (b"\xe4", Some("text/html; Charset = \"latin1\" ; x"), "\u{e4}"),
            (b"\xc3\xa4", Some("text/html"), "\u{e4}"),
            (b"\xc3\xa4", Some("text/html;charset=nonsense"), "\u{e4}"),
            (b"\xef\xbb\xbf\xc3\xa4", Some("text/html;charset=latin1"), "\u{e4}"),
            (b"<meta charset=windows-1251>\xe4", None, "<meta charset=windows-1251>\u{434}"),
            (
                b"<!-- <meta charset=latin1> --><META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc4",
                None,
                "<!-- <meta charset=latin1> --><META http-equiv=Content-Type content='text/html; charset=koi8-r'>\u{434}",
            ),
            (b"<meta charset=utf-16>\xc3\xa4", None, "<meta charset=utf-16>\u{e4}"),
            (&[b"\xfe\xff", &utf16("<a>")[..]].concat(), None, "<a>"),
            (&utf16("<a>"), Some("text/html; charset=utf-16be"), "<a>"),
        ] {
            let page = in_utf8(page, header.map(str::as_bytes));
            assert_eq!(String::from_utf8_lossy(&page), text, "{header:?}");
        }
        let late = [&[b' '; PRESCAN][..], b"<meta charset=latin1>\xc3\xa4"].concat();
        assert!(in_utf8(&late, None).ends_with(b"\xc3\xa4"));
    }
}
