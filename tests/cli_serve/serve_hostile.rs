//! Hostile requests: each gets an appropriate status or none, reveals nothing about the machine, and
//! leaves the server unchanged.
//!
//! Bug classes: a panic, an overflow, a rejection that can be bypassed, two answers to one request, an
//! answer without security headers, leaks of memory or files.

use std::fs;

use crate::serve_requests::{Case, Cases};
use crate::support::command::Place;
use crate::support::http::{Answer, Served};

const TOKEN: &str = "0123456789abcdef-0123456789";

/// More than any answer to these requests has: a search that is as long as an address may be stands in
/// its page four times.
const MOST: usize = 128 << 10;

/// Checks an answer by what holds for every one; what is wrong with it, or nothing.
fn wrong(case: &Case, answer: Option<&Answer>, secrets: &[String]) -> Option<String> {
    let Some(answer) = answer else {
        return (!case.may_close).then(|| "no answer".to_owned());
    };
    if !case.allowed.contains(&answer.status) {
        return Some(format!("{}, not {:?}", answer.status, case.allowed));
    }
    if answer.body.len() > MOST {
        return Some(format!("{} bytes", answer.body.len()));
    }
    // What is no HTTP is refused before there is a request: without a word.
    let is_unread = matches!(answer.status, 400 | 414 | 431) && answer.body.is_empty();
    let is_unread = is_unread && answer.header("content-type").is_empty();
    let referrer = answer.header("referrer-policy");
    let policy = answer.header("content-security-policy");
    let is_guarded = policy.starts_with("default-src 'none';")
        && policy.contains("frame-ancestors 'none'")
        && answer.header("x-content-type-options") == "nosniff"
        && answer.header("cache-control") == "no-store"
        && matches!(referrer, "no-referrer" | "same-origin");
    if !is_unread && !is_guarded {
        return Some(format!("browsers are told {:?}", answer.headers));
    }
    let body = String::from_utf8_lossy(&answer.body);
    let headers = format!("{:?}", answer.headers);
    let loose = ["access-control-", "x-injected", "set-cookie", "\"server\""];
    if let Some(header) = loose.iter().find(|header| headers.contains(*header)) {
        return Some(format!("{header} in {headers}"));
    }
    let told = secrets.iter().find(|secret| body.contains(*secret));
    told.map(|secret| format!("it tells {secret}: {body}"))
}

