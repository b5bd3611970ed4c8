//! What pages have of their own and of their sites against what it comes to.

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::{PageRecord, SiteDefaults};
use seedbank_algorithms::page::{MAX_QUALITY, PageId};

impl Walk<'_> {
    pub(super) fn inherited(
        &mut self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let own = record.quality_given;
        if own.is_some_and(|quality| quality > MAX_QUALITY) {
            self.report.find("pages", page, "its quality is above 1");
        }
        let mut due = record.clone();
        due.inherit(&self.given_of(page)?);
        if (due.spam, due.quality) != (record.spam, record.quality) {
            self.report.find(
                "pages",
                page,
                "its spam mark or quality differs from what was given for the page, or otherwise for its site",
            );
        }
        Ok(())
    }

    /// What is given of a page's site; nothing where its record cannot be read, which is found with
    /// the sites.
    fn given_of(&mut self, page: PageId) -> Result<SiteDefaults, StoreError> {
        let site = page.site();
        if let Some((of, given)) = self.given
            && of == site
        {
            return Ok(given);
        }
        let given = match self.store.get(&tables::SITES, &site) {
            Ok(record) => record.unwrap_or_default().given,
            Err(e) if e.is_damage() => SiteDefaults::default(),
            Err(e) => return Err(e),
        };
        self.given = Some((site, given));
        Ok(given)
    }
}
