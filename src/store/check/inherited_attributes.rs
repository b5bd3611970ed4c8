//! Check of the effective spam mark and quality of pages.

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::{PageRecord, SiteDefaults};
use seedbank_algorithms::page::{MAX_QUALITY, PageId};

impl Walk<'_> {
    pub(super) fn inherited_attributes(
        &mut self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let own = record.quality_given;
        if own.is_some_and(|quality| quality > MAX_QUALITY) {
            self.find("pages", page, "its quality is above 1");
        }
        let mut expected = record.clone();
        expected.inherit(&self.site_defaults(page)?);
        if (expected.spam, expected.quality) != (record.spam, record.quality) {
            let what =
                "its effective spam mark or quality differs from that of the page, or of its site";
            self.find("pages", page, what);
        }
        Ok(())
    }

    /// Returns the attributes of the site of a page; none if its record cannot be read, which the check of
    /// `sites` reports.
    fn site_defaults(&mut self, page: PageId) -> Result<SiteDefaults, StoreError> {
        let site = page.site();
        if let Some((last, defaults)) = self.defaults
            && last == site
        {
            return Ok(defaults);
        }
        let defaults = match self.store.get(&tables::SITES, &site) {
            Ok(record) => record.unwrap_or_default().defaults,
            Err(e) if e.is_damage() => SiteDefaults::default(),
            Err(e) => return Err(e),
        };
        self.defaults = Some((site, defaults));
        Ok(defaults)
    }
}
