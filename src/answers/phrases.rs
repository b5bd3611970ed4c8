//! Phrases and sentences that several answers share: names of kinds and states, causes, failed fetches, refusals,
//! policies, verdicts.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::Line;
use crate::engine::ingest::{BatchKind, RefusedBatch};
use crate::engine::plan::{
    Compared, CrawlLimits, Crawls, HeldOutVerdict, Measure, Method, PlanOptions, Scope,
};
use crate::engine::policy::{PinRejection, RejectionReason};
use crate::engine::query::{
    Cause, DiffSummary, FailingPages, Failures, FetchOrigin, MirroredHosts, PageState, PageYield,
    RepeatedContent, SeedChange, SeedCounts, SeedDiff,
};
use crate::engine::refresh::{PolicyView, Proof, RefreshView, Shortage, ShortageReason, Stars};
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::clock::time;
use seedbank_formats::display::{counted, escape_controls, thousands};

/// Returns the display name of a kind of batch.
#[must_use]
pub const fn kind_name(kind: BatchKind) -> &'static str {
    match kind {
        BatchKind::Snapshot => "snapshot",
        BatchKind::Delta => "delta",
        BatchKind::Undo => "undo",
        BatchKind::Forget => "forget",
    }
}

/// Returns a phrase for the state of a page.
#[must_use]
pub const fn state_name(state: PageState) -> &'static str {
    match state {
        PageState::Known => "known, not crawled",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no longer a page: no page links to it",
        PageState::Alias => "an alias",
        PageState::Resource => "a resource, not a page: it is in no graph, and never a seed",
    }
}

/// First JSON line of a comparison; one line per seed follows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryLine<'a> {
    /// The counts.
    summary: &'a DiffSummary,
}

impl<'a> SummaryLine<'a> {
    /// Creates the line of a comparison.
    #[must_use]
    pub const fn new(diff: &'a SeedDiff) -> Self {
        Self {
            summary: &diff.summary,
        }
    }
}

/// Returns a phrase for readers who do not know the definition of the cause. It holds for plans of sites,
/// where only pages of the same site count, and for plans over the web.
#[must_use]
pub const fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Gone => "the page is gone",
        Cause::Unlinked => "no page links to the page any more",
        Cause::Alias => "the page became an alias of another one",
        Cause::Resource => "the URL is a resource, not a page",
        Cause::Spam => "the page was marked as spam",
        Cause::NotCrawled => "the page is not crawled",
        Cause::NotInBank => "the bank does not know the page",
        Cause::NewPage => "the page is new",
        Cause::Revived => "the page came back",
        Cause::SpamCleared => "the page is no longer marked as spam",
        Cause::BecameCrawled => "the page was crawled",
        Cause::NotListed => "the list did not have it",
        Cause::Parameters => "the plan's parameters differ",
        Cause::Policy => "because of a policy of the plan",
        Cause::NoLinks => "the page links to no other site any more",
        Cause::BecameHub => "the page now links to other sites",
        Cause::ReplacedByHub => "another hub of its core became the seed",
        Cause::ReplacesHub => "it replaced another hub of its core as the seed",
        Cause::BecameAuthority => "it is an authority of another core now",
        Cause::WasAuthority => "it was an authority of another core",
        Cause::Outranked => "denser cores precede its own",
        Cause::Outranks => "its core is now among the densest",
        Cause::LinksLost => "its core lost links",
        Cause::LinksGained => "its core gained links",
        Cause::PagesTaken => "other cores took pages of its core",
        Cause::PagesReleased => "other cores released pages of its core",
        Cause::RegionWeakened => "the region around its core lost links or pages",
        Cause::RegionStrengthened => "the region around its core gained links or pages",
        Cause::NoCore => "no core contains it",
        Cause::Covered => "another seed covers it now",
        Cause::Uncovered => "no other seed covers it any more",
        Cause::FewerSeats => "its site has fewer seats",
        Cause::MoreSeats => "its site has more seats",
        Cause::NoValue => "it would no longer add value",
        Cause::GainedValue => "it adds value now",
        Cause::Outweighed => "other pages are worth more",
        Cause::Outweighs => "it is worth more than other pages",
        Cause::Shifted | Cause::Reordered => "its rank changed",
    }
}

