//! Suggestions for unknown field names.

use strsim::osa_distance;

use super::columns::RECORD_FIELDS;

/// Longer names get no suggestion: the time of an edit distance grows with the length.
const MAX_NAME: usize = 32;

/// Names that other programs use for each field, in lower case without separators.
const SYNONYMS: &[(&str, &str)] = &[
    (
        "url",
        "uri link href loc location address page pageurl source sourceurl fromurl requesturl \
         responseurl targeturi warctargeturi website from",
    ),
    (
        "outlinks",
        "links outgoinglinks outgoing externallinks hrefs anchors urls targets linksto \
         linkedurls linkurls children edges references to",
    ),
    ("spam", "isspam spammy spamflag"),
    ("clicks", "clickcount visits views pageviews impressions"),
    (
        "uncrawled_outlinks",
        "uncrawled uncrawledlinks uncrawledcount frontier",
    ),
    (
        "digest",
        "hash checksum md5 sha1 sha256 contenthash contentdigest fingerprint signature \
         warcpayloaddigest",
    ),
    (
        "fetched",
        "timestamp time date fetchtime fetchdate fetchedat lastfetched crawltime crawldate \
         crawledat crawled lastcrawled scrapedat downloadedat retrieved warcdate",
    ),
    ("gone", "deleted removed dead isgone"),
    (
        "redirect",
        "redirectto redirectedto redirecturl finalurl redirects",
    ),
    ("canonical", "canonicalurl relcanonical canonicallink"),
];

/// Returns the record field that an unknown name probably means: one with almost the same spelling, or
/// one that other programs call by this name. Returns `None` if there is no such field.
///
/// ```
/// use seedbank_formats::ingest::suggest_field;
///
/// assert_eq!(suggest_field("links"), Some("outlinks"));
/// assert_eq!(suggest_field("fetchedAt"), Some("fetched"));
/// assert_eq!(suggest_field("title"), None);
/// ```
#[must_use]
pub fn suggest_field(name: &str) -> Option<&'static str> {
    let normalised = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let name = normalised(name);
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let fields = || RECORD_FIELDS.iter().copied();
    let same = fields().find(|field| normalised(field) == name);
    let synonym = || {
        let is_synonym = |names: &str| names.split_whitespace().any(|synonym| synonym == name);
        let (found, _) = SYNONYMS.iter().find(|(_, names)| is_synonym(names))?;
        fields().find(|field| field == found)
    };
    let misspelt = || {
        let all = fields().map(|field| (osa_distance(&name, &normalised(field)), field));
        // Short names are allowed one edit only, since they resemble each other.
        let near = all.filter(|(distance, field)| *distance <= if field.len() > 5 { 2 } else { 1 });
        near.min().map(|(_, field)| field)
    };
    same.or_else(synonym).or_else(misspelt)
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
            ("status", Some("status")),
            ("", None),
            ("\u{e9}", None),
            (&"x".repeat(100_000), None),
        ] {
            assert_eq!(suggest_field(name), field, "{name}");
        }
    }

    #[test]
    fn synonyms_are_written_as_they_are_looked_up() {
        for (field, names) in SYNONYMS {
            for name in names.split_whitespace() {
                assert!(
                    name.bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
                    "{name}"
                );
                assert!(
                    suggest_field(name).is_none_or(|meant| meant == *field),
                    "{name}"
                );
            }
        }
    }
}
