//! Who may ask, how, and what every answer says to the browser.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HOST,
    HeaderValue, ORIGIN, REFERRER_POLICY, TRANSFER_ENCODING, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use axum::middleware::Next;
use data_encoding::BASE64;
use tokio::time::timeout;

use super::answer::{Answer, Fault};
use super::form::accepted;
use super::seats::Seat;
use super::token::Token;

/// The path of the only form that is sent: a list to compare.
pub(super) const FORM: &str = "/compare";

/// What says that the server is there, to whoever asks.
pub(super) const HEALTH: &str = "/healthz";

/// The most bytes of an address. A bank may have longer URLs, which pages show without a link.
pub(super) const MAX_ADDRESS: usize = 16 << 10;

/// The most bytes of the head of a request.
pub(super) const HEAD_BYTES: usize = 32 << 10;

/// The most bytes of a body: of a list, with what a browser writes around it.
pub(super) const MAX_BODY: usize = 1 << 20;

/// How long a body may take to come.
const BODY_TIME: Duration = Duration::from_secs(8);

/// How long a request may take altogether, its body included.
const TIME: Duration = Duration::from_secs(20);

/// What pages may load: their style and their icon from here, and nothing from anywhere else. Forms
/// lead here, and no page of others shows one of these in a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Who may ask.
pub(super) struct Guard {
    /// What a request has to know; `None` where it need not.
    pub(super) token: Option<Token>,
    /// Whether the server is open to this machine alone.
    pub(super) is_local: bool,
    /// Names that the server is called by, beside addresses and `localhost`.
    pub(super) names: Vec<String>,
}

impl Guard {
    /// Why a request is not answered; `Ok` where it is.
    fn check(&self, request: &Request) -> Result<(), Fault> {
        let refuse = |status, text: &str| Err(Fault::new(status, text));
        let address = request.uri().path_and_query();
        if address.is_some_and(|address| address.as_str().len() > MAX_ADDRESS) {
            return refuse(StatusCode::URI_TOO_LONG, "the address is too long");
        }
        let headers = request.headers();
        let lines = headers.iter();
        let head: usize = lines
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if head > HEAD_BYTES {
            return refuse(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the head of the request is too large",
            );
        }
        if headers.contains_key(CONTENT_LENGTH) && headers.contains_key(TRANSFER_ENCODING) {
            return refuse(
                StatusCode::BAD_REQUEST,
                "the request says twice how long it is",
            );
        }
        if declared(headers) > MAX_BODY as u64 {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
        }
        let Some(host) = host(request) else {
            return refuse(
                StatusCode::BAD_REQUEST,
                "the request does not say which host it is for",
            );
        };
        if !self.is_called(&host) {
            return refuse(
                StatusCode::MISDIRECTED_REQUEST,
                "this server is not called by that name; name it when the server is started",
            );
        }
        let path = request.uri().path();
        if path != HEALTH && !self.knows_token(headers) {
            return refuse(StatusCode::UNAUTHORIZED, "this server wants its token");
        }
        match *request.method() {
            Method::GET | Method::HEAD => Ok(()),
            Method::POST if path == FORM && is_from_here(headers, &host) => Ok(()),
            Method::POST if path == FORM => refuse(
                StatusCode::FORBIDDEN,
                "the form was sent from somewhere else",
            ),
            _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "here one can only look"),
        }
    }

    /// Whether the server is called so. A name that others own may lead to this machine's address: a
    /// page from there must not read what is answered here. Addresses cannot be owned.
    fn is_called(&self, host: &Authority) -> bool {
        let name = host.host().trim_matches(['[', ']']);
        match name.parse::<IpAddr>() {
            Ok(address) => !self.is_local || address.is_loopback(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || self
                        .names
                        .iter()
                        .any(|known| known.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Whether the request has the token: as a bearer's, or as the password of any user, which
    /// browsers ask for.
    fn knows_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(given), None) = (given.next(), given.next()) else {
            return false;
        };
        let Some((scheme, secret)) = given.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            return token.is(secret.trim().as_bytes());
        }
        let decoded = BASE64.decode(secret.trim().as_bytes()).ok();
        let decoded = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic"));
        decoded.is_some_and(|pair| {
            let password = pair.iter().position(|byte| *byte == b':');
            password.is_some_and(|colon| token.is(&pair[colon + 1..]))
        })
    }
}

