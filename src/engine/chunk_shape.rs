//! How many pages of a site are processed at a time.

use seedbank_store::records::SiteRecord;

/// Returns the maximum number of pages of a chunk of a site, given those of pages and links of any chunk, and the average
/// number of links per page, rounded up. Neither maximum is 0.
pub(super) fn chunk_shape(site: &SiteRecord, max_pages: usize, max_links: usize) -> (usize, u64) {
    let pages = u64::from(site.known) + u64::from(site.crawled) + u64::from(site.gone);
    let links = (site.intra_links + site.inter_links).div_ceil(pages.max(1));
    let most = max_links as u64 / links.max(1);
    let most = usize::try_from(most).unwrap_or(max_pages);
    (most.clamp(1, max_pages), links)
}
