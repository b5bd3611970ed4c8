//! The sections on seeds, cores, changes and costs, and the words that the page uses.

use super::bars::{Bar, bars};
use super::chart::Frame;
use super::data::{CoreLine, Report, SiteShare};
use super::page::{day, reason};
use super::text::{counted, escape, link, put, short, some_of, whole};

/// Longer lists are cut; the JSON file beside the page has them whole.
const SEEDS: usize = 30;
const CORES: usize = 20;
const CHANGES: usize = 10;
const COSTS: usize = 12;

/// Says what a list leaves out.
fn cut(out: &mut String, all: usize, shown: usize, json: &str) {
    if all > shown {
        put(
            out,
            format_args!(
                "<p class=\"small\">{} more in {json}.</p>\n",
                whole((all - shown) as u64)
            ),
        );
    }
}

pub(super) fn seeds(out: &mut String, report: &Report, json: &str) {
    out.push_str("<section id=\"seeds\"><h2>The seeds and their reasons</h2>\n");
    if report.seeds.is_empty() {
        out.push_str("<p>There are none.</p></section>\n");
        return;
    }
    out.push_str(if report.method == "random" {
        "<p class=\"soft\">As they were drawn.</p>\n<ol class=\"seeds\">\n"
    } else {
        "<p class=\"soft\">Best first: any head of the list is good.</p>\n<ol class=\"seeds\">\n"
    });
    for seed in report.seeds.iter().take(SEEDS) {
        let tag = match (&seed.dead, seed.kept) {
            (Some(why), _) => format!(" <span class=\"tag lost\">{} now</span>", escape(why)),
            (None, Some(false)) => " <span class=\"tag new\">new</span>".to_owned(),
            (None, _) => String::new(),
        };
        put(
            out,
            format_args!(
                "<li><span class=\"rank\">{}</span><div>{}{tag}<br><span class=\"reason\">{}</span></div></li>\n",
                seed.rank,
                link(&seed.url),
                reason(report, seed)
            ),
        );
    }
    out.push_str("</ol>\n");
    cut(out, report.seeds.len(), SEEDS, json);
    out.push_str("</section>\n");
}

pub(super) fn cores(out: &mut String, report: &Report, json: &str) {
    if report.cores.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"cores\"><h2>The cores</h2>\n\
         <p class=\"soft\">A core's hubs all link (at density 100 %) to all of its authorities. Sigma says how dense \
         and large the place is that it came from; it is the order in which cores are taken.</p>\n\
         <table class=\"stack\"><thead><tr><th>Core</th><th>Sigma</th><th>Hubs</th><th>Authorities</th><th>Density</th>\
         <th class=\"text\">Hubs on</th><th class=\"text\">Authorities on</th></tr></thead><tbody>\n",
    );
    let largest = report
        .cores
        .iter()
        .map(|core| core.sigma)
        .fold(0.0, f64::max);
    for core in report.cores.iter().take(CORES) {
        core_row(out, core, largest);
    }
    out.push_str("</tbody></table>\n");
    cut(out, report.cores.len(), CORES, json);
    put(
        out,
        format_args!(
            "<p class=\"small\">Every hub and authority with its score: <code>seedbank cores {} --refresh {} --format jsonl</code></p>\n</section>\n",
            escape(&report.bank),
            report.refresh
        ),
    );
}

fn core_row(out: &mut String, core: &CoreLine, largest: f64) {
    let share = if largest > 0.0 {
        100.0 * core.sigma / largest
    } else {
        0.0
    };
    put(
        out,
        format_args!(
            "<tr><th data-label=\"Core\">{}</th>\
             <td data-label=\"Sigma\"><span>{}<span class=\"meter\" style=\"width:{share:.1}%\"></span></span></td>\
             <td data-label=\"Hubs\">{}</td><td data-label=\"Authorities\">{}</td><td data-label=\"Density\">{} %</td>\
             <td class=\"text\" data-label=\"Hubs on\"><span>{}</span></td>\
             <td class=\"text\" data-label=\"Authorities on\"><span>{}</span></td></tr>\n",
            core.rank,
            short(core.sigma),
            whole(core.hubs),
            whole(core.authorities),
            short(core.density),
            sites(&core.hub_sites),
            sites(&core.authority_sites),
        ),
    );
}

fn sites(shares: &[SiteShare]) -> String {
    let names: Vec<String> = shares.iter().map(|share| share.site.clone()).collect();
    format!(
        "{}: {}",
        counted(names.len() as u64, "site", "sites"),
        some_of(&names, 3)
    )
}

