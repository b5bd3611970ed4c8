//! The first bytes of requests between the processes of a cluster bank.

/// What a request is about. The discriminants are the first bytes of requests.
///
/// Requests of the store start with the length of their first field, which is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum RequestTopic {
    /// URLs of pages for an export.
    Export = 252,
    /// A job of all processes, in rounds of messages.
    Job = 253,
    /// Work on single sites.
    Sites = 254,
}

/// The first byte of requests that callers define. No request of the engine or of the store starts with it.
pub const CALLER_REQUEST: u8 = 255;

impl RequestTopic {
    /// Returns the request without its first byte; `None` if it is about something else.
    pub(super) fn strip(self, request: &[u8]) -> Option<&[u8]> {
        let (first, rest) = request.split_first()?;
        (*first == self as u8).then_some(rest)
    }
}
