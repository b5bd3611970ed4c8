//! Loads the whole web for plans over it: all crawled and known pages in URL order, their values,
//! and all links.
//!
//! Memory: the graph image, the links in one direction and 20 bytes per page; then, without the image, the links
//! in both directions.
//!
//! Or loads the share of one of several processes: the pages of its sites, numbered in the same order, and their links.
//! Processes ask each other about the pages to which theirs link, and number the pages of all in URL order.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::Result;
use crate::engine::eligibility::{IneligiblePages, JudgedFor, PlanScope};
use crate::engine::error::web_graph_error;
use crate::engine::learned_values::learned_values;
use crate::engine::policy::Policy;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::revisits::{Revisits, days_between};
use crate::engine::site_owners::SiteOwners;
use crate::engine::web_graph::{
    Digested, GhostLists, Group, HostPages, MirroredHosts, Numbering, SharedContents, Suitability,
    collect_numbers, digests, in_links, largest_first, load_image, load_share_image, number_ghosts,
    number_names, numbers_in_web, page_facts, pagerank_of, read_records, uncrawled_outlinks,
};
use seedbank_algorithms::communicator::{Communicator, alone};
use seedbank_algorithms::cover::global::{Cap, Duplicates, ValueBy, WebChoice, WebGraph, WebShare};
use seedbank_algorithms::cover::{Age, Due, Method, PUniq, PageFacts, page_value, pagerank_values};
use seedbank_algorithms::graph::{Csr, NONE, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{Hash128, SiteRecord};
use seedbank_store::{Entries, GraphImage, ImageLinks, Store, row_hash, tables};

/// The most pairs of mirrored hosts that a refresh names.
const MIRRORED: usize = 20;

/// The web in memory, with pages numbered in URL order.
pub(super) struct LoadedWeb {
    pub(super) graph: WebGraph,
    pub(super) pages: Vec<PageId>,
    pub(super) marks: Vec<Mark>,
    /// The pages that share contents; none if each page counts.
    pub(super) contents: SharedContents,
    /// Mirrored hosts of all processes: those with most equal contents, at most [`MIRRORED`].
    pub(super) mirrored: Vec<MirroredHosts>,
    /// PageRank of each page, or for the method oldest the days since its last fetch; empty if the plan uses neither.
    pub(super) scores: Vec<f64>,
    pub(super) rank_visits: u64,
    /// A hash of the links of each page; empty if the gains of the plan are not cached.
    pub(super) link_hashes: Vec<u64>,
}

/// Attributes of a page from which the parts of its value follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent attributes of a page"
)]
pub(super) struct Mark {
    pub(super) may_be_seed: bool,
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicked: bool,
    /// Number of uncrawled outlinks, as given or as counted; 0 for a known page.
    pub(super) uncrawled_outlinks: u32,
    /// The quality, in ten-thousandths.
    pub(super) quality: u16,
    /// The part of its value that the page counts for.
    pub(super) due: Due,
}

