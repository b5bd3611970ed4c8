//! What is listed of the bank: its plans side by side, one plan, their verdicts, and batches and refreshes.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::layout::{Layout, Pager, pager, params};
use crate::answers::{
    Cell, Table, dated_verdict, kind_name, proof, refusal, reuse, shell_word, times_with_error,
    verdict_advice,
};
use crate::engine::ingest::RefusedBatch;
use crate::engine::plan::{Goal, HeldOutVerdict, Measure, Method};
use crate::engine::query::{
    BatchView, Event, History, PlanDetail, PlanSummary, PlanView, SeedResult, Status, Turnover,
};
use crate::engine::refresh::{RefreshId, RefreshView};
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::html::sparkline::sparkline;
use crate::html::text::{Count, Measure as _};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, MediaType, RequestError};
use crate::serve::api::keep_method;
use crate::serve::executor::Context;
use crate::serve::params::{integer, which};
use crate::serve::table::{Files as _, csv_answer};
use seedbank_formats::clock::time;
use seedbank_formats::display::age;

/// Number of refreshes in the sparkline of a plan.
const SPARK: usize = 12;

/// Number of refreshes, and of batches, on the first page.
const NEWEST: usize = 5;

/// Maximum number of plans with a sparkline; a bank may have hundreds of plans.
const SPARKLINES: usize = 50;

/// Maximum number of plans that are compared side by side.
const PLANS: usize = 12;

/// What is said of a verdict that is not on the plan's present list.
const OF_ANOTHER_LIST: &str = "of another list";
/// Maximum number of plans in the chart of verdicts.
const BARS: usize = 30;

/// Maximum number of rows on a page of a list.
const ROWS: usize = 100;

/// Maximum number of fetches that are counted for the page of a plan.
const MAX_FETCHES: u64 = 2_000_000;

params! {
    /// No parameters but those of tables.
    NoQuery {}
}

params! {
    PlanQuery {
        name: String,
        /// Number of later refreshes to skip.
        #[serde(default, deserialize_with = "integer")]
        from: usize,
    }
}

params! {
    BatchesQuery {
        /// Number of later events to skip.
        #[serde(default, deserialize_with = "integer")]
        from: usize,
        /// Shows only refreshes with this method.
        #[serde(default, deserialize_with = "optional_method")]
        method: Option<Method>,
    }
}

/// The first page: the plans with their verdicts and changes, and the last refreshes and batches.
#[derive(Template)]
#[template(path = "home.html", config = "src/serve/askama.toml")]
struct HomePage<'a> {
    layout: Layout<'a>,
    status: Status,
    /// The name of the bank's folder as a word of a shell.
    word: String,
    plans: Table,
    /// The last refreshes of all plans, newest first.
    refreshes: Table,
    /// The last batches, newest first.
    batches: Table,
}

/// The plans side by side: the seeds that their lists share, and the parameters that differ.
#[derive(Template)]
#[template(path = "plans.html", config = "src/serve/askama.toml")]
struct PlansPage<'a> {
    layout: Layout<'a>,
    /// Number of plans.
    all: usize,
    common: Table,
    parameters: Table,
}

/// A plan: its parameters and its refreshes.
#[derive(Template)]
#[template(path = "plan.html", config = "src/serve/askama.toml")]
struct PlanPage<'a> {
    layout: Layout<'a>,
    plan: PlanDetail,
    /// Refreshes, newest first, each with the change of the list.
    refreshes: Table,
    /// The numbers of new seeds at the last of them, as a picture.
    spark: Option<String>,
    /// Number of later refreshes that are not shown.
    from: usize,
    /// Number of stored refreshes.
    total: usize,
    /// What crawlers fetched from the seeds of the last list from which they started.
    results: Option<(RefreshId, Table)>,
}

