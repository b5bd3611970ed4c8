//! Access checks for requests, and security headers for responses.

use std::fmt;
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

use super::answer::{Answer, MediaType, RequestError};
use super::connection::{ConnectionSlot, MAX_HEAD_BYTES};

/// The form for a list to compare, which accepts GET and POST.
pub(super) const COMPARE_PATH: &str = "/compare";

/// The comparison of a list in the API, which accepts only POST. No other path accepts it.
const COMPARE_API_PATH: &str = "/v1/compare";

/// The health check, which needs no token.
pub(super) const HEALTH_PATH: &str = "/healthz";

/// Maximum length of a request's path and query in bytes. Pages show longer URLs without a link.
pub(super) const MAX_URI_BYTES: usize = 16 << 10;

/// Maximum size of a request body in bytes.
pub(super) const MAX_BODY_BYTES: usize = 1 << 20;

/// Maximum time to receive a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// Maximum time for a request, including its body.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Content security policy: pages load only their style sheet and icon, from this server; forms are sent
/// only to it; and no other site may show a page in a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Decides which requests are answered.
pub(super) struct AccessPolicy {
    /// The token that requests must have; `None` if they need none.
    pub(super) token: Option<Token>,
    /// Whether the server listens on a loopback address.
    pub(super) is_loopback: bool,
    /// Accepted host names, besides IP addresses and `localhost`.
    pub(super) hosts: Vec<String>,
}