impl LoadedWeb {
    /// Loads all pages.
    pub(super) fn load(context: RunContext<'_, WebChoice>) -> Result<Self> {
        let RunContext {
            store,
            plan: choice,
            policy: rules,
            watch,
            ..
        } = context;
        let image = load_image(store, ImageLinks::All, watch)?;
        let read = host_pages(context, &image)?;
        let (ineligible, numbers) = included(context, &image, &read)?;
        let mut pages = PageLists::read(context, &image, &numbers, &ineligible)?;
        let (mut scores, mut rank_visits) = (Vec::new(), 0);
        if choice.value_by == ValueBy::Pagerank || choice.method == Method::Pagerank {
            (scores, rank_visits) = pagerank_of(&image, &numbers, watch)?;
        }
        if choice.value_by == ValueBy::Pagerank {
            pages.values = pagerank_values(&scores);
        }
        if choice.method == Method::Oldest {
            let days = days_since_fetch(store, &image, watch)?;
            scores = numbers
                .slots
                .iter()
                .map(|&slot| days[slot as usize])
                .collect();
        }
        watch.stage("link pages", None);
        let successors = numbers.successors(&image);
        if choice.value_by == ValueBy::Learned {
            pages.values = learned_values(store, &image, &numbers, &successors, None, watch)?;
        }
        let digests = digests(&image, &numbers, &read);
        let mirrored = read.hosts.iter().take(MIRRORED).cloned().collect();
        // Free the image before the graph is built.
        drop((image, numbers, ineligible, read));
        watch.proceed()?;
        let pins = positions_of(&pages.ids, &rules.pins.pages).into_iter();
        let pins: Vec<u32> = pins.map(|(_, number)| number).collect();
        let mut contents = SharedContents::default();
        if !digests.is_empty() {
            let communicator = alone();
            let group = Group {
                communicator: &*communicator,
                watch,
            };
            let counts = in_links(group, &successors, &GhostLists::default())?;
            contents = pages.contents(group, digests, &counts, &pins, |page| page)?;
        }
        let constraints = Constraints {
            pins,
            contents,
            mirrored,
            caps: caps(&pages.ids, &rules.policy, || {
                Ok(site_domains(store.scan(&tables::SITES)?)?.0)
            })?,
        };
        let values = std::mem::take(&mut pages.values);
        let graph = WebGraph::from_successors(values, successors, &pages.may_be_seed());
        let graph = graph.map_err(web_graph_error)?;
        Ok(Self {
            scores,
            rank_visits,
            ..pages.into_web(graph, constraints, choice)?
        })
    }

    /// Loads the share of this process: the pages of the sites of its parts, and their links. `owners` has the process of
    /// each part of the bank. All processes call it at the same time, with the same plan.
    ///
    /// PageRanks, and values by them, are not supported.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load), if they concern this process; if another process fails, its caller must end the others.
    pub(super) fn load_share(
        context: RunContext<'_, WebChoice>,
        communicator: &Arc<dyn Communicator>,
        owners: &[usize],
    ) -> Result<Self> {
        LoadedShare::load(context, &**communicator, owners)?.into_web(communicator, context.plan)
    }
}

/// The share of a process, without the graph of its links.
struct LoadedShare {
    pages: PageLists,
    /// The number in the web of each page, ascending.
    numbers: Vec<u32>,
    /// The pages to which each page links, by local numbers; ghosts follow all pages.
    successors: Csr,
    ghosts: GhostLists,
    constraints: Constraints,
}

impl LoadedShare {
    fn load(
        context: RunContext<'_, WebChoice>,
        communicator: &dyn Communicator,
        owners: &[usize],
    ) -> Result<Self> {
        let RunContext {
            store,
            policy: rules,
            watch,
            ..
        } = context;
        let group = Group {
            communicator,
            watch,
        };
        let owners = SiteOwners::new(store, owners, communicator.processes())?;
        let mut image = load_share_image(store, ImageLinks::All, watch)?;
        let read = host_pages(context, &image)?;
        let (ineligible, mut local) = included(context, &image, &read)?;
        watch.stage("number pages", None);
        let ghosts = number_ghosts(group, owners, &mut image, &mut local)?;
        let mut pages = PageLists::read(context, &image, &local, &ineligible)?;
        let numbers = numbers_in_web(group, &image, &local)?;
        watch.stage("link pages", None);
        let successors = local.successors(&image);
        if context.plan.value_by == ValueBy::Learned {
            let all = Some(communicator);
            pages.values = learned_values(store, &image, &local, &successors, all, watch)?;
        }
        let digests = digests(&image, &local, &read);
        let mut mirrored: Vec<MirroredHosts> = read.hosts.iter().take(MIRRORED).cloned().collect();
        mirrored = group.gather(&mirrored)?.concat();
        mirrored.sort_unstable_by(largest_first);
        mirrored.truncate(MIRRORED);
        // Free the image before the graph is built.
        drop((image, local, ineligible, read));
        let mut pins = positions_of(&pages.ids, &rules.pins.pages);
        let mut contents = SharedContents::default();
        if context.plan.duplicates == Duplicates::Once {
            let counts = in_links(group, &successors, &ghosts)?;
            let own_pins: Vec<u32> = pins.iter().map(|(_, page)| *page).collect();
            let number = |page: u32| numbers[page as usize];
            contents = pages.contents(group, digests, &counts, &own_pins, number)?;
        }
        for (_, page) in &mut pins {
            // Both lists have an entry for each page.
            *page = numbers[*page as usize];
        }
        let constraints = Constraints {
            pins: collect_numbers(group, &pins)?,
            contents,
            mirrored,
            caps: caps(&pages.ids, &rules.policy, || {
                let sites = store.scan_local(&tables::SITES)?;
                let (mut of_sites, names) = site_domains(sites)?;
                let numbers = number_names(group, &names, |name| owners.of_name(name))?;
                for domain in of_sites.values_mut() {
                    *domain = numbers[*domain as usize];
                }
                Ok(of_sites)
            })?,
        };
        Ok(Self {
            pages,
            numbers,
            successors,
            ghosts,
            constraints,
        })
    }

