//! The web without the crawled pages that are held out.
//!
//! A held-out page becomes known: its links, clicks and digest are removed. If no remaining page
//! links to it, it is removed, as are known pages that only held-out pages link to. Values,
//! `P_uniq` and PageRank follow from the rest.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::engine::EngineError;
use crate::engine::applied_batches::{applied_batches, crawl_times};
use crate::engine::eligibility::{Admitted, PlanScope};
use crate::engine::error::{rows_error, site_graph_error, web_graph_error, whole_graph_error};
use crate::engine::history::timeline::PageTimelines;
use crate::engine::plan::CorePlan;
use crate::engine::revisits::{Revisits, days_between};
use crate::engine::web_graph::{
    Digested, Group, HostPages, Numbering, SharedContents, Suitability, load_image, read_records,
};
use seedbank_algorithms::communicator::alone;
use seedbank_algorithms::cover::global::{Duplicates, SharedContent, ValueBy, WebChoice, WebGraph};
use seedbank_algorithms::cover::{
    Age, PUniq, PageFacts, SiteGraph, Value, Weights, page_value, pagerank_values,
};
use seedbank_algorithms::graph::{Csr, HubGraph, NONE, PageGraph, Rows, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::{pagerank, rough_pagerank};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::records::{BatchId, Hash128, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};

/// Values of pages: the parameters of a plan that determine them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Worth {
    pub(super) by: ValueBy,
    pub(super) weights: Weights,
    /// Overrides `P_uniq` of every site; `None` for each site's own.
    pub(super) p_uniq: Option<Value>,
    /// Value of a known page, by weights.
    pub(super) known: Value,
    /// What crawled pages count for.
    pub(super) revisits: Revisits,
}

/// The remaining pages, numbered in URL order, with their links and facts.
pub(super) struct HeldOutWeb<'a> {
    web: &'a BankWeb,
    /// The number in `web` of each page.
    pub(super) pages: Vec<u32>,
    pub(super) crawled: Vec<bool>,
    pub(super) predecessors: Csr,
    pub(super) successors: Csr,
    facts: Vec<PageFacts>,
    /// By site.
    p_uniq: Vec<PUniq>,
    pub(super) pagerank: Vec<f64>,
}

/// A site with crawled pages.
pub(super) struct HeldOutSite<'a> {
    pub(super) site: &'a BankSite,
    /// The numbers of its crawled pages.
    pub(super) pages: Vec<u32>,
    pub(super) graph: SiteGraph,
}

impl<'a> HeldOutWeb<'a> {
    /// Removes the pages of `held_out`, which has an entry for each page of `web`. `is_rough` is set if PageRanks only order
    /// pages.
    pub(super) fn new(
        web: &'a BankWeb,
        held_out: &[bool],
        is_rough: bool,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let remains = |page: u32| {
            let sources = web.predecessors.list(page);
            let is_linked = || sources.iter().any(|&source| !held_out[source as usize]);
            if web.of[page as usize].crawled && !held_out[page as usize] {
                return true;
            }
            // A known page without links was not added by a link.
            is_linked() || (sources.is_empty() && !held_out[page as usize])
        };
        let pages: Vec<u32> = (0..web.pages()).filter(|&page| remains(page)).collect();
        let mut numbers = vec![NONE; web.of.len()];
        for (index, &page) in (0..).zip(&pages) {
            numbers[page as usize] = index;
        }
        let mut predecessors = Csr::default();
        for &page in &pages {
            let sources = web.predecessors.list(page).iter();
            let left = sources.filter(|&&source| !held_out[source as usize]);
            predecessors.push(left.map(|&source| numbers[source as usize]));
        }
        let successors = predecessors.transpose(pages.len());
        let crawled: Vec<bool> = pages
            .iter()
            .map(|&page| web.of[page as usize].crawled && !held_out[page as usize])
            .collect();
        // Facts of held-out pages are unknown, except for spam marks and quality.
        let mut facts_of = Vec::with_capacity(pages.len());
        let mut digests: Vec<Vec<u32>> = vec![Vec::new(); web.sites.len()];
        for (index, &page) in (0..).zip(&pages) {
            let of = &web.of[page as usize];
            let targets = successors.list(index).iter();
            let counted = targets.filter(|&&target| !crawled[target as usize]).count();
            let mut facts = facts(of, number(counted));
            if crawled[index as usize] {
                digests[of.site as usize].extend(of.digest);
            } else if held_out[page as usize] {
                facts = PageFacts {
                    spam: of.spam,
                    quality: of.quality,
                    ..PageFacts::default()
                };
            }
            facts_of.push(facts);
        }
        // Digests of held-out pages do not count.
        let p_uniq = digests.into_iter().map(|mut digests| {
            let with_digest = digests.len() as u64;
            digests.sort_unstable();
            digests.dedup();
            PUniq::from_digests(digests.len() as u64, with_digest)
        });
        let p_uniq = p_uniq.collect();
        let intra = predecessors.clone();
        let graph =
            PageGraph::new(intra, Csr::default(), &Csr::default()).map_err(whole_graph_error)?;
        let (pagerank, _) = if is_rough {
            rough_pagerank(&graph, watch)?
        } else {
            pagerank(&graph, watch)?
        };
        Ok(Self {
            web,
            pages,
            crawled,
            predecessors,
            successors,
            facts: facts_of,
            p_uniq,
            pagerank,
        })
    }