/// Renders why a seed was gained, lost or moved, with the batch and the successor of a dead seed.
#[must_use]
pub fn change_reason(seed: &SeedChange) -> Line {
    let mut why = seed.cause.map_or("", cause_text).to_owned();
    if let (Some(links), Some(all)) = (seed.changed_links, seed.core_links) {
        // Writing to a String cannot fail.
        let _ = write!(why, ": {links} of {}", counted(all, "link"));
    }
    let mut line = Line::from(why);
    if let Some(by) = &seed.by {
        line = match seed.cause {
            Some(Cause::Outweighed) => line
                .and("; most of what it links to is reached from ")
                .and_page(by),
            Some(Cause::Outweighs) => line
                .and("; most of what it links to was reached from ")
                .and_page(by),
            _ => line.and(", ").and_page(by),
        };
    }
    if let Some(batch) = seed.batch {
        line = line.and(format_args!(" (batch {batch})"));
    }
    if let Some(next) = &seed.successor {
        line = line.and("; possible successor: ").and_page(&next.url);
    }
    if let Some(old) = &seed.succeeds {
        line = line.and("; replaces ").and_page(&old.url);
    }
    if let Some(note) = seed.fetches.as_ref().and_then(without_new_pages) {
        let separator = if seed.cause.is_some() { "; " } else { "" };
        line = line.and(format_args!("{separator}{note}"));
    }
    line
}

/// Describes the failed fetches of a page.
#[must_use]
pub fn failed_fetches(failures: &Failures) -> String {
    let Failures {
        status,
        count,
        since,
        last,
    } = *failures;
    let last = time(last);
    if count == 1 {
        return format!("failed, the last time {last}: {status}");
    }
    let since = time(since);
    format!("failed on {count} half-days since {since}, the last time {last}: {status}")
}

/// Describes what fetches of a page after the first brought.
#[must_use]
pub fn page_yield(yields: &PageYield) -> String {
    format!(
        "fetches after the first brought {:.1} new links in {:.1} days (decayed with a half-life of 64 days)",
        yields.new_links, yields.observed_days
    )
}

/// Describes how a crawler came to the last fetch of a page that it attributed to a seed.
#[must_use]
pub fn fetch_origin(origin: &FetchOrigin) -> Line {
    let fetch = if origin.failed {
        "failed fetch"
    } else {
        "fetch"
    };
    let begin = format!("{fetch} in batch {} from seed ", origin.batch);
    let mut line = Line::from(begin).and_page(&origin.seed);
    if let Some(via) = &origin.via {
        line = line.and(", via ").and_page(via);
    }
    if let Some(depth) = origin.depth {
        line = line.and(format_args!(", {} deep", counted(depth, "link")));
    }
    line
}

/// Says that crawls brought no new page from a seed; `None` if they did, or did not start from it.
#[must_use]
pub fn without_new_pages(counts: &SeedCounts) -> Option<String> {
    (counts.new == 0 && counts.fetches() > 0).then(|| {
        let fetches = counted(counts.fetches(), "fetch");
        format!("{fetches} from it brought no new page")
    })
}

/// Counts the failing pages of a site by the result of the last fetch.
#[must_use]
pub fn failing_pages(failing: &[FailingPages]) -> String {
    let pages = failing.iter().map(|of| of.pages).sum::<u64>();
    let by_status: Vec<String> = failing
        .iter()
        .map(|of| format!("{} {}", of.pages, of.status))
        .collect();
    format!(
        "{} whose last fetch failed, by its result: {}",
        counted(pages, "page"),
        by_status.join(", ")
    )
}

/// Describes what is proved about the cores of a refresh, and how many steps it reused.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let refreshes = bank.history()?.refreshes;
/// let provenance = seedbank::answers::provenance(&refreshes[0]);
/// assert_eq!(provenance, "proved exact, cold, 0 steps reused, 1 computed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn provenance(refresh: &RefreshView) -> String {
    let proof = proof(refresh.proof).map(|proof| format!("{proof}, "));
    proof.unwrap_or_default() + &reuse(refresh)
}

