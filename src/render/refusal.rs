//! Describes a refused batch.

use crate::engine::ingest::RefusedBatch;

/// Describes after which batch another one was refused, why, and which limit of the loss accepts it.
///
/// The caller says before it when the batch was refused: "refused 2 h ago, " or the like.
#[must_use]
pub fn refusal(refused: &RefusedBatch) -> String {
    let place = match refused.after {
        0 => "before the first batch".to_owned(),
        after => format!("after batch {after}"),
    };
    let accepts = refused.least_max_loss.map_or_else(String::new, |least| {
        format!("; --max-loss {least} accepts it")
    });
    format!("{place}: {}{accepts}", refused.message)
}
