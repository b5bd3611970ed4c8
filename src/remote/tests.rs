//! Reading from a server that cuts, throttles, answers 503, changes the file and lies about lengths.
//!
//! Every read must return the bytes of the one version that was found, or an error; never other bytes.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use seedbank_algorithms::watch::{Unwatched, Watch, is_interrupted};
use seedbank_formats::ingest::RemoteFile;

use crate::test_server::{Answer, Request, Server, serve};
use crate::{Client, RemoteError};

fn bytes(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..length).map(next).collect()
}

fn find(server: &Server) -> Result<Arc<dyn RemoteFile>, RemoteError> {
    let address = format!("{}/a%20b/~c.gz?signature=secret", server.address);
    let found = Client::new(Arc::new(Unwatched)).find(&[&address]);
    let found = found.map_err(|(name, error)| {
        assert!(!name.contains("secret"), "{name}");
        RemoteError::of(&error).unwrap().clone()
    });
    found.map(|mut found| found.remove(0).remove(0))
}

fn read(server: &Server) -> Result<Vec<u8>, RemoteError> {
    let mut bytes = Vec::new();
    let read = find(server)?.open().unwrap().read_to_end(&mut bytes);
    let read = read.map_err(|error| RemoteError::of(&error).unwrap().clone());
    read.map(|_| bytes)
}

#[test]
fn a_file_is_read_under_its_exact_address() {
    let server = serve(bytes(3_000_000), |_| Answer::right());
    let file = find(&server).unwrap();
    assert_eq!(
        (file.length(), file.name()),
        (3_000_000, &*format!("{}/a%20b/~c.gz", server.address))
    );
    assert!(read(&server).unwrap() == bytes(3_000_000));
    assert!(file.read_range(5..9).unwrap() == bytes(9)[5..]);
    let requests = server.requests.lock().unwrap();
    assert!(
        requests
            .iter()
            .all(|request| request.contains(" /a%20b/~c.gz?signature=secret "))
    );
    assert!(
        requests
            .iter()
            .any(|request| request.to_lowercase().contains("range: bytes=5-8"))
    );
}

/// `LONG_CUTS_OF_STREAMS` sets the number of reads.
#[test]
fn a_cut_stream_resumes_where_it_was_cut() {
    let reads = std::env::var("LONG_CUTS_OF_STREAMS").map_or(6, |reads| reads.parse().unwrap());
    let wanted = bytes(1_500_000);
    for case in 0..reads {
        let server = serve(wanted.clone(), move |request| Answer {
            // Some after a few bytes, and some in the middle of a chunk.
            cut: (request.number % 4 < 3)
                .then(|| (case * 7_919 + request.number * 104_729) % 700_000),
            tag: (case % 3 > 0).then(|| "\"1\"".to_owned()),
            ..Answer::right()
        });
        assert!(read(&server).unwrap() == wanted, "case {case}");
        assert!(server.requests.lock().unwrap().len() > 2);
    }
}

#[test]
fn what_is_unavailable_for_a_moment_is_tried_again() {
    let wanted = bytes(100_000);
    for status in [
        "503 Service Unavailable",
        "429 Too Many Requests",
        "500 Internal Server Error",
    ] {
        let server = serve(wanted.clone(), move |request| Answer {
            status: (request.number % 2 == 0).then_some(status),
            ..Answer::right()
        });
        assert!(read(&server).unwrap() == wanted, "{status}");
    }
    // Slow is not cut.
    let slow = serve(wanted.clone(), |_| Answer {
        delay: Some(Duration::from_millis(5)),
        ..Answer::right()
    });
    assert!(read(&slow).unwrap() == wanted);
}

#[test]
fn a_changed_file_is_refused() {
    // Another version after the first cut, which the server says, or which only its tag shows.
    let changed = |request: &Request| Answer {
        cut: Some(70_000),
        tag: Some(if request.number < 2 { "\"1\"" } else { "\"2\"" }.to_owned()),
        ..Answer::right()
    };
    let server = serve(bytes(100_000), changed);
    assert_eq!(read(&server), Err(RemoteError::Changed));
    let weak = move |request: &Request| Answer {
        tag: Some(
            if request.number < 2 {
                "W/\"1\""
            } else {
                "W/\"2\""
            }
            .to_owned(),
        ),
        ..changed(request)
    };
    let server = serve(bytes(100_000), weak);
    assert_eq!(read(&server), Err(RemoteError::Changed));
    // Of servers without tags, the length shows it.
    let longer = |request: &Request| Answer {
        tag: None,
        cut: Some(70_000),
        lie: if request.number < 2 { 0 } else { 5 },
        ..Answer::right()
    };
    let server = serve(bytes(100_000), longer);
    assert_eq!(read(&server), Err(RemoteError::Length(100_000)));
}

/// What a server says about the version of a file: its tag, and the time of its last change.
type Said = (Option<&'static str>, Option<&'static str>);

const TIME: &str = "Sat, 21 Nov 2026 04:00:00 GMT";

/// Tags and times that a file may keep while it changes.
const WEAK: [Said; 4] = [
    (None, None),
    (None, Some(TIME)),
    (Some("W/\"1\""), None),
    (Some("W/\"1\""), Some(TIME)),
];

/// The answer of a server that says this, and cuts the first read.
fn cut_once((tag, time): Said, request: &Request) -> Answer {
    Answer {
        tag: tag.map(str::to_owned),
        time,
        cut: (request.number == 1).then_some(300_000),
        ..Answer::right()
    }
}