/// Describes how many steps a refresh reused.
#[must_use]
pub fn reuse(refresh: &RefreshView) -> String {
    format!(
        "{}{} reused, {} computed",
        if refresh.cold { "cold, " } else { "" },
        counted(refresh.steps_reused, "step"),
        refresh.steps_recomputed
    )
}

/// Describes what is proved about the cores of a refresh; `None` if its method has no proof.
#[must_use]
pub const fn proof(proof: Proof) -> Option<&'static str> {
    match proof {
        Proof::Exact => Some("proved exact"),
        Proof::Within => Some("proved within the tolerance"),
        Proof::NotApplicable => None,
        Proof::NotProved => Some("not proved"),
    }
}

/// Describes after which batch another one was refused, why, and which limit of the loss accepts it.
///
/// The caller says before it when the batch was refused: "refused 2 h ago, " or the like.
#[must_use]
pub fn refusal(refused: &RefusedBatch) -> String {
    let place = match refused.after {
        0 => "before the first batch".to_owned(),
        after => format!("after batch {after}"),
    };
    let accepts = refused.least_max_loss.map_or_else(String::new, |least| {
        format!("; --max-loss {least} accepts it")
    });
    format!("{place}: {}{accepts}", refused.message)
}

/// Returns the flag of the policy that rejected a page, or the rule of all plans.
pub(crate) fn flag(by: RejectionReason) -> String {
    match by {
        RejectionReason::Document => "kind (documents)".to_owned(),
        by => format!("--{}", by.parameter()),
    }
}

/// Describes why a pinned page is not a seed.
pub(crate) const fn fault(why: PinRejection) -> &'static str {
    match why {
        PinRejection::Unknown => "the bank has no such page",
        PinRejection::Gone => "it is gone",
        PinRejection::Alias => "it is an alias of another page",
        PinRejection::Resource => "it is a resource, not a page",
        PinRejection::Document => "it is a document, which is never a seed",
        PinRejection::Excluded => "the plan excludes it",
    }
}

/// Appends the effects of a refresh's policies; nothing if they had none.
pub fn write_policy(text: &mut String, policy: &PolicyView) {
    // Writing to a String cannot fail.
    if policy.pinned > 0 {
        let _ = writeln!(text, "pinned: {}", counted(policy.pinned, "seed"));
    }
    for pin in &policy.rejected_pins {
        let url = escape_controls(&pin.url);
        let _ = writeln!(text, "pinned but not a seed: {url}: {}", fault(pin.why));
    }
    let mut rejected = Vec::new();
    for (by, count) in &policy.rejected {
        match by {
            RejectionReason::MaxFailures => {
                let pages = counted(*count, "page");
                let whose = "last fetches failed (--max-failures)";
                let _ = writeln!(text, "left out: {pages} whose {whose}");
            }
            RejectionReason::Document => {
                let _ = writeln!(text, "left out: {}", counted(*count, "document"));
            }
            by => rejected.push(format!("{count} by {}", flag(*by))),
        }
    }
    if !rejected.is_empty() {
        let _ = writeln!(text, "rejected: {}", rejected.join(", "));
    }
    for (site, pages) in &policy.unreachable {
        let pages = counted(*pages, "crawled page");
        let _ = writeln!(
            text,
            "unreachable: {site}: no answer on the last three days, {pages}"
        );
    }
    if let Some(changes) = &policy.changes {
        let _ = writeln!(
            text,
            "compared with the previous list: {} gained, {} lost ({} of them no longer eligible), {} kept \
             only because of --max-changes",
            changes.gained, changes.lost, changes.lost_ineligible, changes.retained
        );
    }
}

