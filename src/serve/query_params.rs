//! Deserialises the query string of a URI into a struct. Unknown, repeated and invalid parameters are
//! errors.
//!
//! Every struct has the parameter `format`, which [`requested_media_type`] reads separately, so that the
//! error about another parameter has the requested media type too.

use std::error::Error;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use super::answer::RequestError;
use super::media_type::MediaType;

/// Maximum length of an error text in characters, since names and values in it may be long.
const MAX_CHARS: usize = 400;

/// The parameter `format`; other parameters are ignored.
#[derive(Deserialize)]
struct FormatParam {
    format: Option<MediaType>,
}

/// Parses the query of a URI.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, RequestError> {
    match Query::try_from_uri(uri) {
        Ok(Query(parameters)) => Ok(parameters),
        Err(rejection) => Err(invalid_query(&rejection)),
    }
}

/// Returns the media type that the parameter `format` requests, or otherwise the `Accept` header.
pub(super) fn requested_media_type(
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<MediaType, RequestError> {
    let FormatParam { format } = query(uri)?;
    Ok(format.unwrap_or_else(|| MediaType::accepted(headers)))
}

fn invalid_query(rejection: &QueryRejection) -> RequestError {
    let text = match rejection.source() {
        Some(cause) => cause.to_string(),
        None => rejection.body_text(),
    };
    let text: String = text.chars().take(MAX_CHARS).collect();
    RequestError::new(StatusCode::BAD_REQUEST, format!("invalid query: {text}"))
}

/// Parses a whole number that consists of decimal digits only.
pub(super) fn integer<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let text = String::deserialize(deserializer)?;
    let found = Unexpected::Str(&text);
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(D::Error::invalid_value(found, &"a whole number"));
    }
    let number = text.parse().ok();
    let number = number.and_then(|number: u64| T::try_from(number).ok());
    number.ok_or_else(|| {
        let expected = format!("a whole number below 2^{}", 8 * size_of::<T>());
        D::Error::invalid_value(found, &expected.as_str())
    })
}

/// Parses an optional [`integer`] number.
pub(super) fn optional_integer<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    integer(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Parameters {
        url: String,
        #[serde(default, deserialize_with = "optional_integer")]
        n: Option<u32>,
        #[serde(default)]
        desc: bool,
        #[serde(rename = "format")]
        _format: Option<MediaType>,
    }

    fn parameters(query: &str) -> Result<Parameters, RequestError> {
        super::query(&format!("/?{query}").parse().unwrap())
    }

    fn why(query: &str) -> String {
        let error = parameters(query).unwrap_err();
        assert_eq!(error.status, StatusCode::BAD_REQUEST);
        error.error
    }

    #[test]
    fn errors_name_the_parameter_the_value_and_what_was_expected() {
        for text in ["", "x", "-1", "%2B1", "1e9", "1.0"] {
            let why = why(&format!("url=a&n={text}"));
            assert!(why.contains("n: invalid value: string "), "{why}");
            assert!(why.ends_with(", expected a whole number"), "{why}");
        }
        for text in ["4294967296", "18446744073709551616"] {
            let why = why(&format!("url=a&n={text}"));
            assert!(why.contains(text), "{why}");
            assert!(
                why.ends_with(", expected a whole number below 2^32"),
                "{why}"
            );
        }
        for (query, text) in [
            ("url=a&desc=yes", "desc: "),
            ("url=a&desc=yes", "`true` or `false`"),
            (
                "url=a&format=x",
                "unknown variant `x`, expected `html` or `json`",
            ),
            ("n=1", "missing field `url`"),
            ("url=a&url=a", "duplicate field `url`"),
            (
                "url=a&m=1",
                "unknown field `m`, expected one of `url`, `n`, `desc`, `format`",
            ),
        ] {
            let why = why(query);
            assert!(why.contains(text), "{query}: {why}");
        }
        let name = "x".repeat(5000);
        assert!(why(&format!("{name}=1")).len() < 500);
    }

    #[test]
    fn values_are_decoded_and_empty_pairs_are_none() {
        let found = parameters("url=%31+2&&n=007&").unwrap();
        assert_eq!(found.url, "1 2");
        assert_eq!((found.n, found.desc), (Some(7), false));
    }

    #[test]
    fn the_media_type_is_read_from_an_invalid_query() {
        let requested = |query: &str| {
            let uri: Uri = format!("/?{query}").parse().unwrap();
            requested_media_type(&uri, &HeaderMap::new()).ok()
        };
        assert_eq!(requested("a=1&a=1&format=json"), Some(MediaType::Json));
        assert_eq!(requested("a=1"), Some(MediaType::Html));
        assert_eq!(requested("format=json&format=json"), None);
    }
}