/// Sends every request on a connection of its own; none may have two answers.
fn judge(served: &Served, cases: &[Case], secrets: &[String]) {
    let mut failed = Vec::new();
    for case in cases {
        let mut connection = served.connect();
        let is_sent = connection.send(&case.bytes);
        let answer = connection.answer(!case.bytes.starts_with(b"HEAD "));
        // What cannot be sent whole was refused before.
        assert!(is_sent || case.bytes.len() > 60_000, "{}", case.name);
        if let Some(why) = wrong(case, answer.as_ref(), secrets) {
            failed.push(format!("{}: {why}", case.name));
        }
        let rest = connection.rest();
        if !rest.is_empty() {
            let rest = rest.escape_ascii().to_string();
            failed.push(format!("{}: and then {rest}", case.name));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {}:\n  {}",
        failed.len(),
        cases.len(),
        failed.join("\n  ")
    );
}

/// What no answer may tell: where things are on this machine, and the token.
fn secrets(place: &Place) -> Vec<String> {
    let home = place.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    let source = env!("CARGO_MANIFEST_DIR");
    [home, source, TOKEN, "panicked", ".rs:", "root:"]
        .map(str::to_owned)
        .into()
}

/// Memory in KiB, and open files.
fn takes(served: &Served) -> (u64, usize) {
    let process = format!("/proc/{}", served.process());
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let memory = line.unwrap().split_whitespace().nth(1).unwrap();
    let files = fs::read_dir(format!("{process}/fd")).unwrap().count();
    (memory.parse().unwrap(), files)
}

#[test]
fn hostile_requests_are_refused_and_leave_nothing_behind() {
    let place = Place::with_seeds();
    let bank = place.path("bank");
    let served = Served::start(&place, &[bank.to_str().unwrap()]);
    let start = served.get("/page?url=http://a1.example/").done();
    let (_, files) = takes(&served);
    let cases = Cases::of_all_kinds(served.address.to_string());
    assert!(cases.all.len() >= 500, "{}", cases.all.len());
    judge(&served, &cases.all, &secrets(&place));
    // All is as it was.
    assert_eq!(served.get("/page?url=http://a1.example/").done(), start);
    let (memory, files_now) = takes(&served);
    assert!(memory < 300 << 10, "{memory} KiB");
    assert!(files_now < files + 32, "{files} files, then {files_now}");
    served.stop();
}

#[test]
fn where_a_bank_is_stands_in_no_answer() {
    let place = Place::with_seeds();
    place.write(
        "bad.jsonl",
        "{\"url\":\"http://a1.example/new\"}\nno record\n",
    );
    let bank = place.path("bank");
    let bank = bank.to_str().unwrap();
    place
        .run(&["ingest", bank, "bad.jsonl", "--max-rejects", "100"])
        .done();
    let served = Served::start(&place, &[bank]);
    let secrets = secrets(&place);
    for path in [
        "/",
        "/batches",
        "/plan?name=default",
        "/refresh",
        "/metrics",
    ] {
        let in_api = match path {
            "/" | "/metrics" => "/v1/status".to_owned(),
            path => format!("/v1{path}"),
        };
        for address in [path.to_owned(), in_api] {
            let text = served.get(&address).done();
            for secret in &secrets {
                assert!(!text.contains(secret), "{address}: {secret} in {text}");
            }
        }
    }
    let status = served.get("/v1/status").json();
    let list = status["last_batch"]["rejects_file"].as_str();
    assert_eq!(list, Some("rejects/batch-000002.jsonl"));
    served.stop();
}

#[test]
fn without_the_token_nothing_is_told() {
    let place = Place::with_seeds();
    place.write("token", TOKEN);
    let served = Served::start(&place, &["bank", "--token-file", "token"]);
    let basic = |pair: &str| format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()));
    let half = &TOKEN[..TOKEN.len() / 2];
    let mut refused = vec![
        String::new(),
        "Authorization:".to_owned(),
        format!("X-Token: {TOKEN}"),
        format!("Cookie: token={TOKEN}"),
        format!("Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}"),
        format!("Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer x"),
        "Authorization: Bearer \u{e9}".to_owned(),
    ];
    for value in [
        "Bearer".to_owned(),
        "Bearer \"\"".to_owned(),
        format!("Bearer {half}"),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", TOKEN.to_uppercase()),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("Digest {TOKEN}"),
        format!("Token {TOKEN}"),
        TOKEN.to_owned(),
        basic(TOKEN),
        basic(&format!("{TOKEN}:")),
        basic(&format!("u:{half}")),
        basic("u:"),
        "Basic !".to_owned(),
        "Basic ====".to_owned(),
        format!("Basic {}", "A".repeat(20_000)),
    ] {
        refused.push(format!("Authorization: {value}"));
    }
    for lines in &refused {
        let headers: Vec<&str> = lines.lines().collect();
        for path in [
            "/",
            "/none",
            "/metrics",
            "/style.css",
            "/page?url=x",
            "/healthz/",
            "//healthz",
        ] {
            let answer = served.ask("GET", path, &headers, b"");
            assert_eq!(answer.status, 401, "{path} {lines}");
            assert!(answer.header("www-authenticate").starts_with("Basic "));
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            for told in [TOKEN, "a1.example", "bank:"] {
                assert!(!answer.text().contains(told), "{path} {lines}: {told}");
            }
        }
        let list = served.ask("POST", "/compare", &headers, b"a");
        assert_eq!(list.status, 401, "{lines}");
    }
    // Whoever has it is not told otherwise, and all may know that the server is there.
    assert_eq!(served.get("/healthz").status, 200);
    for value in [
        format!("Bearer {TOKEN}"),
        format!("bearer  {TOKEN}"),
        basic(&format!(":{TOKEN}")),
        basic(&format!("any:{TOKEN}")),
    ] {
        let header = format!("Authorization: {value}");
        let answer = served.ask("GET", "/", &[&header], b"");
        assert_eq!(answer.status, 200, "{value}");
        assert!(!answer.text().contains(TOKEN));
    }
    let err = served.stop();
    assert!(!err.contains(TOKEN), "{err}");
}

#[test]
fn long_lists_at_once_take_no_more_than_their_bytes() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    // As many URLs as a list may have, and as many bytes as a body.
    let mut line = b"http://a.test/".to_vec();
    line.resize(523, b'<');
    line.push(b'\n');
    let list = line.repeat(2000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let lines = ["Content-Type: text/plain"];
                let answer = served.ask("POST", "/compare", &lines, &list);
                assert!(matches!(answer.status, 200 | 503), "{}", answer.status);
            });
        }
    });
    let process = format!("/proc/{}/status", served.process());
    let status = fs::read_to_string(process).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let most = line.unwrap().split_whitespace().nth(1).unwrap();
    // Lists of a MiB with what is told of each line, and what a server of a small bank takes.
    assert!(most.parse::<u64>().unwrap() < 160 << 10, "{most} KiB");
    served.stop();
}