/// Appends the number of star-shaped cores.
pub fn write_stars(text: &mut String, stars: Stars) {
    let cores = counted(stars.cores, "core");
    let are = if stars.cores == 1 { "has" } else { "have" };
    let _ = write!(text, "{cores} {are} only one hub or only one authority");
    if let Some(from) = stars.from {
        let _ = write!(text, ", among them core {from} and all that follow");
    }
    text.push_str("; --min-hubs 2 and --min-authorities 2 exclude such cores\n");
}

/// Appends why there are fewer seeds than requested.
pub fn write_shortage(text: &mut String, short: Shortage, found: u32) {
    let why = match short.reason {
        ShortageReason::NoLinks => {
            "the bank has no links (scripts may make those of its pages); selection needs links"
        }
        ShortageReason::NoLinkLeft => "no inter-site links are left for another core",
        ShortageReason::NoPageLeft => "no other page can be a seed",
        ShortageReason::NoValueLeft => "no other page has any value",
        ShortageReason::NotPositive => "more would add nothing",
        ShortageReason::MaxChanges => "--max-changes allows no more new seeds",
    };
    let _ = writeln!(text, "{found} of {} seeds: {why}", short.requested);
}

/// Returns a note on the crawls that a figure is of, in brackets after a space; empty for a breadth-first crawl without limits.
#[must_use]
pub fn crawl_note(crawl: Crawls) -> String {
    match crawl {
        Crawls::One(CrawlLimits::NONE) => String::new(),
        Crawls::One(limits) => format!(" ({limits})"),
        Crawls::Panel => format!(" (mean of {} crawlers)", Crawls::PANEL.len()),
    }
}

/// Formats what crawls find from a list and from the best simple one.
///
/// ```text
/// from this list a crawl of 5,000 fetches finds 3,723 different pages; the best simple list, net-out-degree, finds 2,464
/// ```
#[must_use]
pub fn verdict_sentence(verdict: &HeldOutVerdict) -> String {
    let (found, baseline_found) = match verdict.list {
        Some(list) => (list.found, list.baseline_found),
        None => (verdict.found.mean, verdict.baseline_found.mean),
    };
    let number = |found: f64| figure(verdict.measure, found);
    let (verb, unit) = match verdict.measure {
        Measure::Crawled => ("finds", " crawled pages"),
        Measure::Contents => ("finds", " different pages"),
        Measure::Discovered => ("sees", " pages for the first time"),
        Measure::Pagerank => ("fetches", " of the PageRank"),
    };
    let due = match verdict.measure {
        Measure::Crawled | Measure::Contents if verdict.whole_after.is_some() => " that are due",
        _ => "",
    };
    let crawl = crawl_note(verdict.crawl);
    format!(
        "from {} list a crawl of {}{crawl} {verb} {}{unit}{due}; the best simple list, {}, {verb} {}",
        if verdict.is_of_this_list() {
            "this"
        } else {
            "its"
        },
        counted_fetches(verdict.budget),
        number(found),
        verdict.baseline,
        number(baseline_found)
    )
}

/// Formats the figures of a verdict with pages held out.
///
/// ```text
/// held out 10 times: 2,102 ± 20, 1.26 ± 0.02 times the best baseline (net-out-degree, 1,667); newly found 187 ± 4,
/// 1.31 ± 0.03 times the best baseline (pagerank, 143)
/// ```
#[must_use]
pub fn verdict_figures(verdict: &HeldOutVerdict) -> String {
    let number = |of: Estimate| {
        let error = of
            .standard_error
            .map(|error| figure(verdict.measure, error));
        let error = error.map_or_else(String::new, |error| format!(" ± {error}"));
        format!("{}{error}", figure(verdict.measure, of.mean))
    };
    let beside = |of: &Compared| {
        let Compared {
            found,
            baseline,
            baseline_found,
            times_best_baseline,
        } = of;
        let ratio = ratio(
            verdict.measure,
            *times_best_baseline,
            baseline,
            *baseline_found,
        );
        format!("{}, {ratio}", number(*found))
    };
    let draws = counted(verdict.draws, "time");
    let found = number(verdict.found);
    let mut text = format!("held out {draws}: {found}, {}", ratio_of(verdict));
    if let Some(new) = &verdict.new {
        let _ = write!(text, "; newly found {}", beside(new));
    }
    if let Some(breadth_first) = &verdict.breadth_first {
        let _ = write!(text, "; breadth-first {}", beside(breadth_first));
    }
    text
}

