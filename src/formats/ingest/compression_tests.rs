use std::io::Write;

use super::*;

/// Text in a stream of brotli, stored without compression (RFC 7932, 9.2).
fn brotli_stored(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len() - 1).unwrap();
    assert!(length < 1 << 16);
    // A window of 16 bits; not the last block; four nibbles of length; uncompressed.
    let header = (length << 4 | 1 << 20).to_le_bytes();
    [&header[..3], text, &[0b11]].concat()
}

fn read(compression: Compression, stored: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut reader = compression.reader(Cursor::new(stored.to_vec()), &mut 0)?;
    reader.read_to_end(&mut text).map(|_| text)
}

/// A dictionary made of short texts.
fn dictionary() -> Vec<u8> {
    let text = |n: usize| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{n}/{}\r\n",
            n * 7_919
        )
    };
    let texts: Vec<_> = (0..1_000).map(text).collect();
    zstd::dict::from_samples(&texts, 4 << 10).unwrap()
}

fn skippable(magic: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[magic, 0x2a, 0x4d, 0x18][..], &length, content].concat()
}

fn frame(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, dictionary).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_dictionary_applies_to_all_frames() {
    let dictionary = dictionary();
    let texts = [
        &b"WARC/1.0\r\nWARC-Target-URI: http://a.example/3"[..],
        b"/x",
    ];
    let frames: Vec<u8> = texts.map(|text| frame(text, &dictionary)).concat();
    let whole = texts.concat();
    let zipped = zstd::encode_all(&*dictionary, 3).unwrap();
    for content in [&dictionary, &zipped] {
        let stored = [skippable(0x5d, content), frames.clone()].concat();
        assert_eq!(
            Compression::detect(&stored[..4], "x"),
            Some(Compression::Zstd)
        );
        assert_eq!(read(Compression::Zstd, &stored).unwrap(), whole);
        for length in 0..content.len() + 8 {
            let cut = read(Compression::Zstd, &stored[..length]);
            assert!(cut.is_err() || length == 0, "{length}");
        }
    }
    // Other skippable frames, empty ones, and no dictionary.
    let plain = frame(b"text", &[]);
    for before in [
        skippable(0x5e, &dictionary),
        skippable(0x5d, b"note"),
        skippable(0x5d, b""),
    ] {
        let stored = [before, plain.clone()].concat();
        assert_eq!(read(Compression::Zstd, &stored).unwrap(), b"text");
    }
    assert_eq!(read(Compression::Zstd, &plain).unwrap(), b"text");
    let error = read(Compression::Zstd, &frames).unwrap_err();
    assert_eq!(error.to_string(), "Dictionary mismatch");
}

#[test]
fn a_compressed_dictionary_counts_as_expansion() {
    let dictionary = dictionary();
    let compressed = zstd::encode_all(&*dictionary, 3).unwrap();
    for (content, expected) in [(&dictionary, 0), (&compressed, dictionary.len())] {
        let stored = [skippable(0x5d, content), frame(b"text", &dictionary)].concat();
        let mut made = 0;
        let reader = Compression::Zstd.reader(Cursor::new(stored), &mut made);
        assert!(reader.is_ok());
        assert_eq!(made, expected as u64);
    }
}

#[test]
fn a_bad_dictionary_is_an_error() {
    let dictionary = dictionary();
    let error = |stored: &[u8]| read(Compression::Zstd, stored).unwrap_err().to_string();
    let frames = frame(b"text", &dictionary);
    let of = |content: &[u8]| [skippable(0x5d, content), frames.clone()].concat();
    let damaged = "the dictionary at the beginning is damaged";
    assert_eq!(error(&of(&dictionary[..20])), damaged);
    assert_eq!(
        error(&of(&zstd::encode_all(&b"none"[..], 3).unwrap())),
        damaged
    );
    let too_long = "the dictionary at the beginning is longer than 16 MiB";
    let zeros = vec![0; MAX_DICTIONARY as usize + 1];
    assert_eq!(error(&of(&zstd::encode_all(&*zeros, 3).unwrap())), too_long);
    let mut stored = of(&dictionary);
    stored[4..8].copy_from_slice(&(MAX_DICTIONARY + 1).to_le_bytes());
    assert_eq!(error(&stored), too_long);
}

#[test]
fn brotli_is_one_stream_and_known_by_its_name() {
    let text = b"http://a.example/\n".repeat(100);
    let stored = brotli_stored(&text);
    assert_eq!(
        Compression::detect(&stored[..4], "x.txt.br"),
        Some(Compression::Brotli)
    );
    assert_eq!(Compression::detect(&stored[..4], "x.txt"), None);
    assert_eq!(Compression::detect(b"", "x.br"), None);
    assert_eq!(
        Compression::detect(b"\x1f\x8b\x08\0", "x.br"),
        Some(Compression::Gzip)
    );
    assert_eq!(read(Compression::Brotli, &stored).unwrap(), text);
    for length in 1..stored.len() {
        assert!(
            read(Compression::Brotli, &stored[..length]).is_err(),
            "{length}"
        );
    }
    for more in [1, BROTLI_BUFFER] {
        let longer = [&stored[..], &vec![b'x'; more]].concat();
        assert!(read(Compression::Brotli, &longer).is_err(), "{more}");
    }
    // What brotli 1.2 makes of 20 links.
    let compressed = b"\x1b\xdb\x00\xf8%_|\xc4J\x98\xcd*\x80\x82\xd8\xf4\xc2\x01";
    let links = b"<a href=/b>".repeat(20);
    assert_eq!(read(Compression::Brotli, compressed).unwrap(), links);
    // A window of 30 bits, which is not of RFC 7932.
    assert!(read(Compression::Brotli, b"\x11\x1e\x03").is_err());
}
