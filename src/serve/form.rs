//! Whether an answer is a page or JSON.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use serde::Deserialize;

/// What an answer is written as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    /// For people.
    Html,
    /// The types that the command line prints.
    Json,
}

/// JSON where the request would rather have it than a page.
pub(super) fn accepted(headers: &HeaderMap) -> Form {
    let mut best = (0.0, 0.0);
    for value in headers.get_all(ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default();
            let quality = parts.find_map(|part| part.strip_prefix("q="));
            let quality: f64 = quality.and_then(|q| q.parse().ok()).unwrap_or(1.0);
            match kind {
                "text/html" | "application/xhtml+xml" => best.0 = quality.max(best.0),
                "application/json" => best.1 = quality.max(best.1),
                _ => {}
            }
        }
    }
    if best.1 > best.0 {
        Form::Json
    } else {
        Form::Html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_pages_and_programs_what_they_ask_for() {
        for (accept, form) in [
            ("", Form::Html),
            ("*/*", Form::Html),
            ("application/json", Form::Json),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                Form::Html,
            ),
            ("application/json;q=0.5, text/html", Form::Html),
            ("application/json, text/html;q=0.5", Form::Json),
            ("application/json;q=nan", Form::Html),
            ("text/html;q=0, application/json;q=0", Form::Html),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(accepted(&headers), form, "{accept}");
        }
    }
}
