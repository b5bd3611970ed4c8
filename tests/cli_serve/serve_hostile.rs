//! Hostile requests, in `hostile.txt`: each gets an appropriate status or none, reveals nothing about the machine, and
//! leaves the server unchanged.
//!
//! Bug classes: a panic, an overflow, a rejection that can be bypassed, two answers to one request, an answer without
//! security headers, leaks of memory or files.

use std::fs;

use crate::support::command::Place;
use crate::support::http::{Answer, Served};

const TOKEN: &str = "0123456789abcdef-0123456789";

/// More than any answer to these requests has: a search that is as long as an address may be stands in its page four times.
const MOST: usize = 128 << 10;

/// A request, and the statuses that are right.
struct Case {
    name: String,
    bytes: Vec<u8>,
    statuses: Vec<u16>,
    may_close: bool,
}

/// The cases of `hostile.txt`, whose head describes its format.
fn cases(host: &str) -> Vec<Case> {
    let text = include_str!("hostile.txt");
    let sections = || {
        let sections = text.split("\n= ").skip(1);
        sections.map(|section| section.split_once('\n').unwrap())
    };
    let lines = |section: &'static str| section.lines().filter(|line| !line.is_empty());
    let values: Vec<&str> = lines(sections().next().unwrap().1).collect();
    let mut cases = Vec::new();
    for (template, section) in sections().skip(1) {
        let words: Vec<&str> = template.split(' ').collect();
        let is_status = |word: &&&str| word.trim_end_matches('~').parse::<u16>().is_ok();
        let statuses: Vec<&str> = words.iter().take_while(is_status).copied().collect();
        let template = words[statuses.len()..].join(" ");
        for line in lines(section) {
            let request = template.replace('$', line);
            let requests = if request.contains("{values}") {
                values
                    .iter()
                    .map(|value| request.replace("{values}", value))
                    .collect()
            } else {
                vec![request]
            };
            cases.extend(requests.into_iter().map(|request| {
                Case {
                    bytes: request_bytes(&request, host),
                    statuses: statuses
                        .iter()
                        .map(|s| s.trim_end_matches('~').parse().unwrap())
                        .collect(),
                    may_close: statuses.iter().any(|status| status.ends_with('~')),
                    name: request,
                }
            }));
        }
    }
    cases
}

fn request_bytes(request: &str, host: &str) -> Vec<u8> {
    let request = request.replace("{host}", host);
    if let Some(raw) = request.strip_prefix("raw ") {
        return expanded(raw);
    }
    let (head, body) = request.split_once(" !! ").unwrap_or((&request, ""));
    let (line, fields) = head.split_once(" ! ").unwrap_or((head, ""));
    let body = expanded(body);
    let end = if fields.is_empty() || fields == "{0*a}" {
        ""
    } else {
        "\\n"
    };
    let head = format!("{line} HTTP/1.1\\nHost: {host}\\nConnection: close\\n{fields}{end}\\n");
    [
        expanded(&head.replace("{length}", &body.len().to_string())),
        body,
    ]
    .concat()
}

/// Replaces escapes and `{N*text}`, also within one another.
fn expanded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{']) {
        bytes.extend(rest[..at].bytes());
        let escaped = &rest[at + 1..];
        if rest[at..].starts_with('{') {
            let mut depth = 1;
            let is_end = |c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            };
            let end = escaped.find(is_end).unwrap();
            match escaped[..end].split_once('*') {
                Some((count, text)) => bytes.extend(expanded(text).repeat(count.parse().unwrap())),
                None => bytes.extend(rest[at..at + end + 2].bytes()),
            }
            rest = &escaped[end + 1..];
            continue;
        }
        let length = match escaped.as_bytes()[0] {
            b'n' => (b"\r\n".as_slice(), 1),
            b'l' => (b"\n".as_slice(), 1),
            b'r' => (b"\r".as_slice(), 1),
            b't' => (b"\t".as_slice(), 1),
            b'x' => {
                bytes.push(u8::from_str_radix(&escaped[1..3], 16).unwrap());
                (b"".as_slice(), 3)
            }
            other => panic!("\\{}", char::from(other)),
        };
        bytes.extend(length.0);
        rest = &escaped[length.1..];
    }
    bytes.extend(rest.bytes());
    bytes
}

/// What is wrong with an answer; `None` if nothing is.
fn fault(case: &Case, answer: Option<&Answer>, secrets: &[String]) -> Option<String> {
    let Some(answer) = answer else {
        return (!case.may_close).then(|| "no answer".to_owned());
    };
    if !case.statuses.contains(&answer.status) {
        return Some(format!(
            "found {}, expected {:?}",
            answer.status, case.statuses
        ));
    }
    if answer.body.len() > MOST {
        return Some(format!("{} bytes", answer.body.len()));
    }
    // What is not HTTP is rejected before there is a request, without a body.
    let is_unread = matches!(answer.status, 400 | 414 | 431) && answer.body.is_empty();
    let is_unread = is_unread && answer.header("content-type").is_empty();
    let policy = answer.header("content-security-policy");
    let is_guarded = policy.starts_with("default-src 'none';")
        && policy.contains("frame-ancestors 'none'")
        && answer.header("x-content-type-options") == "nosniff"
        && answer.header("cache-control") == "no-store"
        && matches!(
            answer.header("referrer-policy"),
            "no-referrer" | "same-origin"
        );
    let headers = format!("{:?}", answer.headers);
    if !is_unread && !is_guarded {
        return Some(format!("headers {headers}"));
    }
    let loose = ["access-control-", "x-injected", "set-cookie", "\"server\""];
    if let Some(header) = loose.iter().find(|header| headers.contains(*header)) {
        return Some(format!("{header} in {headers}"));
    }
    let body = String::from_utf8_lossy(&answer.body);
    let secret = secrets.iter().find(|secret| body.contains(*secret));
    secret.map(|secret| format!("{secret} in {body}"))
}