    /// Builds the graph. All processes call it at the same time.
    fn into_web(
        self,
        communicator: &Arc<dyn Communicator>,
        choice: &WebChoice,
    ) -> Result<LoadedWeb> {
        let mut pages = self.pages;
        let GhostLists { counts, mirrors } = self.ghosts;
        let share = WebShare::new(Arc::clone(communicator), self.numbers, &counts, mirrors);
        let share = share.map_err(web_graph_error)?;
        let values = std::mem::take(&mut pages.values);
        let may_be_seed = pages.may_be_seed();
        let graph = WebGraph::from_share(values, self.successors, &may_be_seed, share)?;
        pages.into_web(graph.map_err(web_graph_error)?, self.constraints, choice)
    }
}

/// What the graph of the whole web has besides pages and links.
struct Constraints {
    pins: Vec<u32>,
    caps: Vec<Cap>,
    contents: SharedContents,
    mirrored: Vec<MirroredHosts>,
}

/// Returns the ineligible pages, and numbers for those that are in the web. In a share, these are the own ones.
fn included(
    context: RunContext<'_, WebChoice>,
    image: &GraphImage,
    read: &HostPages,
) -> Result<(IneligiblePages, Numbering)> {
    let RunContext {
        store,
        policy,
        watch,
        ..
    } = context;
    let eligibility = policy.eligibility(PlanScope::WEB);
    let ineligible = IneligiblePages::of_image(store, image, eligibility, JudgedFor::Seeds, watch)?;
    let pins: HashSet<PageId> = policy.pins.pages.iter().copied().collect();
    let is_included = |slot: u32| ineligible.graph_reason(slot).is_none();
    let may_be_taken = |slot: u32| !pins.contains(&image.page(slot));
    let numbers = Numbering::without_mirrors(image, read, is_included, may_be_taken)?;
    Ok((ineligible, numbers))
}

/// Reads what contents and mirrored hosts follow from, if the plan counts contents.
fn host_pages(context: RunContext<'_, WebChoice>, image: &GraphImage) -> Result<HostPages> {
    match context.plan.duplicates {
        Duplicates::Each => Ok(HostPages::default()),
        Duplicates::Once => HostPages::read(context.store, image, context.watch),
    }
}

/// The pages of the web, in the order of their numbers.
struct PageLists {
    ids: Vec<PageId>,
    /// By weights, in millionths.
    values: Vec<i64>,
    /// As [`WebGraph::with_known`] takes them.
    values_as_known: Vec<i64>,
    marks: Vec<Mark>,
    /// What pages count for; `None` if all count whole.
    ages: Option<Vec<Age>>,
    /// As [`LoadedWeb`] has them.
    link_hashes: Vec<u64>,
}

