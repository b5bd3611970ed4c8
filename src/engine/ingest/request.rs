//! What to ingest, and how.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::error::{RequestError, Result};
use crate::engine::remote::{Inputs, address_of};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{ColumnNames, Format, Input};

/// What to do with an input that ends within a record, such as a file that was copied in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Truncated {
    /// The batch is refused.
    #[default]
    Refuse,
    /// The complete records before its end are taken, and the input is counted. Not in a snapshot, in which the pages
    /// after them would become gone.
    Keep,
}

/// What to ingest, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::IngestRequest;
///
/// let delta = folder.path().join("day-1.jsonl");
/// std::fs::write(&delta, r#"{"url": "http://a.example/", "gone": true}"#)?;
/// let request = IngestRequest {
///     name: Some("day 1".to_owned()),
///     ..IngestRequest::files([delta])
/// };
/// let report = bank.ingest(&request)?;
/// assert_eq!(report.batch, Some(2));
/// // Ingesting the same batch again changes nothing.
/// assert_eq!(bank.ingest(&request)?.same_as, Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of one command"
)]
pub struct IngestRequest {
    /// The inputs, which together form one batch. Files may be addresses of remote ones, such as
    /// `s3://bucket/day-*.jsonl.zst`; see the page [remote](crate::guide::remote) of the guide.
    pub inputs: Vec<Input>,
    /// Their format.
    pub format: Format,
    /// The columns of tables that are fields, if they have other names.
    pub columns: ColumnNames,
    /// A list of sites with their attributes, as part of the batch or as all of it.
    pub sites: Option<Input>,
    /// Whether crawled pages without a record become gone.
    pub snapshot: bool,
    /// The time, in seconds since 1970 (UTC), at which pages were fetched whose records have no time, and
    /// after which a snapshot says nothing about a page; `None` for the time of the ingest.
    pub as_of: Option<u64>,
    /// The batch's name; `None` for the name of the first input.
    pub name: Option<String>,
    /// What to do with inputs that end within a record.
    pub truncated: Truncated,
    /// Maximum share of bad records, in per cent of all records. Up to
    /// [`MIN_MAX_REJECTS`](seedbank_formats::ingest::MIN_MAX_REJECTS) bad records are always accepted if others are good;
    /// with 0, none is.
    pub max_rejects: f64,
    /// Maximum net loss, in per cent, of the bank's crawled pages, and of its links. A loss of fewer
    /// than 100 pages or 1,000 links is always accepted; 100 accepts every batch.
    pub max_loss: f64,
    /// The file that lists bad records; `None` for a file in the bank's own folder.
    pub rejects: Option<PathBuf>,
    /// Whether to do everything except change the bank.
    pub dry_run: bool,
    /// Whether to wait while another process writes to the bank.
    pub wait: bool,
    /// Whether to apply the batch even if an earlier batch had the same records.
    pub again: bool,
    /// Whether to learn from pages that are fetched again even if the batch looks like a bulk
    /// import: brings more than ten times the number of new links expected from earlier batches.
    pub learn_from_bulk: bool,
    /// Whether URLs may have hosts that only crawlers in a private network can fetch from: names of one label, private
    /// addresses, `localhost` and so on. Otherwise such links are dropped, and records of such pages are bad.
    pub allow_private: bool,
    /// Memory for sorting, in bytes, besides the store's own.
    pub memory: usize,
}

impl IngestRequest {
    /// Ingests files as one batch, local or remote ones.
    ///
    /// ```
    /// use seedbank::IngestRequest;
    ///
    /// let day = IngestRequest::files(["pages.jsonl.zst", "links.tsv.gz"]);
    /// let crawl = IngestRequest {
    ///     snapshot: true,
    ///     ..IngestRequest::files(["crawl.jsonl"])
    /// };
    /// ```
    #[must_use]
    pub fn files<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        Self {
            inputs: files
                .into_iter()
                .map(|file| Input::File(file.into()))
                .collect(),
            ..Self::default()
        }
    }
}

impl IngestRequest {
    /// Returns all inputs in the order in which they are read.
    pub(super) fn inputs_in_order(&mut self) -> Vec<&mut Input> {
        let (mut first, mut after) = (Vec::new(), Vec::new());
        match &mut self.format {
            Format::Links { pages } => after.extend(pages),
            Format::BvGraph { urls } => first.extend(urls),
            Format::CcGraph { vertices, ranks } => first.extend(vertices.iter_mut().chain(ranks)),
            _ => {}
        }
        first.extend(self.inputs.iter_mut().chain(after).chain(&mut self.sites));
        first
    }

    /// Returns the request with the remote files that its addresses lead to.
    pub(super) fn found(&self, watch: Arc<dyn Watch + Send>) -> Result<Self> {
        let mut found = self.clone();
        let mut all = found.inputs_in_order().into_iter();
        if all.all(|input| address_of(input).is_none()) {
            return Ok(found);
        }
        let is_graph = matches!(self.format, Format::BvGraph { .. });
        if is_graph && self.inputs.iter().any(|input| address_of(input).is_some()) {
            return Err(RequestError::RemoteGraph.into());
        }
        let mut inputs = Inputs::new(watch);
        inputs.replace(&mut found.inputs)?;
        if let Some(sites) = &mut found.sites {
            inputs.replace_one(sites)?;
        }
        match &mut found.format {
            Format::Links { pages: Some(one) } | Format::BvGraph { urls: Some(one) } => {
                inputs.replace_one(one)?;
            }
            Format::CcGraph { vertices, ranks } => {
                inputs.replace(vertices)?;
                inputs.replace(ranks)?;
            }
            _ => {}
        }
        Ok(found)
    }
}

impl Default for IngestRequest {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            format: Format::default(),
            columns: ColumnNames::default(),
            sites: None,
            snapshot: false,
            as_of: None,
            name: None,
            truncated: Truncated::Refuse,
            max_rejects: 1.0,
            max_loss: 20.0,
            rejects: None,
            dry_run: false,
            wait: false,
            again: false,
            learn_from_bulk: false,
            allow_private: false,
            memory: 512 << 20,
        }
    }
}
