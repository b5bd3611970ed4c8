//! `status`: prints what a bank contains.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use seedbank::answers::{
    Cell, Table, canonical_evidence, kind_counts, proof, refusal, repeated_content, verdict_ratio,
    with_error,
};
use seedbank::display::{counted, escape_controls};
use seedbank::engine::evaluate::{
    DegreeDistribution, DegreeKind, Estimate, GraphStructure, SiteClass, StructureRequest,
};
use seedbank::engine::maintenance::TableGroup;
use seedbank::engine::query::{
    Balance, CanonicalCounts, CanonicalEvidence, Division, LastBatch, PlanView, SeedStates, Status,
    TableSize,
};
use seedbank::ingest::{SiteMode, UrlRules};

use super::failure::CliError;
use super::output::MetricsArgs;
use super::session::{Outcome, Session};
use super::values::{
    FormatArgs, human_age, human_bytes, integer, kind_name, state_line, time, truncated_inputs,
};

const EXAMPLES: &str = "\
Examples:
  seedbank status bank
  seedbank status bank --sizes
  seedbank status bank --graph
  seedbank status bank --format json | jq .crawled
  seedbank status bank --metrics /var/lib/node_exporter/seedbank.prom";

/// Print what a bank contains, how old it is, and how much disk space it uses
///
/// Shows the last batch, the last refused batch, and the last refresh of each plan with their ages, and the
/// states of the seeds today.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    /// The bank
    bank: PathBuf,
    /// Also print the size of each table, and the number of bits per link
    ///
    /// JSON always includes them. Until RocksDB merges its files, which it does as batches arrive, a bank
    /// also contains overwritten data.
    #[arg(long)]
    sizes: bool,
    /// Print the structure of the graph instead: degrees, strongly connected components of sites, distances
    ///
    /// These are the tables in which the papers describe their data. A power law is fitted to each distribution of
    /// degrees as by Clauset, Shalizi and Newman (2009). The graph, which is all crawled and known pages with all
    /// their links, is held in memory.
    #[arg(long, conflicts_with = "sizes")]
    graph: bool,
    /// With --graph: number of pages to estimate the average distance from
    #[arg(long, value_name = "N", requires = "graph", hide_short_help = true,
        default_value_t = StructureRequest::default().samples,
        value_parser = integer::<u32>(0..=u32::MAX))]
    samples: u32,
    /// With --graph: seed of the random sample
    #[arg(long, value_name = "N", requires = "graph", hide_short_help = true,
        default_value_t = StructureRequest::default().rng_seed,
        value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &StatusArgs, session: &Session) -> Result<Outcome, CliError> {
    args.metrics.check(&args.bank)?;
    let bank = session.bank(&args.bank);
    let status = if args.graph {
        bank.status()
    } else {
        bank.status_with_canonical()
    }?;
    args.metrics.write_text(&args.bank, &status.metrics())?;
    let format = args.format.format;
    if args.graph {
        let request = StructureRequest {
            samples: args.samples,
            rng_seed: args.rng_seed,
        };
        let found = session.with_bank(&args.bank, |bank| bank.graph_structure(&request))?;
        format.print(&found, graph_text)?;
    } else {
        format.print(&status, |status| text(status, args.sizes))?;
    }
    Ok(Outcome::Done)
}

