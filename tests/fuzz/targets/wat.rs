//! WAT: a text is refused, or is read in its order, whatever its frames say; and a good record that
//! follows is read too.

use std::convert::Infallible;
use std::fs;

use seedbank::ingest::{
    Event, Format, Input, InputError, Naming, Nofollow, Position, ReadError, read_batch,
};
use seedbank::watch::Unwatched;

use super::json_lines::is_normal;
use super::kind;

/// The beginning of every input; without it an input is refused at once.
const BEGINNING: &str = "WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 78\r\n\r\n\
    {\"Container\":{},\"Envelope\":{\"WARC-Header-Metadata\":{\"WARC-Type\":\"warcinfo\"}}}\n\r\n\r\n";

/// What follows the text of an input.
const END: &str = "\r\n\r\nWARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 184\r\n\r\n\
    {\"Envelope\":{\"WARC-Header-Metadata\":{\"WARC-Type\":\"response\",\"WARC-Target-URI\":\
    \"http://end.example/\"},\"Payload-Metadata\":{\"HTTP-Response-Metadata\":\
    {\"Response-Message\":{\"Status\":410}}}}}\r\n\r\n";

pub(super) fn run(data: &[u8]) {
    let (kind, text) = kind(data);
    let ends = kind % 2 == 0;
    let nofollow = if kind % 4 < 2 {
        Nofollow::Keep
    } else {
        Nofollow::Drop
    };
    let end = if ends { END.as_bytes() } else { &[] };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, [BEGINNING.as_bytes(), text, end].concat()).unwrap();
    let mut sources = Format::Wat { nofollow }.sources(&[Input::File(path)]);
    let naming = Naming::default();
    let mut last = 0;
    let mut found = false;
    let mut records = 0;
    let mut sink = |at: Position, event: Event| {
        let Position::Record(number) = at else {
            panic!("a record has a number: {at:?}");
        };
        if !event.is_record() {
            return Ok(());
        }
        assert!(number > last, "{number} after {last}");
        last = number;
        records += 1;
        if let Event::Record(record) = event {
            is_normal(&record.url, naming);
            let outlinks = record.outlinks.unwrap_or_default();
            assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
            found |= record.gone && record.url.site == "end.example";
        }
        Ok::<(), Infallible>(())
    };
    match read_batch(&mut sources, naming, &Unwatched, &mut sink) {
        Ok(summary) => {
            assert_eq!(summary.records, records);
            assert!(found || !ends, "the last record is lost");
        }
        Err(ReadError::Input(InputError::Format(_) | InputError::Truncated(_))) => {}
        Err(error) => panic!("{error}"),
    }
}

fn record(json: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}\r\n\r\n",
        json.len()
    )
}

fn response(status: u16, rest: &str) -> String {
    record(&format!(
        "{{\"Envelope\":{{\"WARC-Header-Metadata\":{{\"WARC-Type\":\"response\",\
         \"WARC-Target-URI\":\"http://a.example/x/y?z\",\"WARC-Date\":\"2024-05-18T01:58:10Z\"}},\
         \"Payload-Metadata\":{{\"HTTP-Response-Metadata\":{{\
         \"Response-Message\":{{\"Status\":\"{status}\"}},{rest}}}}}}}}}"
    ))
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let html = "\"Entity-Digest\":\"sha1:A\",\"HTML-Metadata\":{\"Head\":{\"Base\":\"/b/\",\
        \"Link\":[{\"rel\":\"canonical\",\"url\":\"x\"}],\"Metas\":[{\"name\":\"robots\",\"content\":\"none\"}]},\
        \"Links\":[{\"path\":\"A@/href\",\"url\":\"/y\",\"rel\":\"nofollow\"},{\"path\":\"AREA@/href\",\"url\":\"//b\"}]}";
    let texts = [
        response(200, html),
        response(301, "\"Headers\":{\"location\":[\"/z\"]}"),
        response(404, "\"Headers\":{}") + &response(200, html),
        "WARC/1.0\r\nContent-Length: 9\r\n\r\n".to_owned() + &response(200, html),
        record("{}") + &record("[]"),
    ];
    let of = |kind: u8| {
        let texts = texts.iter();
        texts.map(move |text| [&[kind], text.as_bytes()].concat())
    };
    (0..4).flat_map(of).collect()
}