/// What is stored about how much crawls from the lists find, and how parameters were tuned.
#[derive(Template)]
#[template(path = "evaluate.html", config = "src/serve/askama.toml")]
struct VerdictsPage<'a> {
    layout: Layout<'a>,
    /// The name of the bank's folder as a word of a shell.
    word: String,
    plans: Vec<PlanSummary>,
    /// The ratios to the best baselines; `None` if no plan has one.
    chart: Option<String>,
    verdicts: Table,
    tunings: Table,
}

/// A row of the history.
enum Row<'a> {
    Batch(&'a BatchView),
    Refresh(&'a RefreshView),
    Refused(&'a RefusedBatch),
}

/// Batches and refreshes, newest first.
#[derive(Template)]
#[template(path = "batches.html", config = "src/serve/askama.toml")]
struct BatchesPage<'a> {
    layout: Layout<'a>,
    rows: Vec<Row<'a>>,
    /// The methods of the stored refreshes, by name.
    methods: Vec<Method>,
    method: Option<Method>,
    from: usize,
    total: usize,
}

pub(super) fn home(
    context: &Context<'_>,
    params: NoQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let status = context.bank.status()?;
    let history = context.bank.history()?;
    let turnovers = turnovers(context, &status, &history)?;
    let json = Address::new("/status").in_api();
    let plans = plan_table(&status.plans, &turnovers).with_files(&Address::new("/"), &json);
    if media_type == MediaType::Csv {
        return csv_answer(&[plans], params.table.as_ref(), "");
    }
    let all = Address::new("/batches").in_api();
    Answer::page(&HomePage {
        layout: Layout::with_json(
            context,
            [
                ("The status as JSON", json),
                ("all batches and refreshes", all),
            ],
        ),
        word: shell_word(context.name),
        plans,
        refreshes: refresh_table(history.refreshes.iter().rev().take(NEWEST)),
        batches: batch_table(history.batches.iter().rev().take(NEWEST)),
        status,
    })
}

/// Returns the last changes of the list of each plan, oldest first.
fn turnovers(
    context: &Context<'_>,
    status: &Status,
    history: &History,
) -> Result<Vec<Vec<Turnover>>, RequestError> {
    let mut by_plan: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for refresh in &history.refreshes {
        let of_plan = by_plan.entry(&refresh.plan).or_default();
        of_plan.push(refresh.refresh);
    }
    let mut turnovers = Vec::with_capacity(status.plans.len());
    for (position, plan) in status.plans.iter().enumerate() {
        let numbers = by_plan.remove(plan.plan.as_str()).unwrap_or_default();
        let changes = if position < SPARKLINES { SPARK } else { 1 };
        // Include the refresh before the first one shown, to compare with.
        let first = numbers.len().saturating_sub(changes + 1);
        let found = context.turnovers.between(context.bank, &numbers[first..])?;
        turnovers.push(found);
    }
    Ok(turnovers)
}

/// Returns the plans with their verdicts and the last changes of their lists.
fn plan_table(plans: &[PlanView], turnovers: &[Vec<Turnover>]) -> Table {
    let list = |plan: &PlanView| address::refresh(plan.last_refresh);
    let dead = |plan: &PlanView| match plan.seeds.listed - plan.seeds.alive {
        0 => Cell::Count(0),
        dead => Cell::Count(dead).linked(&list(plan).with("dead", true)),
    };
    let rows = plans.iter().zip(turnovers);
    Table::of("plans", "Plans and their last refreshes", rows)
        .word("plan", "Plan", |(plan, _)| Cell::plan(&plan.plan))
        .word("goal", "Goal", |(plan, _)| {
            Cell::or_none(plan.parameters.goal.map(Goal::name))
        })
        .word("times_best_baseline", "Times the best baseline", |of| {
            verdict_cell(of.0)
        })
        .number("seeds", "Seeds", |(plan, _)| {
            Cell::Count(plan.seeds.listed).linked(&list(plan))
        })
        .number("dead", "Dead", |(plan, _)| dead(plan))
        .word("new_seeds", "New seeds by refresh", |(_, changes)| {
            spark_cell(changes)
        })
        .optional("new", "New", |(_, changes)| {
            changes.last().map(|change| change.gained)
        })
        .optional("lost", "Lost", |(_, changes)| {
            changes.last().map(|change| change.lost)
        })
        .number("refresh", "Refresh", |(plan, _)| {
            Cell::Refresh(plan.last_refresh)
        })
        .number("age", "Age", |(plan, _)| Cell::Age(plan.age))
        .word("method", "Method", |(plan, _)| {
            plan.parameters.method.unwrap_or_default().name()
        })
        .word("proof", "Proof", |(plan, _)| {
            Cell::or_none(proof(plan.proof))
        })
        .done()
}

fn spark_cell(changes: &[Turnover]) -> Cell {
    let gained: Vec<u64> = changes.iter().map(|change| change.gained).collect();
    if gained.is_empty() {
        return Cell::None;
    }
    let numbers: Vec<String> = gained.iter().map(u64::to_string).collect();
    Cell::Picture(sparkline("New seeds", &gained), numbers.join(" "))
}

/// Returns how the list of a plan compares with the best baseline.
fn verdict_cell(plan: &PlanView) -> Cell {
    let Some(verdict) = &plan.parameters.judged else {
        return "not compared".into();
    };
    let times = verdict.times_best_baseline.map(times_with_error);
    // The best baseline finds nothing.
    let text = times.unwrap_or_else(|| "–".to_owned());
    let cell = Cell::Text(text).linked(&Address::new("/evaluate"));
    if verdict.is_of_this_list() {
        cell.tagged("lost", verdict.is_loss().then_some("below a baseline"))
    } else {
        cell.tagged("unknown", Some(OF_ANOTHER_LIST))
    }
}

pub(super) fn plans(
    context: &Context<'_>,
    params: NoQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plans = context.bank.plans()?;
    let all = plans.plans.len();
    let plans = &plans.plans[..all.min(PLANS)];
    let address = Address::new("/plans");
    let common = common_table(context, plans)?.with_files(&address, &address.in_api());
    let parameters = parameter_table(plans).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[common, parameters], params.table.as_ref(), "");
    }
    Answer::page(&PlansPage {
        layout: Layout::with_json(context, [("All plans as JSON", address.in_api())]),
        all,
        common,
        parameters,
    })
}

