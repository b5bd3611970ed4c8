//! Errors of pattern lists.

/// Why a line of a pattern list is invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// Not a pattern of any kind.
    #[error(
        "expected a site, URL prefix, shape (`*.pdf`), expression (`re:...`) or built-in list (`@media`)"
    )]
    NoPattern,
    /// An unknown built-in list.
    #[error("unknown built-in list; expected `@media`")]
    NoList,
    /// A pinned page that is not a URL.
    #[error("expected an http or https URL")]
    NoPage,
    /// An invalid shape.
    #[error("{0}")]
    Shape(String),
    /// An invalid expression.
    #[error("{0}")]
    Expression(String),
    /// A shape or expression that is too long.
    #[error("expected a shape or expression of at most {most} bytes, found {found}")]
    TooLong {
        /// The length of the text in bytes.
        found: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// A shape or expression whose compiled form is too large.
    #[error("expected a line that takes at most {} KiB when compiled", most >> 10)]
    LineTooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// The line at which the compiled list becomes too large.
    #[error(
        "with this line, the shapes and expressions of the list take {} KiB when compiled; expected at most {} KiB",
        found.div_ceil(1 << 10),
        most >> 10
    )]
    ListTooLarge {
        /// The compiled size in bytes of the list up to and including this line.
        found: u64,
        /// The limit in bytes.
        most: u64,
    },
}

impl BadPattern {
    /// Returns whether the line is valid but exceeds a size limit.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. } | Self::LineTooLarge { .. } | Self::ListTooLarge { .. }
        )
    }
}
