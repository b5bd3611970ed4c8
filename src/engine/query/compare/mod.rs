//! `compare`: compares a list of start pages from outside with the list of a refresh: which pages are
//! alive, which ones the refresh covers, and what crawls from both lists find.
//!
//! The graph is not loaded. Pages are looked up one by one, evidence is read as for `explain`, and crawls
//! read only what they fetch (`crawl`).

mod answers;
mod crawl;

use std::collections::BTreeMap;

pub use answers::{
    CompareRequest, CrawlComparison, CrawlResult, LineState, ListComparison, ListCounts,
    ListRelation, ListedLine, ListedPage,
};

use super::diff::UrlList;
use super::explain::{CoreNumbers, Explainer, Why};
use super::nearest;
use crate::engine::error::{ExperimentError, RequestError};
use crate::engine::plan::ResolvedPlan;
use crate::engine::{Bank, EngineError};
use crawl::{LivePage, crawl};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, PageState, RefreshId};
use seedbank_store::tables;

impl Bank {
    /// Compares a list of start pages with the list of a refresh: whether its pages are alive and covered,
    /// and what crawls from both lists find.
    ///
    /// The crawls are those of [`Bank::evaluate_budget`], on the current state. They also start from pages
    /// with the spam mark, except from seeds of a plan that excludes spam.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::EmptyList`] if the list has no URL, [`RequestError::LongList`] if it has more than
    /// the request allows, [`RequestError::Fetches`] if a number of fetches is out of range. Invalid URLs and
    /// unknown pages are part of the answer, not errors.
    ///
    /// Cost: at most 20 point reads per page of the list; one scan of the refresh's list; for each of at most
    /// three crawls the links of the fetched pages, and a read per distinct linked page. It does not depend on
    /// the size of the bank.
    pub fn compare(
        &self,
        list: &UrlList,
        request: &CompareRequest,
    ) -> Result<ListComparison, EngineError> {
        let watch = self.watch();
        let urls = urls(list);
        let fetches = validated_fetches(&list.name, urls.len(), request)?;
        let explainer = self.explainer(&request.which)?;
        let run = explainer.run();
        let plan = Seeds::read(&explainer, run.refresh, watch)?;
        watch.stage("compare", Some(urls.len() as u64));
        let mut comparison = Comparison {
            explainer: &explainer,
            plan: &plan,
            counts: ListCounts::default(),
            first: BTreeMap::new(),
            starts: Vec::new(),
        };
        let mut lines = Vec::with_capacity(urls.len());
        for (line, text) in urls {
            watch.proceed()?;
            lines.push(comparison.line(line, text)?);
            watch.advance(1);
        }
        let Comparison { counts, starts, .. } = comparison;
        Ok(ListComparison {
            list: list.name.clone(),
            run,
            current_batch: explainer.views().reader.counters()?.batch,
            counts,
            crawls: crawls(&explainer, &starts, &plan.alive, &fetches, watch)?,
            lines,
        })
    }
}

/// Returns the URLs of a list with their line numbers: the text before white space, without comments.
fn urls(list: &UrlList) -> Vec<(u64, &str)> {
    let lines = list.urls.iter();
    let urls = lines.filter_map(|(line, text)| Some((*line, text.split_whitespace().next()?)));
    urls.filter(|(_, url)| !url.starts_with('#')).collect()
}

/// Validates the request for a list of `urls` URLs; returns the numbers of fetches, ascending.
fn validated_fetches(
    list: &str,
    urls: usize,
    request: &CompareRequest,
) -> Result<Vec<u64>, EngineError> {
    if urls == 0 {
        let list = list.to_owned();
        return Err(ExperimentError::EmptyList { list }.into());
    }
    if urls > request.most {
        let most = request.most;
        return Err(RequestError::LongList { urls, most }.into());
    }
    let mut fetches = request.fetches.clone();
    fetches.sort_unstable();
    fetches.dedup();
    let most = CompareRequest::MOST_FETCHES;
    match fetches.iter().find(|at| !(1..=most).contains(*at)) {
        Some(&fetches) => Err(RequestError::Fetches { fetches, most }.into()),
        None => Ok(fetches),
    }
}

/// Seeds of the refresh.
struct Seeds {
    ranks: BTreeMap<PageId, u32>,
    /// Seeds that are still alive, best first.
    alive: Vec<LivePage>,
}

impl Seeds {
    fn read(
        explainer: &Explainer,
        refresh: RefreshId,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let reader = &explainer.views().reader;
        // Only these plans exclude spam; the others select it on purpose, or by its value.
        let no_spam = matches!(explainer.plan(), ResolvedPlan::Cores(cores) if !cores.keep_spam);
        let mut seeds = Self {
            ranks: BTreeMap::new(),
            alive: Vec::new(),
        };
        for (rank, seed) in reader.list(refresh)? {
            watch.proceed()?;
            seeds.ranks.insert(seed.page, rank);
            let record = reader.need(&tables::PAGES, &seed.page)?;
            if !(no_spam && record.spam) {
                seeds.alive.extend(LivePage::new(seed.page, record));
            }
        }
        Ok(seeds)
    }
}

/// State of a comparison.
struct Comparison<'a> {
    explainer: &'a Explainer,
    plan: &'a Seeds,
    counts: ListCounts,
    /// First line of each page, by normalised URL.
    first: BTreeMap<String, u64>,
    /// Pages from which crawls can start, in list order.
    starts: Vec<LivePage>,
}

