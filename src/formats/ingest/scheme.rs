//! The schemes of page URLs.

/// The scheme of a page URL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// Returns the scheme as written in a URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Returns the first byte of a [`Location`](super::Location)'s `local`.
    pub(super) const fn mark(self) -> char {
        match self {
            Self::Http => '0',
            Self::Https => '1',
        }
    }

    /// Returns the scheme of a page by the `local` part of its location.
    pub(super) fn from_local(local: &str) -> Self {
        if local.starts_with('1') {
            Self::Https
        } else {
            Self::Http
        }
    }
}
