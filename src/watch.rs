//! How long work reports its progress and learns that it should stop.
//!
//! Every long loop of the library takes a [`Watch`]; the command line shows bars and turns
//! Ctrl-C into [`Watch::stopped`], a library caller passes [`Unwatched`] or its own.

/// The caller asked for the work to stop; the bank is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted; the bank is as it was")]
pub struct Interrupted;

/// What long work reports to. Calls are cheap enough for every few thousand steps, not for each
/// one.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::watch::Watch;
///
/// /// Stops the work at once.
/// struct Stopped;
///
/// impl Watch for Stopped {
///     fn stopped(&self) -> bool {
///         true
///     }
/// }
///
/// let ended = bank.refresh(&RefreshRequest::default(), &Stopped);
/// assert!(matches!(ended, Err(EngineError::Interrupted(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Watch: Sync {
    /// Whether the work should stop as soon as it can, leaving the bank as it was.
    fn stopped(&self) -> bool {
        false
    }

    /// Begins a new stage; `total` is in the units of [`Watch::advance`], `None` where it is not
    /// known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}

    /// Reports that `units` more of the current stage are done.
    fn advance(&self, _units: u64) {}

    /// `Err(Interrupted)` once the work should stop.
    fn proceed(&self) -> Result<(), Interrupted> {
        if self.stopped() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Stops when another watch does, and tells it nothing: for parts of a work whose stages are told as
/// a whole.
pub(crate) struct Quiet<'a>(pub(crate) &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// A watch that shows nothing and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