/// Formats the status as text.
fn text(status: &Status, with_sizes: bool) -> String {
    let mut text = String::new();
    let counters = &status.counters;
    let site = match status.site_mode {
        SiteMode::BareHost => "a host, without www.",
        SiteMode::Host => "a host",
        SiteMode::Domain => "a registrable domain",
    };
    let urls = match status.url_rules {
        UrlRules::Rfc3986 => "RFC 3986",
        UrlRules::Whatwg => "WHATWG",
    };
    append_line!(
        text,
        "format {}; a site is {site} (public suffix list {}); URLs by {urls}",
        status.format,
        status.suffix_list
    );
    if let Some(parts) = status.parts {
        append_line!(text, "a cluster bank of {}", counted(parts, "part"));
    }
    if let Some(balance) = &status.balance {
        text.push_str(&balance_lines(balance));
    }
    for repeated in &status.repeated {
        let kind = if repeated.trap {
            "likely trap"
        } else {
            "repeated content"
        };
        append_line!(text, "{kind}: {}", repeated_content(repeated));
    }
    append_line!(
        text,
        "batches {}, refreshes {}\nsites {}\npages {} crawled, {} known, {} gone; {} spam{}",
        counters.batches,
        counters.refreshes,
        status.sites,
        counters.crawled,
        counters.known,
        counters.gone,
        counters.spam,
        kind_counts(counters.documents, counters.resources)
    );
    append_line!(
        text,
        "links {} intra-site, {} inter-site in {} of {}",
        counters.intra_links,
        counters.inter_links,
        counted(counters.rows, "row"),
        counted(counters.row_links, "target")
    );
    if let Some(counts) = &status.canonical {
        text.push_str(&canonical_line(counts));
    }
    if let Some(undo) = status.undo {
        append_line!(
            text,
            "`undo` can take back batch {}, for which {} are stored",
            undo.batch,
            human_bytes(undo.bytes)
        );
    }
    if let Some(batch) = &status.last_batch {
        text.push_str(&batch_lines(batch));
    }
    if let Some(refused) = &status.refused {
        let age = human_age(status.at.saturating_sub(refused.at));
        append_line!(
            text,
            "refused: batch {} ({}), {age} ago ({}), {}",
            escape_controls(&refused.name),
            kind_name(refused.kind),
            time(refused.at),
            escape_controls(&refusal(refused))
        );
    }
    for plan in &status.plans {
        text.push_str(&plan_line(plan));
    }
    // The log of RocksDB takes space, but belongs to no table.
    let tables: u64 = status.groups.iter().map(|group| group.bytes).sum();
    let total = tables + status.log_bytes;
    append_line!(
        text,
        "on disk {}, the bank's folder {}",
        human_bytes(total),
        human_bytes(status.folder_bytes)
    );
    if with_sizes {
        text.push_str(&sizes(status, total));
    }
    text
}

