//! The page of a report on paper: a chart and its table on one page, font sizes that keep their order,
//! and all seeds, whatever was searched for before printing.
//!
//! Needs Debian's `chromium` and `chromium-driver`, and reports if they are missing.

use std::fs;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::made_up_reports::{of_cores, of_cover, of_long_texts};
use crate::support::webdriver::Browser;
use seedbank::report::{self, Commands, Report};

/// Paper of A4 without its margins, in pixels of CSS: the short side and the long one.
const PAPER: (u32, u32) = (688, 1017);

fn open(browser: &Browser, name: &str, report: &Report) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("paper-{name}.html"));
    let page = report::page(report, "report.json", &Commands::default());
    fs::write(&file, page).unwrap();
    browser.goto(&format!("file://{}", file.display()));
}

#[test]
fn a_chart_and_its_table_are_on_one_page() {
    let Some(browser) = Browser::start("a_chart_and_its_table_are_on_one_page") else {
        return;
    };
    for (name, report) in [
        ("cores", of_cores(40)),
        ("cover", of_cover(12)),
        ("long", of_long_texts()),
    ] {
        open(&browser, name, &report);
        browser.shown_on("print", false);
        // They are open on paper, which the screen that measures does not know.
        browser.run(
            "document.querySelectorAll('details:not(.members)').forEach(e => { e.open = true; })",
        );
        for (width, height) in [PAPER, (PAPER.1, PAPER.0)] {
            browser.set_width(width);
            let found = browser.run(
                "return [...document.querySelectorAll('figure')].map(figure => {
                   const box = figure.getBoundingClientRect();
                   const rows = [...figure.querySelectorAll('tr')].map(row => row.getBoundingClientRect());
                   return {
                     name: figure.querySelector('h3').textContent,
                     height: box.height,
                     broken: getComputedStyle(figure).breakInside !== 'avoid',
                     rows: rows.length,
                     right: Math.max(...rows.map(row => row.right)),
                     outside: rows.filter(row => row.bottom > box.bottom + 1).length,
                   };
                 });",
            );
            let figures = found.as_array().unwrap();
            assert!(figures.len() > 8, "{name}: {found}");
            for figure in figures {
                let at = format!("{name}, {width} x {height}: {figure}");
                assert!(figure["height"].as_f64().unwrap() <= height.into(), "{at}");
                assert!(
                    figure["right"].as_f64().unwrap() <= f64::from(width) + 1.0,
                    "{at}"
                );
                assert!(figure["rows"].as_u64() > Some(1), "{at}");
                assert_eq!(
                    (&figure["broken"], &figure["outside"]),
                    (&json!(false), &json!(0)),
                    "{at}"
                );
            }
        }
        for is_wide in [false, true] {
            let asked = json!({"landscape": is_wide, "preferCSSPageSize": false});
            let printed = browser.chrome("Page.printToPDF", &asked);
            let bytes = BASE64
                .decode(printed["data"].as_str().unwrap().as_bytes())
                .unwrap();
            assert!(bytes.starts_with(b"%PDF"), "{name}");
            let side = if is_wide { "landscape" } else { "portrait" };
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
            fs::write(folder.join(format!("paper-{name}-{side}.pdf")), bytes).unwrap();
        }
    }
}

#[test]
fn what_was_searched_and_sorted_is_printed_whole() {
    let Some(browser) = Browser::start("what_was_searched_and_sorted_is_printed_whole") else {
        return;
    };
    open(&browser, "searched", &of_cores(40));
    browser.find("#seed-search").send_keys("hub7.example");
    browser.find("#seed-list thead button").click();
    let rows = "return [...document.querySelectorAll('#seed-list tbody tr')]
        .filter(row => row.getClientRects().length).length";
    assert_eq!(browser.run(rows), 1);
    browser.shown_on("print", false);
    assert_eq!(browser.run(rows), 40);
    let arrows = "return [...document.querySelectorAll('#seed-list thead button')]
        .map(button => getComputedStyle(button, '::after').content).filter(text => text !== 'none')";
    assert_eq!(browser.run(arrows), json!([]));
}

/// Body text is the largest, then what explains it, then tables, then remarks in them.
#[test]
fn letters_on_paper_keep_their_order() {
    let Some(browser) = Browser::start("letters_on_paper_keep_their_order") else {
        return;
    };
    open(&browser, "letters", &of_cores(12));
    browser.shown_on("print", false);
    let sizes = browser.run(
        "return ['main > section > p', 'p.small', '#seed-list td', '.reason', 'figure td']
           .map(css => parseFloat(getComputedStyle(document.querySelector(css)).fontSize))",
    );
    let sizes: Vec<f64> = sizes
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert_eq!(sizes.len(), 5);
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert!(sizes[0] > sizes[1] && sizes[2] > sizes[3], "{sizes:?}");
}
