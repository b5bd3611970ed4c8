//! The page as a whole: the answer within one screen, then what it rests on.

use std::collections::BTreeSet;

use super::data::{Reason, Report, SeedLine};
use super::judge::{self, verdict};
use super::text::{counted, escape, link, put, short, some_of, whole};
use super::{experiments, sections};
use crate::clock::time;

const STYLE: &str = include_str!("page.css");
/// Seeds that the answer names.
const NAMED: usize = 7;
/// Cores that it tells as examples.
const EXAMPLES: usize = 3;

/// The report as a page; `json` is the name of the JSON file beside it.
#[must_use]
pub fn page(report: &Report, json: &str) -> String {
    let json = file_link(json);
    let mut out = String::with_capacity(1 << 16);
    let title = match report.seeds.len() as u64 {
        0 => "No page could be selected to start the next crawl from".to_owned(),
        1 => "The page to start the next crawl from".to_owned(),
        seeds => format!("{} pages to start the next crawl from", whole(seeds)),
    };
    put(
        &mut out,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}: {bank}, plan {plan}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <p class=\"soft small\">Seedbank report: bank <b>{bank}</b>, plan <b>{plan}</b> ({method}), refresh {refresh} of {at}, \
             after batch {batch}</p>\n<h1>{title}</h1>\n",
            bank = escape(&report.bank),
            plan = escape(&report.plan),
            method = escape(&report.method),
            refresh = report.refresh,
            at = day(report.at),
            batch = report.batch,
        ),
    );
    put(
        &mut out,
        format_args!(
            "<p class=\"soft\">The bank holds {} and {} that are linked to but not crawled yet, on {}.</p>\n",
            counted(report.web.crawled, "crawled page", "crawled pages"),
            whole(report.web.known),
            counted(report.web.sites, "site", "sites"),
        ),
    );
    notices(&mut out, report);
    dead(&mut out, report);
    out.push_str("</header>\n<main>\n<div class=\"answer\">\n");
    which(&mut out, report, &json);
    why(&mut out, report);
    worth(&mut out, report);
    out.push_str("</div>\n");
    navigation(&mut out, report);
    sections::seeds(&mut out, report, &json);
    experiments::worth(&mut out, report);
    sections::cores(&mut out, report, &json);
    sections::changes(&mut out, report, &json);
    sections::costs(&mut out, report, &json);
    sections::words(&mut out);
    put(
        &mut out,
        format_args!(
            "</main>\n<footer><p class=\"soft small\">Everything on this page, uncut: {json}. This file needs no network.</p></footer>\n</body>\n</html>\n"
        ),
    );
    out
}

/// The day of a time.
pub(super) fn day(at: u64) -> String {
    time(at).chars().take(10).collect()
}

/// A link to a file beside the page, whatever its name is.
fn file_link(name: &str) -> String {
    let mut address = String::from("./");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(byte));
            }
            byte => put(&mut address, format_args!("%{byte:02X}")),
        }
    }
    format!("<a href=\"{address}\">{}</a>", escape(name))
}

/// What a reader should know before believing the rest.
fn notices(out: &mut String, report: &Report) {
    if !report.certified {
        let doubt = report.doubt.as_deref().unwrap_or("no reason was kept");
        put(
            out,
            format_args!(
                "<p class=\"notice\">Not certified: a proof that these are exactly the densest places is missing ({}).</p>\n",
                escape(doubt)
            ),
        );
    }
    if report.bank_batch != report.batch {
        put(
            out,
            format_args!(
                "<p class=\"notice\">Selected after batch {}; the bank has taken batches up to {} since, and what is measured here is measured on its state now. <code>seedbank refresh {} --plan {}</code> selects anew.</p>\n",
                report.batch,
                report.bank_batch,
                escape(&report.bank),
                escape(&report.plan)
            ),
        );
    }
}

fn dead(out: &mut String, report: &Report) {
    let dead = report.seeds.iter().filter(|seed| seed.dead.is_some());
    let dead = dead.count();
    if dead > 0 {
        put(
            out,
            format_args!(
                "<p class=\"notice\">{} died since: gone, spam or no page now. They are marked in the list; <code>seedbank diff</code> after the next refresh names who may follow.</p>\n",
                counted(dead as u64, "of these seeds", "of these seeds"),
            ),
        );
    }
}

fn which(out: &mut String, report: &Report, json: &str) {
    out.push_str("<section class=\"card\"><h2>Which pages?</h2>\n<ol>\n");
    for seed in report.seeds.iter().take(NAMED) {
        let dead = seed.dead.as_ref().map_or_else(String::new, |why| {
            format!(" <span class=\"tag lost\">{} now</span>", escape(why))
        });
        put(out, format_args!("<li>{}{dead}</li>\n", link(&seed.url)));
    }
    out.push_str("</ol>\n<p class=\"small\">");
    if report.seeds.is_empty() {
        out.push_str("Nothing could be selected. Ingest more of the crawl, or try another method.");
    } else {
        put(
            out,
            format_args!(
                "<a href=\"#seeds\">All {} with their reasons</a>; as data: {json}. For the crawler: <code>seedbank seeds {} --refresh {}</code>",
                whole(report.seeds.len() as u64),
                escape(&report.bank),
                report.refresh
            ),
        );
    }
    out.push_str("</p></section>\n");
}

