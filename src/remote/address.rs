//! Addresses of remote files.

use seedbank_formats::display::truncated;
use url::Url;

use crate::error::{MAX_ADDRESS, RemoteError};

/// What an address leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Service {
    S3,
    Google,
    Azure,
    Http,
}

/// The address of a remote file, or a pattern of addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub(crate) service: Service,
    /// For HTTP the whole address; otherwise the scheme and the bucket.
    pub(crate) base: String,
    /// The name of the bucket; empty for HTTP.
    pub(crate) bucket: String,
    /// The name of the file in its bucket; empty for HTTP.
    pub(crate) key: String,
    /// The address without its query, for messages and the history.
    pub(crate) name: String,
}

impl Address {
    /// Parses an address. The key of an object is taken as it is, without decoding.
    ///
    /// An address that cannot be part of a request is an error here, since `object_store` would panic on it.
    pub(crate) fn parse(text: &str) -> Result<Self, RemoteError> {
        if text.len() > MAX_ADDRESS {
            return Err(RemoteError::TooLong(text.len()));
        }
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| RemoteError::Scheme(text.to_owned()))?;
        let service = match &*scheme.to_ascii_lowercase() {
            "s3" | "s3a" => Service::S3,
            "gs" => Service::Google,
            "az" | "azure" => Service::Azure,
            "http" | "https" => return Self::http(text),
            _ => return Err(RemoteError::Scheme(scheme.to_owned())),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(RemoteError::NoFile);
        }
        // Another host, or a password: neither belongs into such an address.
        if bucket.contains(['@', ':']) {
            return Err(RemoteError::Password);
        }
        if !bucket.bytes().all(is_bucket_character) {
            let text = format!("no bucket is called {bucket}");
            return Err(RemoteError::Invalid(text));
        }
        Ok(Self {
            service,
            base: format!("{scheme}://{bucket}"),
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            name: text.to_owned(),
        })
    }

    fn http(text: &str) -> Result<Self, RemoteError> {
        let invalid = |error: &dyn std::error::Error| RemoteError::Invalid(error.to_string());
        let url = Url::parse(text).map_err(|error| invalid(&error))?;
        // Hosts of URLs may have characters that those of requests may not.
        let _: http::Uri = url.as_str().parse().map_err(|error| invalid(&error))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RemoteError::Password);
        }
        let mut bare = url.clone();
        bare.set_query(None);
        bare.set_fragment(None);
        Ok(Self {
            service: Service::Http,
            base: url.to_string(),
            bucket: String::new(),
            key: String::new(),
            name: bare.to_string(),
        })
    }

    /// Fails if the address names a bucket or a folder instead of a file.
    pub(crate) fn check_file(&self) -> Result<(), RemoteError> {
        let is_file = !self.key.is_empty() && !self.key.ends_with('/');
        if is_file || self.service == Service::Http {
            return Ok(());
        }
        Err(RemoteError::NoFile)
    }

    /// Returns whether the address is a pattern. In addresses of HTTP, `*` is a character like others.
    pub(crate) fn is_pattern(&self) -> bool {
        self.key.contains('*')
    }

    /// Returns the folder before the first `*`, without its final slash, and whether all wildcards are behind
    /// the last slash.
    pub(crate) fn folder(&self) -> (&str, bool) {
        let before = self.key.split('*').next().unwrap_or_default();
        let folder = before.rsplit_once('/').map_or("", |(folder, _)| folder);
        let last = self.key.rsplit('/').next().unwrap_or_default();
        let is_flat =
            !self.key.contains("**") && last.matches('*').count() == self.key.matches('*').count();
        (folder, is_flat)
    }

    /// Returns the address of another file of the same bucket.
    pub(crate) fn sibling(&self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            name: format!("{}/{key}", self.base),
            ..self.clone()
        }
    }
}

/// Returns whether names of buckets and containers may contain a character.
const fn is_bucket_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'$')
}

/// Returns the name of an address without password and query, whether it is valid or not; cut if it is long.
pub(crate) fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let text = match text.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => text.to_owned(),
    };
    truncated(&text).into_owned()
}