    /// Returns the whole value of each page, in millionths.
    pub(super) fn values(&self, worth: &Worth) -> Vec<i64> {
        if worth.by == ValueBy::Pagerank {
            return pagerank_values(&self.pagerank);
        }
        (0..self.pages.len())
            .map(|at| {
                if !self.crawled[at] {
                    return worth.known.0 + worth.weights.quality_value(self.facts[at].quality);
                }
                self.value(at, &worth.weights, worth.p_uniq)
            })
            .collect()
    }

    /// Returns what each page counts for; `None` if all count whole.
    pub(super) fn ages(&self, revisits: Revisits) -> Option<Vec<Age>> {
        let of_page = |(&page, &crawled): (&u32, &bool)| {
            let of = &self.web.of[page as usize];
            revisits.age(crawled, of.fetched, of.changed)
        };
        let pages = self.pages.iter().zip(&self.crawled);
        revisits.period().map(|_| pages.map(of_page).collect())
    }

    /// Returns the days since the last fetch of each page.
    pub(super) fn days_since_fetch(&self) -> Vec<f64> {
        let now = self.web.crawls.last().copied().unwrap_or(0);
        let days = |page: &u32| days_between(self.web.of[*page as usize].fetched, now);
        self.pages.iter().map(days).collect()
    }

    /// Returns the values of pages for a plan over the web.
    pub(super) fn worth_of(&self, choice: &WebChoice) -> Worth {
        self.web.worth_of(choice)
    }

    fn value(&self, at: usize, weights: &Weights, p_uniq: Option<Value>) -> i64 {
        let site = self.web.of[self.pages[at] as usize].site as usize;
        let p_uniq = p_uniq.map_or(self.p_uniq[site], PUniq::fixed);
        page_value(self.facts[at], p_uniq, weights)
    }

    /// Returns the possible seeds of plans over the web, ascending: crawled pages with links that
    /// are not spam.
    pub(super) fn candidates(&self) -> Vec<u32> {
        (0..number(self.pages.len()))
            .filter(|&page| self.can_be_seed(page) && !self.successors.list(page).is_empty())
            .collect()
    }

    fn can_be_seed(&self, page: u32) -> bool {
        self.is_admitted(PlanScope::WEB.seeds, page)
    }

    fn is_admitted(&self, admitted: Admitted, page: u32) -> bool {
        let state = if self.crawled[page as usize] {
            PageState::Crawled
        } else {
            PageState::Known
        };
        admitted.includes(state, self.facts[page as usize].spam)
    }

    pub(super) fn quality(&self, page: u32) -> u64 {
        self.facts[page as usize].quality.into()
    }

    pub(super) fn in_degree(&self, page: u32) -> usize {
        self.predecessors.list(page).len()
    }

    /// Returns the index of a page's site among the sites by name.
    pub(super) fn site_of(&self, page: u32) -> u32 {
        self.web.of[self.pages[page as usize] as usize].site
    }