impl PageLists {
    /// Reads the attributes of pages. All links, and the states of ghosts, must be loaded.
    ///
    /// Cost: a scan of all pages if values depend on the times of fetches.
    fn read(
        context: RunContext<'_, WebChoice>,
        image: &GraphImage,
        numbers: &Numbering,
        ineligible: &IneligiblePages,
    ) -> Result<Self> {
        let choice = context.plan;
        let of_slots = Revisits::new(context.store, choice)?;
        let of_slots = of_slots.read(context.store, image, context.watch)?;
        let ages: Option<Vec<Age>> = of_slots.map(|ages| {
            let slots = numbers.slots.iter();
            slots.map(|&slot| ages[slot as usize]).collect()
        });
        let ids = numbers.pages(image);
        let uncrawled = uncrawled_outlinks(image);
        let has_quality = choice.weights.quality.0 != 0;
        let count = ids.len();
        let (mut values, mut marks) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut values_as_known = Vec::new();
        for (&slot, page) in numbers.slots.iter().zip(&ids) {
            let (distinct, with_digest) = image.digests(page.site());
            let p_uniq = PUniq::new(choice.p_uniq, distinct.into(), with_digest.into());
            let facts = page_facts(image, slot, &uncrawled);
            let crawled = image.is_crawled(slot);
            values.push(value_of(crawled, facts, p_uniq, choice));
            if has_quality {
                values_as_known.push(choice.weights.quality_value(facts.quality));
            }
            marks.push(Mark {
                may_be_seed: ineligible.reason(slot).is_none(),
                crawled,
                spam: facts.spam,
                clicked: facts.clicks > 0,
                uncrawled_outlinks: if crawled { facts.uncrawled_outlinks } else { 0 },
                quality: facts.quality,
                due: ages
                    .as_ref()
                    .map_or(Due::Whole, |ages| ages[marks.len()].due),
            });
        }
        Ok(Self {
            ids,
            values,
            values_as_known,
            marks,
            ages,
            link_hashes: if is_cached(choice) {
                link_hashes(image, numbers)
            } else {
                Vec::new()
            },
        })
    }

    /// Returns the pages that share contents, given what [`digests`] has read, the in-links of all pages, the pinned
    /// pages, and the numbers in the web.
    fn contents(
        &self,
        group: Group<'_>,
        digests: Vec<(u32, Hash128, u32)>,
        in_links: &[u32],
        pins: &[u32],
        number: impl Fn(u32) -> u32,
    ) -> Result<SharedContents> {
        let pins: HashSet<u32> = pins.iter().copied().collect();
        let digested = digests
            .into_iter()
            .map(|(page, digest, url_length)| Digested {
                digest,
                suitability: Suitability {
                    is_not_pinned: !pins.contains(&page),
                    in_links: Reverse(in_links[page as usize]),
                    url_length,
                    number: number(page),
                },
                page,
                id: self.ids[page as usize],
            });
        SharedContents::new(group, digested.collect())
    }

    fn may_be_seed(&self) -> Vec<bool> {
        self.marks.iter().map(|of| of.may_be_seed).collect()
    }

    /// Returns the web, without PageRank.
    fn into_web(
        self,
        graph: WebGraph,
        constraints: Constraints,
        choice: &WebChoice,
    ) -> Result<LoadedWeb> {
        let known: Vec<bool> = self.marks.iter().map(|of| !of.crawled).collect();
        let Constraints {
            pins,
            caps,
            contents,
            mirrored,
        } = constraints;
        let graph = graph
            .with_constraints(pins, caps)
            .map_err(web_graph_error)?;
        let mut graph = graph
            .with_ages(self.ages)
            .with_known(known, self.values_as_known);
        if choice.needs_sites() {
            graph = graph.with_sites(site_numbers(&self.ids));
        }
        if choice.duplicates == Duplicates::Once {
            graph = graph.with_contents(&contents.pages)?;
        }
        Ok(LoadedWeb {
            graph,
            pages: self.ids,
            marks: self.marks,
            contents,
            mirrored,
            scores: Vec::new(),
            rank_visits: 0,
            link_hashes: self.link_hashes,
        })
    }
}

/// Returns the days since the last fetch of each page, by slot. Those of a page without a known fetch begin in 1970.
fn days_since_fetch(store: &Store, image: &GraphImage, watch: &dyn Watch) -> Result<Vec<f64>> {
    let now = store.last_fetch()?;
    read_records(store, image, watch, |_, _, page| {
        days_between(page.fetched, now)
    })
}

/// Whether a selection runs in all processes, each on its share of the web.
pub(super) const fn can_be_shared(choice: &WebChoice) -> bool {
    matches!(choice.method, Method::Greedy | Method::MaxWeight)
        && !matches!(choice.value_by, ValueBy::Pagerank)
}

