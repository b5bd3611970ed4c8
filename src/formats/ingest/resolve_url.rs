//! Resolution of relative links.

use std::borrow::Cow;

use url::{Position, Url};

use super::location::{MAX_URL, UrlError, other_scheme};

/// The URL that the links of a page are relative to.
pub(super) struct BaseUrl {
    url: Url,
    /// The URL up to the start of its path.
    origin: String,
    /// The URL up to the last slash of its path.
    folder: String,
    /// Buffer of the last resolved link.
    resolved: String,
}

impl BaseUrl {
    /// Creates the base of a page: the `href` of its `base` element, which may itself be relative, or
    /// else its own URL. Returns `None` if the page's URL is invalid.
    pub(super) fn new(page: &str, base_href: Option<&str>) -> Option<Self> {
        let page = Url::parse(page).ok()?;
        // No accepted URL has a longer base, and a base is copied for each link.
        let base = base_href
            .filter(|href| href.len() <= MAX_URL)
            .and_then(|href| page.join(href).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .filter(|url| url.as_str().len() <= MAX_URL);
        let mut url = base.unwrap_or(page);
        url.set_fragment(None);
        let origin = url[..Position::BeforePath].to_owned();
        let path = url.path();
        let folder = path.rfind('/').and_then(|end| path.get(..=end));
        let folder = [&origin, folder.unwrap_or("/")].concat();
        Some(Self {
            url,
            origin,
            folder,
            resolved: String::new(),
        })
    }

    /// Resolves a link to an absolute URL. A link with a scheme is returned unchanged, even if it is invalid.
    ///
    /// Most links are an absolute path or relative to the page's folder. These are concatenated, which
    /// gives the same URL once it is parsed.
    pub(super) fn resolve<'a>(&'a mut self, link: &'a str) -> Result<Cow<'a, str>, UrlError> {
        // The characters that the URL standard strips at both ends.
        let link = link.trim_matches(|c: char| c <= ' ');
        let begins = |scheme: &str| {
            let head = link.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        };
        if begins("http://") || begins("https://") || other_scheme(link).is_some() {
            return Ok(Cow::Borrowed(link));
        }
        let start = match link.as_bytes() {
            [] | [b'#', ..] => return Ok(Cow::Borrowed(self.url.as_str())),
            // Two slashes begin a host; the URL standard drops white space between them.
            [b'/', b'/' | b'\\' | b'\t' | b'\n' | b'\r', ..] | [b'\\' | b'?', ..] => None,
            [b'/', ..] => Some(&self.origin),
            _ if link.contains(':') => None,
            _ => Some(&self.folder),
        };
        let Some(start) = start else {
            return Ok(Cow::Owned(self.url.join(link)?.into()));
        };
        self.resolved.clear();
        self.resolved.push_str(start);
        self.resolved.push_str(link);
        Ok(Cow::Borrowed(&self.resolved))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn links_are_absolute() {
        let mut base = BaseUrl::new("http://a.example:8080/x/y?q#f", None).unwrap();
        for (link, url) in [
            ("/z", "http://a.example:8080/z"),
            (" z ", "http://a.example:8080/x/z"),
            ("//b.example/z", "http://b.example/z"),
            ("?r", "http://a.example:8080/x/y?r"),
            ("#top", "http://a.example:8080/x/y?q"),
            ("", "http://a.example:8080/x/y?q"),
            ("HTTP://b.example/", "HTTP://b.example/"),
            ("mailto:x@b.example", "mailto:x@b.example"),
            ("http:z", "http://a.example:8080/x/z"),
        ] {
            assert_eq!(base.resolve(link).unwrap(), url, "{link}");
        }
        assert_eq!(base.resolve("//"), Err(UrlError::NoHost));
        assert!(BaseUrl::new("a.example", None).is_none());
    }

    #[test]
    fn a_page_may_name_its_base() {
        let with_href = |href| BaseUrl::new("http://a.example/x/", Some(href)).unwrap();
        let mut base = with_href("//b.example/y/");
        assert_eq!(base.resolve("z").unwrap(), "http://b.example/y/z");
        assert_eq!(
            with_href("../w").resolve("z").unwrap(),
            "http://a.example/z"
        );
        for href in ["", "data:,x", "javascript:0", "http://"] {
            let mut base = with_href(href);
            assert_eq!(base.resolve("z").unwrap(), "http://a.example/x/z");
        }
    }

    proptest! {
        #[test]
        fn concatenation_agrees_with_the_url_standard(
            page in "https?://(u:p@)?a\\.example(:80|:81)?(/[ab.]{0,2}){0,3}(\\?[a/]{0,2})?(#a)?",
            link in "[ \t]?(/|\\\\|\\.|\\.\\.|a|%2e|\\?|#|:|\t|\n|é| |http:|//a\\.b){0,6}",
        ) {
            let mut base = BaseUrl::new(&page, None).unwrap();
            let resolved = base.resolve(&link).ok().and_then(|url| Url::parse(&url).ok());
            let joined = Url::parse(&page).unwrap().join(&link).ok();
            // The fragment is no part of a page's URL.
            let shown = |url: Option<Url>| url.map(|mut url| {
                url.set_fragment(None);
                url.to_string()
            });
            prop_assert_eq!(shown(resolved), shown(joined));
        }
    }
}