/// The host that a request is for, where it says exactly one.
fn host(request: &Request) -> Option<Authority> {
    let mut said = request.headers().get_all(HOST).iter();
    let (host, None) = (said.next()?, said.next()) else {
        return None;
    };
    let host: Authority = host.to_str().ok()?.parse().ok()?;
    let is_web = |scheme: &str| scheme == "http" || scheme == "https";
    if !is_plain(&host) || !request.uri().scheme_str().is_none_or(is_web) {
        return None;
    }
    // A request may name the host in its address too.
    match request.uri().authority() {
        Some(other) if *other != host => None,
        _ => Some(host),
    }
}

/// Whether a host is a name or an address, perhaps with a port, and nothing else.
fn is_plain(host: &Authority) -> bool {
    let name = host.host();
    let is_bracketed = name.starts_with('[');
    let inside = name.trim_matches(['[', ']']);
    let after = host.as_str().strip_prefix(name);
    let has_port = || {
        let port = after.and_then(|after| after.strip_prefix(':'));
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    is_bracketed == inside.parse::<Ipv6Addr>().is_ok() && (after == Some("") || has_port())
}

/// How many bytes a request says that its body has; 0 where it does not say.
fn declared(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok());
    length.map_or(0, |length| length.trim().parse().unwrap_or(u64::MAX))
}

/// Whether a form was sent from a page of this server, or by no browser at all.
fn is_from_here(headers: &HeaderMap, host: &Authority) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let mut sites = headers
        .get_all(HeaderName::from_static("sec-fetch-site"))
        .iter();
    match (origins.next(), origins.next()) {
        (None, _) => sites.all(|site| site == "same-origin"),
        (Some(origin), None) => {
            let origin = origin.to_str().unwrap_or_default();
            let after = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            after.is_some_and(|origin| origin.eq_ignore_ascii_case(host.as_str()))
        }
        _ => false,
    }
}

/// Reads the whole body of a request.
async fn with_body(request: Request) -> Result<Request, Fault> {
    let (parts, body) = request.into_parts();
    let of_body = Request::from_parts(parts.clone(), body);
    let bytes = timeout(BODY_TIME, Bytes::from_request(of_body, &())).await;
    let bytes = bytes.map_err(|_| {
        let text = format!(
            "the list did not come within {} seconds",
            BODY_TIME.as_secs()
        );
        Fault::new(StatusCode::REQUEST_TIMEOUT, text)
    })?;
    let bytes = bytes.map_err(|e| Fault::new(e.status(), e.body_text()))?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Answers a request that is let through.
async fn answered(
    mut request: Request,
    seat: &Arc<Seat>,
    next: Next,
) -> Result<Response<Body>, Fault> {
    // That the server is there is said however much it has to do.
    if request.uri().path() == HEALTH {
        return Ok(next.run(request).await);
    }
    // While a body comes, the connection waits for its client: it can lose its seat, and keeps no other
    // request from being answered.
    if request.method() == Method::POST {
        request = with_body(request).await?;
    }
    let Some(_answering) = seat.answering() else {
        let text = "too many requests are being answered; ask again in a moment";
        return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, text));
    };
    Ok(next.run(request).await)
}