fn figure(measure: Measure, found: f64) -> String {
    match measure {
        Measure::Crawled | Measure::Contents | Measure::Discovered => {
            thousands(found.round().max(0.0))
        }
        Measure::Pagerank => format!("{:.2} %", 100.0 * found),
    }
}

/// Formats a verdict with its batch.
///
/// ```text
/// was judged after batch 1: from this list a crawl of 5,000 fetches finds ... (held out 10 times: ...)
/// was judged after batch 1, of another list: from its list ...
/// ```
#[must_use]
pub fn dated_verdict(verdict: &HeldOutVerdict) -> String {
    let (sentence, figures) = (verdict_sentence(verdict), verdict_figures(verdict));
    format!("was {}: {sentence} ({figures})", judged(verdict))
}

/// Formats when a list was judged, such as `judged after batch 1, of another list`.
fn judged(verdict: &HeldOutVerdict) -> String {
    let of = if verdict.is_of_this_list() {
        ""
    } else {
        ", of another list"
    };
    format!("judged after batch {}{of}", verdict.batch)
}

/// Formats how often one content is on a site, such as `login.example: 1,534 of 2,000 crawled pages have the same content (401
/// different in all)`.
#[must_use]
pub fn repeated_content(repeated: &RepeatedContent) -> String {
    format!(
        "{}: {} of {} crawled pages have the same content ({} different in all)",
        escape_controls(&repeated.site),
        thousands(repeated.pages),
        thousands(repeated.with_digest),
        thousands(repeated.distinct)
    )
}

/// Formats mirrored hosts, such as `http://www.a.example/ has the pages of http://a.example/ (1,935 with the same content, 2 with
/// another one; 120 pages that are not crawled yet are taken for those of the other)`.
#[must_use]
pub fn mirrored_hosts(of: &MirroredHosts) -> String {
    let different = match of.different {
        0 => String::new(),
        different => format!(", {} with another one", thousands(different)),
    };
    format!(
        "{} has the pages of {} ({} with the same content{different}; {} not crawled yet are taken for those of the other)",
        escape_controls(&of.mirror),
        escape_controls(&of.host),
        thousands(of.equal),
        thousands(of.taken)
    )
}

/// Formats the most seeds of a site as a flag after a space, such as ` --max-per-site 3`; nothing without a limit.
#[must_use]
pub fn site_limit_flag(limit: Option<u32>) -> String {
    limit.map_or_else(String::new, |most| format!(" --max-per-site {most}"))
}

/// Formats how the list compares with the best baseline, such as `1.22 ± 0.03 times the best baseline
/// (pagerank, 3,274)`; if another list was judged, after its batch.
#[must_use]
pub fn verdict_ratio(verdict: &HeldOutVerdict) -> String {
    if verdict.is_of_this_list() {
        ratio_of(verdict)
    } else {
        format!("{}: {}", judged(verdict), ratio_of(verdict))
    }
}

fn ratio_of(verdict: &HeldOutVerdict) -> String {
    let (times, found) = (verdict.times_best_baseline, verdict.baseline_found);
    ratio(verdict.measure, times, &verdict.baseline, found)
}

fn ratio(measure: Measure, times: Option<Estimate>, name: &str, found: Estimate) -> String {
    let Some(times) = times else {
        return format!("where the best baseline ({name}) finds nothing");
    };
    let (times, found) = (times_with_error(times), figure(measure, found.mean));
    format!("{times} times the best baseline ({name}, {found})")
}

/// Formats a ratio with its standard error, such as `1.22 ± 0.03`.
#[must_use]
pub fn times_with_error(times: Estimate) -> String {
    let error = times
        .standard_error
        .map_or_else(String::new, |error| format!(" ± {error:.2}"));
    format!("{:.2}{error}", times.mean)
}

