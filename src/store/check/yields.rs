//! Check of what fetches brought, and of what batches overwrote of them.

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::Counters;
use crate::tables::records::links::LinkKey;
use seedbank_algorithms::page::PageId;

impl Walk<'_> {
    /// Compares what fetches brought with the pages.
    pub(super) fn yields(&mut self, counters: &Counters) -> Result<(), StoreError> {
        self.walk(&tables::YIELDS, |walk, key, block| {
            for (place, _) in block.0 {
                let page = PageId::new(key.site, key.index(place));
                match walk.store.get(&tables::PAGES, &page) {
                    Ok(Some(record)) if record.fetched.is_none() => {
                        walk.find("yields", page, "the page has no time of a fetch");
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => walk.require_page("yields", page, page),
                    // The check of `pages` reports it.
                    Err(e) if e.is_damage() => {}
                    Err(e) => return Err(e),
                }
            }
            Ok(())
        })?;
        let last = counters.batch;
        self.walk(&tables::FETCH_HISTORY, |walk, (batch, key), block| {
            let key: LinkKey = key;
            if batch == 0 || batch > last {
                walk.find("fetch_history", batch, "there is no such batch");
            }
            for (place, _) in block.0 {
                let page = PageId::new(key.site, key.index(place));
                walk.require_page("fetch_history", page, page);
            }
            Ok(())
        })
    }
}