    /// Returns [`site_of`](Self::site_of) of each page.
    pub(super) fn site_numbers(&self) -> Vec<u32> {
        let pages = 0..number(self.pages.len());
        pages.map(|page| self.site_of(page)).collect()
    }

    /// Returns the length of a page's URL, in bytes.
    pub(super) fn length(&self, page: u32) -> u32 {
        self.web.of[self.pages[page as usize] as usize].length
    }

    pub(super) fn sites(&self) -> usize {
        self.web.sites.len()
    }

    /// Returns the graph for plans over the web. `allowed` has the pages of the whole web that may be
    /// seeds; `None` allows all.
    pub(super) fn web_graph(
        &self,
        worth: &Worth,
        allowed: Option<&[bool]>,
    ) -> Result<WebGraph, EngineError> {
        let is_allowed =
            |page: u32| allowed.is_none_or(|allowed| allowed[self.pages[page as usize] as usize]);
        let can_be_seed: Vec<bool> = (0..number(self.pages.len()))
            .map(|page| self.can_be_seed(page) && is_allowed(page))
            .collect();
        let predecessors = self.predecessors.clone();
        let graph = WebGraph::new(self.values(worth), predecessors, &can_be_seed);
        let known = self.crawled.iter().map(|crawled| !crawled).collect();
        let mut values_as_known = Vec::new();
        if worth.weights.quality.0 != 0 {
            let quality = |facts: &PageFacts| worth.weights.quality_value(facts.quality);
            values_as_known.extend(self.facts.iter().map(quality));
        }
        let graph = graph.map_err(web_graph_error)?;
        Ok(graph
            .with_ages(self.ages(worth.revisits))
            .with_known(known, values_as_known)
            .with_sites(self.site_numbers()))
    }

    /// Returns the remaining crawled pages that share contents. `pins` are always seeds.
    pub(super) fn shared_contents(
        &self,
        pins: &[u32],
        watch: &dyn Watch,
    ) -> Result<Vec<SharedContent>, EngineError> {
        let communicator = alone();
        let group = Group {
            communicator: &*communicator,
            watch,
        };
        let pins: HashSet<u32> = pins.iter().copied().collect();
        let crawled = (0..number(self.pages.len())).filter(|&page| self.crawled[page as usize]);
        let digested = crawled.filter_map(|page| {
            let of = self.pages[page as usize];
            Some(Digested {
                digest: self.web.of[of as usize].digest?.to_le_bytes(),
                suitability: Suitability {
                    is_not_pinned: !pins.contains(&page),
                    in_links: Reverse(number(self.in_degree(page))),
                    url_length: self.length(page),
                    number: page,
                },
                page,
                id: self.web.ids[of as usize],
            })
        });
        Ok(SharedContents::new(group, digested.collect())?.pages)
    }

    /// Returns the sites with crawled pages by name, for plans that cover each site.
    pub(super) fn cover_sites(
        &self,
        weights: &Weights,
        p_uniq: Option<Value>,
    ) -> Result<Vec<HeldOutSite<'a>>, EngineError> {
        let mut pages: Vec<Vec<u32>> = vec![Vec::new(); self.web.sites.len()];
        let mut local_index = vec![NONE; self.pages.len()];
        for page in (0..).take(self.pages.len()) {
            if self.crawled[page as usize] {
                let of_site = &mut pages[self.site_of(page) as usize];
                local_index[page as usize] = number(of_site.len());
                of_site.push(page);
            }
        }
        let mut sites = Vec::new();
        for (site, pages) in self.web.sites.iter().zip(pages) {
            if pages.is_empty() {
                continue;
            }
            let values = pages
                .iter()
                .map(|&page| self.value(page as usize, weights, p_uniq));
            let mut links = Vec::new();
            for &page in &pages {
                let targets = self.successors.list(page).iter().filter(|&&target| {
                    self.crawled[target as usize] && self.site_of(target) == self.site_of(page)
                });
                let local = |page: u32| local_index[page as usize];
                links.extend(targets.map(|&target| (local(page), local(target))));
            }
            let graph = SiteGraph::new(values.collect(), links);
            sites.push(HeldOutSite {
                site,
                graph: graph.map_err(|e| site_graph_error(e, &site.name))?,
                pages,
            });
        }
        Ok(sites)
    }

    /// Returns the inter-site links of the pages in the scope of a plan by cores.
    pub(super) fn hub_graph(&self, plan: &CorePlan) -> Result<HubGraph, EngineError> {
        let is_in_plan = |page: u32| self.is_admitted(plan.page_scope().graph, page);
        let mut rows = Rows::new();
        for page in (0..number(self.pages.len())).filter(|&page| is_in_plan(page)) {
            let targets = self.successors.list(page).iter().copied();
            let targets: Vec<u32> = targets
                .filter(|&target| self.site_of(target) != self.site_of(page) && is_in_plan(target))
                .collect();
            rows.push(&[page], &targets)
                .map_err(|e| rows_error(e, &[]))?;
        }
        rows.graph().map_err(|e| rows_error(e, &[]))
    }
}

