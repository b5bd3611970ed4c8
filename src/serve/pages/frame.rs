//! What every page has around it.

use crate::serve::address::Address;
use crate::serve::desk::State;

/// What every page has around it.
pub(crate) struct Frame<'a> {
    /// The name of the bank's folder.
    pub(crate) bank: &'a str,
    /// What was searched for last; empty where nothing was.
    pub(crate) query: String,
    /// What of it is there as JSON, and where.
    pub(crate) json: Vec<(&'static str, Address)>,
}

impl<'a> Frame<'a> {
    /// Around a page that is at this address as JSON too.
    pub(crate) fn around(state: &State<'a>, address: Address) -> Self {
        Self::with_json(state, [("This page as JSON", address)])
    }

    /// Around a page whose parts, or some of them, are JSON at these addresses.
    pub(crate) fn with_json(
        state: &State<'a>,
        parts: impl IntoIterator<Item = (&'static str, Address)>,
    ) -> Self {
        let parts = parts.into_iter();
        Self {
            json: parts
                .map(|(what, address)| (what, address.with("format", "json")))
                .collect(),
            ..Self::of_page(state)
        }
    }

    /// Around a page that is for people alone.
    pub(crate) fn of_page(state: &State<'a>) -> Self {
        Self {
            bank: state.name,
            query: String::new(),
            json: Vec::new(),
        }
    }
}