pub(super) fn changes(out: &mut String, report: &Report, json: &str) {
    out.push_str("<section id=\"changes\"><h2>What changed</h2>\n");
    let Some(changes) = &report.changes else {
        out.push_str("<p>This is the first refresh of the plan that is kept. After the next one, the seeds gained and lost stand here.</p></section>\n");
        return;
    };
    put(
        out,
        format_args!(
            "<p>Since refresh {} (after batch {}): <b>{} kept</b>, <b>{} gained</b>, <b>{} lost</b>.{}</p>\n",
            changes.refresh,
            changes.batch,
            whole(changes.kept.len() as u64),
            whole(changes.gained.len() as u64),
            whole(changes.lost.len() as u64),
            if changes.other_parameters {
                " The plan had other parameters then."
            } else {
                ""
            }
        ),
    );
    out.push_str("<div class=\"changes\">\n");
    for (title, seeds) in [("Gained", &changes.gained), ("Lost", &changes.lost)] {
        if seeds.is_empty() {
            continue;
        }
        put(out, format_args!("<div><h3>{title}</h3><ul>\n"));
        for seed in seeds.iter().take(CHANGES) {
            put(out, format_args!("<li>{}<br><small>", link(&seed.url)));
            put(out, format_args!("{}", escape(&seed.because)));
            if let Some(batch) = seed.batch {
                put(out, format_args!(" (batch {batch})"));
            }
            if let Some(successor) = &seed.successor {
                put(out, format_args!("; {} may follow", link(successor)));
            }
            out.push_str("</small></li>\n");
        }
        out.push_str("</ul>\n");
        cut(out, seeds.len(), CHANGES, json);
        out.push_str("</div>\n");
    }
    out.push_str("</div></section>\n");
}

pub(super) fn costs(out: &mut String, report: &Report, json: &str) {
    out.push_str("<section id=\"costs\"><h2>What refreshes cost</h2>\n");
    // The newest are the ones that matter.
    let shown = &report.costs[report.costs.len().saturating_sub(COSTS)..];
    if shown.len() > 1 {
        let of_refresh: Vec<Bar> = shown
            .iter()
            .map(|cost| Bar {
                name: format!("refresh {}", cost.refresh),
                number: cost.seconds,
                error: 0.0,
                text: format!("{} s", short(cost.seconds)),
                ours: cost.refresh == report.refresh,
            })
            .collect();
        let frame = Frame {
            id: "costs-chart",
            title: "Time of each refresh of the plan",
            description: "One bar for each refresh; the table below has the numbers.",
            x: "time (seconds)",
            y: "",
        };
        put(
            out,
            format_args!(
                "<figure><h3>Time of each refresh of the plan</h3>{}</figure>\n",
                bars(&frame, &of_refresh, 82.0, 60.0)
            ),
        );
    }
    out.push_str(
        "<table class=\"stack\"><thead><tr><th>Refresh</th><th class=\"text\">Day</th><th>After batch</th><th>Seeds</th>\
         <th>Seconds</th><th>Link visits</th><th>Page visits</th><th class=\"text\">How</th></tr></thead><tbody>\n",
    );
    for cost in shown {
        put(
            out,
            format_args!(
                "<tr><th data-label=\"Refresh\">{}</th><td class=\"text keep\" data-label=\"Day\">{}</td><td data-label=\"After batch\">{}</td>\
                 <td data-label=\"Seeds\">{}</td><td data-label=\"Seconds\">{}</td><td data-label=\"Link visits\">{}</td>\
                 <td data-label=\"Page visits\">{}</td><td class=\"text keep\" data-label=\"How\">{}, {}</td></tr>\n",
                cost.refresh,
                day(cost.at),
                cost.batch,
                whole(cost.seeds.into()),
                short(cost.seconds),
                whole(cost.link_visits),
                whole(cost.page_visits),
                if cost.cold { "from scratch" } else { "reusing" },
                if cost.certified {
                    "certified"
                } else {
                    "not certified"
                },
            ),
        );
    }
    out.push_str("</tbody></table>\n");
    cut(out, report.costs.len(), COSTS, json);
    out.push_str(
        "<p class=\"small soft\">Visits are what was read while selecting: entries of link lists by cores, pages and links by cover. They do not depend on the machine.</p>\n",
    );
    if !report.parameters.is_empty() {
        out.push_str("<p class=\"small\">The plan's parameters, the rest being defaults: ");
        for (at, parameter) in report.parameters.iter().enumerate() {
            let comma = if at > 0 { " " } else { "" };
            put(
                out,
                format_args!(
                    "{comma}<code>--{} {}</code>",
                    escape(&parameter.name),
                    escape(&parameter.value)
                ),
            );
        }
        out.push_str("</p>\n");
    }
    out.push_str("</section>\n");
}

pub(super) fn words(out: &mut String) {
    out.push_str("<section id=\"words\"><h2>Words</h2>\n<dl>\n");
    for (word, meaning) in [
        ("seed", "a page to start the crawl from"),
        (
            "hub, authority",
            "a page in its role of linking, or of being linked, across sites",
        ),
        (
            "core",
            "hubs and authorities with (nearly) all links between them; it is removed once it is found, so the next core is another place",
        ),
        (
            "sigma",
            "the singular value of the links where the core came from: large where many hubs link to many common authorities",
        ),
        (
            "PageRank",
            "how often a random surfer would be on a page; here in times the average page of this web",
        ),
        (
            "value",
            "what reaching a page is worth to the crawler; clicks and links to uncrawled pages add to it, spam takes from it",
        ),
        (
            "random",
            "as many crawled pages drawn at random, several times; ± is the standard error of their mean",
        ),
        (
            "certified",
            "the result carries a proof that nothing denser was overlooked",
        ),
    ] {
        put(out, format_args!("<dt>{word}</dt><dd>{meaning}</dd>\n"));
    }
    out.push_str("</dl></section>\n");
}
