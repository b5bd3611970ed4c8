//! The graph image: a sample of its pages has the state and the links that the tables have.

use super::Walk;
use crate::error::StoreError;
use crate::graph_image::{GraphImage, ImageLinks, PageAttributes};
use crate::tables::PAGES;
use crate::tables::records::{PageRecord, PageState};
use seedbank_algorithms::page::{PageId, RowId};

/// The name of the image among the tables.
const IMAGE: &str = "graph image";

/// The number of pages that are compared.
const SAMPLE: usize = 1000;

impl Walk<'_> {
    /// Compares pages at equal distances with the tables. An image that is damaged, or that has no state of this
    /// bank, is no finding: it is not used, and the next command that loads the graph replaces it.
    pub(super) fn image(&mut self) -> Result<(), StoreError> {
        // Only new pages have a host, and it is not compared.
        let prefix = |_: &str, local: &str, out: &mut String| out.push_str(local);
        let read = |links| GraphImage::from_file(self.store, links, &prefix, self.watch);
        self.watch.stage(IMAGE, None);
        let mut links = ImageLinks::All;
        let mut image = read(links);
        if matches!(image, Ok(None)) {
            links = ImageLinks::InterSite;
            image = read(links);
        }
        let image = match image {
            Ok(Some((image, _))) => image,
            Err(StoreError::Interrupted(stop)) => return Err(stop.into()),
            _ => return Ok(()),
        };
        let step = image.slots().div_ceil(SAMPLE).max(1);
        let mut compared = 0;
        for slot in (0..image.slots()).step_by(step) {
            self.watch.proceed()?;
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            let page = image.page(slot);
            if let Some(record) = self.store.get(&PAGES, &page)? {
                compared += 1;
                if !self.is_equal(&image, links, slot, &record)? {
                    let what = "it differs from the tables: remove the folder `image` of the bank";
                    self.find(IMAGE, page, what);
                }
            }
        }
        self.report.entries.insert(IMAGE.to_owned(), compared);
        Ok(())
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
            Some(row) => self
                .store
                .row(RowId::new(page.site(), row))?
                .unwrap_or_default(),
            None => Vec::new(),
        };
        let of_image = image.row_of(slot).map(|row| pages(image.row(row)));
        let crawled = record.state == PageState::Crawled;
        if image.is_live(slot) != record.state.is_live()
            || image.is_crawled(slot) != crawled
            || image.is_spam(slot) != (record.spam && record.state.is_live())
            || of_image.unwrap_or_default() != row
        {
            return Ok(false);
        }
        if links == ImageLinks::InterSite {
            return Ok(true);
        }
        let intra = self.store.intra(page)?.into_iter();
        let intra: Vec<PageId> = intra.map(|index| PageId::new(page.site(), index)).collect();
        Ok(pages(image.intra(slot)) == intra
            && image.attributes(slot) == PageAttributes::of(record))
    }
}