/// Returns the number of seeds that each pair of lists has in common; on the diagonal, the length of the list.
fn common_table(context: &Context<'_>, plans: &[PlanSummary]) -> Result<Table, RequestError> {
    let mut lists: Vec<BTreeSet<String>> = Vec::with_capacity(plans.len());
    for plan in plans {
        let seeds = context.bank.seeds(which(None, Some(plan.last.refresh)))?;
        let urls = seeds.map(|seed| Ok(seed?.url));
        lists.push(urls.collect::<Result<_, RequestError>>()?);
    }
    let rows = plans.iter().zip(&lists);
    let mut table =
        Table::of("common", "Seeds in common", rows)
            .word("plan", "Plan", |(plan, _)| Cell::plan(&plan.plan));
    for (other, other_list) in plans.iter().zip(&lists) {
        let to = other.last.refresh;
        table = table.number(&other.plan, &other.plan, |(plan, list)| {
            let common = list.intersection(other_list).count();
            let address = match plan.last.refresh {
                from if from == to => address::refresh(to),
                from => address::diff(from, to),
            };
            Cell::from(common).linked(&address)
        });
    }
    Ok(table.done())
}

/// Returns the parameters that were given for any plan, by name.
fn parameter_table(plans: &[PlanSummary]) -> Table {
    let given: Vec<BTreeMap<String, String>> = plans.iter().map(given).collect();
    let names: BTreeSet<&String> = given.iter().flat_map(BTreeMap::keys).collect();
    let mut table = Table::of("parameters", "Parameters of the plans", names).word(
        "parameter",
        "Parameter",
        |name| name,
    );
    for (plan, given) in plans.iter().zip(&given) {
        table = table.word(&plan.plan, &plan.plan, |name| {
            Cell::or_none(given.get(name))
        });
    }
    table.done()
}

