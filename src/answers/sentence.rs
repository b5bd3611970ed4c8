//! Renders the first sentence of `explain`, for readers who do not know how seeds are selected.
//!
//! It mentions only pages and the links between them. Sigma, hubs, hops and gains belong to the
//! evidence, which follows it.

use crate::engine::plan::{CoverMethod, Method};
use crate::engine::policy::RejectionReason;
use crate::engine::query::{
    AliasView, CoreMember, CoreNumbers, CoreSeed, CoverSeed, CoverStop, IneligibleReason, NearCore,
    NotAdded, PolicyVerdict, RefreshRun, Role, RowSums, SiteSeed, Uncovered, Unreached, WebSeed,
    Why,
};
use crate::engine::refresh::Proof;
use seedbank_formats::display::counted;

use super::facts::Line;
use super::phrases::{fault, flag};

/// Renders why a page of a site is a seed or not in one sentence. The verdict of the policies takes
/// precedence over that of the method.
#[must_use]
pub fn page_reason(
    run: &RefreshRun,
    policy: Option<&PolicyVerdict>,
    why: &Why,
    site: &str,
    alias: Option<&AliasView>,
) -> Line {
    let plan = &run.plan;
    if let Some(policy) = policy.map(|policy| by_policy(plan, policy)) {
        return policy.into();
    }
    match why_seed(run, why) {
        Some((rank, why)) => format!("Seed {rank} of plan {plan}: {why}.").into(),
        None => Line::from(format_args!("Not a seed of plan {plan}: "))
            .and_line(no_seed(why, run.method, site, alias))
            .and("."),
    }
}

/// Renders why a page is a seed in one sentence, for a list whose title names the plan; `None` if it is not a
/// seed.
#[must_use]
pub fn seed_reason(run: &RefreshRun, policy: Option<&PolicyVerdict>, why: &Why) -> Option<String> {
    let reason = match policy {
        Some(PolicyVerdict::Pinned { .. }) => "the plan pins it".to_owned(),
        Some(PolicyVerdict::Retained { last_chosen, .. }) => {
            format!("{RETAINED}; refresh {last_chosen} was the last to select it")
        }
        Some(PolicyVerdict::PinRejected { .. } | PolicyVerdict::Rejected { .. }) => return None,
        None => why_seed(run, why)?.1,
    };
    let mut letters = reason.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    Some(format!("{first}{}.", letters.as_str()))
}

/// Returns the rank of a seed and why the method selected it; `None` if the page is not a seed.
fn why_seed(run: &RefreshRun, why: &Why) -> Option<(u32, String)> {
    match why {
        Why::CoreSeed(seed) => Some((seed.rank, core_seed(seed, run))),
        Why::CoverSeed(seed) => Some((seed.rank, cover_seed(seed, run.method))),
        Why::WebSeed(seed) => Some((seed.rank, web_seed(seed, run.method))),
        _ => None,
    }
}

/// Why a page that the method did not select is on the list.
const RETAINED: &str = "it stays on the list because --max-changes allows no further change";

/// Renders the verdict of the policies.
fn by_policy(plan: &str, policy: &PolicyVerdict) -> String {
    match policy {
        PolicyVerdict::Pinned { rank } => format!("Seed {rank} of plan {plan}: the plan pins it."),
        PolicyVerdict::PinRejected { why } => {
            format!(
                "Not a seed of plan {plan}: the plan pins it, but {}.",
                fault(*why)
            )
        }
        PolicyVerdict::Retained { rank, last_chosen } => format!(
            "Seed {rank} of plan {plan}: {RETAINED}; refresh {last_chosen} was the last to select it."
        ),
        PolicyVerdict::Rejected {
            by: RejectionReason::Document,
            ..
        } => format!(
            "Not a seed of plan {plan}: it is a document, such as a PDF or a feed, which is never a seed."
        ),
        PolicyVerdict::Rejected { by, line } => {
            let line = line.as_ref();
            let line = line.map_or_else(String::new, |line| format!(", line `{line}`"));
            format!(
                "Not a seed of plan {plan}: a policy of the plan rejects it ({}{line}).",
                flag(*by)
            )
        }
    }
}

