//! Which field of a record an unknown name may stand for.

use super::formats::json_lines::RECORD_FIELDS;

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
/// use seedbank_formats::ingest::field_meant;
///
/// assert_eq!(field_meant("links"), Some("outlinks"));
/// assert_eq!(field_meant("fetchedAt"), Some("fetched"));
/// assert_eq!(field_meant("title"), None);
/// ```
#[must_use]
pub fn field_meant(name: &str) -> Option<&'static str> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let name = bare(name);
    if name.is_empty() {
        return None;
    }
    let fields = || RECORD_FIELDS.iter().copied();
    let same = fields().find(|field| bare(field) == name);
    let usual = || {
        let found = USUAL.iter().find(|(_, names)| names.contains(&&*name))?;
        fields().find(|field| *field == found.0)
    };
    let near = || {
        let all = fields().map(|field| (distance(&name, &bare(field)), field));
        // A short name is soon like another.
        let near = all.filter(|(distance, field)| *distance <= if field.len() > 5 { 2 } else { 1 });
        near.min().map(|(_, field)| field)
    };
    same.or_else(usual).or_else(near)
}

/// How many letters are to be put in, left out, replaced, or swapped with their neighbour, to make
/// one word of the other; no letter is touched twice.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // No field is that long.
    if one.len() > 32 {
        return usize::MAX;
    }
    // The distances of the beginnings of one, of this length and the two before, to those of other.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut letters = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && one[i - 1] == *b && other[j - 1] == *a;
            if swapped {
                letters = letters.min(before[j - 1] + 1);
            }
            row.push(letters);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_between_words() {
        for (one, other, letters) in [
            ("url", "url", 0),
            ("ulr", "url", 1),
            ("uri", "url", 1),
            ("", "url", 3),
            ("outlink", "outlinks", 1),
            ("otulniks", "outlinks", 2),
            ("digset", "digest", 1),
            ("clicks", "spam", 6),
        ] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
            assert_eq!(distance(other, one), letters, "{other} {one}");
        }
    }

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
            assert_eq!(field_meant(name), field, "{name}");
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
                    field_meant(name).is_none_or(|meant| meant == *field),
                    "{name}"
                );
            }
        }
    }
}
