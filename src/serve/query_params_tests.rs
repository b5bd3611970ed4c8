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
            "unknown variant `x`, expected `html` or `csv`",
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
        requested_media_type(&uri).ok()
    };
    assert_eq!(requested("a=1&a=1&format=csv"), Some(MediaType::Csv));
    // JSON has addresses of its own.
    assert_eq!(requested("format=json"), None);
    assert_eq!(requested("a=1"), Some(MediaType::Html));
    assert_eq!(requested("format=csv&format=csv"), None);
}