// The web as known by the bank, in memory, so that parts of it can be held out.

/// All crawled and known pages, numbered in URL order, with the facts that determine their values.
///
/// Memory: 4 bytes per link and some 90 bytes per page.
pub(super) struct BankWeb {
    pub(super) ids: Vec<PageId>,
    pub(super) of: Vec<BankPage>,
    /// The pages that link to each page, ascending.
    pub(super) predecessors: Csr,
    /// The sites by name.
    pub(super) sites: Vec<BankSite>,
    /// Pages that are taken for others, with the numbers of those.
    taken_for: HashMap<PageId, u32>,
    /// The times of the last fetches of crawls, ascending.
    crawls: Vec<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct BankPage {
    /// Index of its site among the sites by name.
    pub(super) site: u32,
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicks: u64,
    /// Number of uncrawled outlinks in its record; `None` if it is counted.
    pub(super) uncrawled_given: Option<u32>,
    pub(super) quality: u16,
    /// Number of its content digest, the same for all pages with it; `None` without one.
    pub(super) digest: Option<u32>,
    /// Length of its URL, in bytes.
    pub(super) length: u32,
    /// The times of its last fetch and of the last change of its content that is known, in seconds since 1970.
    fetched: Option<u64>,
    changed: Option<u64>,
}

pub(super) struct BankSite {
    pub(super) id: SiteId,
    pub(super) name: String,
}

impl BankWeb {
    /// Loads the published state, without mirrored hosts if contents count once; `pins` are never taken for other pages.
    /// Cost: that of [`load_image`], and one or two scans of all pages.
    pub(super) fn load(
        store: &Store,
        mode: SiteMode,
        duplicates: Duplicates,
        pins: &[PageId],
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let image = load_image(store, ImageLinks::All, watch)?;
        let read = match duplicates {
            Duplicates::Each => HostPages::default(),
            Duplicates::Once => HostPages::read(store, &image, watch)?,
        };
        let pins: HashSet<PageId> = pins.iter().copied().collect();
        let may_be_taken = |slot: u32| !pins.contains(&image.page(slot));
        let is_live = |slot: u32| image.is_live(slot);
        let numbering = Numbering::without_mirrors(&image, &read, is_live, may_be_taken)?;
        let taken_for = read.all_taken().filter_map(|slot| {
            let number = numbering.number(slot)?;
            let is_taken = numbering.own_number(slot).is_none();
            is_taken.then(|| (image.page(slot), number))
        });
        let taken_for = taken_for.collect();
        let ids = numbering.pages(&image);
        let records = read_records(store, &image, watch, |_, site, page| {
            let length = number(ingest::url(site, &page.local, mode).len());
            (page.digest, length, page.fetched, page.changed)
        })?;
        let sites = Self::sites(store, &image, &numbering)?;
        let places: HashMap<SiteId, u32> = sites.iter().map(|site| site.id).zip(0..).collect();
        let mut digests: HashMap<Hash128, u32> = HashMap::new();
        let mut of = Vec::with_capacity(ids.len());
        for (&slot, page) in numbering.slots.iter().zip(&ids) {
            let (digest, length, fetched, changed) = records[slot as usize];
            let next = number(digests.len());
            let attributes = image.attributes(slot);
            of.push(BankPage {
                site: places.get(&page.site()).copied().unwrap_or(0),
                crawled: image.is_crawled(slot),
                spam: image.is_spam(slot),
                clicks: attributes.clicks,
                uncrawled_given: attributes.uncrawled_given,
                quality: attributes.quality,
                digest: digest.map(|digest| *digests.entry(digest).or_insert(next)),
                length,
                fetched,
                changed,
            });
        }
        drop((records, digests));
        watch.stage("link pages", None);
        let predecessors = numbering.successors(&image).transpose(ids.len());
        Ok(Self {
            ids,
            of,
            predecessors,
            sites,
            taken_for,
            crawls: crawl_times(&applied_batches(store)?),
        })
    }

