//! What is wrong with a line of a list.

/// Why a line names no pages.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// None of the kinds of patterns.
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
        /// How many bytes its text has.
        found: u64,
        /// The most that it may have.
        most: u64,
    },
    /// A shape or expression that takes too much memory when compiled.
    #[error("expected a line that takes at most {} KiB when compiled", most >> 10)]
    LineTooLarge {
        /// The most bytes that it may take compiled.
        most: u64,
    },
    /// The shape or expression that makes the list take too much memory when compiled.
    #[error(
        "with this line, the shapes and expressions of the list take {} KiB when compiled; expected at most {} KiB",
        found.div_ceil(1 << 10),
        most >> 10
    )]
    ListTooLarge {
        /// How many bytes those up to this one take compiled.
        found: u64,
        /// The most that those of a list may take.
        most: u64,
    },
}

impl BadPattern {
    /// Whether the line makes sense and is too much, by itself or with those before it.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. } | Self::LineTooLarge { .. } | Self::ListTooLarge { .. }
        )
    }
}
