//! Hostile requests and their statuses: addresses, headers and methods.

use crate::serve_bodies::{bodies, encodings, forms, origins};

/// A request, and the statuses that are right.
pub struct Case {
    pub name: String,
    pub bytes: Vec<u8>,
    pub allowed: &'static [u16],
    /// Whether the server may close the connection instead.
    pub may_close: bool,
}

/// Requests to a server at this address.
pub struct Cases {
    pub host: String,
    pub all: Vec<Case>,
}

impl Cases {
    /// Everything that is asked of a server at this address.
    pub fn of_all_kinds(host: String) -> Self {
        let mut cases = Self {
            host,
            all: Vec::new(),
        };
        targets(&mut cases);
        heads(&mut cases);
        methods(&mut cases);
        bodies(&mut cases);
        encodings(&mut cases);
        forms(&mut cases);
        origins(&mut cases);
        cases
    }

    pub fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>, allowed: &'static [u16]) {
        self.all.push(Case {
            name: name.into(),
            bytes,
            allowed,
            may_close: false,
        });
    }

    /// The last request may be cut off too.
    pub fn or_closed(&mut self) {
        self.all.last_mut().unwrap().may_close = true;
    }

    /// A GET whose address is any bytes, with further lines of the head.
    fn get(&mut self, target: &[u8], lines: &[u8], allowed: &'static [u16]) {
        let bytes = self.of("GET", target, lines, b"");
        let start = &target[..target.len().min(60)];
        let first = &lines[..lines.len().min(60)];
        let name = format!("{} {}", start.escape_ascii(), first.escape_ascii());
        self.add(name, bytes, allowed);
    }

    /// A list to compare.
    pub fn post(&mut self, lines: &str, body: &[u8], allowed: &'static [u16]) {
        let lines = format!("Content-Type: text/plain\r\n{lines}");
        let bytes = self.of("POST", b"/compare", lines.as_bytes(), body);
        self.add(lines, bytes, allowed);
    }

    /// A form of so many bytes.
    pub fn form(&mut self, kind: &str, body: &[u8], allowed: &'static [u16]) {
        let length = body.len();
        let lines =
            format!("Content-Type: multipart/form-data{kind}\r\nContent-Length: {length}\r\n");
        let bytes = self.of("POST", b"/compare", lines.as_bytes(), body);
        let start = &body[..body.len().min(60)];
        let kind = &kind[..kind.len().min(30)];
        self.add(format!("{kind} {}", start.escape_ascii()), bytes, allowed);
    }

    pub fn of(&self, method: &str, target: &[u8], lines: &[u8], body: &[u8]) -> Vec<u8> {
        let mut bytes = [method.as_bytes(), b" ", target, b" HTTP/1.1\r\n"].concat();
        bytes.extend(format!("Host: {}\r\nConnection: close\r\n", self.host).bytes());
        bytes.extend([lines, b"\r\n", body].concat());
        bytes
    }
}

/// Values that no parameter should have, as they stand in an address; one is empty.
const VALUES: &str = "
-1
0
4294967295
4294967296
18446744073709551615
18446744073709551616
99999999999999999999999
1e9
NaN
%00
%ff%fe
%
%zz
%2e%2e%2f%2e%2e%2fetc%2fpasswd
%3Cscript%3Ealert(1)%3C/script%3E
javascript:alert(1)
http://%5B::1
http://%5B::1%5D/
%E2%80%AE
'%20OR%201=1--
%0d%0aX-Injected:%201
file:///etc/passwd
%5C%5Chost%5Cshare
http://u:p@a1.example:0/
true
html&x=1;y
%F0%9F%92%A9";

/// Every parameter of every address, with what has to stand before it.
const PARAMETERS: &str = "\
/page?url
/links?of=in&url
/links?url=http://a1.example/&of
/links?url=http://a1.example/&of=in&site
/links?url=http://a1.example/&of=in&from
/v1/links?url=http://a1.example/&of=in&offset
/v1/links?url=http://a1.example/&of=in&limit
/search?q
/site?name
/v1/search?q
/explain?url
/explain?url=http://a1.example/&plan
/explain?url=http://a1.example/&refresh
/plan?name
/plan?name=default&from
/refresh?refresh
/refresh?plan
/refresh?refresh=1&q
/refresh?refresh=1&sort
/refresh?refresh=1&desc
/refresh?refresh=1&dead
/refresh?refresh=1&from
/seeds?plan
/seeds?refresh
/seeds?format
/seeds?alive
/diff?from
/diff?from=1&to
/diff?to
/diff?plan
/diff?against
/core?core
/core?core=1&refresh
/core?core=1&plan
/v1/core-links?core
/v1/seeds?limit
/v1/diff?from
/v1/quotas?pages
/history?url
/history?url=http://a1.example/&plan
/batches?from
/?format
/metrics?format";

