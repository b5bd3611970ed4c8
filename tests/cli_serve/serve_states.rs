//! A server beside a writer: each answer comes from one published state, the next request sees a new
//! state, old states are closed, and no restart is needed.
//!
//! Bug classes: an answer that mixes two states, a state that is held for ever, a replaced bank that
//! is still answered from, an answer that is cut off at shutdown.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::serve::ok;
use crate::support::command::{Place, TWO_CORES, names, record};
use crate::support::http::{SOON, Served, encoded};

const REFRESH: &str = "refresh bank --method cores --within 0";

/// Sets a flag when it is dropped, also by a failure.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Which numbered folders of published states there are.
fn states(place: &Place) -> BTreeSet<String> {
    let all = names(&place.path("bank/published")).into_iter();
    all.filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .collect()
}

/// Waits until nobody holds the lock of any of these states.
#[track_caller]
fn lets_go(place: &Place, held: &BTreeSet<String>) {
    let until = Instant::now() + Duration::from_secs(10);
    for state in held {
        let path = place.path("bank/published").join(state);
        // A writer that found it unused has removed it.
        while let Ok(lock) = File::open(path.with_extension("lock"))
            && lock.try_lock().is_err()
        {
            assert!(Instant::now() < until, "state {state} is held");
            sleep(Duration::from_millis(20));
        }
    }
}

fn number(status: &Value, field: &str) -> u64 {
    status[field].as_u64().unwrap()
}

#[test]
fn while_batches_come_each_answer_is_of_one_published_state() {
    const BATCHES: usize = 10;
    let place = Place::with_seeds();
    let hub = "http://h1.example/";
    let authorities = [
        "http://a1.example/",
        "http://a2.example/",
        "http://a3.example/",
        "http://n1.example/",
        "http://n2.example/",
    ];
    place.write("less.jsonl", record(hub, &authorities[..2]));
    place.write("more.jsonl", record(hub, &authorities));
    let ask = encoded(hub);
    let linked = encoded(authorities[2]);
    let questions = [
        (format!("/page?url={ask}"), "page bank http://h1.example/"),
        (
            format!("/page?url={linked}"),
            "page bank http://a3.example/",
        ),
        (
            format!("/links?url={linked}&of=in"),
            "page bank http://a3.example/ --links in",
        ),
        ("/site?name=h1.example".to_owned(), "site bank h1.example"),
        (
            format!("/explain?url={ask}"),
            "explain bank http://h1.example/",
        ),
        ("/batches".to_owned(), "history bank"),
    ];
    let printed = || -> Vec<String> {
        let print = |(_, line): &(String, &str)| ok(&place, &format!("{line} --format json"));
        questions.iter().map(print).collect()
    };
    let served = Served::start(&place, &["bank"]);
    let done = AtomicBool::new(false);
    let mut published = vec![printed()];
    let answered: Vec<Vec<BTreeSet<String>>> = scope(|scope| {
        let reader = || {
            let mut answered = vec![BTreeSet::new(); questions.len()];
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                for (at, (path, _)) in questions.iter().enumerate() {
                    let answer = served.get(&format!("/v1{path}"));
                    answered[at].insert(answer.done());
                    let status = served.get("/v1/status").json();
                    let batches = number(&status, "batches");
                    assert!(batches >= last, "{batches} after {last}");
                    last = batches;
                    // The parts of a status are of one state too.
                    assert_eq!(number(&status["last_batch"], "batch"), batches);
                }
            }
            answered
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        let finished = Done(&done);
        for batch in 0..BATCHES {
            let file = ["less.jsonl", "more.jsonl"][batch % 2];
            place.run(&["ingest", "bank", file]).done();
            published.push(printed());
        }
        drop(finished);
        readers.map(|reader| reader.join().unwrap()).into()
    });
    for answered in &answered {
        for (at, answers) in answered.iter().enumerate() {
            let path = &questions[at].0;
            let states: BTreeSet<&String> = published.iter().map(|state| &state[at]).collect();
            for answer in answers {
                assert!(
                    states.contains(answer),
                    "{path} was of no published state: {answer}"
                );
            }
        }
        // The readers were there while it changed.
        assert!(answered[0].len() > 2, "{:?}", answered[0]);
        assert!(answered[5].len() > 2, "{:?}", answered[5]);
    }
    served.stop();
}

