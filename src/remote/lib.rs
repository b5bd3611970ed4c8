//! Files in object storage (S3 and what is compatible with it, Google Cloud Storage, Azure) and behind HTTP.
//!
//! | module | contents |
//! | --- | --- |
//! | `address` | addresses such as `s3://bucket/key`, and patterns of them |
//! | `client` | the stores that addresses name, with credentials from the environment |
//! | `version` | requests for the version of a file that was found, which must not change while it is read |
//! | `file` | a file that is read, as a stream or by ranges |
//! | `stream` | reading with resume after a cut |
//! | `upload` | writing, visible only when complete |
//! | `folder` | the files below an address, for backups |
//! | `runtime` | the threads that wait for the network; everything else blocks |
//! | `failure` | what errors of the network mean, and which are worth another try |
//!
//! The only user of `object_store`. Nothing here panics in an asynchronous context, nor needs one.

#![forbid(unsafe_code)]

mod address;
mod client;
mod error;
mod failure;
mod file;
mod folder;
mod runtime;
mod stream;
mod upload;
mod version;

pub use client::{Client, Found, Named};
pub use error::RemoteError;
pub use folder::{Folder, Lock, Stored};
pub use upload::Upload;

#[cfg(test)]
mod test_server;
#[cfg(test)]
mod tests;
