//! The figure of the seeds that the plan's last refreshes kept, gained and lost.

use super::answers::Report;
use crate::engine::query::Turnover;
use crate::engine::refresh::RefreshView;
use crate::html::chart::{Frame, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, day};

/// The figure; `None` if no refresh can be compared with a previous one.
pub(super) fn figure(report: &Report) -> Option<Figure> {
    let last = &report.turnover;
    last.first()?;
    let line = |(look, name, number): (usize, &str, fn(&Turnover) -> u64)| Series {
        name: name.to_owned(),
        look,
        points: last
            .iter()
            .map(|found| Point {
                x: f64::from(found.refresh),
                y: number(found) as f64,
                error: 0.0,
            })
            .collect(),
    };
    let series = [
        (0, "kept", (|found| found.kept) as fn(&Turnover) -> u64),
        (2, "gained", |found| found.gained),
        (1, "lost", |found| found.lost),
    ]
    .map(line);
    let title = "Seeds kept, gained and lost";
    let about = match last.len() {
        1 => "How the list changed at the plan's last refresh, since the one before it.".to_owned(),
        many => format!(
            "How the list changed at each of the plan's last {many} refreshes, since the one before it."
        ),
    };
    let frame = Frame {
        id: "turnover",
        title,
        description: "Three lines over the refreshes of the plan: seeds kept, gained and lost; the table below has the numbers.",
        x: "refresh",
        y: "seeds",
    };
    let chart = lines(&frame, &series, 70.0, None);
    let rows = last
        .iter()
        .map(|found| {
            let view = view(report, found);
            vec![
                found.refresh.to_string(),
                view.map_or_else(String::new, |view| day(view.at)),
                found.previous.to_string(),
                found.kept.whole(),
                found.gained.whole(),
                found.lost.whole(),
            ]
        })
        .collect();
    let heads = [
        "Refresh",
        "Day",
        "Since refresh",
        "Kept (seeds)",
        "Gained (seeds)",
        "Lost (seeds)",
    ];
    Some(Figure::open(title, about, chart, &heads, rows))
}

/// The refresh of a turnover; `None` if the report does not have it.
fn view<'a>(report: &'a Report, found: &Turnover) -> Option<&'a RefreshView> {
    let mut all = report.previous_refreshes.iter().chain([&report.refresh]);
    all.find(|view| view.refresh == found.refresh)
}