#[test]
fn a_batch_and_a_refresh_are_seen_by_the_next_request() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let status = || served.get("/v1/status").json();
    assert_eq!(number(&status(), "batches"), 1);
    for batch in 2..4 {
        let url = format!("http://n{batch}.example/");
        let page = format!("/page?url={}", encoded(&url));
        assert_eq!(served.get(&page).status, 404);
        place.write("day.jsonl", record(&url, &["http://a1.example/"]));
        ok(&place, "ingest bank day.jsonl");
        assert_eq!(served.get(&page).status, 200);
        assert_eq!(number(&status(), "batches"), batch);
        ok(&place, REFRESH);
        assert_eq!(number(&status(), "refreshes"), batch);
        let list = ok(&place, "seeds bank");
        assert_eq!(served.get("/seeds").done(), list);
    }
    ok(&place, "undo bank");
    // A batch that is taken back is one more, and the page that it brought is what it was before.
    assert_eq!(number(&status(), "batches"), 4);
    let taken = "http://n3.example/";
    let answer = served.get(&format!("/v1/page?url={}", encoded(taken)));
    let printed = place.run(&["page", "bank", taken, "--format", "json"]);
    assert_eq!(answer.done(), printed.done());
    served.stop();
}

#[test]
fn an_old_state_is_closed_with_and_without_requests() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    for asks in [true, false] {
        served.get("/").done();
        let held = states(&place);
        assert!(!held.is_empty());
        for day in 0..2 {
            let url = format!("http://{asks}{day}.example/");
            place.write("day.jsonl", record(&url, &[]));
            ok(&place, "ingest bank day.jsonl");
            if asks {
                served.get("/").done();
            } else {
                // It looks twice a second whether it holds an old one.
                lets_go(&place, &held);
            }
        }
        let left = states(&place);
        assert_eq!(left.intersection(&held).count(), 0, "{asks}: {left:?}");
    }
    served.stop();
}

#[test]
fn a_bank_can_be_removed_and_replaced() {
    let place = Place::with_seeds();
    // The whole path, as a service is given it: nobody who asks learns of it.
    let bank = place.path("bank");
    let bank = bank.to_str().unwrap();
    let served = Served::start(&place, &[bank]);
    let page = |url: &str| served.get(&format!("/page?url={}", encoded(url)));
    assert_eq!(page("http://h1.example/").status, 200);
    // A bank of another format is named.
    let marker = std::fs::read(place.path("bank/SEEDBANK")).unwrap();
    place.write("bank/SEEDBANK", "seedbank bank, format 99\n");
    let answer = served.get("/");
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("found 99"), "{}", answer.text());
    place.write("bank/SEEDBANK", marker);
    assert_eq!(page("http://h1.example/").status, 200);
    std::fs::remove_dir_all(bank).unwrap();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/v1/status", "application/problem+json"),
        ("/seeds", "text/html; charset=utf-8"),
        ("/metrics", "text/html; charset=utf-8"),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 503, "{path}");
        assert_eq!(answer.header("content-type"), kind, "{path}");
        assert_eq!(answer.header("retry-after"), "2", "{path}");
        let text = answer.text();
        assert!(text.contains("is not a bank"), "{path}: {text}");
        assert!(
            text.contains("answers again once a bank is there"),
            "{text}"
        );
        assert!(!text.contains(bank), "{path} says where it was: {text}");
    }
    assert_eq!(served.get("/healthz").status, 200);
    // Another one with as many batches and refreshes.
    ok(&place, "init bank");
    place.write("other.jsonl", TWO_CORES.replace("h1.", "o."));
    ok(&place, "ingest bank --snapshot other.jsonl");
    ok(&place, REFRESH);
    assert_eq!(page("http://o.example/").status, 200);
    assert_eq!(page("http://h1.example/").status, 404);
    // Moved away and replaced without a request between.
    std::fs::rename(bank, place.path("old")).unwrap();
    ok(&place, "init bank");
    place.write("third.jsonl", TWO_CORES.replace("h1.", "t."));
    ok(&place, "ingest bank --snapshot third.jsonl");
    ok(&place, REFRESH);
    assert_eq!(page("http://t.example/").status, 200);
    assert_eq!(page("http://o.example/").status, 404);
    served.stop();
}

