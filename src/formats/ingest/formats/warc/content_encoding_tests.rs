use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

fn of(transfer: &str, coding: &str, body: &[u8]) -> Result<(Vec<u8>, Option<Unread>), Unread> {
    let response = HttpResponse {
        transfer_encoding: transfer.as_bytes(),
        content_encoding: coding.as_bytes(),
        ..HttpResponse::default()
    };
    decoded(&response, body, &mut 0).map(|(body, missing)| (body.into_owned(), missing))
}

#[test]
fn chunks_are_put_together_where_there_are_any() {
    let (cut_off, damaged) = (Some(Unread::CutOff), Some(Unread::Damaged));
    for (body, content, missing) in [
        ("3\r\n<p>\r\n0\r\n\r\n", "<p>", None),
        (
            "3;x=y\r\n<p>\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            "<p>0123456789",
            None,
        ),
        ("3\n<p>\n0\n\n", "<p>", None),
        ("3\r\n<p>\r\n", "<p>", cut_off),
        ("3\r\n<p>\r\n1f", "<p>", cut_off),
        ("5\r\n<p>", "<p>", cut_off),
        ("3\r\n<p>\r\n9\r\n<a>", "<p><a>", cut_off),
        ("3\r\n<p>\r\nx\r\n<a>", "<p>", damaged),
        ("3\r\n<p>\r\n2\r\n<a>\r\n0\r\n\r\n", "<p>", damaged),
        ("0\r\n\r\n", "", None),
        // Not chunked.
        ("<p>\r\n", "<p>\r\n", None),
        ("3\r\n<p>x\r\n", "3\r\n<p>x\r\n", None),
        ("abc", "abc", None),
        ("", "", None),
        (
            "ffffffffffffffffff\r\n<p>",
            "ffffffffffffffffff\r\n<p>",
            None,
        ),
    ] {
        let decoded = of("chunked", "", body.as_bytes());
        assert_eq!(
            decoded,
            Ok((content.as_bytes().to_vec(), missing)),
            "{body}"
        );
    }
}

#[test]
fn codings_are_undone_in_their_order() {
    let content = b"<p>some text, some text".to_vec();
    let zlib = {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&content).unwrap();
        zlib.finish().unwrap()
    };
    let raw = {
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&content).unwrap();
        raw.finish().unwrap()
    };
    let zstd = zstd::encode_all(&content[..], 3).unwrap();
    let zipped = gzip(&content);
    let chunked = [
        format!("{:x}\r\n", zipped.len()).as_bytes(),
        &zipped,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    for (transfer, coding, body) in [
        ("", "gzip", &zipped),
        ("", "x-gzip", &zipped),
        ("", "GZIP", &zipped),
        ("", "gzip, gzip", &gzip(&zipped)),
        ("gzip, chunked", "", &chunked),
        ("chunked", "gzip", &chunked),
        // Decoded already.
        ("chunked", "gzip", &content),
        ("", "deflate", &content),
        ("", "zstd", &content),
        ("", "br", &content),
        ("", "identity", &content),
        ("", "deflate", &zlib),
        ("", "deflate", &raw),
        ("", "zstd", &zstd),
    ] {
        assert_eq!(
            of(transfer, coding, body),
            Ok((content.clone(), None)),
            "{transfer} {coding}"
        );
    }
    assert_eq!(of("", "compress", b"\x1f\x9d\x90"), Err(Unread::Coding));
    // What brotli 1.2 makes of 20 links.
    let brotli = b"\x1b\xdb\x00\xf8%_|\xc4J\x98\xcd*\x80\x82\xd8\xf4\xc2\x01";
    let links = b"<a href=/b>".repeat(20);
    assert_eq!(of("", "br", brotli), Ok((links, None)));
    assert_eq!(of("", "br", &brotli[..3]), Err(Unread::Damaged));
    // Not known by its first tag; no stream begins with `<`.
    let unknown = b"<x-page>".to_vec();
    assert_eq!(of("", "br", &unknown), Ok((unknown, None)));
    assert_eq!(
        of("", "gzip,gzip,gzip,gzip,gzip", &content),
        Err(Unread::Coding)
    );
    let (damaged, missing) = of("", "gzip", &zipped[..zipped.len() - 9]).unwrap();
    assert_eq!(missing, Some(Unread::Damaged));
    assert!(content.starts_with(&damaged));
}

#[test]
fn a_bomb_costs_no_more_than_a_long_page() {
    let zeros = vec![0; MAX_LINE + 1];
    let bomb = gzip(&zeros);
    assert!(bomb.len() < 100_000);
    let (content, missing) = of("", "gzip", &bomb).unwrap();
    assert_eq!((content.len(), missing), (MAX_LINE, Some(Unread::CutOff)));
    let (content, missing) = of("", "gzip", &gzip(&zeros[1..])).unwrap();
    assert_eq!((content.len(), missing), (MAX_LINE, None));
    // What each of several encodings produces counts.
    let response = HttpResponse {
        content_encoding: b"gzip, gzip",
        ..HttpResponse::default()
    };
    let mut made = 0;
    decoded(&response, &gzip(&bomb), &mut made).unwrap();
    assert_eq!(made, (bomb.len() + MAX_LINE) as u64);
}