fn no_seed(why: &Why, method: Method, site: &str, alias: Option<&AliasView>) -> Line {
    match why {
        Why::CoreMember(member) => core_member(member),
        Why::NearCore(near) => near_core(near).into(),
        Why::NoCore(sums) => near_none(*sums).into(),
        Why::NoInterSiteLinks {
            neighbours_ineligible: true,
        } => "all pages of other sites that it is linked with are ineligible (spam, gone, or not \
              crawled)"
            .into(),
        Why::NoInterSiteLinks {
            neighbours_ineligible: false,
        } => "it has no links from or to other sites, and this plan uses only links between sites"
            .into(),
        Why::Covered { by, hop } => leader(by, " on the same site").and(leads_within(*hop)),
        Why::Uncovered(page) => uncovered(page).into(),
        Why::NoSeats { crawled } => format_args!(
            "its site {site} ({}) was allocated no seeds",
            counted(*crawled, "crawled page")
        )
        .into(),
        Why::Reached { by, hop } => leader(by, "").and(leads_within(*hop)),
        Why::Represented { by } => Line::from("it has the same content as ")
            .and_page(by)
            .and(", which counts instead"),
        Why::Unreached(page) => unreached(page).into(),
        Why::Ineligible { reason } => ineligible(*reason, method, alias),
        Why::NotYetKnown => {
            "the bank did not know it when the plan was refreshed; refresh again".into()
        }
        // Seeds are handled by the caller.
        Why::CoreSeed(_) | Why::CoverSeed(_) | Why::WebSeed(_) => Line::default(),
    }
}

fn leads_within(hops: u32) -> String {
    format!(" leads to it within {}", counted(hops, "link"))
}

/// Names the pick that leads to a page: a seed, or a page that `--max-changes` keeps off the list.
fn leader(by: &SiteSeed, place: &str) -> Line {
    if by.deferred {
        Line::page(&by.url).and(format_args!(
            "{place}, which would be a seed if --max-changes allowed more changes,"
        ))
    } else {
        Line::from(format_args!("seed {}, ", by.rank))
            .and_page(&by.url)
            .and(format_args!("{place},"))
    }
}

/// Returns whether every hub of a core links to every authority.
fn is_complete(core: &CoreNumbers) -> bool {
    core.edges == u64::from(core.hubs) * u64::from(core.authorities)
}

/// Describes a core by its hubs and what they link to.
fn group(core: &CoreNumbers) -> String {
    let targets = counted(core.authorities, "page");
    let sites = counted(core.authority_sites, "site");
    let template = if core.is_template() {
        " of one template"
    } else {
        ""
    };
    match (core.hubs, is_complete(core)) {
        (1, _) => format!("one page with links to {targets} on {sites}"),
        (hubs, true) => {
            format!("{hubs} pages{template} that all link to the same {targets} on {sites}")
        }
        (hubs, false) => {
            format!("{hubs} pages{template} that link to mostly the same {targets} on {sites}")
        }
    }
}

fn core_seed(seed: &CoreSeed, run: &RefreshRun) -> String {
    let before = seed.since < run.refresh;
    let core = &seed.core;
    if core.hubs == 1 {
        return format!(
            "it alone links to {} on {}, {}",
            counted(core.authorities, "page"),
            counted(core.authority_sites, "site"),
            match run.proof {
                Proof::Exact => "the densest remaining group",
                Proof::Within => "nearly the densest remaining group",
                Proof::NotApplicable | Proof::NotProved => "a dense group of those that remain",
            }
        );
    }
    let group = group(core);
    match (seed.hub.rank, before) {
        (1, _) => format!("it represents {group}, and has the best links of them"),
        (_, true) => format!("it represents {group}, as before"),
        (_, false) => format!("it represents {group}"),
    }
}