#[test]
fn requests_under_way_are_answered_before_it_ends() {
    let place = Place::with_seeds();
    let list = ok(&place, "seeds bank");
    let served = Served::start(&place, &["bank"]);
    let address = served.address;
    let headers = ["Content-Type: text/plain", "Expect: 100-continue"];
    let request = served.request("POST", "/compare", &headers, list.as_bytes());
    let head = request.len() - list.len();
    // More lists than are compared at once.
    let mut under_way: Vec<_> = (0..8).map(|_| served.connect()).collect();
    for connection in &mut under_way {
        assert!(connection.send(&request[..head]));
        // From here on the request is being answered.
        connection.is_asked_for_body();
    }
    // Idle connections, each after several requests, do not keep the server.
    let mut idle: Vec<_> = (0..20).map(|_| served.connect()).collect();
    let get = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
    for connection in &mut idle {
        for _ in 0..3 {
            assert!(connection.send(get.as_bytes()));
            assert_eq!(connection.answer(true).unwrap().status, 200);
        }
    }
    served.terminate();
    let until = Instant::now() + SOON;
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "it takes new connections");
        sleep(Duration::from_millis(20));
    }
    for mut connection in under_way {
        assert!(connection.send(list.as_bytes()));
        let answer = connection.answer(true).expect("it is answered");
        let page = answer.done();
        assert!(page.contains("Line by line"), "{page}");
        assert_eq!(connection.rest(), b"");
    }
    let err = served.ends(SOON);
    assert!(err.contains("stopped"), "{err}");
    assert!(idle.into_iter().all(|idle| idle.rest().is_empty()));
}

/// A refusal publishes no state, so an answer of the same state shows it.
#[test]
fn a_refused_batch_is_shown_until_it_is_accepted() {
    let place = Place::with_seeds();
    place.write("<bad>.jsonl", "{}\n");
    let served = Served::start(&place, &["bank"]);
    let shown = || {
        let pages = ["/", "/batches"].map(|page| served.get(page).done());
        pages.map(|page| page.contains("1 of 1 record is bad"))
    };
    assert_eq!(shown(), [false, false]);
    let before = states(&place);
    place.run(&["ingest", "bank", "<bad>.jsonl"]).fails(3);
    assert_eq!(states(&place), before);
    assert_eq!(shown(), [true, true]);
    let home = served.get("/").done();
    let notice = "<p class=\"notice\">Batch <b>&lt;bad&gt;.jsonl</b> (delta) was refused ";
    assert!(home.contains(notice), "{home}");
    assert!(
        served
            .get("/metrics")
            .done()
            .contains("seedbank_refused_batch 1\n")
    );
    // With other batches the notice goes, and the history keeps it.
    place.write("good.jsonl", record("http://good.example/", &[]));
    ok(&place, "ingest bank good.jsonl");
    assert_eq!(shown(), [false, true]);
    let json = served.get("/v1/batches").json();
    assert_eq!(json["refused"]["after"], 1);
    let refreshes = served.get("/batches?method=cores").done();
    assert!(!refreshes.contains("1 of 1 record is bad"));
    place.write("<bad>.jsonl", record("http://better.example/", &[]));
    place.run(&["ingest", "bank", "<bad>.jsonl"]).done();
    assert_eq!(shown(), [false, false]);
    served.stop();
}