/// Addresses of nothing.
const NOWHERE: &str = "\
/../etc/passwd
/%2e%2e/etc/passwd
/..%2f..%2fetc/passwd
/%00
//
//evil.example/
/page/
/page//
/%ff
/%
/%2
/\\..\\..
/style.css/
/style.css/../healthz
/./healthz
/healthz;x
/HEALTHZ
/SEEDBANK
/published/CURRENT
/.git/config
*
/compare/
/%63ompare
/page%3furl=x
/v1/nothing";

/// Parameters that are given twice.
const TWICE: &str = "\
/page?url=http://a1.example/&url=http://a2.example/
/core?core=1&core=2
/plan?name=a&name=b
/refresh?refresh=1&refresh=1
/diff?from=1&from=1
/seeds?format=csv&format=text
/batches?from=0&from=1
/search?q=a&q=b
/?format=csv&format=html
/page?url=http://a1.example/&format=csv&format=html";

/// Lines of a head that change nothing.
const STRANGE: &str = "\
X: \u{e9}
Accept: \u{e9}
Accept: ,;q=;q=9,,
Accept: application/json;q=-1
Range: bytes=0-1
If-None-Match: *
Upgrade: h2c
Upgrade: websocket
Expect: nothing
Origin: http://evil.example
X-Forwarded-Host: evil.example
X-HTTP-Method-Override: DELETE
X-Original-URL: /../etc/passwd
Referer: http://evil.example/
Cookie: a=b
TE: trailers
Accept-Encoding: br, *
Via: 1.1 x";

/// Methods that change something, or are none.
const METHODS: &str = "\
POST
PUT
DELETE
PATCH
OPTIONS
TRACE
PROPFIND
MKCOL
LOCK
get
X
LONGMETHODLONGMETHODLONGMETHODLONGMETHOD";