    /// Returns the sites with pages, by name.
    fn sites(
        store: &Store,
        image: &GraphImage,
        pages: &Numbering,
    ) -> Result<Vec<BankSite>, EngineError> {
        let mut sites: Vec<BankSite> = Vec::new();
        for run in image.runs() {
            let mut slots = image.order()[run.range()].iter();
            let is_new = sites.last().is_none_or(|last| last.id != run.site());
            if is_new && slots.any(|slot| pages.own_number(*slot).is_some()) {
                let name = store.need(&tables::SITES, &run.site())?.name;
                let id = run.site();
                sites.push(BankSite { id, name });
            }
        }
        Ok(sites)
    }

    /// Returns whether there are times of fetches of at least two crawls.
    pub(super) fn has_times(&self) -> bool {
        self.crawls.len() > 1
    }

    /// Returns the values of pages for a plan over the web.
    pub(super) fn worth_of(&self, choice: &WebChoice) -> Worth {
        let crawled = self.crawled().len() as u64;
        Worth {
            by: choice.value_by,
            weights: choice.weights,
            p_uniq: choice.p_uniq,
            known: choice.given_value_known(),
            revisits: Revisits::of_times(choice, crawled, &self.crawls),
        }
    }

    pub(super) fn pages(&self) -> u32 {
        number(self.of.len())
    }

    /// Returns the numbers of live pages, those of pages that are taken for others once.
    pub(super) fn numbers(&self, pages: &[PageId]) -> Result<Vec<u32>, EngineError> {
        let wanted = pages.iter().map(|page| (*page, None));
        let mut places: HashMap<PageId, Option<u32>> = wanted.collect();
        for (id, number) in self.ids.iter().zip(0..) {
            if let Some(place) = places.get_mut(id) {
                *place = Some(number);
            }
        }
        let mut numbers = Vec::with_capacity(pages.len());
        let mut seen = HashSet::new();
        for page in pages {
            let number = places.get(page).copied().flatten();
            let number = number.or_else(|| self.taken_for.get(page).copied());
            let number = number.ok_or(EngineError::Internal(
                "a live page is missing from the whole web",
            ))?;
            if seen.insert(number) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// Returns for each page the first page with the same content. A page that is not crawled, or has no digest, has its
    /// own.
    pub(super) fn contents(&self) -> Vec<u32> {
        let mut first: HashMap<u32, u32> = HashMap::new();
        let contents = (0..).zip(&self.of).map(|(page, of)| match of.digest {
            Some(digest) if of.crawled => *first.entry(digest).or_insert(page),
            _ => page,
        });
        contents.collect()
    }

    /// Returns the crawled pages, ascending.
    pub(super) fn crawled(&self) -> Vec<u32> {
        (0..self.pages())
            .filter(|&page| self.of[page as usize].crawled)
            .collect()
    }

    /// Returns the crawled pages that were not crawled at a batch.
    pub(super) fn crawled_since(
        &self,
        store: &Store,
        batch: BatchId,
    ) -> Result<Vec<u32>, EngineError> {
        let past = PageTimelines::open(store, batch)?;
        let mut since = Vec::new();
        for page in self.crawled() {
            let previous = past.timeline(self.ids[page as usize])?.after(batch);
            if previous.state != Some(PageState::Crawled) {
                since.push(page);
            }
        }
        Ok(since)
    }
}

/// Returns the facts that determine the value of a page; `counted` is the number of its uncrawled
/// outlinks if its record has none.
pub(super) fn facts(page: &BankPage, counted: u32) -> PageFacts {
    PageFacts {
        spam: page.spam,
        clicks: page.clicks,
        uncrawled_outlinks: page.uncrawled_given.unwrap_or(counted),
        quality: page.quality,
    }
}
