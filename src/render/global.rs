//! Renders answers of `explain` for plans over the whole web, and the parts shared with plans of sites.

use crate::engine::query::{
    ScoredUrl, SiteSeed, Unreached, ValueBreakdown, WebOfSite, WebSeed, WebTerms, WebValueBreakdown,
};
use seedbank_formats::display::counted;

use super::lines::{Line, Lines};

/// Formats the score of a pick; `None` means a random pick.
pub(crate) fn gain(gain: Option<f64>) -> String {
    gain.map_or_else(
        || "drawn at random".to_owned(),
        |gain| format!("score {gain}"),
    )
}

/// Formats the rank of a seed, or of a page that `--max-changes` keeps off the list.
pub(crate) fn rank(rank: u32, deferred: bool) -> String {
    if deferred {
        format!("not a seed, deferred by --max-changes as number {rank}")
    } else {
        format!("seed {rank}")
    }
}

/// Formats pages and the components of their value.
pub(crate) fn parts(parts: &ValueBreakdown) -> String {
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
pub(crate) fn web_pick(seed: &SiteSeed) -> Line {
    let score = gain(seed.gain);
    Line::page(&seed.url).and(format_args!(
        " ({}, pick {}, {score})",
        rank(seed.rank, seed.deferred),
        seed.pick
    ))
}

/// Formats the page with the second-best score.
pub(crate) fn runner_up(second: &ScoredUrl) -> Line {
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
pub(crate) fn web_seed(lines: &mut Lines, seed: &WebSeed) {
    let score = gain(seed.gain);
    lines.add(format_args!(
        "pick {}, by refresh {}: {score}",
        seed.pick, seed.since
    ));
    lines.add(format_args!("reaches first: {}", web_parts(&seed.reaches)));
    for (hop, of_hop) in seed.hops.iter().enumerate() {
        lines.add(format_args!("  hop {hop}: {}", web_parts(of_hop)));
    }
    match &seed.runner_up {
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
fn terms(lines: &mut Lines, terms: &WebTerms) {
    lines.add(format_args!(
        "seeds reach pages within {}, and every page reached costs {}",
        counted(terms.hops, "hop"),
        terms.fetch_cost
    ));
    if terms.learned {
        lines.add(
            "a page is worth the new links that its next fetch is expected to bring, learned from past fetches; \
             pages that gain nothing fill the list by their own values",
        );
    }
    if let (Some(tuned), Some(budget)) = (&terms.tuned, terms.budget) {
        lines.add(format_args!(
            "the best of {} settings tried for a crawl of {budget} pages, on the state after batch {}{}: \
             its pages are worth {}",
            tuned.settings,
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
pub(crate) fn unreached(lines: &mut Lines, page: &Unreached) {
    lines.add(format_args!(
        "{} of {} seeds were picked",
        page.picks, page.seeds_requested
    ));
    match (page.score, &page.last_pick) {
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
pub(crate) fn web_of_site(lines: &mut Lines, site: &WebOfSite) {
    for seed in &site.site_seeds {
        lines.add(web_pick(seed));
    }
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