impl AccessPolicy {
    /// Rejects a request that must not be answered.
    fn check(&self, request: &Request) -> Result<(), RequestError> {
        let reject = |status, text: &str| Err(RequestError::new(status, text));
        // Limit the size of what is parsed before parsing any of it.
        let target = request.uri().path_and_query();
        if target.is_some_and(|target| target.as_str().len() > MAX_URI_BYTES) {
            return reject(StatusCode::URI_TOO_LONG, "the URI is too long");
        }
        let headers = request.headers();
        let lines = headers.iter();
        let head: usize = lines
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if head > MAX_HEAD_BYTES {
            return reject(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the headers are too large",
            );
        }
        if headers.contains_key(CONTENT_LENGTH) && headers.contains_key(TRANSFER_ENCODING) {
            return reject(
                StatusCode::BAD_REQUEST,
                "the request has both Content-Length and Transfer-Encoding",
            );
        }
        if content_length(headers) > MAX_BODY_BYTES as u64 {
            return reject(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
        }
        let Some(host) = host(request) else {
            return reject(
                StatusCode::BAD_REQUEST,
                "expected exactly one valid Host header",
            );
        };
        // A foreign host name that resolves to this server is a DNS rebinding attack.
        if !self.accepts_host(&host) {
            return reject(
                StatusCode::MISDIRECTED_REQUEST,
                "unknown host name; it is accepted if the server is started with this name",
            );
        }
        let path = request.uri().path();
        if path != HEALTH_PATH && !self.has_token(headers) {
            return reject(StatusCode::UNAUTHORIZED, "this server requires a token");
        }
        match *request.method() {
            Method::GET | Method::HEAD if path == COMPARE_API_PATH => reject(
                StatusCode::METHOD_NOT_ALLOWED,
                "expected POST, with a list of URLs as the body",
            ),
            Method::GET | Method::HEAD => Ok(()),
            Method::POST if !accepts_list(path) => reject(
                StatusCode::METHOD_NOT_ALLOWED,
                "this address is read-only: expected GET or HEAD",
            ),
            Method::POST if is_same_origin(headers, &host) => Ok(()),
            Method::POST => reject(StatusCode::FORBIDDEN, "the list was sent from another site"),
            _ => reject(
                StatusCode::METHOD_NOT_ALLOWED,
                "this server is read-only: expected GET or HEAD",
            ),
        }
    }

    /// Returns whether the server accepts this host. A host name that resolves to this machine may belong
    /// to an attacker, whose pages must not read answers; an IP address cannot.
    fn accepts_host(&self, host: &Authority) -> bool {
        let name = host.host().trim_matches(['[', ']']);
        match name.parse::<IpAddr>() {
            Ok(address) => !self.is_loopback || address.is_loopback(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || self
                        .hosts
                        .iter()
                        .any(|host| host.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Returns whether the request has the token, either as a bearer token or as the password of any user,
    /// for which browsers prompt.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, secret)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            return token.matches(secret.trim().as_bytes());
        }
        let decoded = BASE64.decode(secret.trim().as_bytes()).ok();
        let decoded = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic"));
        decoded.is_some_and(|pair| {
            let password = pair.iter().position(|byte| *byte == b':');
            password.is_some_and(|colon| token.matches(&pair[colon + 1..]))
        })
    }
}

/// Returns the host that a request is for; `None` unless there is exactly one.
fn host(request: &Request) -> Option<Authority> {
    let mut values = request.headers().get_all(HOST).iter();
    let (host, None) = (values.next()?, values.next()) else {
        return None;
    };
    let host: Authority = host.to_str().ok()?.parse().ok()?;
    let is_web = |scheme: &str| scheme == "http" || scheme == "https";
    if !is_plain(&host) || !request.uri().scheme_str().is_none_or(is_web) {
        return None;
    }
    // A request target in absolute form contains the host too.
    match request.uri().authority() {
        Some(other) if *other != host => None,
        _ => Some(host),
    }
}

/// Returns whether an authority is a host with an optional port, without user information.
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

/// Returns whether a list of URLs can be sent to this path.
fn accepts_list(path: &str) -> bool {
    path == COMPARE_PATH || path == COMPARE_API_PATH
}

/// Returns the declared length of the body in bytes; 0 if there is none.
fn content_length(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok());
    length.map_or(0, |length| length.trim().parse().unwrap_or(u64::MAX))
}

/// Returns whether a form was sent from a page of this server, or not by a browser.
fn is_same_origin(headers: &HeaderMap, host: &Authority) -> bool {
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

/// Receives the whole body of a request.
async fn with_body(request: Request) -> Result<Request, RequestError> {
    let (parts, body) = request.into_parts();
    let of_body = Request::from_parts(parts.clone(), body);
    let bytes = timeout(BODY_TIMEOUT, Bytes::from_request(of_body, &())).await;
    let bytes = bytes.map_err(|_| {
        let text = format!(
            "the body was not received within {} seconds",
            BODY_TIMEOUT.as_secs()
        );
        RequestError::new(StatusCode::REQUEST_TIMEOUT, text)
    })?;
    let bytes = bytes.map_err(|e| RequestError::new(e.status(), e.body_text()))?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Answers a request that passed the checks.
async fn answer(
    mut request: Request,
    slot: &Arc<ConnectionSlot>,
    next: Next,
) -> Result<Response<Body>, RequestError> {
    // The health check is exempt from the limit on requests.
    if request.uri().path() == HEALTH_PATH {
        return Ok(next.run(request).await);
    }
    // Receive the body before the request counts as active: until then the connection is idle and can be
    // evicted.
    if request.method() == Method::POST {
        request = with_body(request).await?;
    }
    let Some(_active) = slot.begin_request() else {
        let text = "too many requests; try again in a moment";
        return Err(RequestError::new(StatusCode::SERVICE_UNAVAILABLE, text));
    };
    Ok(next.run(request).await)
}

/// Middleware that checks requests and adds security headers to responses. Rejected requests close their
/// connection, unless only the token is missing.
pub(super) async fn enforce(
    State(policy): State<Arc<AccessPolicy>>,
    Extension(slot): Extension<Arc<ConnectionSlot>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let path = request.uri().path();
    let media_type = MediaType::at(path);
    let is_compare = path == COMPARE_PATH;
    let allowed = match path {
        COMPARE_PATH => "GET, HEAD, POST",
        COMPARE_API_PATH => "POST",
        _ => "GET, HEAD",
    };
    let answer = match policy.check(&request) {
        Ok(()) => {
            let answer = timeout(TIMEOUT, answer(request, &slot, next)).await;
            answer.unwrap_or_else(|_| {
                let text = format!("no answer within {} seconds", TIMEOUT.as_secs());
                Err(RequestError::new(StatusCode::REQUEST_TIMEOUT, text))
            })
        }
        Err(error) => Err(error),
    };
    let mut response = answer.unwrap_or_else(|error| {
        let mut response = Response::from(Answer::error(&error, media_type));
        if error.status != StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    });
    let status = response.status();
    let headers = response.headers_mut();
    if status == StatusCode::METHOD_NOT_ALLOWED {
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
    // With `no-referrer`, browsers send no usable origin with a form.
    let referrer = if is_compare {
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

/// Minimum length of a token in bytes.
const MIN_BYTES: usize = 16;

/// A secret token of at least 16 bytes. Only its hash is kept in memory.
///
/// ```
/// use seedbank::serve::Token;
///
/// assert!(Token::new(b"too short").is_err());
/// let token = Token::new(b"a secret of 29 bytes, or more").unwrap();
/// assert!(token.matches(b"a secret of 29 bytes, or more"));
/// assert!(!token.matches(b"a secret"));
/// ```
#[derive(Clone)]
pub struct Token(blake3::Hash);

/// Error for a token that is too short to be secure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a token of at least {MIN_BYTES} bytes, found {bytes}")]
pub struct ShortToken {
    /// Length of the token in bytes.
    pub bytes: usize,
}

impl Token {
    /// Creates a token from a secret of at least 16 bytes.
    pub fn new(secret: &[u8]) -> Result<Self, ShortToken> {
        if secret.len() < MIN_BYTES {
            return Err(ShortToken {
                bytes: secret.len(),
            });
        }
        Ok(Self(blake3::hash(secret)))
    }

    /// Returns whether `secret` is the token, in a time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, secret: &[u8]) -> bool {
        // blake3 compares hashes in constant time.
        blake3::hash(secret) == self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
#[path = "security_tests.rs"]
mod tests;
