//! The kind of what a fetch brought: a page, a document or a resource.

use seedbank_algorithms::page::PageKind;

/// What a reader knows of a fetch besides its status; `None` and the empty text say nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KindEvidence<'a> {
    /// The media type of the content, with or without parameters.
    pub(super) mime: Option<&'a str>,
    /// What a browser requested it as: `WARC-Resource-Type`.
    pub(super) resource_type: Option<&'a str>,
    /// The steps from a seed, a letter each, as Heritrix writes them.
    pub(super) hops: Option<&'a str>,
    /// The status of the answer.
    pub(super) status: Option<u16>,
    /// Whether the fetch only confirms what an earlier one brought.
    pub(super) is_revisit: bool,
}

impl KindEvidence<'_> {
    /// Returns the kind of the content of a URL; `None` if an earlier fetch of it determines the kind. Without evidence it
    /// is a page.
    ///
    /// A browser knows best what it requested. Crawlers follow embedded frames, and URLs that they suppose in scripts, so
    /// of these the media type decides.
    pub(super) fn kind(&self, url: &str) -> Option<PageKind> {
        let by_mime = self.mime.and_then(kind_of_mime);
        // Beacons are answered without content.
        let is_empty = matches!(self.status, Some(204 | 205));
        if is_empty || self.is_part(url) || self.is_embedded() && by_mime.is_none() {
            return Some(PageKind::Resource);
        }
        match by_mime {
            None if self.is_revisit => None,
            kind => Some(kind.unwrap_or_default()),
        }
    }

    /// Returns whether a URL without content of its own, such as an error or a redirect, is that of a resource.
    pub(super) fn is_resource(&self, url: &str) -> bool {
        self.is_part(url) || self.is_embedded()
    }

    /// Returns whether a URL is that of a resource, whatever its content.
    fn is_part(&self, url: &str) -> bool {
        let is_page = |name: &str| {
            let pages = ["", "document", "other", "prefetch"];
            pages.iter().any(|page| name.eq_ignore_ascii_case(page))
        };
        self.resource_type.is_some_and(|name| !is_page(name)) || is_robots_txt(url)
    }

    /// Returns whether a crawler took the URL for a part of a page. Redirects do not change that.
    fn is_embedded(&self) -> bool {
        self.hops
            .is_some_and(|hops| hops.trim_end_matches('R').ends_with(['E', 'X']))
    }
}

fn is_robots_txt(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    let path = rest.find('/').and_then(|at| rest.get(at..));
    path.is_some_and(|path| path.split(['?', '#']).next() == Some("/robots.txt"))
}

/// Parts of the names of types of resources, below `text`, `application` and the like.
const RESOURCES: [&str; 22] = [
    "javascript",
    "ecmascript",
    "jscript",
    "css",
    "font",
    "json",
    "wasm",
    "flash",
    "mpegurl",
    "dash+xml",
    "vtt",
    "ocsp",
    "grpc",
    "protobuf",
    "event-stream",
    "xslt",
    "csp-report",
    "www-form-urlencoded",
    "opensearchdescription",
    "x-component",
    "cache-manifest",
    "mp4",
];

/// Parts of the names of types that servers give to anything.
const UNKNOWN: [&str; 5] = ["octet-stream", "unknown", "php", "download", "http"];

/// Returns the kind of a media type; `None` if it does not say.
fn kind_of_mime(mime: &str) -> Option<PageKind> {
    let name = mime.split([';', ',']).next()?.trim().to_ascii_lowercase();
    let (family, name) = name.split_once('/')?;
    let is_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match family {
        "image" | "font" | "audio" | "video" => Some(PageKind::Resource),
        "text" | "application" | "message" | "model" | "chemical" => match () {
            () if is_of(&["html", "wml"]) => Some(PageKind::Page),
            () if name == "feed+json" => Some(PageKind::Document),
            () if is_of(&RESOURCES) => Some(PageKind::Resource),
            () if is_of(&UNKNOWN) => None,
            () => Some(PageKind::Document),
        },
        // `warc/revisit`, `multipart`, and what is no type at all.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PageKind::{Document, Page, Resource};

    #[test]
    fn media_types_say_what_it_is() {
        for (mime, kind) in [
            ("text/html; charset=utf-8", Some(Page)),
            ("application/xhtml+xml", Some(Page)),
            ("Text/HTML", Some(Page)),
            ("application/pdf", Some(Document)),
            ("application/rss+xml", Some(Document)),
            ("text/xml", Some(Document)),
            ("application/feed+json", Some(Document)),
            (
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                Some(Document),
            ),
            ("text/plain", Some(Document)),
            ("text/css", Some(Resource)),
            ("application/x-javascript", Some(Resource)),
            ("application/font-woff2", Some(Resource)),
            ("application/ld+json", Some(Resource)),
            ("image/svg+xml", Some(Resource)),
            ("video/mp4", Some(Resource)),
            ("application/octet-stream", None),
            ("warc/revisit", None),
            ("unk", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(kind_of_mime(mime), kind, "{mime}");
        }
    }

    #[test]
    fn the_best_evidence_decides() {
        let [no_type, html, gif] = [None, Some("text/html"), Some("image/gif")];
        for (mime, resource_type, hops, is_revisit, kind) in [
            (no_type, None, None, false, Some(Page)),
            (no_type, None, None, true, None),
            (gif, None, None, true, Some(Resource)),
            (html, Some("document"), None, false, Some(Page)),
            (html, Some("xhr"), None, false, Some(Resource)),
            (no_type, Some("Script"), None, true, Some(Resource)),
            (html, None, Some("LLE"), false, Some(Page)),
            (no_type, None, Some("LLE"), false, Some(Resource)),
            (no_type, None, Some("XRR"), false, Some(Resource)),
            (gif, None, Some("L"), false, Some(Resource)),
            (no_type, None, Some("EL"), false, Some(Page)),
        ] {
            let evidence = KindEvidence {
                mime,
                resource_type,
                hops,
                status: Some(200),
                is_revisit,
            };
            assert_eq!(evidence.kind("http://a.example/"), kind, "{evidence:?}");
        }
        let beacon = KindEvidence {
            status: Some(204),
            ..KindEvidence::default()
        };
        assert_eq!(beacon.kind("http://a.example/"), Some(Resource));
        for (url, is) in [
            ("http://a.example/robots.txt", true),
            ("https://a.example:81/robots.txt?x", true),
            ("http://a.example/x/robots.txt", false),
            ("http://robots.txt", false),
            ("robots.txt", false),
        ] {
            assert_eq!(KindEvidence::default().is_resource(url), is, "{url}");
        }
    }
}
