//! Hostile request bodies: wrong lengths, invalid parts, forms of other sites.

use crate::serve_requests::Cases;

pub fn bodies(cases: &mut Cases) {
    cases.post("", b"", &[400]);
    cases.post("Content-Length: 0\r\n", b"", &[400]);
    cases.post("Content-Length: 4\r\n", b"\0\xff\xfe\n", &[200]);
    let length = |length: &str| format!("Content-Length: {length}\r\n");
    for lie in [
        "-1",
        "+1",
        "0x1",
        "1, 1",
        "1 1",
        "",
        "99999999999999999999",
        "1e3",
    ] {
        cases.post(&length(lie), b"a", &[400]);
    }
    cases.post(&[length("1"), length("2")].concat(), b"aa", &[400]);
    cases.post(&[length("1"), length("1")].concat(), b"a", &[200, 400]);
    // The rest of a body is no second request.
    cases.post(&length("1"), b"aGET /healthz HTTP/1.1\r\n\r\n", &[200]);
    for kind in [
        "",
        "application/json",
        "application/x-www-form-urlencoded",
        "text/html",
        "text/plainx",
    ] {
        let lines = format!("Content-Type: {kind}\r\nContent-Length: 2\r\n");
        let bytes = cases.of("POST", b"/compare", lines.as_bytes(), b"{}");
        cases.add(lines, bytes, &[415]);
    }
    let large = b"a".repeat(5_000_000);
    cases.post(&length("5000000"), &large, &[413]);
    cases.or_closed();
    // One byte more than a body may have.
    cases.post(&length("1048577"), &large[..1_048_577], &[413]);
    cases.or_closed();
    let many = (0..2001).map(|n| format!("http://a.test/{n}\n"));
    let many = many.collect::<Vec<_>>().concat();
    for list in [
        many.into_bytes(),
        b"a\n".repeat(1_500_000),
        b"#\n".repeat(1_500_000),
    ] {
        cases.post(&length(&list.len().to_string()), &list, &[413]);
    }
    let plan = b"http://a1.example/";
    let bytes = cases.of(
        "POST",
        b"/compare?plan=%00%ff",
        b"Content-Type: text/plain\r\nContent-Length: 18\r\n",
        plan,
    );
    cases.add("a plan of no name", bytes, &[400, 404]);
    for target in [
        "/compare?format=bogus",
        "/compare?plan=default&plan=default",
        "/compare?list=a",
        "/compare?x",
    ] {
        let lines = b"Content-Type: text/plain\r\nContent-Length: 18\r\n";
        let bytes = cases.of("POST", target.as_bytes(), lines, plan);
        cases.add(target, bytes, &[400]);
    }
}

pub fn encodings(cases: &mut Cases) {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    cases.post(CHUNKED, b"3\r\nabc\r\n0\r\n\r\n", &[200]);
    let extension = [
        b"3;".to_vec(),
        b"a".repeat(20_000),
        b"\r\nabc\r\n0\r\n\r\n".to_vec(),
    ];
    let trailers = [
        b"3\r\nabc\r\n0\r\n".to_vec(),
        b"X: a\r\n".repeat(2000),
        b"\r\n".to_vec(),
    ];
    for body in [
        b"zz\r\nabc\r\n0\r\n\r\n".to_vec(),
        b"-1\r\nabc".to_vec(),
        b"fffffffffffffffff\r\nabc".to_vec(),
        b"3\nabc\n0\n\n".to_vec(),
        b"3\r\nabcd\r\n0\r\n\r\n".to_vec(),
        b"0x3\r\nabc\r\n0\r\n\r\n".to_vec(),
        extension.concat(),
        trailers.concat(),
    ] {
        cases.post(CHUNKED, &body, &[400]);
        cases.or_closed();
    }
    let chunk = [
        b"10000\r\n".to_vec(),
        b"a".repeat(1 << 16),
        b"\r\n".to_vec(),
    ]
    .concat();
    cases.post(
        CHUNKED,
        &[&chunk.repeat(80)[..], b"0\r\n\r\n"].concat(),
        &[413],
    );
    cases.or_closed();
    // Two servers in a row must not see two different requests.
    let hidden = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let both = ["Content-Length: 3\r\n", CHUNKED];
    cases.post(&both.concat(), hidden, &[400]);
    cases.post(&[both[1], both[0]].concat(), hidden, &[400]);
    for lines in [
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: \x0bchunked\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n",
    ] {
        cases.post(lines, hidden, &[400]);
    }
}

pub fn forms(cases: &mut Cases) {
    let part = |name: &str, text: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let end = "--x--\r\n";
    let x = "; boundary=x";
    cases.form("", b"", &[400]);
    cases.form("; boundary=", b"--\r\n", &[400]);
    let long = format!("; boundary={}", "x".repeat(10_000));
    cases.form(&long, b"--xxx", &[400]);
    let many = part("z", "a").repeat(20_000) + end;
    let long = part(&"a".repeat(1_000_000), "a") + end;
    for body in [
        "",
        "--x",
        "--x--",
        "no boundary",
        &part("list", "a"),
        &format!("--x\r\n\r\na\r\n{end}"),
        &format!("--x\r\nContent-Disposition: attachment\r\n\r\na\r\n{end}"),
        &format!("{}{end}", part("other", "a")),
        &many,
        &long,
    ] {
        cases.form(x, body.as_bytes(), &[400]);
    }
    let plan = part("list", "a") + &part("plan", "<script>") + end;
    cases.form(x, plan.as_bytes(), &[404]);
    let large = part("file", &"a".repeat(5_000_000)) + end;
    cases.form(x, large.as_bytes(), &[413]);
    cases.or_closed();
}

pub fn origins(cases: &mut Cases) {
    let host = cases.host.clone();
    for (lines, allowed) in [
        (format!("Origin: http://{host}"), &[200][..]),
        (format!("Origin: https://{host}"), &[200]),
        (format!("Origin: http://{host}/"), &[403]),
        (format!("Origin: http://{host}.evil.example"), &[403]),
        (format!("Origin: http://evil.example@{host}"), &[403]),
        (format!("Origin: ftp://{host}"), &[403]),
        (format!("Origin: //{host}"), &[403]),
        (format!("Origin: {host}"), &[403]),
        (
            format!("Origin: http://{host}\r\nOrigin: http://{host}"),
            &[403],
        ),
        ("Origin: http://127.0.0.1:1".to_owned(), &[403]),
        ("Origin: http://evil.example".to_owned(), &[403]),
        ("Origin: null".to_owned(), &[403]),
        ("Origin:".to_owned(), &[403]),
        ("Sec-Fetch-Site: same-origin".to_owned(), &[200]),
        ("Sec-Fetch-Site: cross-site".to_owned(), &[403]),
        ("Sec-Fetch-Site: same-site".to_owned(), &[403]),
        ("Sec-Fetch-Site: none".to_owned(), &[403]),
        (
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site".to_owned(),
            &[403],
        ),
    ] {
        cases.post(&format!("{lines}\r\nContent-Length: 1\r\n"), b"a", allowed);
    }
}
