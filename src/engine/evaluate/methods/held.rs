//! The web as it was known while some crawled pages are held out.
//!
//! A crawled page that is held out becomes known: its links, clicks and digest are gone. Where nobody
//! else links to it, it is not there at all, and so are known pages that only held-out pages link to.
//! Everything that methods look at follows from what is left: values, `P_uniq`, PageRank.

use super::known::{KnownWeb, facts};
use crate::engine::EngineError;
use crate::engine::error::{rows_error, site_graph_error, web_graph_error, whole_graph_error};
use crate::engine::plan::{CorePlan, Pages};
use crate::engine::refresh::global::load::values_of;
use seedbank_algorithms::cover::global::{ValueBy, WebGraph};
use seedbank_algorithms::cover::{PUniq, PageFacts, SiteGraph, Value, Weights, page_value};
use seedbank_algorithms::graph::{Csr, HubGraph, NONE, Rows, WholeGraph};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;

/// What pages are worth: the parameters of a plan that values follow from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Worth {
    pub(super) by: ValueBy,
    pub(super) weights: Weights,
    /// Overrides `P_uniq` of every site; `None` where each site has its own.
    pub(super) p_uniq: Option<Value>,
    /// The value of a known page, by weights.
    pub(super) known: Value,
}

/// The pages that are left, numbered in URL order, with their links and what is known of them.
pub(super) struct HeldWeb<'a> {
    web: &'a KnownWeb,
    /// The number in `web` of each page.
    pub(super) pages: Vec<u32>,
    pub(super) crawled: Vec<bool>,
    pub(super) predecessors: Csr,
    pub(super) successors: Csr,
    facts: Vec<PageFacts>,
    /// `P_uniq` of each site.
    p_uniq: Vec<PUniq>,
    pub(super) pagerank: Vec<f64>,
}

/// A site with crawled pages.
pub(super) struct HeldSite<'a> {
    pub(super) site: &'a super::known::KnownSite,
    /// The numbers of its crawled pages.
    pub(super) pages: Vec<u32>,
    pub(super) graph: SiteGraph,
}