/// Returns whether a key matches a pattern. `*` matches any characters except `/`, and `**` matches any characters.
pub(crate) fn matches(pattern: &str, key: &str) -> bool {
    let (pattern, key) = (pattern.as_bytes(), key.as_bytes());
    let (mut p, mut k) = (0, 0);
    // For `*` and for `**`: where the pattern continues, and how much of the key it has taken.
    let mut retry: [Option<(usize, usize)>; 2] = [None, None];
    loop {
        if pattern.get(p) == Some(&b'*') {
            let is_deep = pattern.get(p + 1) == Some(&b'*');
            while pattern.get(p) == Some(&b'*') {
                p += 1;
            }
            retry[usize::from(is_deep)] = Some((p, k));
            if is_deep {
                retry[0] = None;
            }
            continue;
        }
        if p == pattern.len() && k == key.len() {
            return true;
        }
        if p < pattern.len() && pattern.get(p) == key.get(k) {
            (p, k) = (p + 1, k + 1);
            continue;
        }
        // The last wildcard takes one more character.
        let again = match retry {
            [Some((p, k)), _] if key.get(k).is_some_and(|byte| *byte != b'/') => (0, p, k),
            [_, Some((p, k))] if k < key.len() => (1, p, k),
            _ => return false,
        };
        let (which, next, taken) = again;
        if which == 1 {
            retry[0] = None;
        }
        retry[which] = Some((next, taken + 1));
        (p, k) = (next, taken + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stops_at_slashes_and_two_do_not() {
        for (pattern, key, expected) in [
            ("a/day-*.zst", "a/day-1.zst", true),
            ("a/day-*.zst", "a/day-.zst", true),
            ("a/day-*.zst", "a/day-1/x.zst", false),
            ("a/**.zst", "a/day-1/x.zst", true),
            ("a/**/x*.zst", "a/b/c/x1.zst", true),
            ("a/**/x*.zst", "a/b/x/y.zst", false),
            ("a/**/x*z", "a/x/b/xyz", true),
            ("*", "a", true),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("é*", "éa", true),
        ] {
            assert_eq!(matches(pattern, key), expected, "{pattern} {key}");
        }
    }

    #[test]
    fn names_have_no_secrets() {
        let address = Address::parse("https://h.example/a%20b?X-Amz-Signature=1#x").unwrap();
        assert_eq!(address.name, "https://h.example/a%20b");
        assert_eq!(address.base, "https://h.example/a%20b?X-Amz-Signature=1#x");
        assert_eq!(
            Address::parse("https://u:p@h.example/a"),
            Err(RemoteError::Password)
        );
        assert_eq!(
            Address::parse("s3://key:secret@bucket/a"),
            Err(RemoteError::Password)
        );
        assert_eq!(shown("https://u:p@h.example/a?b"), "https://h.example/a");
        assert_eq!(shown("s3://k:s@bucket"), "s3://bucket");
        assert!(matches!(
            Address::parse("ftp://h/a"),
            Err(RemoteError::Scheme(_))
        ));
    }

    #[test]
    fn what_cannot_be_requested_is_no_address() {
        let long = "x".repeat(70_000);
        for base in ["http://h.example/", "s3://bucket/"] {
            let address = format!("{base}{long}");
            let bytes = address.len();
            assert_eq!(Address::parse(&address), Err(RemoteError::TooLong(bytes)));
            assert!(shown(&address).len() < 250);
        }
        // Each byte becomes three, which is still a request.
        let encoded = format!("http://h.example/{}", "\u{e9}".repeat(8_000));
        assert_eq!(Address::parse(&encoded).unwrap().base.len(), 48_017);
        for wrong in [
            "http://a\"b/",
            "http://a{b}/x",
            "http://a`b/x",
            "s3://a b/x",
            "az://a\nb/x",
            "gs://b\u{fc}cher/x",
        ] {
            let parsed = Address::parse(wrong);
            assert!(
                matches!(parsed, Err(RemoteError::Invalid(_))),
                "{wrong:?} {parsed:?}"
            );
        }
    }

    #[test]
    fn a_pattern_knows_where_to_look() {
        let folder = |text: &str| {
            let address = Address::parse(text).unwrap();
            let (folder, is_flat) = address.folder();
            (folder.to_owned(), is_flat)
        };
        assert_eq!(folder("s3://b/a/b/c*.gz"), ("a/b".to_owned(), true));
        assert_eq!(folder("s3://b/a/x*/c*.gz"), ("a".to_owned(), false));
        assert_eq!(folder("s3://b/a/**"), ("a".to_owned(), false));
        assert_eq!(folder("s3://b/c*"), (String::new(), true));
    }
}
