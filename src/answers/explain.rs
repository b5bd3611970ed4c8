//! Renders answers of `explain` as text that can be pasted into a ticket: first a sentence that needs
//! no knowledge of the methods, then the evidence.

use crate::engine::query::{
    AliasView, CoreMember, CoreNumbers, CoreSeed, CoresOfSite, CoverOfSite, CoverSeed, CoverStop,
    CurrentPage, Explanation, NearCore, NotAdded, PolicyVerdict, RefreshRun, RevisitView, Role,
    RowSums, ScoredUrl, SeedByPolicy, SeedOfCore, SeedOfSite, SidePosition, SiteExplanation,
    SiteInPlan, SiteSeed, SiteWhy, Uncovered, Unreached, ValueBreakdown, WebOfSite, WebSeed,
    WebTerms, WebValueBreakdown, Why,
};
use crate::engine::refresh::Proof;
use seedbank_algorithms::cover::Due;
use seedbank_formats::clock::time;
use seedbank_formats::display::{counted, is_or_are};

use super::facts::{Facts, Line};
use super::phrases::state_name;
use super::sentence::page_reason;

/// Formats a refresh without its plan, which the sentence names.
fn refresh_summary(run: &RefreshRun) -> String {
    format!(
        "refresh {} ({}, state after batch {}{})",
        run.refresh,
        run.method,
        run.state_batch,
        if run.proof == Proof::NotProved {
            ", not proved"
        } else {
            ""
        }
    )
}

/// Renders why a page is a seed or not: its URL, one sentence and the evidence.
#[must_use]
pub fn page_explanation(answer: &Explanation) -> Facts {
    let mut lines = Facts::under(Line::page(&answer.url));
    lines.add(page_sentence(answer));
    lines.extend(page_evidence(answer));
    lines
}

/// Renders why a page is a seed or not in one sentence.
#[must_use]
pub fn page_sentence(answer: &Explanation) -> Line {
    let alias = answer.page.alias.as_ref();
    let policy = answer.policy.as_ref();
    page_reason(&answer.run, policy, &answer.why, &answer.site, alias)
}

/// Renders the evidence for [`page_sentence`]: the refresh, the current state of the page, and what
/// the refresh stored about it.
#[must_use]
pub fn page_evidence(answer: &Explanation) -> Facts {
    let mut lines = Facts::default();
    lines.add(refresh_summary(&answer.run));
    current_state(&mut lines, &answer.page, &answer.why);
    if let Some(revisit) = &answer.revisit {
        lines.add(last_fetch(revisit));
    }
    evidence(&mut lines, &answer.why);
    lines
}

fn evidence(lines: &mut Facts, why: &Why) {
    match why {
        Why::CoreSeed(seed) => core_seed(lines, seed),
        Why::CoverSeed(seed) => cover_seed(lines, seed),
        Why::WebSeed(seed) => web_seed(lines, seed),
        Why::CoreMember(member) => core_member(lines, member),
        Why::NearCore(near) => near_core(lines, near),
        Why::NoCore(sums) => row_sums(lines, *sums),
        Why::Covered { by, hop } => lines.add(
            Line::from("covered by ")
                .and_line(site_seed(by))
                .and(format_args!(" at hop {hop}")),
        ),
        Why::Uncovered(uncovered) => not_covered(lines, uncovered),
        Why::Reached { by, hop } => lines.add(
            Line::from("reached by ")
                .and_line(web_pick(by))
                .and(format_args!(" in {}", counted(*hop, "link"))),
        ),
        Why::Unreached(page) => unreached(lines, page),
        // The sentence is complete.
        Why::NoInterSiteLinks { .. }
        | Why::NoSeats { .. }
        | Why::Ineligible { .. }
        | Why::Represented { .. }
        | Why::NotYetKnown => {}
    }
}