/// Returns the parameters of a plan as text: those that were given, set by its goal, or tuned.
fn given(plan: &PlanSummary) -> BTreeMap<String, String> {
    let mut parameters = plan.parameters.clone();
    (parameters.tuned, parameters.judged) = (None, None);
    let Ok(Value::Object(fields)) = serde_json::to_value(parameters) else {
        return BTreeMap::new();
    };
    let text = |value: Value| match value {
        Value::String(word) => word,
        // A list has its file name and its lines.
        Value::Object(list) => match list.get("name").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => Value::Object(list).to_string(),
        },
        value => value.to_string(),
    };
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name, text(value))).collect()
}

pub(super) fn plan(
    context: &Context<'_>,
    params: PlanQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let PlanQuery {
        name, from, table, ..
    } = params;
    let plan = context.bank.plan(&name)?;
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.retain(|refresh| refresh.plan == name);
    let total = refreshes.len();
    // A file has all refreshes.
    let (from, rows) = match media_type {
        MediaType::Csv => (0, total),
        _ => (from, ROWS),
    };
    let end = total.saturating_sub(from);
    let begin = end.saturating_sub(rows);
    // Include the refresh before the first one shown, to compare with.
    let compared = refreshes[begin.saturating_sub(1)..end].iter();
    let numbers: Vec<u32> = compared.map(|refresh| refresh.refresh).collect();
    let turnover = context.turnovers.between(context.bank, &numbers)?;
    let address = address::plan(&name);
    let all = Address::new("/batches").in_api();
    let refreshes = changed_table(&refreshes[begin..end], &turnover).with_files(&address, &all);
    let of_plan = which(Some(name.clone()), None);
    let results = context.bank.last_seed_results(of_plan, MAX_FETCHES)?;
    if media_type == MediaType::Csv {
        let results = results.iter().map(|results| result_table(&results.seeds));
        let tables: Vec<Table> = [refreshes].into_iter().chain(results).collect();
        return csv_answer(&tables, table.as_ref(), &name);
    }
    let results = results.map(|results| {
        let shown = results.seeds.len().min(ROWS);
        let table = result_table(&results.seeds[..shown]).with_files(&address, &address.in_api());
        (results.refresh, table)
    });
    let last = turnover.len().saturating_sub(SPARK);
    let gained: Vec<u64> = turnover[last..].iter().map(|of| of.gained).collect();
    Answer::page(&PlanPage {
        layout: Layout::with_json(
            context,
            [
                ("This plan as JSON", address.in_api()),
                ("the refreshes of all plans", all),
            ],
        ),
        plan,
        refreshes,
        spark: (from == 0 && gained.len() > 1).then(|| sparkline("New seeds", &gained)),
        from,
        total,
        results,
    })
}

/// Returns the refreshes of a plan, newest first, with the changes of its list. The plan and its method are in the
/// title.
fn changed_table(refreshes: &[RefreshView], turnover: &[Turnover]) -> Table {
    let change = |refresh: &RefreshView| {
        let mut changes = turnover.iter();
        changes.find(|change| change.refresh == refresh.refresh)
    };
    let rows = refreshes.iter().rev();
    Table::of("refreshes", "Refreshes, newest first", rows)
        .number("refresh", "Refresh", |of| Cell::Refresh(of.refresh))
        .word("time", "Time", |of| Cell::Time(of.at))
        .number("batch", "After batch", |of| of.batch)
        .number("seeds", "Seeds", |of| of.seeds)
        .optional("new", "New", |of| change(of).map(|change| change.gained))
        .optional("lost", "Lost", |of| change(of).map(|change| change.lost))
        .number("seconds", "Seconds", |of| of.seconds)
        .word("reuse", "Reuse", reuse)
        .word("proof", "Proof", |of| Cell::or_none(proof(of.proof)))
        .done()
}