fn core_member(member: &CoreMember) -> Line {
    let core = &member.core;
    if !core.gives_seed {
        return member_without_seed(member);
    }
    let seed = &member.seed.url;
    let all = counted(core.authorities, "page");
    let line = match (&member.hub, &member.authority) {
        (Some(_), None) => format!(
            "it is one of {}; one of them is enough, and the seed is ",
            group(core)
        ),
        (None, _) if core.hubs == 1 => {
            return Line::from("the seed ").and_page(seed).and(" links to it");
        }
        (None, _) if is_complete(core) => format!(
            "it is one of {all} that the same {} pages all link to; the seed is one of those: ",
            core.hubs
        ),
        (None, _) => format!(
            "it is one of {all} that mostly the same {} pages link to; the seed is one of those: ",
            core.hubs
        ),
        (Some(_), Some(_)) => format!(
            "it is one of {}, and is itself linked to by them; one of the {} is enough, and the seed \
             is ",
            group(core),
            core.hubs
        ),
    };
    Line::from(line).and_page(seed)
}

/// Describes a page of a core whose seed policies reject.
fn member_without_seed(member: &CoreMember) -> Line {
    let core = &member.core;
    let seed = &member.seed.url;
    let both = if member.authority.is_some() {
        ", and is itself linked to by them"
    } else {
        ""
    };
    let line = match (&member.hub, core.hubs) {
        // The page is the only hub.
        (Some(_), 1) => {
            return format_args!(
                "it is {}, and policies of the plan keep it off the list",
                group(core)
            )
            .into();
        }
        (Some(_), _) => format!(
            "it is one of {}{both}, and policies of the plan keep their representative, ",
            group(core)
        ),
        (None, 1) => {
            return Line::page(seed)
                .and(" links to it, and policies of the plan keep that page off the list");
        }
        (None, hubs) => {
            let (same, link) = if is_complete(core) {
                ("the same", "all link to")
            } else {
                ("mostly the same", "link to")
            };
            format!(
                "it is one of {} that {same} {hubs} pages {link}, and policies of the plan keep the \
                 representative of those, ",
                counted(core.authorities, "page")
            )
        }
    };
    Line::from(line).and_page(seed).and(", off the list")
}

fn near_core(near: &NearCore) -> String {
    let core = &near.core;
    let but = match near.reason {
        NotAdded::TooFewLinks => "too few to belong to that group",
        NotAdded::MaxHubs => "but the group already had its maximum number of pages",
        NotAdded::CoreSize => "but the group had already reached its size",
        NotAdded::GrowthEnded => "but the group was already complete",
    };
    match near.role {
        Role::Hub => format!(
            "it links to {} of the {} that {} to together, {but}",
            near.links,
            counted(core.authorities, "page"),
            match (core.hubs, core.gives_seed) {
                (1, true) => "a seed alone links".to_owned(),
                (1, false) => "another page alone links".to_owned(),
                (hubs, _) => format!("a group of {hubs} pages links"),
            }
        ),
        Role::Authority => format!(
            "{} of the {} of a group {} to it, {}",
            near.links,
            counted(core.hubs, "page"),
            if near.links == 1 { "links" } else { "link" },
            match near.reason {
                NotAdded::TooFewLinks => format!(
                    "too few for it to be one of the {} that they link to together",
                    counted(core.authorities, "page")
                ),
                _ => but.to_owned(),
            }
        ),
    }
}

const fn near_none(sums: RowSums) -> &'static str {
    if sums.last_lambda.is_none() {
        "no group of pages with common links was found, so there are no seeds"
    } else {
        "it links to no page that a seed's group links to, and no page of such a group links to it"
    }
}

/// Describes what a crawl from a seed finds: pages by distance, itself included, and their value. For
/// a later pick, only what earlier picks do not find.
fn finds(pages: u64, hops: usize, is_first: bool, worth: &str) -> String {
    let hops = u32::try_from(hops.saturating_sub(1)).unwrap_or(u32::MAX);
    let links = counted(hops, "link");
    match (pages, hops, is_first) {
        (0, _, _) => "a crawl from it finds nothing that better seeds do not".to_owned(),
        (_, 0, true) => format!("a crawl from it finds no other page, and it is worth {worth}"),
        (_, 0, false) => {
            format!(
                "a crawl from it finds nothing that better seeds do not but itself, worth {worth}"
            )
        }
        (_, _, true) => format!(
            "a crawl from it finds {} within {links}, together worth {worth}",
            counted(pages, "page")
        ),
        (_, _, false) => format!(
            "a crawl from it finds {} within {links} that no better seed reaches, together worth {worth}",
            counted(pages, "page")
        ),
    }
}

