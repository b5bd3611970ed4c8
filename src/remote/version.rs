//! Requests for one version of a remote file. Its length and tag are those of the moment at which it was found; a
//! file that has others later is refused.
//!
//! Only a strong tag identifies a version (RFC 9110, 8.8.1): contents that differ can have the same weak tag, and the
//! same time of the last change. Ranges are requested of files with a strong tag alone.

use std::ops::Range;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::error::RemoteError;
use crate::failure::Failure;

/// The bytes of a file, as they arrive.
pub(crate) type Body = BoxStream<'static, object_store::Result<bytes::Bytes>>;

/// Where a remote file is, and which version of it.
#[derive(Clone)]
pub(crate) struct Version {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) found: ObjectMeta,
}

impl Version {
    pub(crate) const fn length(&self) -> u64 {
        self.found.size
    }

    /// Returns the tag if it is strong.
    fn strong_tag(&self) -> Option<String> {
        let tag = self.found.e_tag.as_deref().map(quoted)?;
        // Listings may contain any text as tag, and on others `object_store` panics.
        let is_strong = tag.starts_with('"') && tag.bytes().all(|byte| byte.is_ascii_graphic());
        is_strong.then_some(tag)
    }

    /// Returns whether parts that are read by several requests are certain to be of one version.
    pub(crate) fn has_ranges(&self) -> bool {
        self.strong_tag().is_some()
    }

    /// Requests a range; fails if the file is no longer the one that was found, and if a part of it is requested that
    /// may be of another version.
    pub(crate) async fn request(&self, range: Range<u64>) -> Result<Body, Failure> {
        let length = self.length();
        let is_whole = range == (0..length);
        let tag = self.strong_tag();
        if tag.is_none() && !is_whole {
            return Err(RemoteError::NoRanges.into());
        }
        let e_tag = self.found.e_tag.as_deref();
        let has_time = self.found.last_modified.timestamp() > 0;
        let options = GetOptions {
            // Servers that know no ranges deliver whole files all the same.
            range: (!is_whole).then_some(GetRange::Bounded(range)),
            if_unmodified_since: (e_tag.is_none() && has_time).then_some(self.found.last_modified),
            if_match: tag,
            ..GetOptions::default()
        };
        let answer = self.store.get_opts(&self.found.location, options).await?;
        // A weak tag or a time that differs shows a change, though an equal one excludes none.
        match (e_tag, answer.meta.e_tag.as_deref()) {
            (Some(found), Some(now)) if quoted(found) != quoted(now) => {
                return Err(RemoteError::Changed.into());
            }
            // A server that leaves the tag out may have ignored that it was requested.
            (Some(_), None) if !is_whole => return Err(RemoteError::NoRanges.into()),
            (None, _) if answer.meta.last_modified != self.found.last_modified => {
                return Err(RemoteError::Changed.into());
            }
            _ => {}
        }
        if answer.meta.size != length {
            return Err(RemoteError::Length(length).into());
        }
        Ok(answer.into_stream())
    }
}

/// Returns a tag with its quotes, which Azure leaves out of listings.
fn quoted(tag: &str) -> String {
    if tag.ends_with('"') {
        tag.to_owned()
    } else {
        format!("\"{tag}\"")
    }
}

/// Returns the failure of a body that was cut.
pub(crate) fn cut(error: object_store::Error) -> Failure {
    Failure {
        is_transient: true,
        ..Failure::from(error)
    }
}

/// Returns the failure of a body that ended early without an error.
pub(crate) fn early_end() -> Failure {
    Failure {
        error: RemoteError::Failed("the server ended the file early".to_owned()),
        is_transient: true,
    }
}

/// Returns what is at a path now.
pub(crate) async fn look_up(
    store: &dyn ObjectStore,
    path: &Path,
) -> Result<ObjectMeta, RemoteError> {
    // Some servers answer only GET, and answers to HEAD have no text that says what is wrong.
    let Ok(found) = store.head(path).await else {
        let found = store.get(path).await;
        return found
            .map(|found| found.meta)
            .map_err(|error| Failure::from(error).error);
    };
    Ok(found)
}