/// Returns what crawlers fetched from seeds, beside what the list promised.
fn result_table(seeds: &[SeedResult]) -> Table {
    Table::of("results", "What crawls from the seeds brought", seeds)
        .number("rank", "Rank", |seed| seed.rank)
        .page("seed", "Seed", |seed| &seed.url)
        .number("fetched", "Fetched", |seed| seed.counts.fetched)
        .number("new", "New", |seed| seed.counts.new)
        .number("failed", "Failed", |seed| seed.counts.failed)
        .number("duplicates", "Duplicates", |seed| seed.counts.duplicates)
        .optional("promised_pages", "Promised pages", |seed| {
            seed.promised.map(|of| of.pages)
        })
        .optional("promised_known", "Not crawled then", |seed| {
            seed.promised.map(|of| of.known)
        })
        .done()
}

pub(super) fn verdicts(
    context: &Context<'_>,
    params: NoQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plans = context.bank.plans()?.plans;
    let address = Address::new("/evaluate");
    let json = Address::new("/plans").in_api();
    let verdicts = verdict_table(&plans).with_files(&address, &json);
    let tunings = tuning_table(&plans).with_files(&address, &json);
    if media_type == MediaType::Csv {
        return csv_answer(&[verdicts, tunings], params.table.as_ref(), "");
    }
    Answer::page(&VerdictsPage {
        layout: Layout::with_json(context, [("All plans as JSON", json)]),
        word: shell_word(context.name),
        chart: chart(&plans),
        plans,
        verdicts,
        tunings,
    })
}

/// Draws the ratio of each list that was judged to the best baseline; a list below 1 is not highlighted.
fn chart(plans: &[PlanSummary]) -> Option<String> {
    let bar = |(plan, verdict): (&PlanSummary, &HeldOutVerdict)| {
        let times = verdict
            .times_best_baseline
            .filter(|_| verdict.is_of_this_list())?;
        Some(Bar {
            name: plan.plan.clone(),
            number: times.mean,
            error: times.standard_error.unwrap_or_default(),
            text: times_with_error(times),
            is_highlighted: !verdict.is_loss(),
        })
    };
    let found: Vec<Bar> = judged(plans).filter_map(bar).take(BARS).collect();
    let frame = Frame {
        id: "verdicts",
        title: "What a crawl from each list finds, relative to the best baseline",
        description: "One bar for each plan; the table below has the numbers.",
        x: "times the best baseline (1 is equal)",
        y: "",
    };
    (!found.is_empty()).then(|| bars(&frame, &found, 12.0))
}

/// Returns the plans that have a verdict.
fn judged(plans: &[PlanSummary]) -> impl Iterator<Item = (&PlanSummary, &HeldOutVerdict)> {
    let plans = plans.iter();
    plans.filter_map(|plan| Some((plan, plan.parameters.judged.as_ref()?)))
}