fn cover_seed(seed: &CoverSeed, method: Method) -> String {
    let how = match method {
        Method::Cover(CoverMethod::Random) => "it was drawn at random, and ",
        Method::Cover(CoverMethod::Pagerank) => {
            "it has the best PageRank of the remaining pages of its site, and "
        }
        Method::Cover(CoverMethod::OutDegree | CoverMethod::MaxOut) => {
            "it has the most links of the remaining pages of its site, and "
        }
        _ => "",
    };
    let worth = seed.covers.value.to_string();
    let (pages, hops) = (seed.covers.pages, seed.hops.len());
    format!(
        "{how}on its site {}",
        finds(pages, hops, seed.pick == 1, &worth)
    )
}

fn web_seed(seed: &WebSeed, method: Method) -> String {
    let how = match (method, seed.gain) {
        (_, None) => "it was drawn at random, and ",
        (Method::Cover(CoverMethod::Oldest), _) => "its last fetch is the longest ago, and ",
        _ => "",
    };
    let mut worth = seed.reaches.net.to_string();
    if seed.reaches.cost > 0.0 {
        worth.push_str(" more than fetching them costs");
    }
    let (pages, hops) = (seed.reaches.all.pages, seed.hops.len());
    format!("{how}{}", finds(pages, hops, seed.is_first, &worth))
}

fn uncovered(page: &Uncovered) -> String {
    let picks = match page.picks {
        0 => "its site has no seed".to_owned(),
        1 => "the one seed of its site is another page and does not lead to it".to_owned(),
        picks => format!("the {picks} seeds of its site are other pages and do not lead to it"),
    };
    match (page.stop, page.score) {
        (_, None) => format!("{picks}, and seeds are drawn at random"),
        (CoverStop::Complete, Some(_)) => format!("{picks}, and its site has all its seeds"),
        (CoverStop::NotPositive | CoverStop::NoValueLeft, Some(_)) => {
            format!("{picks}, and there was nothing more to gain")
        }
        (CoverStop::NoPageLeft, Some(_)) => format!("{picks}, and no page was left to pick"),
    }
}

fn unreached(page: &Unreached) -> String {
    match (page.score, &page.last_pick) {
        (None, _) => "no seed leads to it, and seeds are drawn at random".to_owned(),
        (Some(_), Some(last)) if page.is_better_than(last) => {
            "no seed leads to it; seeds of the previous list stay while the list is worth almost as much as a new one"
                .to_owned()
        }
        (Some(_), Some(_)) if page.picks == 1 => {
            "the one requested seed was a better choice, and does not lead to it".to_owned()
        }
        (Some(_), Some(_)) => format!(
            "the {} requested seeds were all better choices, and none leads to it",
            page.picks
        ),
        (Some(_), None) => {
            "no seed leads to it, and a crawl would gain nothing by starting from it".to_owned()
        }
    }
}

fn ineligible(reason: IneligibleReason, method: Method, alias: Option<&AliasView>) -> Line {
    match reason {
        IneligibleReason::Spam if method == Method::Cores => {
            "it is marked as spam, which this plan excludes (`refresh --keep-spam` includes it)"
        }
        IneligibleReason::Spam => {
            "it is marked as spam, so it cannot be a seed, and no seed leads to it"
        }
        IneligibleReason::Gone => "it is gone",
        IneligibleReason::NotCrawled => {
            "it was known only from links, and this plan selects only crawled pages"
        }
        IneligibleReason::Excluded => "the plan excludes it from the graph (--exclude-from-graph)",
        IneligibleReason::Unlinked => "no page links to it any more, and it was never crawled",
        IneligibleReason::Resource => "it is a resource, not a page: no graph has it, and no list",
        IneligibleReason::Alias => {
            return match alias.and_then(|alias| alias.resolves_to.as_ref()) {
                Some(to) => Line::from("it is an alias, and links to it count for ").and_page(to),
                None => "it is an alias, and links to it count for another page".into(),
            };
        }
        IneligibleReason::NoLinks => {
            "it has no links to start a crawl from, and no seed leads to it"
        }
    }
    .into()
}