/// What no answer may contain: where things are on this machine, and the token.
fn secrets(place: &Place) -> Vec<String> {
    let home = place.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    let source = env!("CARGO_MANIFEST_DIR");
    [home, source, TOKEN, "panicked", ".rs:", "root:"]
        .map(str::to_owned)
        .into()
}

/// A number of `/proc/PROCESS/status` in KiB.
fn memory(served: &Served, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.process())).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn hostile_requests_are_rejected_and_leave_nothing_behind() {
    let place = Place::with_seeds();
    let bank = place.path("bank");
    let served = Served::start(&place, &[bank.to_str().unwrap()]);
    let start = served.get("/page?url=http://a1.example/").done();
    let files = served.files();
    let cases = cases(&served.address.to_string());
    assert!(cases.len() >= 500, "{}", cases.len());
    let secrets = secrets(&place);
    let mut failed = Vec::new();
    for case in &cases {
        let mut connection = served.connect();
        let is_sent = connection.send(&case.bytes);
        let answer = connection.answer(!case.bytes.starts_with(b"HEAD "));
        // What cannot be sent whole was rejected before.
        assert!(is_sent || case.bytes.len() > 60_000, "{}", case.name);
        if let Some(fault) = fault(case, answer.as_ref(), &secrets) {
            failed.push(format!("{}: {fault}", case.name));
        }
        // No request may have two answers.
        let rest = connection.rest();
        if !rest.is_empty() {
            failed.push(format!("{}: and then {}", case.name, rest.escape_ascii()));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {}:\n  {}",
        failed.len(),
        cases.len(),
        failed.join("\n  ")
    );
    assert_eq!(served.get("/page?url=http://a1.example/").done(), start);
    let memory = memory(&served, "VmRSS:");
    assert!(memory < 300 << 10, "{memory} KiB");
    let files_now = served.files();
    assert!(files_now < files + 32, "{files} files, then {files_now}");
    served.stop();
}

#[test]
fn without_the_token_nothing_is_answered() {
    let place = Place::with_seeds();
    place.write("token", TOKEN);
    let served = Served::start(&place, &["bank", "--token-file", "token"]);
    let basic = |pair: &str| format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()));
    let half = &TOKEN[..TOKEN.len() / 2];
    let mut rejected = vec![
        String::new(),
        "Authorization:".to_owned(),
        format!("X-Token: {TOKEN}"),
        format!("Cookie: token={TOKEN}"),
        format!("Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer x"),
        "Authorization: Bearer \u{e9}".to_owned(),
    ];
    let values = [
        "Bearer".to_owned(),
        "Bearer \"\"".to_owned(),
        format!("Bearer {half}"),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", TOKEN.to_uppercase()),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("Digest {TOKEN}"),
        TOKEN.to_owned(),
        basic(TOKEN),
        basic(&format!("{TOKEN}:")),
        basic(&format!("u:{half}")),
        basic("u:"),
        "Basic !".to_owned(),
        format!("Basic {}", "A".repeat(20_000)),
    ];
    rejected.extend(values.map(|value| format!("Authorization: {value}")));
    for lines in &rejected {
        let headers: Vec<&str> = lines.lines().collect();
        let paths = [
            "/",
            "/none",
            "/metrics",
            "/style.css",
            "/page?url=x",
            "//healthz",
        ];
        for (method, path) in paths
            .map(|path| ("GET", path))
            .into_iter()
            .chain([("POST", "/compare")])
        {
            let answer = served.ask(method, path, &headers, b"a");
            assert_eq!(answer.status, 401, "{path} {lines}");
            assert!(answer.header("www-authenticate").starts_with("Basic "));
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            for secret in [TOKEN, "a1.example", "bank:", "seedbank_"] {
                assert!(!answer.text().contains(secret), "{path} {lines}: {secret}");
            }
        }
    }
    assert_eq!(served.get("/healthz").status, 200);
    for value in [
        format!("Bearer {TOKEN}"),
        format!("bearer  {TOKEN}"),
        basic(&format!(":{TOKEN}")),
        basic(&format!("any:{TOKEN}")),
    ] {
        let answer = served.ask("GET", "/", &[&format!("Authorization: {value}")], b"");
        assert_eq!(answer.status, 200, "{value}");
        assert!(!answer.text().contains(TOKEN));
    }
    // Rejected requests are counted.
    let token = format!("Authorization: Bearer {TOKEN}");
    let metrics = served.ask("GET", "/metrics", &[&token], b"").done();
    let is_counted = |line: &str| line.contains("route=\"/metrics\"") && line.contains("4xx");
    assert!(metrics.lines().any(is_counted), "{metrics}");
    let err = served.stop();
    assert!(!err.contains(TOKEN), "{err}");
}

#[test]
fn long_lists_at_once_take_no_more_than_their_bytes() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    // As many URLs as a list may have, and as many bytes as a body.
    let line = format!("http://a.test/{}\n", "<".repeat(509));
    let list = line.repeat(2000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let lines = ["Content-Type: text/plain"];
                let answer = served.ask("POST", "/compare", &lines, list.as_bytes());
                assert!(matches!(answer.status, 200 | 503), "{}", answer.status);
            });
        }
    });
    // Lists of a MiB with an answer about each line, and what a server of a small bank takes.
    let most = memory(&served, "VmHWM:");
    assert!(most < 160 << 10, "{most} KiB");
    served.stop();
}