fn why(out: &mut String, report: &Report) {
    out.push_str("<section class=\"card\"><h2>Why these?</h2>\n");
    if report.method == "cores" {
        why_cores(out, report);
    } else {
        why_cover(out, report);
    }
    out.push_str("</section>\n");
}

fn why_cores(out: &mut String, report: &Report) {
    if report.cores.is_empty() {
        out.push_str("<p>There is no core: no link between sites that counts is left.</p>\n");
        return;
    }
    let sites: BTreeSet<&str> = report
        .cores
        .iter()
        .flat_map(|core| &core.authority_sites)
        .map(|share| share.site.as_str())
        .collect();
    let authorities: u64 = report.cores.iter().map(|core| core.authorities).sum();
    put(
        out,
        format_args!(
            "<p>Each is the best hub of a <b>core</b>: a dense group of pages that link to the same pages elsewhere. \
             One page stands for its whole core, and every core is another community: together {} lead to \
             <b>{}</b> on <b>{}</b>.</p>\n",
            counted(report.cores.len() as u64, "core", "cores"),
            counted(authorities, "page", "pages"),
            counted(sites.len() as u64, "site", "sites"),
        ),
    );
    out.push_str("<ul class=\"small\">\n");
    for core in report.cores.iter().take(EXAMPLES) {
        let names: Vec<String> = core
            .authority_sites
            .iter()
            .map(|s| s.site.clone())
            .collect();
        put(
            out,
            format_args!(
                "<li>Seed {} stands for {} that link to {} on {}.</li>\n",
                core.rank,
                counted(core.hubs, "page", "pages"),
                counted(core.authorities, "page", "pages"),
                some_of(&names, 2)
            ),
        );
    }
    out.push_str("</ul>\n");
}

fn why_cover(out: &mut String, report: &Report) {
    let sites: BTreeSet<&str> = report.seeds.iter().map(|seed| seed.site.as_str()).collect();
    let (mut pages, mut value) = (0, 0.0);
    for seed in &report.seeds {
        if let Reason::Cover {
            covered_pages,
            covered_value,
            ..
        } = seed.reason
        {
            pages += covered_pages;
            value += covered_value;
        }
    }
    put(
        out,
        format_args!(
            "<p>On each of <b>{}</b> they were picked by <b>{}</b>{}. \
             Together they cover <b>{}</b>, worth {}.</p>\n",
            counted(sites.len() as u64, "site", "sites"),
            escape(&report.method),
            if report.method == "random" {
                ", to compare with"
            } else {
                ", so that few links lead from them to much of the site"
            },
            counted(pages, "page", "pages"),
            short(value)
        ),
    );
    out.push_str(
        "<p class=\"small soft\">A page is worth 1, more if it was clicked or links to pages not crawled yet, less than nothing if it is spam, unless the plan says otherwise.</p>\n",
    );
}

fn worth(out: &mut String, report: &Report) {
    let verdict = verdict(report);
    put(
        out,
        format_args!(
            "<section class=\"card\"><h2>Is it worth it?</h2>\n<p class=\"verdict {}\">{}</p>\n",
            verdict.class, verdict.word
        ),
    );
    if let Some(brief) = &verdict.brief {
        put(out, format_args!("<p><b>{brief}</b></p>\n"));
    }
    if let Some(chart) = judge::chart(report) {
        out.push_str(&chart);
    }
    for sentence in &verdict.sentences {
        put(out, format_args!("<p class=\"small\">{sentence}</p>\n"));
    }
    out.push_str("</section>\n");
}

fn navigation(out: &mut String, report: &Report) {
    out.push_str("<nav aria-label=\"On this page\"><a href=\"#seeds\">Seeds</a>");
    if experiments::any(report) {
        out.push_str("<a href=\"#worth\">Experiments</a>");
    }
    if !report.cores.is_empty() {
        out.push_str("<a href=\"#cores\">Cores</a>");
    }
    out.push_str(
        "<a href=\"#changes\">What changed</a><a href=\"#costs\">Costs</a><a href=\"#words\">Words</a></nav>\n",
    );
}

/// Why a seed was selected, in words.
pub(super) fn reason(report: &Report, seed: &SeedLine) -> String {
    match seed.reason {
        Reason::Core { core, hub_score } => {
            let of_core = report.cores.iter().find(|line| line.rank == core);
            let Some(line) = of_core else {
                return format!("Hub of core {core}, hub score {}.", short(hub_score));
            };
            let names: Vec<String> = line
                .authority_sites
                .iter()
                .map(|s| s.site.clone())
                .collect();
            format!(
                "Stands for {} that link to the same {} on {}: {}. Core {core}, sigma {}.",
                counted(line.hubs, "page", "pages"),
                counted(line.authorities, "page", "pages"),
                counted(names.len() as u64, "site", "sites"),
                some_of(&names, 3),
                short(line.sigma)
            )
        }
        Reason::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
        } => {
            let picked = match gain {
                Some(gain) => format!("picked with score {}", short(gain)),
                None => "drawn".to_owned(),
            };
            format!(
                "Covers {} worth {} that no earlier pick of its site covers; pick {pick} there, {picked}, since refresh {since}.",
                counted(covered_pages, "page", "pages"),
                short(covered_value)
            )
        }
    }
}
