//! The graph image: a sample of its pages has the state and the links that the tables have.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::graph_image::{GraphImage, ImageFault, ImageLinks, PageAttributes};
use crate::tables::PAGES;
use crate::tables::records::{PageRecord, PageState};
use crate::tables::store::Store;
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_algorithms::watch::Watch;

/// The number of pages that are compared.
const SAMPLE: usize = 1000;

/// The comparison of the graph image with the tables.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ImageCheck {
    /// The number of pages that were compared; 0 if there is no usable image.
    pub pages: u64,
    /// What differs; `None` if nothing does.
    pub what: Option<String>,
}

impl Store {
    /// Compares pages of the graph image, at equal distances, with the tables. An image that is damaged is not used, so it
    /// is not compared either. One of a state that the bank does not have, or that had pages which were forgotten since, is
    /// reported.
    pub(crate) fn check_image(
        &self,
        bank: &Path,
        watch: &dyn Watch,
    ) -> Result<ImageCheck, StoreError> {
        // Hosts are not compared.
        let prefix = |_: &str, local: &str, out: &mut String| out.push_str(local);
        let read = |links| GraphImage::from_file(self, links, &prefix, watch);
        watch.stage("graph image", None);
        let mut check = ImageCheck::default();
        if let Some(ImageFault::OtherState(what)) = ImageFault::find(self, bank)? {
            // Another process may have published a later state, and written its image.
            let is_published = self.image().is_some_and(|image| (image.is_published)());
            check.what = is_published.then_some(what);
            return Ok(check);
        }
        let mut links = ImageLinks::All;
        let mut image = read(links);
        if matches!(image, Ok(None)) {
            links = ImageLinks::InterSite;
            image = read(links);
        }
        let image = match image {
            Ok(Some((image, _))) => image,
            Err(StoreError::Interrupted(stop)) => return Err(stop.into()),
            Err(e) if e.system_error().is_some() => return Err(e),
            _ => return Ok(check),
        };
        let step = image.slots().div_ceil(SAMPLE).max(1);
        for slot in (0..image.slots()).step_by(step) {
            watch.proceed()?;
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            let page = image.page(slot);
            // The check of the tables reports what cannot be read.
            let Ok(Some(record)) = self.get(&PAGES, &page) else {
                continue;
            };
            check.pages += 1;
            if self
                .is_equal(&image, links, slot, &record)
                .is_ok_and(|equal| !equal)
            {
                check.what = Some(format!("{page} differs from the tables"));
                break;
            }
        }
        Ok(check)
    }

    fn is_equal(
        &self,
        image: &GraphImage,
        links: ImageLinks,
        slot: u32,
        record: &PageRecord,
    ) -> Result<bool, StoreError> {
        let page = image.page(slot);
        let pages = |slots: &[u32]| -> Vec<PageId> {
            let mut pages: Vec<PageId> = slots.iter().map(|slot| image.page(*slot)).collect();
            pages.sort_unstable();
            pages
        };
        let row = match record.row {
            Some(row) => self.row(RowId::new(page.site(), row))?.unwrap_or_default(),
            None => Vec::new(),
        };
        let of_image = image.row_of(slot).map(|row| pages(image.row(row)));
        let crawled = record.state == PageState::Crawled;
        if image.is_live(slot) != record.state.is_live()
            || image.is_crawled(slot) != crawled
            || image.is_spam(slot) != (record.spam && record.state.is_live())
            || image.is_document(slot) != record.is_document()
            || of_image.unwrap_or_default() != row
        {
            return Ok(false);
        }
        if links == ImageLinks::InterSite {
            return Ok(true);
        }
        let intra = self.intra(page)?.into_iter();
        let intra: Vec<PageId> = intra.map(|index| PageId::new(page.site(), index)).collect();
        Ok(pages(image.intra(slot)) == intra
            && image.attributes(slot) == PageAttributes::from_record(record))
    }
}