/// Lets a request through, or refuses it; and tells the browser what pages of this server may do. A
/// connection whose request is refused is closed, unless all that is missing is the token.
pub(super) async fn watch_over(
    State(guard): State<Arc<Guard>>,
    Extension(seat): Extension<Arc<Seat>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let form = accepted(request.headers());
    let is_form = request.uri().path() == FORM;
    let answer = match guard.check(&request) {
        Ok(()) => {
            let answer = timeout(TIME, answered(request, &seat, next)).await;
            answer.unwrap_or_else(|_| {
                let text = format!("the request was not done within {} seconds", TIME.as_secs());
                Err(Fault::new(StatusCode::REQUEST_TIMEOUT, text))
            })
        }
        Err(fault) => Err(fault),
    };
    let mut response = answer.unwrap_or_else(|fault| {
        let mut response = Response::from(Answer::fault(&fault, form));
        if fault.status != StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    });
    let status = response.status();
    let headers = response.headers_mut();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = if is_form {
            "GET, HEAD, POST"
        } else {
            "GET, HEAD"
        };
        headers.insert(ALLOW, HeaderValue::from_static(allowed));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(
            WWW_AUTHENTICATE,
            HeaderValue::from_static(
                "Basic realm=\"seedbank: any name, and the token as password\", charset=\"UTF-8\"",
            ),
        );
    }
    // Without a referrer a browser does not say where a form comes from either.
    let referrer = if is_form {
        "same-origin"
    } else {
        "no-referrer"
    };
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, referrer),
        (CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(is_local: bool) -> Guard {
        Guard {
            token: Token::new(b"0123456789abcdef").ok(),
            is_local,
            names: vec!["seeds.example".to_owned()],
        }
    }

    fn status(guard: &Guard, request: axum::http::request::Builder) -> u16 {
        let request = request.body(Body::empty()).unwrap();
        match guard.check(&request) {
            Ok(()) => 200,
            Err(fault) => fault.status.as_u16(),
        }
    }

    #[test]
    fn a_host_is_an_address_or_a_name_that_was_given() {
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
            assert_eq!(guard(true).is_called(&host), local, "{host}");
            assert_eq!(guard(false).is_called(&host), open, "{host}");
        }
    }

    #[test]
    fn a_host_has_no_user_and_a_port_that_there_is() {
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
            // What cannot be parsed is refused before.
            if let Ok(host) = host.parse() {
                assert!(!is_plain(&host), "{host}");
            }
        }
    }

    #[test]
    fn a_token_is_a_bearers_or_a_password() {
        let guard = guard(true);
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
            assert_eq!(guard.knows_token(&headers), knows, "{given}");
            headers.append(AUTHORIZATION, given.parse().unwrap());
            assert!(!guard.knows_token(&headers), "twice {given}");
        }
        assert!(!guard.knows_token(&HeaderMap::new()));
    }

    #[test]
    fn requests_are_refused_in_this_order() {
        let guard = guard(true);
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
        assert_eq!(status(&guard, asked("GET", "/", here)), 401);
        assert_eq!(status(&guard, asked("GET", "/healthz", here)), 200);
        assert_eq!(
            status(&guard, asked("GET", "/healthz", "evil.example")),
            421
        );
        assert_eq!(status(&guard, known(asked("GET", "/", here))), 200);
        assert_eq!(status(&guard, known(asked("HEAD", "/", here))), 200);
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "X"] {
            assert_eq!(
                status(&guard, known(asked(method, "/", here))),
                405,
                "{method}"
            );
        }
        let long = format!("/page?url={}", "a".repeat(MAX_ADDRESS));
        assert_eq!(status(&guard, asked("GET", &long, here)), 414);
        let none = axum::http::Request::builder().uri("/");
        assert_eq!(status(&guard, none), 400);
        assert_eq!(
            status(&guard, asked("GET", "/", here).header(HOST, here)),
            400
        );
        let other = asked("GET", "http://127.0.0.2/", here);
        assert_eq!(status(&guard, other), 400);
        for (origin, is_ok) in [
            ("http://127.0.0.1:7878", true),
            ("http://127.0.0.1:7879", false),
            ("http://evil.example", false),
            ("null", false),
            ("", false),
        ] {
            let sent = known(asked("POST", "/compare", here)).header(ORIGIN, origin);
            let expected = if is_ok { 200 } else { 403 };
            assert_eq!(status(&guard, sent), expected, "{origin}");
        }
        let site =
            |site: &str| known(asked("POST", "/compare", here)).header("sec-fetch-site", site);
        assert_eq!(status(&guard, site("same-origin")), 200);
        assert_eq!(status(&guard, site("cross-site")), 403);
        assert_eq!(status(&guard, known(asked("POST", "/compare", here))), 200);
    }
}