impl<'a> HeldWeb<'a> {
    /// What is left of the web without some of its crawled pages; `held` has an entry for each page.
    pub(super) fn new(
        web: &'a KnownWeb,
        held: &[bool],
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let is_left = |page: u32| {
            let sources = web.predecessors.list(page);
            let is_linked = || sources.iter().any(|&source| !held[source as usize]);
            if web.of[page as usize].crawled && !held[page as usize] {
                return true;
            }
            // A known page that nobody links to has another reason to be there.
            is_linked() || (sources.is_empty() && !held[page as usize])
        };
        let pages: Vec<u32> = (0..web.pages()).filter(|&page| is_left(page)).collect();
        let mut numbers = vec![NONE; web.of.len()];
        for (number, &page) in (0..).zip(&pages) {
            numbers[page as usize] = number;
        }
        let mut predecessors = Csr::default();
        for &page in &pages {
            let sources = web.predecessors.list(page).iter();
            let left = sources.filter(|&&source| !held[source as usize]);
            predecessors.push(left.map(|&source| numbers[source as usize]));
        }
        let successors = predecessors.transpose(pages.len());
        let crawled: Vec<bool> = pages
            .iter()
            .map(|&page| web.of[page as usize].crawled && !held[page as usize])
            .collect();
        let mut facts_of = Vec::with_capacity(pages.len());
        let mut digests: Vec<Vec<u32>> = vec![Vec::new(); web.sites.len()];
        for (number, &page) in (0..).zip(&pages) {
            let of = &web.of[page as usize];
            let targets = successors.list(number).iter();
            let counted = targets.filter(|&&target| !crawled[target as usize]).count();
            let mut facts = facts(of, seedbank_algorithms::graph::number(counted));
            if crawled[number as usize] {
                digests[of.site as usize].extend(of.digest);
            } else if held[page as usize] {
                facts = PageFacts {
                    spam: of.spam,
                    quality: of.quality,
                    ..PageFacts::default()
                };
            }
            facts_of.push(facts);
        }
        let p_uniq = digests.into_iter().map(|mut digests| {
            let with_digest = digests.len() as u64;
            digests.sort_unstable();
            digests.dedup();
            PUniq::from_digests(digests.len() as u64, with_digest)
        });
        let p_uniq = p_uniq.collect();
        let intra = predecessors.clone();
        let whole =
            WholeGraph::new(intra, Csr::default(), &Csr::default()).map_err(whole_graph_error)?;
        let (pagerank, _) = pagerank(&whole, watch)?;
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

    /// What each page is worth, in millionths.
    pub(super) fn values(&self, worth: &Worth) -> Vec<i64> {
        if worth.by == ValueBy::Pagerank {
            return values_of(&self.pagerank);
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

    fn value(&self, at: usize, weights: &Weights, p_uniq: Option<Value>) -> i64 {
        let site = self.web.of[self.pages[at] as usize].site as usize;
        let p_uniq = p_uniq.map_or(self.p_uniq[site], PUniq::fixed);
        page_value(self.facts[at], p_uniq, weights)
    }

    /// The pages that can be seeds of plans over the web: crawled, with links, no spam; ascending.
    pub(super) fn candidates(&self) -> Vec<u32> {
        (0..seedbank_algorithms::graph::number(self.pages.len()))
            .filter(|&page| self.may_be_seed(page) && !self.successors.list(page).is_empty())
            .collect()
    }

    fn may_be_seed(&self, page: u32) -> bool {
        self.crawled[page as usize] && !self.facts[page as usize].spam
    }

    /// The quality of a page, in ten-thousandths.
    pub(super) fn quality(&self, page: u32) -> u64 {
        self.facts[page as usize].quality.into()
    }

    /// How many pages link to a page.
    pub(super) fn in_degree(&self, page: u32) -> usize {
        self.predecessors.list(page).len()
    }

    /// The place of a page's site among the sites by name.
    pub(super) fn site_of(&self, page: u32) -> u32 {
        self.web.of[self.pages[page as usize] as usize].site
    }

    /// Bytes of a page's URL.
    pub(super) fn length(&self, page: u32) -> u32 {
        self.web.of[self.pages[page as usize] as usize].length
    }

    /// How many sites the bank has.
    pub(super) fn sites(&self) -> usize {
        self.web.sites.len()
    }

    /// The web for plans over it.
    pub(super) fn web_graph(&self, worth: &Worth) -> Result<WebGraph, EngineError> {
        let may_be_seed: Vec<bool> = (0..seedbank_algorithms::graph::number(self.pages.len()))
            .map(|page| self.may_be_seed(page))
            .collect();
        let predecessors = self.predecessors.clone();
        WebGraph::new(self.values(worth), predecessors, &may_be_seed).map_err(web_graph_error)
    }

    /// The sites with crawled pages by name, for plans that cover each.
    pub(super) fn cover_sites(
        &self,
        weights: &Weights,
        p_uniq: Option<Value>,
    ) -> Result<Vec<HeldSite<'a>>, EngineError> {
        let mut pages: Vec<Vec<u32>> = vec![Vec::new(); self.web.sites.len()];
        let mut places = vec![NONE; self.pages.len()];
        for page in (0..).take(self.pages.len()) {
            if self.crawled[page as usize] {
                let of_site = &mut pages[self.site_of(page) as usize];
                places[page as usize] = seedbank_algorithms::graph::number(of_site.len());
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
                let place = |page: u32| places[page as usize];
                links.extend(targets.map(|&target| (place(page), place(target))));
            }
            let graph = SiteGraph::new(values.collect(), links);
            sites.push(HeldSite {
                site,
                graph: graph.map_err(|e| site_graph_error(e, &site.name))?,
                pages,
            });
        }
        Ok(sites)
    }

    /// The links between sites of the pages that take part in a plan by cores.
    pub(super) fn hub_graph(&self, plan: &CorePlan) -> Result<HubGraph, EngineError> {
        let is_included = |page: u32| {
            (plan.keep_spam || !self.facts[page as usize].spam)
                && (plan.pages == Pages::All || self.crawled[page as usize])
        };
        let mut rows = Rows::new();
        for page in (0..seedbank_algorithms::graph::number(self.pages.len()))
            .filter(|&page| is_included(page))
        {
            let targets = self.successors.list(page).iter().copied();
            let targets: Vec<u32> = targets
                .filter(|&target| self.site_of(target) != self.site_of(page) && is_included(target))
                .collect();
            rows.push(&[page], &targets)
                .map_err(|e| rows_error(e, &[]))?;
        }
        rows.graph().map_err(|e| rows_error(e, &[]))
    }
}
