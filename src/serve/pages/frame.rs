//! What every page has around it.

use crate::serve::address::Address;
use crate::serve::desk::State;

/// What every page has around it.
pub(crate) struct Frame<'a> {
    /// The name of the bank's folder.
    pub(crate) bank: &'a str,
    /// What was searched for last; empty where nothing was.
    pub(crate) query: String,
    /// Where the same is as JSON; `None` where it is not.
    pub(crate) json: Option<String>,
}

impl<'a> Frame<'a> {
    /// Around a page that is at this address as JSON too.
    pub(crate) fn around(state: &State<'a>, address: Address) -> Self {
        Self {
            bank: state.name,
            query: String::new(),
            json: Some(address.with("format", "json").to_string()),
        }
    }

    /// Around a page that is for people alone.
    pub(crate) fn of_page(state: &State<'a>) -> Self {
        Self {
            bank: state.name,
            query: String::new(),
            json: None,
        }
    }
}
