use super::*;

fn policy(is_loopback: bool) -> AccessPolicy {
    AccessPolicy {
        token: Token::new(b"0123456789abcdef").ok(),
        is_loopback,
        hosts: vec!["seeds.example".to_owned()],
    }
}

fn status(policy: &AccessPolicy, request: axum::http::request::Builder) -> u16 {
    let request = request.body(Body::empty()).unwrap();
    match policy.check(&request) {
        Ok(()) => 200,
        Err(error) => error.status.as_u16(),
    }
}

#[test]
fn a_host_is_an_ip_address_or_an_accepted_name() {
    for (host, local, open) in [
        ("127.0.0.1:7878", true, true),
        ("127.8.8.8", true, true),
        ("[::1]:80", true, true),
        ("LOCALHOST:1", true, true),
        ("seeds.example", true, true),
        ("10.0.0.1:7878", false, true),
        ("[2001:db8::1]", false, true),
        ("evil.example", false, false),
        ("127.0.0.1.evil.example", false, false),
        ("localhost.evil.example", false, false),
        ("0x7f000001", false, false),
    ] {
        let host: Authority = host.parse().unwrap();
        assert!(is_plain(&host), "{host}");
        assert_eq!(policy(true).accepts_host(&host), local, "{host}");
        assert_eq!(policy(false).accepts_host(&host), open, "{host}");
    }
}

#[test]
fn a_host_has_no_user_and_a_valid_port() {
    for host in [
        "u@127.0.0.1",
        "u:p@localhost",
        "evil.example@127.0.0.1",
        "127.0.0.1:99999",
        "127.0.0.1:abc",
        "127.0.0.1:",
        "[localhost]",
        "[127.0.0.1]",
    ] {
        // Hosts that cannot be parsed are rejected earlier.
        if let Ok(host) = host.parse() {
            assert!(!is_plain(&host), "{host}");
        }
    }
}

#[test]
fn a_token_is_a_bearer_token_or_a_password() {
    let policy = policy(true);
    for (given, knows) in [
        ("Bearer 0123456789abcdef", true),
        ("bearer  0123456789abcdef", true),
        ("Bearer 0123456789abcdeX", false),
        ("Bearer", false),
        ("Bearer ", false),
        ("Basic OjAxMjM0NTY3ODlhYmNkZWY=", true),
        ("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=", true),
        ("Basic MDEyMzQ1Njc4OWFiY2RlZg==", false),
        ("Basic OjAxMjM0NTY3ODlhYmNkZWY", false),
        ("Basic !", false),
        ("Basic ====", false),
        ("Digest 0123456789abcdef", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, given.parse().unwrap());
        assert_eq!(policy.has_token(&headers), knows, "{given}");
        headers.append(AUTHORIZATION, given.parse().unwrap());
        assert!(!policy.has_token(&headers), "twice {given}");
    }
    assert!(!policy.has_token(&HeaderMap::new()));
}

#[test]
fn requests_are_checked_in_this_order() {
    let policy = policy(true);
    let asked = |method: &str, path: &str, host: &str| {
        axum::http::Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, host)
    };
    let known = |request: axum::http::request::Builder| {
        request.header(AUTHORIZATION, "Bearer 0123456789abcdef")
    };
    let here = "127.0.0.1:7878";
    assert_eq!(status(&policy, asked("GET", "/", here)), 401);
    assert_eq!(status(&policy, asked("GET", "/healthz", here)), 200);
    assert_eq!(
        status(&policy, asked("GET", "/healthz", "evil.example")),
        421
    );
    assert_eq!(status(&policy, known(asked("GET", "/", here))), 200);
    assert_eq!(status(&policy, known(asked("HEAD", "/", here))), 200);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "X"] {
        assert_eq!(
            status(&policy, known(asked(method, "/", here))),
            405,
            "{method}"
        );
    }
    let long = format!("/page?url={}", "a".repeat(MAX_URI_BYTES));
    assert_eq!(status(&policy, asked("GET", &long, here)), 414);
    let none = axum::http::Request::builder().uri("/");
    assert_eq!(status(&policy, none), 400);
    assert_eq!(
        status(&policy, asked("GET", "/", here).header(HOST, here)),
        400
    );
    let other = asked("GET", "http://127.0.0.2/", here);
    assert_eq!(status(&policy, other), 400);
    for (origin, is_ok) in [
        ("http://127.0.0.1:7878", true),
        ("http://127.0.0.1:7879", false),
        ("http://evil.example", false),
        ("null", false),
        ("", false),
    ] {
        let sent = known(asked("POST", "/compare", here)).header(ORIGIN, origin);
        let expected = if is_ok { 200 } else { 403 };
        assert_eq!(status(&policy, sent), expected, "{origin}");
    }
    let list = |method: &str| known(asked(method, "/v1/compare", here));
    assert_eq!(status(&policy, list("GET")), 405);
    assert_eq!(status(&policy, list("POST")), 200);
    let elsewhere = list("POST").header(ORIGIN, "http://evil.example");
    assert_eq!(status(&policy, elsewhere), 403);
    let site = |site: &str| known(asked("POST", "/compare", here)).header("sec-fetch-site", site);
    assert_eq!(status(&policy, site("same-origin")), 200);
    assert_eq!(status(&policy, site("cross-site")), 403);
    assert_eq!(status(&policy, known(asked("POST", "/compare", here))), 200);
}