/// Formats what canonical links say; empty if there are none.
fn canonical_line(counts: &CanonicalCounts) -> String {
    let mut text = String::new();
    for (pages, evidence) in [
        (counts.same_content, CanonicalEvidence::SameContent),
        (counts.leads_back, CanonicalEvidence::LeadsBack),
        (counts.not_fetched, CanonicalEvidence::NotFetched),
        (counts.other_site, CanonicalEvidence::OtherSite),
        (counts.named_by_many, CanonicalEvidence::NamedByMany),
    ] {
        if pages > 0 {
            let begin = if text.is_empty() {
                "canonical links: "
            } else {
                "; "
            };
            append!(text, "{begin}{pages} {}", canonical_evidence(evidence));
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn balance_lines(balance: &Balance) -> String {
    let (one, many) = match balance.among {
        Division::Processes => ("process", "processes"),
        _ => ("part", "parts"),
    };
    let count = balance.count;
    let mut text = format!(
        "balance: the largest {one} has {:.2} times the pages and links of the mean {one}\n",
        balance.largest_to_mean
    );
    for site in &balance.heavy_sites {
        append_line!(
            text,
            "site {} has {:.1} % of all pages and links: with {count} {many}, its {one} has at least {:.2} times the mean",
            escape_controls(&site.site),
            100.0 * site.share,
            site.to_mean
        );
    }
    text
}

fn batch_lines(batch: &LastBatch) -> String {
    let kind = kind_name(batch.kind);
    let stale = match batch.stale {
        0 => String::new(),
        stale => format!(", {stale} stale"),
    };
    let truncated = truncated_inputs(batch.truncated);
    let failed = match batch.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let failing = match batch.failing {
        0 => String::new(),
        pages => format!(
            "failing: {} whose last fetch failed\n",
            counted(pages, "page")
        ),
    };
    let list = batch
        .rejects_file
        .as_ref()
        .map_or_else(String::new, |file| {
            format!(", listed in {}", escape_controls(&file.to_string_lossy()))
        });
    format!(
        "last batch {}, {} ago ({}): {} ({kind}), {}, {} rejected{truncated}{stale}{failed}{list}\n{failing}",
        batch.batch,
        human_age(batch.age),
        time(batch.at),
        escape_controls(&batch.name),
        counted(batch.records, "record"),
        batch.rejected
    )
}

fn plan_line(plan: &PlanView) -> String {
    let SeedStates {
        listed,
        alive,
        gone,
        alias,
        resource,
        unlinked,
        forgotten,
        ..
    } = plan.seeds;
    let mut dead = String::new();
    for (what, count) in [
        ("gone", gone),
        ("alias", alias),
        ("resource", resource),
        ("unlinked", unlinked),
        ("forgotten", forgotten),
    ] {
        if count > 0 {
            append!(dead, ", {count} {what}");
        }
    }
    format!(
        "plan {} ({}), last refresh {}, {} ago ({}), after batch {}{}: {}, {alive} alive{dead}{}\n",
        plan.plan,
        plan.parameters.method.unwrap_or_default().name(),
        plan.last_refresh,
        human_age(plan.age),
        time(plan.at),
        plan.batch,
        proof(plan.proof).map_or_else(String::new, |proof| format!(", {proof}")),
        counted(listed, "seed"),
        plan.parameters
            .judged
            .as_ref()
            .map_or_else(String::new, |verdict| format!(
                "; {}",
                verdict_ratio(verdict)
            ))
    )
}

/// Formats the sizes of tables, largest first.
fn sizes(status: &Status, total: u64) -> String {
    let share = |bytes: u64| format!("{:.1} %", 100.0 * bytes as f64 / total.max(1) as f64);
    let mut by_size: Vec<&TableSize> = status.tables.iter().collect();
    // Ties by name, so that equal states print the same text.
    by_size.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.table.cmp(&b.table)));
    let table = Table::of("sizes", "", by_size)
        .word("table", "table", |table| &table.table)
        .word("of", "of", |table| table.group.name())
        .word("keys", "keys", |table| format!("about {}", table.entries))
        .word("bytes", "on disk", |table| human_bytes(table.bytes))
        .word("share", "share", |table| share(table.bytes));
    let mut text = table.done().aligned();
    for group in &status.groups {
        let note = match (group.group, status.bits_per_link) {
            (TableGroup::Links, Some(bits)) => {
                format!("; {bits:.2} bits per link, both directions")
            }
            (TableGroup::History | TableGroup::Refreshes, _) => {
                "; `refresh --keep N` deletes what only older refreshes need".to_owned()
            }
            _ => String::new(),
        };
        append_line!(
            text,
            "{}: {}, {}{note}",
            group.group.name(),
            human_bytes(group.bytes),
            share(group.bytes)
        );
    }
    if status.log_bytes > 0 {
        append_line!(
            text,
            "log: {}, {}; written by small batches, and not yet in the files of tables",
            human_bytes(status.log_bytes),
            share(status.log_bytes)
        );
    }
    // The table of the bank itself is ignored, as in the metric for compaction.
    let uncompacted: Vec<&str> = status
        .tables
        .iter()
        .filter(|table| !table.compacted && table.group != TableGroup::Bank)
        .map(|table| table.table.as_str())
        .collect();
    if uncompacted.is_empty() {
        append_line!(text, "compacted");
    } else {
        append_line!(
            text,
            "not compacted, so overwritten data still takes space: {}",
            uncompacted.join(", ")
        );
    }
    text
}

/// Formats the structure of the graph as text.
fn graph_text(found: &GraphStructure) -> String {
    let mut text = state_line(&found.state) + "\ndegrees: links per page\n";
    let table = Table::of("degrees", "", &found.degrees)
        .word("degree", "degree", |of| degree_name(of.kind))
        .number("pages", "pages", |of| of.pages)
        .optional("mean", "mean", |of| of.mean)
        .decimals(2)
        .number("max", "largest", |of| of.max)
        .estimate("exponent", "exponent", 3, |of| {
            of.power_law.map(|law| Estimate {
                mean: law.exponent,
                standard_error: Some(law.standard_error),
            })
        })
        .optional("min", "from", |of| of.power_law.map(|law| law.min))
        .optional("tail", "pages from there", |of| {
            of.power_law.map(|law| law.observations)
        })
        .optional("distance", "KS distance", |of| {
            of.power_law.map(|law| law.distance)
        })
        .decimals(4);
    text.push_str(&table.done().aligned());
    text.push_str(
        "exponents by discrete maximum likelihood; each tail begins where its Kolmogorov-Smirnov (KS) distance\n\
         is smallest (Clauset, Shalizi and Newman 2009)\n\npages by degree\n",
    );
    text.push_str(&pages_by_degree(&found.degrees));
    let components = &found.components;
    for (what, classes) in [
        ("crawled pages", &components.by_pages),
        ("components", &components.by_components),
    ] {
        append_line!(text, "\nsites by number of {what}");
        text.push_str(&sites_by_class(what, classes));
    }
    text.push_str("\nstrongly connected components of sites, by number of crawled pages\n");
    let table = Table::of("components", "", &components.by_size)
        .word("class", "pages", |of| range(of.from, of.to))
        .number("components", "components", |of| of.components)
        .number("pages", "their pages", |of| of.pages);
    text.push_str(&table.done().aligned());
    let distance = &found.distance;
    append_line!(
        text,
        "\naverage distance between pages with a path: {} links, from {} of {} with links (--rng-seed {})",
        distance
            .mean
            .map_or_else(|| "-".to_owned(), |mean| with_error(mean, 3)),
        distance.samples,
        counted(distance.sources, "page"),
        found.rng_seed
    );
    if let Some(reached) = distance.reached {
        append_line!(
            text,
            "a page with links reaches {} % of the others",
            with_error(reached.times(100.0), 2)
        );
    }
    text
}

fn degree_name(kind: DegreeKind) -> &'static str {
    match kind {
        DegreeKind::In => "in",
        DegreeKind::Out => "out, of crawled pages",
        DegreeKind::InterSiteIn => "in, from other sites",
        DegreeKind::InterSiteOut => "out, to other sites",
    }
}

