//! Values of pages: the number of new links that their next fetch is expected to bring.

use super::Result;
use super::applied_batches::{applied_batches, first_fetches, next_crawl};
use super::web_graph::{Numbering, read_records};
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::graph::Csr;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::{Observation, Yield, expected_links, expected_links_of_share};
use seedbank_store::{GraphImage, Store, tables};

/// Returns the values of the pages of a numbering, in millionths of a new link. `successors` has the links of
/// each page. If the image is the share of one of several processes, all of them call this at the same time, with their
/// `communicator`.
///
/// They are those at the time at which the next crawl is expected, so that values depend on the state alone. A page
/// whose last fetch has no known time counts as fetched in the last crawl.
///
/// Cost: a scan of all pages in parallel, and one of what fetches brought. Memory: 24 bytes per page.
pub(super) fn learned_values(
    store: &Store,
    image: &GraphImage,
    numbers: &Numbering,
    successors: &Csr,
    communicator: Option<&dyn Communicator>,
    watch: &dyn Watch,
) -> Result<Vec<i64>> {
    watch.stage("value pages by past fetches", None);
    let batches = applied_batches(store)?;
    let last = store.last_fetch()?;
    let next = next_crawl(&batches);
    let fetched = read_records(store, image, watch, |_, _, record| record.fetched)?;
    let since = |slot: u32| next.saturating_sub(fetched[slot as usize].unwrap_or(last));
    let mut sums = vec![Yield::default(); image.slots()];
    let yields = match communicator {
        None => store.scan(&tables::YIELDS)?,
        Some(_) => store.scan_local(&tables::YIELDS)?,
    };
    for entry in yields {
        watch.proceed()?;
        let (key, block) = entry?;
        for (place, of_page) in block.0 {
            let page = PageId::new(key.site, key.index(place));
            if let Some(slot) = image.slot(page) {
                sums[slot as usize] = of_page.decayed(since(slot));
            }
        }
    }
    let pages = (0_u32..).zip(&numbers.slots).map(|(number, &slot)| {
        let observation = Observation {
            sums: sums[slot as usize],
            links: successors.list(number).len() as u64,
        };
        image.is_crawled(slot).then(|| (observation, since(slot)))
    });
    let first = first_fetches(&batches);
    Ok(match communicator {
        None => expected_links(pages, first),
        Some(communicator) => expected_links_of_share(pages, first, communicator)?,
    })
}
