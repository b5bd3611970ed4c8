//! The evidence for a page in a refresh, as facts and as a table of what a crawl from it finds.

use crate::engine::query::{
    CoreNumbers, CoreSeed, CoverSeed, Explanation, NearCore, Role, RowSums, SidePosition, SiteSeed,
    Uncovered, Unreached, ValueBreakdown, WebSeed, WebTerms, WebValueBreakdown, Why,
};
use crate::render::{state_name, stop_reason};
use crate::serve::address;
use crate::serve::table::{Cell, Column, Table};

/// Facts with their names.
pub(super) type Facts = Vec<(&'static str, Cell)>;

/// What a refresh stored about a page.
pub(super) struct Evidence {
    /// The page as it is today.
    pub(super) today: Facts,
    pub(super) facts: Facts,
    /// What a crawl from a seed finds, by distance; `None` for other pages.
    pub(super) finds: Option<Table>,
}

/// Returns the evidence for an explanation.
pub(super) fn evidence(answer: &Explanation) -> Evidence {
    let refresh = answer.run.refresh;
    let mut facts = Facts::new();
    let mut finds = None;
    match &answer.why {
        Why::CoreSeed(seed) => core_seed(&mut facts, refresh, seed),
        Why::CoverSeed(seed) => finds = Some(cover_seed(&mut facts, seed)),
        Why::WebSeed(seed) => finds = Some(web_seed(&mut facts, seed)),
        Why::CoreMember(member) => {
            core(&mut facts, refresh, &member.core);
            seed_of_core(
                &mut facts,
                &member.core,
                &member.seed.url,
                member.seed.score,
            );
            if let Some(hub) = &member.hub {
                position(
                    &mut facts,
                    ["Hub score", "Rank among the hubs", "Added as hub"],
                    hub,
                );
            }
            if let Some(authority) = &member.authority {
                let names = [
                    "Authority score",
                    "Rank among the authorities",
                    "Added as authority",
                ];
                position(&mut facts, names, authority);
            }
        }
        Why::NearCore(near) => near_core(&mut facts, refresh, near),
        Why::NoCore(sums) => row_sums(&mut facts, *sums),
        Why::Covered { by, hop } | Why::Reached { by, hop } => {
            pick(&mut facts, "Found by seed", by);
            facts.push(("Distance from it, links", Cell::Count((*hop).into())));
        }
        Why::Uncovered(page) => uncovered(&mut facts, page),
        Why::Unreached(page) => unreached(&mut facts, page),
        Why::NoSeats { crawled } => facts.push((
            "Crawled pages of its site at the refresh",
            Cell::Count((*crawled).into()),
        )),
        // The sentence is complete.
        Why::NoInterSiteLinks { .. } | Why::Ineligible { .. } | Why::NotYetKnown => {}
    }
    Evidence {
        today: today(answer),
        facts,
        finds,
    }
}

fn today(answer: &Explanation) -> Facts {
    let page = &answer.page;
    let spam = page.spam.then_some("spam");
    let mut facts = vec![
        (
            "State",
            Cell::text(state_name(page.state)).tagged("lost", spam),
        ),
        ("Site", Cell::Site(answer.site.clone())),
        ("First seen in batch", Cell::Count(page.first_seen.into())),
        ("Last record in batch", Cell::count(page.last_seen)),
    ];
    if let Some(alias) = &page.alias {
        facts.push(("Alias of", Cell::Page(alias.to.clone())));
        if let Some(end) = alias.resolves_to.as_ref().filter(|end| **end != alias.to) {
            facts.push(("Which leads to", Cell::Page(end.clone())));
        }
    }
    if page.recorded_since_refresh && answer.why != Why::NotYetKnown {
        let text = "ingested after the refresh; refresh again to see its effect";
        facts.push(("That record was", Cell::text(text)));
    }
    facts
}

/// Adds the figures of a core.
fn core(facts: &mut Facts, refresh: u32, core: &CoreNumbers) {
    let number = Cell::Count(core.rank.into()).linked(address::core(refresh, core.rank));
    let template = core.is_template().then_some("a page template");
    facts.extend([
        ("Core", number.tagged("new", template)),
        ("Sigma of the core", Cell::Number(core.sigma)),
    ]);
    if let Some(bound) = core.sigma_bound {
        facts.push(("Sigma of any remaining group, at most", Cell::Number(bound)));
    }
    facts.extend([
        ("Hubs", Cell::Count(core.hubs.into())),
        ("Sites of the hubs", Cell::Count(core.hub_sites.into())),
        ("Authorities", Cell::Count(core.authorities.into())),
        (
            "Sites of the authorities",
            Cell::Count(core.authority_sites.into()),
        ),
        ("Links of hubs to authorities", Cell::Count(core.edges)),
    ]);
}

fn position(facts: &mut Facts, [score, rank, place]: [&'static str; 3], at: &SidePosition) {
    facts.extend([
        (score, Cell::Number(at.score)),
        (rank, Cell::Count(at.rank.into())),
        (place, Cell::Count(at.position.into())),
    ]);
}

fn seed_of_core(facts: &mut Facts, core: &CoreNumbers, url: &str, score: f64) {
    let (name, of_score) = if core.gives_seed {
        ("Seed of the core", "Hub score of the seed")
    } else {
        ("Best hub, which policies reject", "Hub score of that hub")
    };
    facts.push((name, Cell::Page(url.to_owned())));
    facts.push((of_score, Cell::Number(score)));
}

fn core_seed(facts: &mut Facts, refresh: u32, seed: &CoreSeed) {
    facts.push(("A seed since refresh", Cell::Refresh(seed.since)));
    core(facts, refresh, &seed.core);
    position(
        facts,
        ["Hub score", "Rank among the hubs", "Added as hub"],
        &seed.hub,
    );
    facts.extend([
        (
            "Authorities that it links to",
            Cell::Count(seed.linked_authorities.into()),
        ),
        (
            "Sites of these pages",
            Cell::Count(seed.linked_sites.into()),
        ),
        (
            "The first of them",
            Cell::Pages(seed.first_authorities.clone()),
        ),
    ]);
    if let Some(second) = &seed.runner_up {
        facts.push(("Best other hub", Cell::Page(second.url.clone())));
        facts.push(("Its hub score", Cell::Number(second.score)));
    }
}

fn near_core(facts: &mut Facts, refresh: u32, near: &NearCore) {
    core(facts, refresh, &near.core);
    seed_of_core(facts, &near.core, &near.seed.url, near.seed.score);
    let (role, weakest) = match near.role {
        Role::Hub => ("Score as a hub", "Weakest hub that was added"),
        Role::Authority => ("Score as an authority", "Weakest authority that was added"),
    };
    facts.extend([
        (role, Cell::Number(near.score)),
        (weakest, Cell::Page(near.weakest.url.clone())),
        ("Its score", Cell::Number(near.weakest.score)),
        ("Links with the core", Cell::Count(near.links.into())),
        ("Links that it would need", Cell::Count(near.links_needed)),
    ]);
    row_sums(facts, near.row_sums);
}

fn row_sums(facts: &mut Facts, sums: RowSums) {
    facts.extend([
        ("Row sum as an authority", Cell::Count(sums.as_authority)),
        ("Row sum as a hub", Cell::Count(sums.as_hub)),
        (
            "Least row sum of a core as dense as the last",
            Cell::number(sums.last_lambda),
        ),
    ]);
}

/// Adds a pick with its rank and score.
fn pick(facts: &mut Facts, name: &'static str, seed: &SiteSeed) {
    let deferred = seed.deferred.then_some("deferred by the limit on changes");
    facts.extend([
        (name, Cell::Page(seed.url.clone()).tagged("new", deferred)),
        ("Its rank", Cell::Count(seed.rank.into())),
        ("Its score", Cell::number(seed.gain)),
    ]);
}

fn cover_seed(facts: &mut Facts, seed: &CoverSeed) -> Table {
    facts.extend([
        ("Score", Cell::number(seed.gain)),
        ("Pick of its site", Cell::Count(seed.pick.into())),
        ("Seats of its site", Cell::Count(seed.seats.into())),
        ("Picked by refresh", Cell::Refresh(seed.since)),
        ("Pages found first", Cell::Count(seed.covers.pages)),
        ("Their value, units", Cell::Number(seed.covers.value)),
    ]);
    if let Some(second) = &seed.runner_up {
        facts.push(("Second best page", Cell::Page(second.url.clone())));
        facts.push(("Score of that page", Cell::Number(second.score)));
    }
    if let Some((by, hop)) = &seed.covered_by {
        pick(facts, "Found before by", by);
        facts.push(("Distance from it, links", Cell::Count((*hop).into())));
    }
    let mut columns = vec![Column::number("distance", "Distance, links")];
    columns.extend(value_columns());
    let rows = (0..).zip(&seed.hops).map(|(hop, found)| {
        let mut row = vec![Cell::Count(hop)];
        row.extend(values(found));
        row
    });
    let caption = "What a crawl from the page finds first, by distance";
    Table::new("finds", caption, columns, rows.collect())
}

fn value_columns() -> [Column; 5] {
    [
        Column::number("pages", "Pages"),
        Column::number("clicked", "Clicked"),
        Column::number("spam", "Spam"),
        Column::number("uncrawled_outlinks", "Uncrawled outlinks"),
        Column::number("value", "Value, units"),
    ]
}

fn values(found: &ValueBreakdown) -> [Cell; 5] {
    [
        Cell::Count(found.pages),
        Cell::Count(found.clicked),
        Cell::Count(found.spam),
        Cell::Count(found.uncrawled_outlinks),
        Cell::Number(found.value),
    ]
}

fn web_seed(facts: &mut Facts, seed: &WebSeed) -> Table {
    facts.extend([
        ("Score", Cell::number(seed.gain)),
        ("Pick", Cell::Count(seed.pick.into())),
        ("Picked by refresh", Cell::Refresh(seed.since)),
        ("Pages found first", Cell::Count(seed.reaches.all.pages)),
        ("Their value, units", Cell::Number(seed.reaches.all.value)),
        (
            "Cost of fetching them, units",
            Cell::Number(seed.reaches.cost),
        ),
    ]);
    if let Some(second) = &seed.runner_up {
        facts.push(("Second best page", Cell::Page(second.url.clone())));
        facts.push(("Score of that page", Cell::Number(second.score)));
    }
    if let Some((by, hop)) = &seed.reached_by {
        pick(facts, "Found before by", by);
        facts.push(("Distance from it, links", Cell::Count((*hop).into())));
    }
    terms(facts, &seed.terms);
    let mut columns = vec![Column::number("distance", "Distance, links")];
    columns.extend(value_columns());
    columns.extend([
        Column::number("known", "Not crawled"),
        Column::number("cost", "Cost, units"),
        Column::number("net", "Net, units"),
    ]);
    let row = |(hop, found): (u64, &WebValueBreakdown)| {
        let mut row = vec![Cell::Count(hop)];
        row.extend(values(&found.all));
        row.extend([
            Cell::Count(found.known),
            Cell::Number(found.cost),
            Cell::Number(found.net),
        ]);
        row
    };
    let rows = (0..).zip(&seed.hops).map(row).collect();
    let caption = "What a crawl from the page finds first, by distance";
    Table::new("finds", caption, columns, rows)
}

/// Adds how far seeds reach, at what cost, and how that was chosen.
fn terms(facts: &mut Facts, terms: &WebTerms) {
    facts.extend([
        (
            "Hops within which a seed reaches pages",
            Cell::Count(terms.hops.into()),
        ),
        ("Cost of each page, units", Cell::Number(terms.fetch_cost)),
        ("Budget of the crawl, pages", Cell::count(terms.budget)),
    ]);
    if terms.learned {
        let what = "the new links that its next fetch is expected to bring";
        facts.push(("Value of a page", Cell::text(what)));
    }
    if let Some(tuned) = &terms.tuned {
        facts.push(("Settings tried for it", Cell::Count(tuned.settings.into())));
    }
}

fn uncovered(facts: &mut Facts, page: &Uncovered) {
    let score = if page.exact {
        "Score after the last pick"
    } else {
        "Score after the last pick, at most"
    };
    facts.extend([
        (score, Cell::number(page.score)),
        ("Picks of its site", Cell::Count(page.picks.into())),
        ("Seats of its site", Cell::Count(page.seats.into())),
        ("Why no more", Cell::text(stop_reason(page.stop))),
    ]);
    if let Some(last) = &page.last_pick {
        pick(facts, "Last pick", last);
    }
}

fn unreached(facts: &mut Facts, page: &Unreached) {
    facts.extend([
        ("Score after the last pick", Cell::number(page.score)),
        ("Picks", Cell::Count(page.picks.into())),
        ("Seeds requested", Cell::Count(page.seeds_requested.into())),
    ]);
    if let Some(last) = &page.last_pick {
        pick(facts, "Last pick", last);
    }
    terms(facts, &page.terms);
}
