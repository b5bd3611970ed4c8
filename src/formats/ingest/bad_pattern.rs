//! What is wrong with a line of a list.

/// Why a line names no pages.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// Neither a host nor anything else.
    #[error(
        "it is no site, URL prefix, shape (`*.pdf`), expression (`re:...`) or built-in list (`@media`)"
    )]
    NoPattern,
    /// A built-in list that there is not.
    #[error("there is no built-in list of this name; there is `@media`")]
    NoList,
    /// A pinned page that is no URL.
    #[error("it is no http or https URL")]
    NoPage,
    /// A shape that makes no sense.
    #[error("{0}")]
    Shape(String),
    /// An expression that makes no sense.
    #[error("{0}")]
    Expression(String),
    /// A shape or expression of too many characters.
    #[error("it has {found} bytes, and a shape or expression may have {most}")]
    TooLong {
        /// How many bytes its text has.
        found: u64,
        /// The most that it may have.
        most: u64,
    },
    /// A shape or expression that takes too much memory by itself.
    #[error("compiled it takes more than {} KiB, the most that a line may take", most >> 10)]
    LineTooLarge {
        /// The most bytes that it may take compiled.
        most: u64,
    },
    /// The shape or expression with which those of the list take too much memory.
    #[error(
        "with it the shapes and expressions of the list take {} KiB compiled, and they may take {} KiB",
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