impl Comparison<'_> {
    fn line(&mut self, line: u64, text: &str) -> Result<ListedLine, EngineError> {
        let views = self.explainer.views();
        let mut listed = ListedLine {
            line,
            text: text.to_owned(),
            state: LineState::InvalidUrl,
            url: None,
            first_line: None,
            error: None,
            page: None,
        };
        self.counts.lines += 1;
        let location = match ingest::parse(text, views.naming) {
            Ok(location) => location,
            Err(problem) => {
                self.counts.invalid_urls += 1;
                listed.error = Some(problem.to_string());
                return Ok(listed);
            }
        };
        let url = location.url(views.naming.sites);
        listed.url = Some(url.clone());
        if let Some(first) = self.first.get(&url) {
            self.counts.duplicates += 1;
            listed.state = LineState::Duplicate;
            listed.first_line = Some(*first);
            return Ok(listed);
        }
        self.first.insert(url.clone(), line);
        self.counts.pages += 1;
        let Some((page, record)) = nearest::find_page(views, &location)? else {
            self.counts.not_in_bank += 1;
            listed.state = LineState::NotInBank;
            return Ok(listed);
        };
        listed.state = line_state(&record);
        *match listed.state {
            LineState::Spam => &mut self.counts.spam,
            LineState::Gone => &mut self.counts.gone,
            LineState::Alias => &mut self.counts.alias,
            LineState::Unlinked => &mut self.counts.unlinked,
            _ => &mut self.counts.alive,
        } += 1;
        let (policy, why) = self.explainer.verdict(page, &record)?;
        let rank = self.plan.ranks.get(&page).copied();
        let relation = relation(rank, &url, &why);
        *match relation {
            ListRelation::Seed { .. } => &mut self.counts.seeds,
            ListRelation::InCore { .. } | ListRelation::Covered { .. } => &mut self.counts.covered,
            ListRelation::NearCore { .. } => &mut self.counts.near_core,
            ListRelation::NotCovered => &mut self.counts.not_covered,
        } += 1;
        listed.page = Some(Box::new(ListedPage {
            site: location.site,
            current: self.explainer.current_page(page, &record)?,
            relation,
            policy,
            why,
        }));
        self.starts.extend(LivePage::new(page, record));
        Ok(listed)
    }
}

/// Returns the state of a line with this page.
fn line_state(record: &PageRecord) -> LineState {
    match record.state {
        PageState::Known | PageState::Crawled if record.spam => LineState::Spam,
        PageState::Known | PageState::Crawled => LineState::Alive,
        PageState::Gone => LineState::Gone,
        PageState::Unlinked => LineState::Unlinked,
        PageState::Alias => LineState::Alias,
    }
}

/// Returns the relation of a page to the list of the refresh; `rank` is its rank there.
fn relation(rank: Option<u32>, url: &str, why: &Why) -> ListRelation {
    if let Some(rank) = rank {
        return ListRelation::Seed { rank };
    }
    let in_core = |core: &CoreNumbers, seed: &str| ListRelation::InCore {
        core: core.rank,
        seed: seed.to_owned(),
    };
    let covered = match why {
        // The hub would be the core's seed, but policies keep it off the list.
        Why::CoreSeed(seed) => return in_core(&seed.core, url),
        Why::CoreMember(member) => return in_core(&member.core, &member.seed.url),
        Why::NearCore(near) => {
            return ListRelation::NearCore {
                core: near.core.rank,
                seed: near.seed.url.clone(),
            };
        }
        Why::Covered { by, hop } | Why::Reached { by, hop } => Some((by, *hop)),
        Why::CoverSeed(seed) => seed.covered_by.as_ref().map(|(by, hop)| (by, *hop)),
        Why::WebSeed(seed) => seed.reached_by.as_ref().map(|(by, hop)| (by, *hop)),
        _ => None,
    };
    match covered.filter(|(by, _)| !by.deferred) {
        Some((by, hop)) => ListRelation::Covered {
            by: by.url.clone(),
            rank: by.rank,
            hop,
        },
        None => ListRelation::NotCovered,
    }
}

/// Simulates crawls from the list's pages, from the same number of seeds, and from all seeds if there are
/// more.
fn crawls(
    explainer: &Explainer,
    starts: &[LivePage],
    seeds: &[LivePage],
    fetches: &[u64],
    watch: &dyn Watch,
) -> Result<Vec<CrawlComparison>, EngineError> {
    let first = &seeds[..seeds.len().min(starts.len())];
    let is_longer = first.len() < seeds.len();
    watch.stage("crawl", Some(2 + u64::from(is_longer)));
    let from = |starts: &[LivePage]| -> Result<Vec<CrawlResult>, EngineError> {
        let found = crawl(explainer.views(), starts, fetches, watch)?;
        watch.advance(1);
        Ok(found)
    };
    let list = from(starts)?;
    let first = from(first)?;
    let all = if is_longer { from(seeds)? } else { Vec::new() };
    let mut all = all.into_iter();
    let found = fetches.iter().zip(list).zip(first);
    let worth = found.map(|((fetches, list), first_seeds)| CrawlComparison {
        fetches: *fetches,
        list,
        first_seeds,
        all_seeds: all.next(),
    });
    Ok(worth.collect())
}