fn core_summary(core: &CoreNumbers) -> String {
    let bound = core
        .sigma_bound
        .map(|bound| format!(" of at most {bound:.6}"));
    format!(
        "core {}{} (sigma {:.6}{}, {} on {}, {} on {}, {})",
        core.rank,
        if core.is_template() {
            ", a page template"
        } else {
            ""
        },
        core.sigma,
        bound.unwrap_or_default(),
        counted(core.hubs, "hub"),
        counted(core.hub_sites, "site"),
        counted(core.authorities, "authority"),
        counted(core.authority_sites, "site"),
        counted(core.edges, "link")
    )
}

fn position(place: &SidePosition, of: u32) -> String {
    format!(
        "score {:.6}, rank {} of {of}, added as number {}",
        place.score, place.rank, place.position
    )
}

/// Formats the seed of a core, or the hub that would be its seed.
fn seed_of_core(core: &CoreNumbers, seed: &ScoredUrl) -> Line {
    let what = if core.gives_seed {
        "the core's seed is"
    } else {
        "policies of the plan give the core no seed; it would be"
    };
    Line::from(format_args!("{what} "))
        .and_page(&seed.url)
        .and(format_args!(" with {:.6}", seed.score))
}

fn core_seed(lines: &mut Facts, seed: &CoreSeed) {
    lines.add(format_args!("a seed since refresh {}", seed.since));
    lines.add(format_args!(
        "the hub chosen from {}",
        core_summary(&seed.core)
    ));
    lines.add(format_args!("hub {}", position(&seed.hub, seed.core.hubs)));
    lines.add(
        Line::from(format_args!(
            "links to {} of its authorities, on {}: ",
            seed.linked_authorities,
            counted(seed.linked_sites, "site")
        ))
        .and_pages(&seed.first_authorities)
        .and(
            if seed.linked_authorities as usize > seed.first_authorities.len() {
                ", ..."
            } else {
                ""
            },
        ),
    );
    match &seed.runner_up {
        Some(second) => lines.add(
            Line::from("runner-up ")
                .and_page(&second.url)
                .and(format_args!(" with {:.6}", second.score)),
        ),
        None => lines.add("no other hub"),
    }
}

fn core_member(lines: &mut Facts, member: &CoreMember) {
    lines.add(format_args!("part of {}", core_summary(&member.core)));
    if let Some(hub) = &member.hub {
        lines.add(format_args!("hub: {}", position(hub, member.core.hubs)));
    }
    if let Some(authority) = &member.authority {
        let of = member.core.authorities;
        lines.add(format_args!("authority: {}", position(authority, of)));
    }
    lines.add(match seed_of_core(&member.core, &member.seed) {
        line if member.core.gives_seed => line.and("; one hub of a core is enough"),
        line => line,
    });
}

fn near_core(lines: &mut Facts, near: &NearCore) {
    let core = &near.core;
    let (role, article, of_side) = match near.role {
        Role::Hub => ("hub", "a", counted(core.authorities, "authority")),
        Role::Authority => ("authority", "an", counted(core.hubs, "hub")),
    };
    lines.add(format_args!(
        "near {}, as {article} {role}",
        core_summary(core)
    ));
    lines.add(
        Line::from(format_args!(
            "score {:.6}; the weakest {role} added is ",
            near.score
        ))
        .and_page(&near.weakest.url)
        .and(format_args!(" with {:.6}", near.weakest.score)),
    );
    lines.add(seed_of_core(core, &near.seed));
    lines.add(format_row_sums(near.row_sums));
    let has = near.links;
    lines.add(match near.reason {
        NotAdded::TooFewLinks => format!(
            "why not: one more {role} needed links with {} of the core's {of_side}, and it has {has}",
            near.links_needed
        ),
        NotAdded::MaxHubs => format!(
            "why not: the core reached --max-hubs before this page, which has links with {has} of \
             its {of_side}"
        ),
        NotAdded::CoreSize => format!(
            "why not: the core reached --core-size before this page, which has links with {has} of \
             its {of_side}"
        ),
        NotAdded::GrowthEnded => format!(
            "why not: the core was complete when its best candidate did not fit (--growth literal); this \
             page came later, and has links with {has} of its {of_side}"
        ),
    });
}