/// Formats the classes of all degrees as one table.
fn pages_by_degree(degrees: &[DegreeDistribution]) -> String {
    let mut classes: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for (at, of) in degrees.iter().enumerate() {
        for class in &of.by_degree {
            let pages = classes.entry((class.from, class.to)).or_default();
            pages.resize(degrees.len(), 0);
            pages[at] = class.pages;
        }
    }
    let mut table =
        Table::of("classes", "", &classes)
            .word("degree", "degree", |((from, to), _)| range(*from, *to));
    for (at, of) in degrees.iter().enumerate() {
        table = table.shown(degree_name(of.kind), |(_, pages)| pages[at]);
    }
    table.done().aligned()
}

/// Formats classes of sites by the number of what their titles say.
fn sites_by_class(what: &str, classes: &[SiteClass]) -> String {
    let table = Table::of("sites", "", classes)
        .word("class", what, |of| range(of.from, of.to))
        .number("sites", "sites", |of| of.sites)
        .number("pages", "their pages", |of| of.pages)
        .number("components", "their components", |of| of.components)
        .number("largest", "largest, mean % of pages", |of| of.largest)
        .percent(1)
        .number("without_majority", "sites with at most half in it", |of| {
            of.without_majority
        });
    table.done().aligned()
}

/// Formats the bounds of a class.
fn range(from: u64, to: u64) -> Cell {
    if from == to {
        from.into()
    } else {
        format!("{from}-{to}").into()
    }
}