/// Whether the gains of a plan are cached.
pub(super) const fn is_cached(choice: &WebChoice) -> bool {
    can_be_shared(choice) && matches!(choice.value_by, ValueBy::Weights)
}

/// Returns a hash of the links of each page to pages of the web; 0 for pages without links. Cost: one pass over the links.
fn link_hashes(image: &GraphImage, numbers: &Numbering) -> Vec<u64> {
    let hash_of = |slot: &u32| {
        let row = image.row_of(*slot).map_or(&[][..], |row| image.row(row));
        let targets = image.intra(*slot).iter().chain(row);
        let targets = targets.filter(|target| numbers.number(**target).is_some());
        // Which pages are taken for others may change.
        let mut targets: Vec<PageId> = targets.map(|of| numbers.page(image, *of)).collect();
        targets.sort_unstable();
        targets.dedup();
        if targets.is_empty() {
            0
        } else {
            half(row_hash(&targets)).max(1)
        }
    };
    numbers.slots.par_iter().map(hash_of).collect()
}

/// Returns the first half of a hash.
pub(super) fn half(hash: Hash128) -> u64 {
    hash.first_chunk()
        .map_or(0, |half| u64::from_le_bytes(*half))
}

/// Returns the value of a page by its own attributes, in millionths.
fn value_of(crawled: bool, facts: PageFacts, p_uniq: PUniq, choice: &WebChoice) -> i64 {
    if crawled {
        page_value(facts, p_uniq, &choice.weights)
    } else {
        choice.given_value_known().0 + choice.weights.quality_value(facts.quality)
    }
}

/// Returns the positions of pages in a list, ascending, each with the number of the page in the web. Those that are not
/// in the web are left out.
pub(super) fn positions_of(web: &[PageId], pages: &[PageId]) -> Vec<(u32, u32)> {
    if pages.is_empty() {
        return Vec::new();
    }
    let wanted: HashMap<PageId, u32> = pages.iter().copied().zip(0..).collect();
    let numbered = (0..).zip(web);
    let mut found: Vec<(u32, u32)> = numbered
        .filter_map(|(number, page)| Some((*wanted.get(page)?, number)))
        .collect();
    found.sort_unstable();
    found
}

/// Numbers the sites of pages from 0, in the order of their first pages. Returns the number of the site of each page.
fn site_numbers(pages: &[PageId]) -> Vec<u32> {
    let mut numbers: HashMap<SiteId, u32> = HashMap::new();
    let sites = pages.iter().map(|page| {
        let next = number(numbers.len());
        *numbers.entry(page.site()).or_insert(next)
    });
    sites.collect()
}

/// The number of the domain of each site.
type SiteDomains = HashMap<SiteId, u32>;

/// Returns the caps of a policy, with the domains of pages as groups. `domains` is called if there is a cap on domains.
/// The cap on sites is one of the choice.
fn caps(
    pages: &[PageId],
    policy: &Policy,
    domains: impl FnOnce() -> Result<SiteDomains>,
) -> Result<Vec<Cap>> {
    let mut caps = Vec::new();
    if let Some(most) = policy.max_per_domain {
        let of_sites = domains()?;
        let group = pages.iter().map(|page| of_sites.get(&page.site()));
        let group = group
            .map(|domain| domain.copied().unwrap_or(NONE))
            .collect();
        caps.push(Cap { group, most });
    }
    Ok(caps)
}

/// Numbers the domains of sites in the order of site ids. Returns the number of the domain of each site, and the domains.
fn site_domains(sites: Entries<'_, SiteId, SiteRecord>) -> Result<(SiteDomains, Vec<String>)> {
    let mut domains: HashMap<String, u32> = HashMap::new();
    let mut of_sites = SiteDomains::new();
    for entry in sites {
        let (site, record) = entry?;
        let next = number(domains.len());
        let domain = ingest::registrable_domain(&record.name).to_owned();
        of_sites.insert(site, *domains.entry(domain).or_insert(next));
    }
    let mut names = vec![String::new(); domains.len()];
    for (name, number) in domains {
        names[number as usize] = name;
    }
    Ok((of_sites, names))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