fn format_row_sums(sums: RowSums) -> String {
    format!(
        "row sums: {} as an authority, {} as a hub",
        sums.as_authority, sums.as_hub
    )
}

fn row_sums(lines: &mut Facts, sums: RowSums) {
    lines.add(format_row_sums(sums));
    match sums.last_lambda {
        Some(lambda) if sums.reaches_last_core => lines.add(format_args!(
            "why not: its row sums alone do not rule it out (the last core has sigma squared {lambda:.2}), \
             but denser regions came first"
        )),
        Some(lambda) => lines.add(format_args!(
            "why not: the best page of a core as dense as the last one has a row sum of at least \
             {lambda:.2} (sigma squared); this page has too few links around it"
        )),
        None => lines.add("why not: there are no cores"),
    }
}

fn site_seed(seed: &SiteSeed) -> Line {
    Line::page(&seed.url).and(format_args!(
        " ({}, pick {} of its site, {})",
        rank(seed.rank, seed.deferred),
        seed.pick,
        gain(seed.gain)
    ))
}

fn cover_seed(lines: &mut Facts, seed: &CoverSeed) {
    lines.add(format_args!(
        "pick {} of {} on its site, by refresh {}: {}",
        seed.pick,
        seed.seats,
        seed.since,
        gain(seed.gain)
    ));
    lines.add(format_args!("covers first: {}", parts(&seed.covers)));
    for (hop, of_hop) in seed.hops.iter().enumerate() {
        lines.add(format_args!("  hop {hop}: {}", parts(of_hop)));
    }
    match &seed.runner_up {
        Some(second) => lines.add(runner_up(second)),
        // Random picks have no runner-up.
        None if seed.gain.is_none() => {}
        None => lines.add("runner-up unknown: no candidate was left, or none was evaluated"),
    }
    if let Some((by, hop)) = &seed.covered_by {
        lines.add(
            Line::from("already covered by ")
                .and_line(site_seed(by))
                .and(format_args!(" at hop {hop}")),
        );
    }
}

/// Returns why a site has no more picks.
#[must_use]
pub const fn stop_reason(stop: CoverStop) -> &'static str {
    match stop {
        CoverStop::NoValueLeft => "no value was left",
        CoverStop::NoPageLeft => "no page was left",
        CoverStop::Complete => "it has all its seats",
        CoverStop::NotPositive => "the next seed would add nothing",
    }
}

fn not_covered(lines: &mut Facts, page: &Uncovered) {
    lines.add(format_args!(
        "its site has {} for {}: {}",
        counted(page.picks, "pick"),
        counted(page.seats, "seat"),
        stop_reason(page.stop)
    ));
    match (page.score, page.exact) {
        (Some(score), true) => lines.add(format_args!("its score after the last pick: {score}")),
        (Some(score), false) => lines.add(format_args!(
            "its score after the last pick: at most {score}"
        )),
        (None, _) => lines.add("pages are drawn at random, without scores"),
    }
    if let Some(last) = &page.last_pick {
        lines.add(Line::from("the last pick was ").and_line(site_seed(last)));
    }
}

fn current_state(lines: &mut Facts, page: &CurrentPage, why: &Why) {
    let state = state_name(page.state);
    let spam = if page.spam { ", spam" } else { "" };
    lines.add(format_args!(
        "today: {state}{spam}; first seen in batch {}{}",
        page.first_seen,
        page.last_seen.map_or_else(String::new, |batch| format!(
            ", last record in batch {batch}"
        ))
    ));
    if let Some(alias) = &page.alias {
        lines.add(self::alias(alias));
    }
    if page.recorded_since_refresh && *why != Why::NotYetKnown {
        lines.add("that record was ingested after the refresh; refresh again to see its effect");
    }
}