/// Returns the verdicts on the plans that have one.
fn verdict_table(plans: &[PlanSummary]) -> Table {
    // PageRank is a percentage, as in sentences.
    let measure = |verdict: &HeldOutVerdict| match verdict.measure {
        Measure::Crawled => ("crawled pages fetched", 1.0),
        Measure::Contents => ("different crawled pages fetched", 1.0),
        Measure::Discovered => ("pages seen for the first time", 1.0),
        Measure::Pagerank => ("PageRank fetched, %", 100.0),
    };
    let scaled = |verdict: &HeldOutVerdict, number: f64| measure(verdict).1 * number;
    let times = |verdict: &HeldOutVerdict| {
        let (kind, word) = if !verdict.is_of_this_list() {
            ("unknown", OF_ANOTHER_LIST)
        } else if verdict.is_loss() {
            ("lost", "below")
        } else {
            ("kept", "above")
        };
        let times = verdict.times_best_baseline;
        times.map(|times| Cell::Number(times.mean).tagged(kind, Some(word)))
    };
    Table::of("verdicts", "Verdicts on the plans", judged(plans))
        .word("plan", "Plan", |(plan, _)| Cell::plan(&plan.plan))
        .word("goal", "Goal", |(plan, _)| {
            Cell::or_none(plan.parameters.goal.map(Goal::name))
        })
        .optional("times_best_baseline", "Times the best baseline", |of| {
            times(of.1)
        })
        .optional("times_error", "±", |(_, of)| {
            of.times_best_baseline
                .and_then(|times| times.standard_error)
        })
        .word("measure", "Measure", |(_, of)| measure(of).0)
        .number("found", "Found by the plan", |(_, of)| {
            scaled(of, of.found.mean)
        })
        .optional("found_error", "±", |(_, of)| {
            of.found.standard_error.map(|error| scaled(of, error))
        })
        .word("baseline", "Best baseline", |(_, of)| &of.baseline)
        .number("baseline_found", "Found by it", |(_, of)| {
            scaled(of, of.baseline_found.mean)
        })
        .optional("baseline_error", "±", |(_, of)| {
            let error = of.baseline_found.standard_error;
            error.map(|error| scaled(of, error))
        })
        .number("seeds", "Seeds", |(_, of)| of.seeds)
        .number("budget", "Pages fetched", |(_, of)| of.budget)
        .number("draws", "Draws", |(_, of)| of.draws)
        .number("batch", "After batch", |(_, of)| of.batch)
        .number("age_batches", "Batches since then", |(_, of)| {
            of.age_batches
        })
        .done()
}

/// Returns how the parameters of plans were tuned for their budgets.
fn tuning_table(plans: &[PlanSummary]) -> Table {
    let tuned = plans.iter();
    let tuned = tuned.filter_map(|plan| Some((plan, plan.parameters.tuned.as_ref()?)));
    Table::of("tunings", "Tuned parameters", tuned)
        .word("plan", "Plan", |(plan, _)| Cell::plan(&plan.plan))
        .optional("budget", "Budget, pages", |(plan, _)| {
            plan.parameters.budget
        })
        .number("settings", "Settings tried", |(_, tuned)| tuned.settings)
        .optional("hops", "Hops", |(plan, _)| plan.parameters.hops)
        .optional("fetch_cost", "Fetch cost, units", |(plan, _)| {
            plan.parameters.fetch_cost.map(|cost| cost.to_string())
        })
        .optional(
            "value_known",
            "Value of a known page, units",
            |(plan, _)| plan.parameters.value_known.map(|value| value.to_string()),
        )
        .optional("max_per_site", "Most seeds of a site", |(plan, _)| {
            plan.parameters.max_per_site?.number()
        })
        .number("gathered", "Gathered, units", |(_, tuned)| tuned.gathered)
        .number("draws", "Draws", |(_, tuned)| tuned.draws)
        .number("batch", "After batch", |(_, tuned)| tuned.batch)
        .done()
}

impl VerdictsPage<'_> {
    /// Returns the names of the plans without a verdict.
    fn not_compared(&self) -> Vec<&String> {
        let plans = self.plans.iter();
        let without = plans.filter(|plan| plan.parameters.judged.is_none());
        without.map(|plan| &plan.plan).collect()
    }

    /// Returns the plans with their verdicts.
    fn compared(&self) -> impl Iterator<Item = (&PlanSummary, &HeldOutVerdict)> {
        judged(&self.plans)
    }
}

impl PlanPage<'_> {
    fn pager(&self) -> Pager {
        let plan = address::plan(&self.plan.summary.plan);
        let address = |from| {
            plan.clone()
                .with_some("from", Some(from).filter(|n| *n > 0))
        };
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}

