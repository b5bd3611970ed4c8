//! Which field of a record an unknown name may stand for.

use strsim::osa_distance;

use super::formats::json_lines::RECORD_FIELDS;

/// The longest name that may stand for a field; the time of a distance grows with its length.
const MAX_NAME: usize = 32;

/// Names that other programs use, without what stands between their words, by field.
const USUAL: &[(&str, &[&str])] = &[
    (
        "url",
        &[
            "uri",
            "link",
            "href",
            "loc",
            "location",
            "address",
            "page",
            "pageurl",
            "source",
            "sourceurl",
            "fromurl",
            "requesturl",
            "responseurl",
            "targeturi",
            "warctargeturi",
            "website",
            "from",
        ],
    ),
    (
        "outlinks",
        &[
            "links",
            "outgoinglinks",
            "outgoing",
            "externallinks",
            "hrefs",
            "anchors",
            "urls",
            "targets",
            "linksto",
            "linkedurls",
            "linkurls",
            "children",
            "edges",
            "references",
            "to",
        ],
    ),
    ("spam", &["isspam", "spammy", "spamflag"]),
    (
        "clicks",
        &["clickcount", "visits", "views", "pageviews", "impressions"],
    ),
    (
        "uncrawled_outlinks",
        &["uncrawled", "uncrawledlinks", "uncrawledcount", "frontier"],
    ),
    (
        "digest",
        &[
            "hash",
            "checksum",
            "md5",
            "sha1",
            "sha256",
            "contenthash",
            "contentdigest",
            "fingerprint",
            "signature",
            "warcpayloaddigest",
        ],
    ),
    (
        "fetched",
        &[
            "timestamp",
            "time",
            "date",
            "fetchtime",
            "fetchdate",
            "fetchedat",
            "lastfetched",
            "crawltime",
            "crawldate",
            "crawledat",
            "crawled",
            "lastcrawled",
            "scrapedat",
            "downloadedat",
            "retrieved",
            "warcdate",
        ],
    ),
    ("gone", &["deleted", "removed", "dead", "isgone"]),
    (
        "redirect",
        &[
            "redirectto",
            "redirectedto",
            "redirecturl",
            "finalurl",
            "redirects",
        ],
    ),
    (
        "canonical",
        &["canonicalurl", "relcanonical", "canonicallink"],
    ),
];

/// The field of a record that a name which none has may stand for: one that is hardly written
/// otherwise, or one that other programs call so. `None` where there is no such field.
///
/// ```
/// use seedbank_formats::ingest::suggested_field;
///
/// assert_eq!(suggested_field("links"), Some("outlinks"));
/// assert_eq!(suggested_field("fetchedAt"), Some("fetched"));
/// assert_eq!(suggested_field("title"), None);
/// ```
#[must_use]
pub fn suggested_field(name: &str) -> Option<&'static str> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let name = bare(name);
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let fields = || RECORD_FIELDS.iter().copied();
    let same = fields().find(|field| bare(field) == name);
    let usual = || {
        let found = USUAL.iter().find(|(_, names)| names.contains(&&*name))?;
        fields().find(|field| *field == found.0)
    };
    let near = || {
        // Letters put in, left out, replaced, or swapped with their neighbour.
        let all = fields().map(|field| (osa_distance(&name, &bare(field)), field));
        // A short name is soon like another.
        let near = all.filter(|(distance, field)| *distance <= if field.len() > 5 { 2 } else { 1 });
        near.min().map(|(_, field)| field)
    };
    same.or_else(usual).or_else(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_proposed_where_it_is_likely() {
        for (name, field) in [
            ("Links", Some("outlinks")),
            ("out_links", Some("outlinks")),
            ("outLink", Some("outlinks")),
            ("URL", Some("url")),
            ("uri", Some("url")),
            ("urll", Some("url")),
            ("span", Some("spam")),
            ("is-spam", Some("spam")),
            ("cliks", Some("clicks")),
            ("WARC-Date", Some("fetched")),
            ("feched", Some("fetched")),
            ("digset", Some("digest")),
            ("otulniks", Some("outlinks")),
            ("content_hash", Some("digest")),
            ("uncrawled-outlinks", Some("uncrawled_outlinks")),
            ("deleted", Some("gone")),
            ("title", None),
            ("text", None),
            ("id", None),
            ("status", None),
            ("", None),
            ("\u{e9}", None),
            (&"x".repeat(100_000), None),
        ] {
            assert_eq!(suggested_field(name), field, "{name}");
        }
    }

    #[test]
    fn every_usual_name_is_written_as_it_is_looked_up() {
        for (field, names) in USUAL {
            for name in *names {
                assert!(
                    name.bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
                    "{name}"
                );
                assert!(
                    suggested_field(name).is_none_or(|meant| meant == *field),
                    "{name}"
                );
            }
        }
    }
}