fn last_fetch(revisit: &RevisitView) -> String {
    let fetched = revisit.fetched.zip(revisit.days).map_or_else(
        || "its last fetch has no known time".to_owned(),
        |(at, days)| {
            format!(
                "fetched {}, {days:.1} days before the last fetch in the bank",
                time(at)
            )
        },
    );
    let counts = match revisit.counts {
        Due::Not => "worth nothing yet",
        Due::Half => "worth half of its value",
        Due::Whole => "worth its whole value",
    };
    let after = revisit.whole_after;
    format!(
        "{fetched}: {counts} (half from {} days on, whole from {after}, or once it has changed)",
        after / 2.0
    )
}

fn alias(alias: &AliasView) -> Line {
    let to = Line::from("it redirects to ").and_page(&alias.to);
    match &alias.resolves_to {
        Some(end) if *end == alias.to => to.and(": explain that page instead"),
        Some(end) => to
            .and(", which leads to ")
            .and_page(end)
            .and(": explain that page instead"),
        None => to.and(", which resolves to no page: links to it are ignored"),
    }
}

/// Renders what a refresh selected on a site.
#[must_use]
pub fn site_explanation(answer: &SiteExplanation) -> Facts {
    let mut lines = Facts::under(format_args!("site {}", answer.site));
    lines.add(format_args!(
        "plan {}, {}",
        answer.run.plan,
        refresh_summary(&answer.run)
    ));
    lines.add(format_args!(
        "today: {} crawled, {} known, {} gone, {} spam",
        answer.crawled, answer.known, answer.gone, answer.spam
    ));
    site_seeds(&mut lines, &answer.by_policy, &answer.why);
    site_evidence(&mut lines, &answer.why);
    lines
}

/// Renders what the last refresh of a plan selected on a site, under the refresh; without the seeds for a page that
/// lists them otherwise.
#[must_use]
pub fn site_in_plan(plan: &SiteInPlan, with_seeds: bool) -> Facts {
    let run = &plan.run;
    let mut lines = Facts::under(format_args!("plan {}, {}", run.plan, refresh_summary(run)));
    if with_seeds {
        site_seeds(&mut lines, &plan.by_policy, &plan.why);
    }
    site_evidence(&mut lines, &plan.why);
    lines
}

/// Adds the seeds of a site, and the picks that a policy keeps off the list.
fn site_seeds(lines: &mut Facts, policy: &[SeedByPolicy], why: &SiteWhy) {
    lines.extend(policy.iter().map(by_policy));
    let picks: Vec<Line> = match why {
        SiteWhy::CoresOfSite(site) => site.site_seeds.iter().map(seed_by_core).collect(),
        SiteWhy::CoverOfSite(site) => site.site_seeds.iter().map(seed_by_cover).collect(),
        SiteWhy::WebOfSite(site) => site.site_seeds.iter().map(web_pick).collect(),
        SiteWhy::NoCrawledPages => Vec::new(),
    };
    if policy.is_empty() && picks.is_empty() {
        lines.add("no seeds");
    }
    lines.extend(picks);
}

/// Adds what else a refresh stored about a site.
fn site_evidence(lines: &mut Facts, why: &SiteWhy) {
    match why {
        SiteWhy::CoresOfSite(site) => cores_of_site(lines, site),
        SiteWhy::CoverOfSite(site) => cover_of_site(lines, site),
        SiteWhy::WebOfSite(site) => web_of_site(lines, site),
        SiteWhy::NoCrawledPages => lines.add("it had no crawled page"),
    }
}

fn by_policy(seed: &SeedByPolicy) -> Line {
    let with_rank = |rank: u32| Line::from(format_args!("seed {rank} ")).and_page(&seed.url);
    match &seed.verdict {
        PolicyVerdict::Pinned { rank } => with_rank(*rank).and(": pinned"),
        PolicyVerdict::Retained { rank, last_chosen } => with_rank(*rank).and(format_args!(
            ": stays, because --max-changes allows no further change; refresh {last_chosen} was the \
             last to select it"
        )),
        // The other verdicts are about pages that are not seeds.
        _ => Line::page(&seed.url),
    }
}

