//! `evaluate methods --next`: compares lists by the new pages of the next crawls.

use std::path::Path;

use seedbank::display::counted;
use seedbank::engine::evaluate::{
    NewPages, NextComparison, NextEvaluation, NextRequest, NextRow, NextVerdict,
};

use super::output::{TableFormatArgs, state_line};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated};

pub(super) fn run(
    bank: &Path,
    request: &NextRequest,
    format: TableFormatArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_next(request)
    })?;
    format.print(&found, text, csv)
}

fn text(found: &NextEvaluation) -> String {
    let mut text = state_line(&found.state);
    let rest = match found.rest {
        0 => String::new(),
        days => format!(", without pages fetched within {}", counted(days, "day")),
    };
    append_line!(
        text,
        "new pages of a crawl of {} from {}{rest}; means",
        counted(found.budget, "fetch"),
        counted(found.seeds, "seed")
    );
    append_line!(
        text,
        "replayed: chosen after each of {}, crawled over what the next three found",
        counted(found.batches.len() as u64, "batch")
    );
    append_line!(
        text,
        "crawled pages only: a crawl fetches only pages that the bank has fetched before",
    );
    append_line!(
        text,
        "closed loop: a crawl for each of {}, and each list knows only what its own crawls found\n",
        counted(found.batches_in_loop.len() as u64, "batch")
    );
    let header = [
        "list",
        "replayed: found",
        "fetched",
        "crawled pages only: found",
        "fetched",
        "closed loop: found",
        "fetched",
    ];
    let row = |row: &NextRow| {
        let mut cells = vec![row.list.name().to_owned()];
        for NewPages { found, fetched } in [row.replayed, row.replayed_crawled, row.closed_loop] {
            cells.push(format!("{found:.1}"));
            cells.push(format!("{fetched:.1}"));
        }
        cells
    };
    let rows: Vec<Vec<String>> = found.rows.iter().map(row).collect();
    text.push_str(&aligned(&header, &rows));
    text.push('\n');
    comparison(&mut text, "replayed", &found.replayed);
    comparison(&mut text, "closed loop", &found.closed_loop);
    text.push_str(match found.closed_loop.verdict {
        NextVerdict::Better => {
            "take --goal discovery --learned: in the closed loop it finds more than every baseline\n"
        }
        NextVerdict::Worse => {
            "do not take --learned: in the closed loop it finds less than the best baseline\n"
        }
        NextVerdict::Undecided => "undecided: keep the plan that you have\n",
    });
    text.push_str(
        "(replays favour lists that have the same pages every day: what they missed counts again)\n",
    );
    text
}

fn comparison(text: &mut String, name: &str, found: &NextComparison) {
    let plus_minus =
        |error: Option<f64>| error.map_or_else(String::new, |error| format!(" ± {error:.2}"));
    let ratio = found.ratio.map_or_else(
        || "- times".to_owned(),
        |ratio| {
            format!(
                "{:.2}{} times",
                ratio.mean,
                plus_minus(ratio.standard_error)
            )
        },
    );
    // The error of a logarithm, as a factor around the geometric mean.
    let error = found.log_day_ratio.and_then(|log| log.standard_error);
    let error = error
        .zip(found.day_ratio)
        .map(|(error, ratio)| ratio * error);
    append_line!(
        text,
        "{name}: compared with the best baseline in hindsight ({}), learned finds {ratio} as much, by days {:.2}{} times; \
         more on {} of {}, and {:.0} % of all its finds on one day: {}",
        found.baseline.name(),
        found.day_ratio.unwrap_or(1.0),
        plus_minus(error),
        found.won,
        counted(found.days, "day"),
        100.0 * found.largest_day,
        match found.verdict {
            NextVerdict::Better => "better",
            NextVerdict::Worse => "worse",
            NextVerdict::Undecided => "undecided",
        }
    );
}

fn csv(found: &NextEvaluation) -> String {
    let header = "list,seeds,budget,rest,replayed_found,replayed_fetched,replayed_crawled_found,\
                  replayed_crawled_fetched,closed_loop_found,closed_loop_fetched";
    let row = |row: &NextRow| {
        let mut cells = vec![
            row.list.name().to_owned(),
            found.seeds.to_string(),
            found.budget.to_string(),
            found.rest.to_string(),
        ];
        for NewPages { found, fetched } in [row.replayed, row.replayed_crawled, row.closed_loop] {
            cells.push(found.to_string());
            cells.push(fetched.to_string());
        }
        cells
    };
    let rows: Vec<Vec<String>> = found.rows.iter().map(row).collect();
    comma_separated(header, &rows)
}
