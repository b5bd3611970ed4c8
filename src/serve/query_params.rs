//! The query string of an address as a struct: a parameter that the struct does not have, or that is
//! there twice, is an error, as is a value that does not fit.
//!
//! Every struct has the parameter `format`, which [`media_type`] reads on its own: the answer to a
//! wrong query is written as the address says, too.

use std::error::Error;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use super::answer::Fault;
use super::form::{Form, accepted};

/// The most characters of an error that are shown; names and values are as long as their sender likes.
const MAX_SHOWN: usize = 400;

/// The parameter `format` among others.
#[derive(Deserialize)]
struct MediaType {
    format: Option<Form>,
}

/// The parameters of an address.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Fault> {
    match Query::try_from_uri(uri) {
        Ok(Query(parameters)) => Ok(parameters),
        Err(rejection) => Err(refused(&rejection)),
    }
}

/// What the answer is written as: what the address says, or else the header.
pub(super) fn media_type(uri: &Uri, headers: &HeaderMap) -> Result<Form, Fault> {
    let MediaType { format } = query(uri)?;
    Ok(format.unwrap_or_else(|| accepted(headers)))
}

fn refused(rejection: &QueryRejection) -> Fault {
    let text = match rejection.source() {
        Some(cause) => cause.to_string(),
        None => rejection.body_text(),
    };
    let text: String = text.chars().take(MAX_SHOWN).collect();
    Fault::new(
        StatusCode::BAD_REQUEST,
        format!("the query of the address does not fit: {text}"),
    )
}

/// A whole number in decimal digits alone.
pub(super) fn whole<'de, D, T>(deserializer: D) -> Result<T, D::Error>
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

/// A [`whole`] number where the address has one.
pub(super) fn some_whole<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    whole(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Parameters {
        url: String,
        #[serde(default, deserialize_with = "some_whole")]
        n: Option<u32>,
        #[serde(default)]
        desc: bool,
        #[serde(rename = "format")]
        _format: Option<Form>,
    }

    fn parameters(query: &str) -> Result<Parameters, Fault> {
        super::query(&format!("/?{query}").parse().unwrap())
    }

    fn why(query: &str) -> String {
        let fault = parameters(query).unwrap_err();
        assert_eq!(fault.status, StatusCode::BAD_REQUEST);
        fault.error
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
    fn the_media_type_is_read_beside_what_is_wrong() {
        let written = |query: &str| {
            let uri: Uri = format!("/?{query}").parse().unwrap();
            media_type(&uri, &HeaderMap::new()).ok()
        };
        assert_eq!(written("a=1&a=1&format=json"), Some(Form::Json));
        assert_eq!(written("a=1"), Some(Form::Html));
        assert_eq!(written("format=json&format=json"), None);
    }
}