#[test]
fn versions_that_look_the_same_are_never_joined() {
    let wanted = bytes(600_000);
    for said in WEAK {
        let changes = serve(wanted.clone(), move |request| Answer {
            version: u8::from(request.number > 1),
            ..cut_once(said, request)
        });
        assert_eq!(read(&changes), Err(RemoteError::Changed), "{said:?}");
        // It is read again from its beginning, and only once.
        assert_eq!(changes.requests.lock().unwrap().len(), 3);
        let stays = serve(wanted.clone(), move |request| cut_once(said, request));
        assert!(read(&stays).unwrap() == wanted, "{said:?}");
        for served in [changes, stays] {
            let requests = served.requests.lock().unwrap();
            let has_range = |request: &String| request.to_lowercase().contains("range:");
            assert!(!requests.iter().any(has_range), "{said:?}");
        }
    }
}

#[test]
fn a_strong_tag_lets_a_read_continue() {
    let wanted = bytes(600_000);
    let strong = (Some("\"1\""), Some(TIME));
    let server = serve(wanted.clone(), move |request| cut_once(strong, request));
    assert!(read(&server).unwrap() == wanted);
    let requests = server.requests.lock().unwrap();
    let last = requests.last().unwrap().to_lowercase();
    assert!(last.contains("range: bytes=300000-599999"), "{last}");
    assert!(last.contains("if-match: \"1\""), "{last}");
    // A server that ignores the tag and does not say which version it sends is not believed.
    let silent = serve(wanted.clone(), move |request| Answer {
        tag: (request.number < 2).then(|| "\"1\"".to_owned()),
        version: u8::from(request.number > 1),
        ..cut_once(strong, request)
    });
    assert_eq!(read(&silent), Err(RemoteError::Changed));
}

#[test]
fn a_read_that_is_cut_at_the_same_place_each_time_ends() {
    let server = serve(bytes(900_000), move |request| Answer {
        cut: (request.number > 0).then_some(600_000),
        ..cut_once((None, None), request)
    });
    assert!(matches!(read(&server), Err(RemoteError::Failed(_))));
}

#[test]
fn ranges_need_a_strong_tag() {
    for said in WEAK {
        let server = serve(bytes(1_000), move |request| cut_once(said, request));
        let file = find(&server).unwrap();
        assert!(!file.has_ranges(), "{said:?}");
        let error = file.read_range(5..9).unwrap_err();
        assert_eq!(RemoteError::of(&error), Some(&RemoteError::NoRanges));
    }
    let server = serve(bytes(1_000), |_| Answer::right());
    assert!(find(&server).unwrap().has_ranges());
}

#[test]
fn lengths_that_lie_are_errors() {
    // The body is shorter than promised, however often it is requested.
    let longer = |_: &Request| Answer {
        lie: 10,
        ..Answer::right()
    };
    let server = serve(bytes(1_000), longer);
    let error = read(&server).unwrap_err();
    assert!(
        matches!(
            error,
            RemoteError::Changed | RemoteError::Length(_) | RemoteError::Failed(_)
        ),
        "{error}"
    );
    // The length of the look-up is not that of the file.
    let lies = |request: &Request| Answer {
        lie: if request.method == "HEAD" { -10 } else { 0 },
        ..Answer::right()
    };
    let server = serve(bytes(1_000), lies);
    assert_eq!(read(&server), Err(RemoteError::Length(990)));
}

#[test]
fn without_ranges_a_file_that_is_cut_is_read_again() {
    let wanted = bytes(600_000);
    let server = serve(wanted.clone(), |request| Answer {
        ranges: false,
        ..cut_once((Some("\"1\""), None), request)
    });
    assert!(read(&server).unwrap() == wanted);
    let whole = serve(bytes(100_000), |_| Answer {
        ranges: false,
        ..Answer::right()
    });
    assert!(read(&whole).unwrap() == bytes(100_000));
}

#[test]
fn what_cannot_be_read_has_a_reason_without_secrets() {
    for (status, expected) in [
        ("404 Not Found", RemoteError::NotFound),
        (
            "403 Forbidden",
            RemoteError::Denied("403 Forbidden".to_owned()),
        ),
        ("410 Gone", RemoteError::Failed("410 Gone".to_owned())),
    ] {
        let server = serve(bytes(10), move |_| Answer {
            status: Some(status),
            ..Answer::right()
        });
        assert_eq!(find(&server).unwrap_err(), expected);
    }
    let mut client = Client::new(Arc::new(Unwatched));
    let (name, error) = client
        .find(&["https://user:secret@127.0.0.1:1/a?secret"])
        .unwrap_err();
    assert_eq!(
        (&*name, RemoteError::of(&error)),
        ("https://127.0.0.1:1/a", Some(&RemoteError::Password))
    );
}

#[test]
fn servers_that_answer_only_get_are_read() {
    let server = serve(bytes(1_000), |request| Answer {
        status: (request.method == "HEAD").then_some("405 Method Not Allowed"),
        ..Answer::right()
    });
    assert!(read(&server).unwrap() == bytes(1_000));
}

/// Says stop once it was asked a few times.
struct Soon(AtomicUsize, AtomicBool);

impl Watch for Soon {
    fn stopped(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) > 3 && self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn waiting_can_be_interrupted() {
    let server = serve(bytes(1_000_000), |_| Answer {
        delay: Some(Duration::from_secs(60)),
        ..Answer::right()
    });
    let watch = Arc::new(Soon(AtomicUsize::new(0), AtomicBool::new(false)));
    let mut client = Client::new(Arc::clone(&watch) as Arc<dyn Watch + Send>);
    let file = client
        .find(&[&format!("{}/a", server.address)])
        .unwrap()
        .remove(0)
        .remove(0);
    watch.1.store(true, Ordering::Relaxed);
    let mut read = file.open().unwrap();
    let error = read.read_to_end(&mut Vec::new()).unwrap_err();
    assert!(is_interrupted(&error), "{error}");
    assert!(is_interrupted(&file.read_range(0..100_000).unwrap_err()));
}