fn seed_by_core(seed: &SeedOfCore) -> Line {
    Line::from(format_args!("seed {} ", seed.why.rank))
        .and_page(&seed.url)
        .and(format_args!(": {}", core_summary(&seed.why.core)))
}

fn seed_by_cover(seed: &SeedOfSite) -> Line {
    Line::from(format_args!("{} ", rank(seed.rank, seed.deferred)))
        .and_page(&seed.url)
        .and(format_args!(
            ": pick {}, {}; covers first {}",
            seed.pick,
            gain(seed.gain),
            parts(&seed.covers)
        ))
}

fn cores_of_site(lines: &mut Facts, site: &CoresOfSite) {
    for of in &site.in_cores {
        lines.add(format_args!(
            "core {}: {} and {} of the site",
            of.core,
            counted(of.hubs, "hub"),
            counted(of.authorities, "authority")
        ));
    }
    lines.add(format_args!(
        "in no core: {} near one, {} with inter-site links near none, {} whose inter-site links \
         do not count",
        counted(site.near_core, "page"),
        site.no_core,
        site.ineligible
    ));
}

fn cover_of_site(lines: &mut Facts, site: &CoverOfSite) {
    lines.add(format_args!(
        "{} of {} filled, by refresh {}: {}",
        site.site_seeds.len(),
        counted(site.seats, "seat"),
        site.since,
        stop_reason(site.stop)
    ));
    let value = site
        .value
        .map_or_else(String::new, |value| format!(", worth {value} in total"));
    lines.add(format_args!(
        "of {}{value}, they cover {}",
        counted(site.crawled_at_refresh, "crawled page"),
        parts(&site.covers)
    ));
    lines.add(format_args!(
        "{} {} covered by no seed",
        counted(site.uncovered, "crawled page"),
        is_or_are(&site.uncovered)
    ));
    for page in &site.best_uncovered {
        let bound = if site.exact { "" } else { "at most " };
        let score = Line::from(format_args!("  {bound}{} ", page.score));
        lines.add(score.and_page(&page.url));
    }
}

/// Formats the score of a pick; `None` means a random pick.
fn gain(gain: Option<f64>) -> String {
    gain.map_or_else(
        || "drawn at random".to_owned(),
        |gain| format!("score {gain}"),
    )
}

/// Formats the rank of a seed, or of a page that `--max-changes` keeps off the list.
fn rank(rank: u32, deferred: bool) -> String {
    if deferred {
        format!("not a seed, deferred by --max-changes as number {rank}")
    } else {
        format!("seed {rank}")
    }
}

/// Formats pages and the components of their value.
fn parts(parts: &ValueBreakdown) -> String {
    format!(
        "{} ({} clicked, {} spam, {}), value {} ({} of it from uncrawled outlinks)",
        counted(parts.pages, "page"),
        parts.clicked,
        parts.spam,
        counted(parts.uncrawled_outlinks, "uncrawled outlink"),
        parts.value,
        parts.uncrawled_value
    )
}

/// Formats a pick over the web.
fn web_pick(seed: &SiteSeed) -> Line {
    let score = gain(seed.gain);
    Line::page(&seed.url).and(format_args!(
        " ({}, {score})",
        rank(seed.rank, seed.deferred)
    ))
}

/// Formats the page with the second-best score.
fn runner_up(second: &ScoredUrl) -> Line {
    Line::from("runner-up ")
        .and_page(&second.url)
        .and(format_args!(" with {}", second.score))
}

fn web_parts(reached: &WebValueBreakdown) -> String {
    format!(
        "{}; {} of the pages known, cost {}, net {}",
        parts(&reached.all),
        reached.known,
        reached.cost,
        reached.net
    )
}

