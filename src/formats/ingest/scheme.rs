//! The two schemes that pages have.

/// The schemes of pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// The scheme as in a URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The first byte of a [`Location`](super::Location)'s `local`.
    pub(super) const fn mark(self) -> char {
        match self {
            Self::Http => '0',
            Self::Https => '1',
        }
    }

    /// The scheme of a page, by its location's `local`.
    pub(super) fn of(local: &str) -> Self {
        if local.starts_with('1') {
            Self::Https
        } else {
            Self::Http
        }
    }
}