pub(super) fn batches(
    context: &Context<'_>,
    params: BatchesQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let BatchesQuery { from, method, .. } = params;
    let mut history = context.bank.history()?;
    let mut methods: Vec<Method> = history.refreshes.iter().map(RefreshView::method).collect();
    methods.sort_unstable_by_key(|method| method.name());
    methods.dedup();
    keep_method(&mut history, method);
    if media_type == MediaType::Csv {
        let refreshes = refresh_table(history.refreshes.iter().rev());
        let batches = batch_table(history.batches.iter().rev());
        return csv_answer(&[refreshes, batches], params.table.as_ref(), "");
    }
    let events = history.in_order();
    let shown = events.iter().rev().skip(from).take(ROWS);
    let rows = shown.map(|event| match event {
        Event::Batch(batch) => Row::Batch(batch),
        Event::Refresh(refresh) => Row::Refresh(refresh),
        Event::Refused(refused) => Row::Refused(refused),
    });
    let json = Address::new("/batches").in_api();
    Answer::page(&BatchesPage {
        layout: Layout::with_json(context, [("The whole history as JSON", json)]),
        rows: rows.collect(),
        methods,
        method,
        from,
        total: events.len(),
    })
}

/// Returns the address of the history, or of the refreshes with a method.
fn of_method(method: Option<&Method>) -> Address {
    Address::new("/batches").with_some("method", method)
}

/// Reads the name of a method; no name is no method.
fn optional_method<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Method>, D::Error> {
    let name = String::deserialize(from)?;
    if name.is_empty() {
        return Ok(None);
    }
    let method = Method::named(&name).ok_or_else(|| {
        let all = Method::NAMES.join(", ");
        D::Error::custom(format!("no method {name:?}, expected one of {all}"))
    })?;
    Ok(Some(method))
}

impl BatchesPage<'_> {
    fn pager(&self) -> Pager {
        let address = |from| of_method(self.method.as_ref()).with("from", from);
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}

/// Returns a table of refreshes, in the given order.
fn refresh_table<'a>(refreshes: impl Iterator<Item = &'a RefreshView>) -> Table {
    Table::of("refreshes", "Refreshes, newest first", refreshes)
        .number("refresh", "Refresh", |of| Cell::Refresh(of.refresh))
        .word("plan", "Plan", |of| Cell::plan(&of.plan))
        .word("method", "Method", |of| of.method().name())
        .word("time", "Time", |of| Cell::Time(of.at))
        .number("batch", "After batch", |of| of.batch)
        .number("seeds", "Seeds", |of| of.seeds)
        .number("seconds", "Seconds", |of| of.seconds)
        .word("reuse", "Reuse", reuse)
        .word("proof", "Proof", |of| Cell::or_none(proof(of.proof)))
        .done()
}

/// Returns a table of batches, in the given order.
fn batch_table<'a>(batches: impl Iterator<Item = &'a BatchView>) -> Table {
    let batches = batches.map(|batch| (batch.batch, &batch.record, &batch.record.counts));
    Table::of("batches", "Batches, newest first", batches)
        .number("batch", "Batch", |(batch, ..)| batch)
        .text("name", "Name", |(_, of, _)| &of.name)
        .word("kind", "Kind", |(_, of, _)| kind_name(of.kind))
        .word("time", "Time", |(_, of, _)| Cell::Time(of.at))
        .number("records", "Records", |(.., counts)| counts.records)
        .number("rejected", "Rejected", |(.., counts)| counts.rejected)
        .number("stale", "Stale", |(_, of, _)| of.stale)
        .number("failed", "Failed", |(_, of, _)| of.failed)
        .number("new_pages", "New pages", |(.., counts)| counts.new_pages)
        .number("changed", "Changed", |(.., counts)| counts.changed)
        .number("gone", "Gone", |(.., counts)| counts.became_gone)
        .number("links_added", "Links added", |(.., counts)| {
            counts.links_added
        })
        .number("links_removed", "Links removed", |(.., counts)| {
            counts.links_removed
        })
        .number("seconds", "Seconds", |(_, of, _)| of.seconds)
        .done()
}