/// Names that a server is asked by, with the statuses that are right.
const HOSTS: [(&str, &[u16]); 5] = [
    (
        "\
evil.example
127.0.0.1.evil.example
localhost.evil.example
0.0.0.0
127.1
2130706433
0x7f.0.0.1
10.0.0.1
[::ffff:10.0.0.1]
[2001:db8::1]
[::]",
        &[421],
    ),
    (
        "\
127.0.0.1@evil.example
[fe80::1%25eth0]
[localhost]",
        &[400, 421],
    ),
    (
        "\
localhost.",
        &[200, 421],
    ),
    (
        "\
localhost
LocalHost:9
[::1]
127.8.8.8:1",
        &[200],
    ),
    (
        "\
u@127.0.0.1
u:p@localhost
evil.example@127.0.0.1
127.0.0.1:99999
127.0.0.1:abc
[::1
::1
a b
http://127.0.0.1/
127.0.0.1/x
127.0.0.1, evil.example
\u{e9}

",
        &[400],
    ),
];

/// Values that no parameter should have, as they stand in an address.
fn bad_values() -> Vec<String> {
    let mut values: Vec<String> = VALUES.lines().map(str::to_owned).collect();
    values.push("a".repeat(9000));
    values.push("%41".repeat(3000));
    values
}

fn targets(cases: &mut Cases) {
    let host = cases.host.clone();
    for target in NOWHERE.lines() {
        cases.get(target.as_bytes(), b"", &[404]);
    }
    // What is no address at all.
    for target in [
        &b"/\0"[..],
        b"/\xff\xfe",
        b"",
        b"/ x",
        b"/\r",
        b"\\",
        b"/<x>",
        b"/\x7f",
        b"/\t",
    ] {
        cases.get(target, b"", &[400]);
    }
    for target in [
        "page",
        "http://evil.example/",
        "http://127.0.0.2/",
        "evil.example:443",
    ] {
        cases.get(target.as_bytes(), b"", &[400]);
    }
    cases.get(format!("http://{host}/healthz").as_bytes(), b"", &[200]);
    cases.get(format!("ftp://{host}/").as_bytes(), b"", &[400]);
    cases.get(
        format!("http://{host}@evil.example/").as_bytes(),
        b"",
        &[400],
    );
    for (length, allowed) in [
        (9000, &[404][..]),
        (20_000, &[414, 431]),
        (40_000, &[414, 431]),
        (70_000, &[414, 431]),
        (1 << 20, &[414, 431]),
    ] {
        cases.get(&[b"/", &b"a".repeat(length)[..]].concat(), b"", allowed);
        cases.or_closed();
        let unknown = if length < 10_000 { &[400][..] } else { allowed };
        cases.get(&[b"/?", &b"a".repeat(length)[..]].concat(), b"", unknown);
        cases.or_closed();
    }
    let many = [b"/?".to_vec(), b"a=1&".repeat(3000)].concat();
    cases.get(&many, b"", &[400]);
    let empty = [b"/?".to_vec(), b"&".repeat(9000)].concat();
    cases.get(&empty, b"", &[200]);
    // Every parameter of every address.
    for parameter in PARAMETERS.lines() {
        for value in bad_values() {
            let target = format!("{parameter}={value}");
            cases.get(target.as_bytes(), b"", &[200, 400, 404]);
        }
    }
    for twice in TWICE.lines() {
        cases.get(twice.as_bytes(), b"", &[400]);
    }
}

fn heads(cases: &mut Cases) {
    let lines = |count: usize| {
        let lines = (0..count).map(|n| format!("X-{n}: a\r\n"));
        lines.collect::<Vec<_>>().concat()
    };
    // The host and the connection are two more.
    cases.get(b"/", lines(62).as_bytes(), &[200]);
    for count in [63, 100, 2000] {
        cases.get(b"/", lines(count).as_bytes(), &[431]);
    }
    for length in [40_000, 70_000, 1 << 20] {
        let long = [b"X: ".to_vec(), b"a".repeat(length), b"\r\n".to_vec()].concat();
        cases.get(b"/", &long, &[431]);
        cases.or_closed();
    }
    for line in [
        &b"X: a\r\n b\r\n"[..],
        b"X: \0\r\n",
        b"X: \x01\r\n",
        b"X Y: a\r\n",
        b"none\r\n",
        b": a\r\n",
        b"X : a\r\n",
        b"X\0: a\r\n",
        b"X: a\rb\r\n",
        b"\xff: a\r\n",
        b" X: a\r\n",
    ] {
        cases.get(b"/", line, &[400]);
    }
    for line in STRANGE.lines() {
        cases.get(b"/", format!("{line}\r\n").as_bytes(), &[200]);
    }
    for (hosts, allowed) in HOSTS {
        for host in hosts.lines() {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            cases.add(format!("host {host}"), request.into_bytes(), allowed);
        }
    }
    let host = cases.host.clone();
    for (lines, allowed) in [
        ("", &[400][..]),
        (&format!("Host: {host}\r\nHost: {host}\r\n"), &[400]),
        (&format!("Host: {host}\r\nhost: evil.example\r\n"), &[400]),
        ("Host: evil.example\r\nX-Host: localhost\r\n", &[421]),
    ] {
        for version in ["1.0", "1.1"] {
            let request = format!("GET / HTTP/{version}\r\n{lines}Connection: close\r\n\r\n");
            cases.add(request.clone(), request.into_bytes(), allowed);
        }
    }
    for version in [
        "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9", "HTTQ/1.1", "http/1.1", "",
    ] {
        let request = format!("GET / {version}\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        cases.add(request.clone(), request.into_bytes(), &[400]);
        cases.or_closed();
    }
}

fn methods(cases: &mut Cases) {
    for path in [
        "/",
        "/page?url=http://a1.example/",
        "/metrics",
        "/healthz",
        "/none",
        "/style.css",
    ] {
        for method in METHODS.lines() {
            let bytes = cases.of(method, path.as_bytes(), b"", b"");
            cases.add(format!("{method} {path}"), bytes, &[405]);
        }
    }
    for (method, target, allowed) in [
        ("CONNECT", "evil.example:443", &[400, 405][..]),
        ("CONNECT", "/", &[400, 405]),
        ("OPTIONS", "*", &[405]),
        ("PUT", "/compare", &[405]),
        ("DELETE", "/compare", &[405]),
        ("HEAD", "/compare", &[200]),
        ("HEAD", "/none", &[404]),
        ("G@T", "/", &[400]),
        ("G T", "/", &[400]),
        ("", "/", &[400]),
    ] {
        let bytes = cases.of(method, target.as_bytes(), b"", b"");
        cases.add(format!("{method} {target}"), bytes, allowed);
    }
    // A body where none belongs is no second request.
    let second = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", cases.host);
    for (method, allowed) in [("GET", &[200][..]), ("HEAD", &[200]), ("DELETE", &[405])] {
        for lines in [
            format!("Content-Length: {}\r\n", second.len()),
            "Transfer-Encoding: chunked\r\n".to_owned(),
        ] {
            let bytes = cases.of(method, b"/", lines.as_bytes(), second.as_bytes());
            cases.add(format!("{method} {lines}"), bytes, allowed);
        }
    }
}