/// Returns what to do if the list finds less than a baseline; `None` if it does not.
#[must_use]
pub fn verdict_advice(verdict: &HeldOutVerdict, plan: &PlanOptions) -> Option<&'static str> {
    let is_over_web = plan.scope == Some(Scope::Web);
    match plan.method.unwrap_or_default() {
        _ if !verdict.is_loss() => None,
        Method::Cover(_) if is_over_web => Some(
            "`evaluate BANK methods` compares every goal and method for this number of seeds and pages",
        ),
        _ => Some("the goal coverage selects for crawls of a number of pages"),
    }
}

fn counted_fetches(fetches: u64) -> String {
    match fetches {
        1 => "1 fetch".to_owned(),
        fetches => format!("{} fetches", thousands(fetches)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::plan::ListFigures;

    #[test]
    fn a_change_has_its_cause_and_its_batch() {
        let seed = serde_json::json!({
            "change": "lost", "url": "http://a.example/", "cause": "covered", "batch": 3,
            "by": "http://b.example/",
        });
        let seed: SeedChange = serde_json::from_value(seed).unwrap();
        // The sentence holds for a plan over the web, where the other seed may be on any site.
        assert_eq!(
            change_reason(&seed).to_string(),
            "another seed covers it now, http://b.example/ (batch 3)"
        );
        let seed = SeedChange {
            cause: Some(Cause::LinksLost),
            by: None,
            batch: None,
            changed_links: Some(2),
            core_links: Some(9),
            ..seed
        };
        assert_eq!(
            change_reason(&seed).to_string(),
            "its core lost links: 2 of 9 links"
        );
    }

    #[test]
    fn figures_have_the_unit_of_the_measure() {
        let estimate = |mean| Estimate {
            mean,
            standard_error: Some(0.031),
        };
        let mut verdict = HeldOutVerdict {
            age_batches: 0,
            batch: 1,
            seeds: 20,
            budget: 5000,
            crawl: Crawls::default(),
            whole_after: None,
            draws: 3,
            measure: Measure::Contents,
            list: Some(ListFigures {
                found: 3723.0,
                baseline_found: 2464.0,
            }),
            found: estimate(3986.4),
            baseline: "pagerank".to_owned(),
            baseline_found: estimate(3274.0),
            times_best_baseline: Some(estimate(1.2176)),
            new: None,
            breadth_first: None,
        };
        assert_eq!(
            verdict_sentence(&verdict),
            "from this list a crawl of 5,000 fetches finds 3,723 different pages; the best simple list, pagerank, finds 2,464"
        );
        assert_eq!(
            verdict_figures(&verdict),
            "held out 3 times: 3,986 ± 0, 1.22 ± 0.03 times the best baseline (pagerank, 3,274)"
        );
        assert_eq!(verdict_advice(&verdict, &PlanOptions::default()), None);
        (verdict.measure, verdict.crawl) = (Measure::Pagerank, Crawls::Panel);
        (verdict.found, verdict.baseline_found) = (estimate(0.041), estimate(0.05));
        (verdict.list, verdict.times_best_baseline) = (None, Some(estimate(0.82)));
        assert_eq!(
            verdict_sentence(&verdict),
            "from this list a crawl of 5,000 fetches (mean of 5 crawlers) fetches 4.10 % of the PageRank; the best simple list, \
             pagerank, fetches 5.00 %"
        );
        assert!(verdict_advice(&verdict, &PlanOptions::default()).is_some());
        verdict.measure = Measure::Discovered;
        (verdict.budget, verdict.times_best_baseline) = (1, None);
        verdict.found = estimate(2.0);
        verdict.breadth_first = Some(Compared {
            found: estimate(4.0),
            baseline: "random".to_owned(),
            baseline_found: estimate(2.0),
            times_best_baseline: Some(estimate(2.0)),
        });
        assert_eq!(
            verdict_figures(&verdict),
            "held out 3 times: 2 ± 0, where the best baseline (pagerank) finds nothing; breadth-first 4 ± 0, 2.00 ± 0.03 times \
             the best baseline (random, 2)"
        );
    }
}
