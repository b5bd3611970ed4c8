//! The media type of an answer: HTML, JSON or CSV.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use serde::Deserialize;

/// The media type of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MediaType {
    Html,
    /// The same JSON that the command line prints.
    Json,
    /// A table of the page as comma-separated values.
    Csv,
}

impl MediaType {
    /// Returns HTML or JSON, whichever has the higher quality in the `Accept` headers; HTML on a tie. CSV
    /// has to be requested by the address, which names the table.
    pub(super) fn accepted(headers: &HeaderMap) -> Self {
        let (mut html, mut json) = (0.0_f64, 0.0_f64);
        for value in headers.get_all(ACCEPT) {
            for range in value.to_str().unwrap_or_default().split(',') {
                let mut parts = range.split(';').map(str::trim);
                let name = parts.next().unwrap_or_default();
                let quality = parts.find_map(|part| part.strip_prefix("q="));
                let quality: f64 = quality.and_then(|q| q.parse().ok()).unwrap_or(1.0);
                match name {
                    "text/html" | "application/xhtml+xml" => html = html.max(quality),
                    "application/json" => json = json.max(quality),
                    _ => {}
                }
            }
        }
        if json > html { Self::Json } else { Self::Html }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_the_default_and_json_needs_a_higher_quality() {
        for (accept, media_type) in [
            ("", MediaType::Html),
            ("*/*", MediaType::Html),
            ("application/json", MediaType::Json),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                MediaType::Html,
            ),
            ("application/json;q=0.5, text/html", MediaType::Html),
            ("application/json, text/html;q=0.5", MediaType::Json),
            ("application/json;q=nan", MediaType::Html),
            ("text/html;q=0, application/json;q=0", MediaType::Html),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(MediaType::accepted(&headers), media_type, "{accept}");
        }
    }
}
