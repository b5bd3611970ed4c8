//! Links of a page made absolute.

use std::borrow::Cow;

use url::{Position, Url};

use super::location::{MAX_URL, UrlError, foreign_scheme};

/// What the links of a page are relative to.
pub(super) struct BaseUrl {
    url: Url,
    /// The URL up to its path, and up to the last slash of it.
    host: String,
    folder: String,
    /// Where the last link was put together.
    made: String,
}

impl BaseUrl {
    /// The base of a page: its own URL, or what its head says, which may be relative itself.
    /// `None` where the page's URL is none.
    pub(super) fn of(page: &str, given: Option<&str>) -> Option<Self> {
        let page = Url::parse(page).ok()?;
        // A longer one can be the base of no URL that is taken, and would be copied for each link.
        let given = given.filter(|given| given.len() <= MAX_URL);
        let given = given.and_then(|given| page.join(given).ok());
        let given = given.filter(|url| matches!(url.scheme(), "http" | "https"));
        let given = given.filter(|url| url.as_str().len() <= MAX_URL);
        let mut url = given.unwrap_or(page);
        url.set_fragment(None);
        let host = url[..Position::BeforePath].to_owned();
        let path = url.path();
        let folder = path.rfind('/').and_then(|end| path.get(..=end));
        let folder = [&host, folder.unwrap_or("/")].concat();
        Some(Self {
            url,
            host,
            folder,
            made: String::new(),
        })
    }

    /// A link as an absolute URL, or as a text that is none on its own either.
    ///
    /// Most links are a path, or one below the page's folder: these are put together as texts, which
    /// gives the same URL once it is parsed.
    pub(super) fn absolute<'a>(&'a mut self, link: &'a str) -> Result<Cow<'a, str>, UrlError> {
        // The characters that the URL standard strips at both ends.
        let link = link.trim_matches(|c: char| c <= ' ');
        let begins = |scheme: &str| {
            let head = link.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        };
        if begins("http://") || begins("https://") || foreign_scheme(link).is_some() {
            return Ok(Cow::Borrowed(link));
        }
        let start = match link.as_bytes() {
            [] | [b'#', ..] => return Ok(Cow::Borrowed(self.url.as_str())),
            // Two slashes begin a host, perhaps with white space between them that goes.
            [b'/', b'/' | b'\\' | b'\t' | b'\n' | b'\r', ..] | [b'\\' | b'?', ..] => None,
            [b'/', ..] => Some(&self.host),
            _ if link.contains(':') => None,
            _ => Some(&self.folder),
        };
        let Some(start) = start else {
            return Ok(Cow::Owned(self.url.join(link)?.into()));
        };
        self.made.clear();
        self.made.push_str(start);
        self.made.push_str(link);
        Ok(Cow::Borrowed(&self.made))
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
            assert_eq!(base.absolute(link).unwrap(), url, "{link}");
        }
        assert_eq!(base.absolute("//"), Err(UrlError::NoHost));
        assert!(BaseUrl::new("a.example", None).is_none());
    }

    #[test]
    fn a_page_may_name_its_base() {
        let of = |given| BaseUrl::new("http://a.example/x/", Some(given)).unwrap();
        let mut base = of("//b.example/y/");
        assert_eq!(base.absolute("z").unwrap(), "http://b.example/y/z");
        assert_eq!(of("../w").absolute("z").unwrap(), "http://a.example/z");
        for given in ["", "data:,x", "javascript:0", "http://"] {
            let mut base = of(given);
            assert_eq!(base.absolute("z").unwrap(), "http://a.example/x/z");
        }
    }

    proptest! {
        #[test]
        fn texts_put_together_are_what_the_standard_says(
            page in "https?://(u:p@)?a\\.example(:80|:81)?(/[ab.]{0,2}){0,3}(\\?[a/]{0,2})?(#a)?",
            link in "[ \t]?(/|\\\\|\\.|\\.\\.|a|%2e|\\?|#|:|\t|\n|é| |http:|//a\\.b){0,6}",
        ) {
            let mut base = BaseUrl::new(&page, None).unwrap();
            let made = base.absolute(&link).ok().and_then(|url| Url::parse(&url).ok());
            let joined = Url::parse(&page).unwrap().join(&link).ok();
            // The fragment is no part of a page's URL.
            let shown = |url: Option<Url>| url.map(|mut url| {
                url.set_fragment(None);
                url.to_string()
            });
            prop_assert_eq!(shown(made), shown(joined));
        }
    }
}