/// Adds what a seed over the web reaches, and at what cost.
fn web_seed(lines: &mut Facts, seed: &WebSeed) {
    let score = gain(seed.gain);
    lines.add(format_args!("picked by refresh {}: {score}", seed.since));
    lines.add(format_args!("reaches first: {}", web_parts(&seed.reaches)));
    for (hop, of_hop) in seed.hops.iter().enumerate() {
        lines.add(format_args!("  hop {hop}: {}", web_parts(of_hop)));
    }
    match &seed.runner_up {
        Some(other) if seed.gain.is_some_and(|gain| other.score > gain) => lines.add(
            Line::from("kept from the previous list, although ")
                .and_page(&other.url)
                .and(format_args!(" would add {}", other.score)),
        ),
        Some(second) => lines.add(runner_up(second)),
        None if seed.gain.is_none() => {}
        None => lines.add("no runner-up: no other page could be a seed"),
    }
    if let Some((by, hop)) = &seed.reached_by {
        lines.add(
            Line::from("already reached by ")
                .and_line(web_pick(by))
                .and(format_args!(" in {}", counted(*hop, "link"))),
        );
    }
    terms(lines, &seed.terms);
}

/// Adds the number of hops, the cost of a page, and how they were chosen.
fn terms(lines: &mut Facts, terms: &WebTerms) {
    lines.add(format_args!(
        "seeds reach pages within {}, and every page reached costs {}",
        counted(terms.hops, "hop"),
        terms.fetch_cost
    ));
    if let Some(slack) = terms.keep_seeds {
        lines.add(format_args!(
            "seeds of the previous list stay while the list is worth at most {slack} % less than a new one"
        ));
    }
    if terms.learned {
        lines.add(
            "a page is worth the new links that its next fetch is expected to bring, learned from past fetches; \
             pages that gain nothing fill the list by their own values",
        );
    }
    if let (Some(tuned), Some(budget)) = (&terms.tuned, terms.budget) {
        lines.add(format_args!(
            "the best of {} tried for a crawl of {}, on the state after batch {}{}: \
             its pages are worth {}",
            counted(tuned.settings, "setting"),
            counted(budget, "page"),
            tuned.batch,
            match tuned.draws {
                0 => String::new(),
                draws => format!(", with a tenth of the crawled pages held out {draws} times"),
            },
            tuned.gathered
        ));
    }
}

/// Adds the evidence for a page that no seed over the web reaches.
fn unreached(lines: &mut Facts, page: &Unreached) {
    lines.add(format_args!(
        "{} of {} seeds were picked",
        page.picks, page.seeds_requested
    ));
    match (page.score, &page.last_pick) {
        (Some(score), Some(last)) if page.is_better_than(last) => lines.add(
            Line::from(format_args!(
                "its score after the last pick: {score}, more than that of the last pick, "
            ))
            .and_line(web_pick(last)),
        ),
        (Some(score), Some(last)) => lines.add(
            Line::from(format_args!(
                "its score after the last pick: {score}; every pick scored higher, the last was "
            ))
            .and_line(web_pick(last)),
        ),
        (Some(score), None) => lines.add(format_args!(
            "its score after the last pick: {score}, which is no gain"
        )),
        (None, _) => lines.add("pages are drawn at random, without scores"),
    }
    terms(lines, &page.terms);
}

/// Adds what seeds over the web reach on a site.
fn web_of_site(lines: &mut Facts, site: &WebOfSite) {
    lines.add(format_args!(
        "{} of its pages are reached by seeds of any site",
        site.reached
    ));
    lines.add(format_args!(
        "{} crawled pages are eligible as seeds, and no seed reaches them",
        site.unreached
    ));
    for page in &site.best_unreached {
        let score = Line::from(format_args!("  {} ", page.score));
        lines.add(score.and_page(&page.url));
    }
}
