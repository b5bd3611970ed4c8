//! The page of a report in a real browser: readable without scripts, searched and sorted with its own
//! script, light and dark, on a desktop and on a phone, and without network requests. Screenshots go
//! to the target folder.
//!
//! Needs Debian's `chromium`, and reports if it is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::made_up_reports::{hostile, of_cores, of_cover, of_every_kind};
use crate::serve_browser::{axe, has_no_barrier};
use crate::support::scratch;
use crate::support::skipped::skipped;
use crate::support::webdriver::Browser;
use seedbank::report::{self, Commands, Report};

fn page(report: &Report) -> String {
    report::page(report, "report.json", &Commands::default())
}

/// The browser; `None` if it is not installed.
fn browser(test: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        let advice = "make deps-browser, or apt-get install chromium";
        skipped(test, "chromium", advice);
    }
    found
}

/// Says that the browser has something to complain about; to the browser it is nothing.
const COMPLAINS: &str = "--complains";

/// Runs the browser on a file, without a network, and returns what it prints.
fn open(browser: &Path, file: &Path, flags: &[&str]) -> String {
    let profile = scratch();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(flags)
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        said.contains("CONSOLE"),
        flags.contains(&COMPLAINS),
        "{said}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A page around the page, which measures it in a frame of each width. Measuring is done from
/// outside the frame, so the framed page needs no script, which its own policy would forbid.
fn measuring(page: &str, widths: &[u32]) -> String {
    let inside = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame =
        |width| format!("<iframe width=\"{width}\" height=\"700\" srcdoc=\"{inside}\"></iframe>");
    let frames = widths.iter().map(frame).collect::<Vec<String>>().concat();
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body>{frames}<pre id=\"found\"></pre><script>
        window.onload = () => {{
          let found = [];
          for (const frame of document.querySelectorAll('iframe')) {{
            const inside = frame.contentDocument, root = inside.documentElement;
            const wide = [...inside.querySelectorAll('body *')].filter(e =>
              !e.closest('svg, details:not([open]) > :not(summary)') && e.getBoundingClientRect().right > root.clientWidth + 0.5);
            const answer = inside.querySelector('.answer').getBoundingClientRect();
            const text = [...inside.querySelectorAll('svg text')].map(e => {{
              const box = e.getBoundingClientRect(), svg = e.closest('svg').getBoundingClientRect();
              return box.width > 0 && (box.right > svg.right + 1 || box.left < svg.left - 1) ? e.textContent : '';
            }}).filter(t => t);
            const meet = ([a, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
              // The boxes are higher than the letters.
              && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * Math.min(a.height, b.height);
            const covered = [...inside.querySelectorAll('svg')].flatMap(svg => {{
              const all = [...svg.querySelectorAll('text')].map(e => [e.getBoundingClientRect(), e.textContent]);
              return all.flatMap(([a, of], at) => all.slice(at + 1)
                .filter(([b]) => meet([a, b])).map(([, other]) => of + ' | ' + other));
            }});
            const sizes = [...inside.querySelectorAll('svg text:not(.cell-text, .tiny)')].map(e => e.getBoundingClientRect().height);
            found.push({{width: frame.clientWidth, root: root.scrollWidth, body: inside.body.scrollWidth,
              wide: wide.map(e => e.tagName + '.' + e.className), answer: answer.bottom,
              outside: text, covered, smallest: Math.min(...sizes.filter(s => s > 0)),
              fetched: frame.contentWindow.performance.getEntriesByType('resource').map(e => e.name)}});
          }}
          document.getElementById('found').textContent = JSON.stringify(found);
        }};</script>"
    )
}

#[test]
fn it_fits_on_every_screen_and_asks_nobody() {
    let Some(browser) = browser("it_fits_on_every_screen_and_asks_nobody") else {
        return;
    };
    for (name, report) in of_every_kind() {
        let file = folder().join(format!("measure-{name}.html"));
        fs::write(
            &file,
            measuring(&page(&report), &[320, 360, 390, 700, 768, 1000, 1280]),
        )
        .unwrap();
        let dom = open(&browser, &file, &["--dump-dom", "--window-size=1400,900"]);
        let found = dom.split("<pre id=\"found\">").nth(1).unwrap();
        let found = found.split("</pre>").next().unwrap();
        let found = found
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        let found: serde_json::Value = serde_json::from_str(&found)
            .unwrap_or_else(|e| panic!("{name}: {e}: nothing was measured: {found:?}"));
        let frames = found.as_array().unwrap();
        assert_eq!(frames.len(), 7, "{name}: {found}");
        for frame in frames {
            let width = frame["width"].as_f64().unwrap();
            assert!(
                frame["root"].as_f64().unwrap() <= width,
                "{name} is too wide: {frame}"
            );
            assert!(
                frame["body"].as_f64().unwrap() <= width,
                "{name} is too wide: {frame}"
            );
            let none = serde_json::json!([]);
            assert_eq!(frame["wide"], none, "{name}: {frame}");
            assert_eq!(frame["fetched"], none, "{name}: {frame}");
            assert_eq!(frame["covered"], none, "{name}: text on text: {frame}");
            if name != "hostile" {
                assert_eq!(
                    frame["outside"], none,
                    "{name}: text outside its chart: {frame}"
                );
                assert!(
                    frame["smallest"].as_f64().unwrap() >= 10.5,
                    "{name}: {frame}"
                );
            }
            if width >= 1280.0 && name != "hostile" {
                assert!(
                    frame["answer"].as_f64().unwrap() <= 700.0,
                    "{name}: {frame}"
                );
            }
        }
    }
}

#[test]
fn the_dom_has_what_was_written_and_no_script_ran() {
    let Some(browser) = browser("the_dom_has_what_was_written_and_no_script_ran") else {
        return;
    };
    let file = folder().join("hostile.html");
    fs::write(&file, page(&hostile())).unwrap();
    let dom = open(&browser, &file, &["--dump-dom"]);
    // The page's own.
    assert_eq!(dom.matches("<script").count(), 1);
    for part in [
        " src=",
        "<img",
        "<iframe",
        "<object",
        "href=\"javascript:",
        "href=\"data:",
    ] {
        // Outside of attribute values the browser writes `<` of text as `&lt;`.
        let tags = dom.split('<').filter(|tag| {
            let outside: String = tag
                .split('>')
                .next()
                .unwrap()
                .split('"')
                .step_by(2)
                .collect();
            format!("<{outside}").contains(part)
        });
        assert_eq!(tags.count(), 0, "{part}");
    }
    assert!(dom.contains("Is it worth it?"));
    assert_eq!(dom.matches("<svg").count(), dom.matches("</svg>").count());
}

/// Loads a page in a frame, does in it what `steps` say, and returns what they return.
fn used(browser: &Path, name: &str, page: &str, steps: &str, flags: &[&str]) -> serde_json::Value {
    let inside = page.replace('&', "&amp;").replace('"', "&quot;");
    let text = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body><iframe width=\"360\" height=\"700\" srcdoc=\"{inside}\">\
         </iframe><pre id=\"found\"></pre><script>window.onload = () => {{
           const page = document.querySelector('iframe').contentDocument;
           const found = (() => {{ {steps} }})();
           document.getElementById('found').textContent = JSON.stringify(found);
         }};</script>"
    );
    let file = folder().join(format!("used-{name}.html"));
    fs::write(&file, text).unwrap();
    let dom = open(browser, &file, &[flags, &["--dump-dom"]].concat());
    let found = dom.split("<pre id=\"found\">").nth(1).unwrap();
    serde_json::from_str(found.split("</pre>").next().unwrap()).unwrap()
}

#[test]
fn seeds_are_searched_and_sorted() {
    let Some(browser) = browser("seeds_are_searched_and_sorted") else {
        return;
    };
    let page = page(&of_cores(40));
    let steps = "
        const ranks = () => [...page.querySelectorAll('#seed-list tbody tr')]
          .filter(row => row.getClientRects().length).map(row => Number(row.cells[0].textContent));
        const heads = [...page.querySelectorAll('#seed-list thead th')];
        const status = page.querySelector('[role=status]');
        const found = {all: ranks().length, buttons: heads.map(head => head.firstChild.tagName)};
        const box = page.querySelector('input[type=search]');
        const search = text => { box.value = text; box.dispatchEvent(new page.defaultView.Event('input')); };
        search('HUB7.example  links');
        found.searched = [ranks(), status.textContent];
        search('core 1');
        found.number = ranks();
        search('\"core 12\"');
        found.quoted = ranks();
        search('\"core 1\"');
        found.whole = ranks();
        search('no such thing');
        found.none = [ranks(), status.textContent];
        search('');
        found.again = [ranks().length, status.textContent];
        heads[3].firstChild.focus();
        found.focus = page.activeElement === heads[3].firstChild && heads[3].firstChild.tabIndex;
        heads[3].firstChild.click();
        found.most = [ranks().slice(0, 3), heads.map(head => head.getAttribute('aria-sort'))];
        heads[3].firstChild.click();
        found.least = [ranks().slice(-2), heads[3].getAttribute('aria-sort')];
        heads[0].firstChild.click();
        found.ranks = ranks().every((rank, at) => rank === at + 1);
        heads[0].firstChild.click();
        found.back = ranks()[0];
        return found;";
    let found = used(&browser, "seeds", &page, steps, &[]);
    let none = serde_json::Value::Null;
    assert_eq!(
        found,
        serde_json::json!({
            "all": 40,
            "buttons": vec!["BUTTON"; 6],
            "searched": [[7], "1 of 40 shown"],
            "number": [1],
            "quoted": [12],
            "whole": [1],
            "none": [[], "0 of 40 shown"],
            "again": [40, ""],
            "focus": 0,
            "most": [[1, 2, 3], [none, none, none, "descending", none, none]],
            "least": [[2, 1], "ascending"],
            "ranks": true,
            "back": 40,
        })
    );
    // Another script than the policy names does not run, and all seeds are there.
    let steps = "return [page.querySelectorAll('button, input').length,
        page.querySelectorAll('#seed-list tbody tr').length];";
    let other = page.replace("'sha256-", "'sha256-A");
    let found = used(&browser, "other", &other, steps, &[COMPLAINS]);
    assert_eq!(found, serde_json::json!([0, 40]));
}

#[test]
fn light_and_dark_differ_and_pictures_are_taken() {
    let Some(browser) = browser("light_and_dark_differ_and_pictures_are_taken") else {
        return;
    };
    let folder = folder();
    let file = folder.join("cores.html");
    fs::write(&file, page(&of_cores(20))).unwrap();
    for (size, window) in [("desk", "1280,800"), ("phone", "500,1000")] {
        let shot = |name: &str, scheme: u8| {
            let picture = folder.join(format!("{size}-{name}.png"));
            let flags = [
                format!("--screenshot={}", picture.display()),
                format!("--window-size={window}"),
                format!("--blink-settings=preferredColorScheme={scheme}"),
            ];
            open(&browser, &file, &flags.each_ref().map(String::as_str));
            fs::read(picture).unwrap()
        };
        let (dark, light) = (shot("dark", 0), shot("light", 1));
        assert!(dark.len() > 10_000 && light.len() > 10_000);
        assert_ne!(dark, light);
    }
}

#[test]
fn hostile_seeds_are_searched_and_sorted() {
    let Some(browser) = browser("hostile_seeds_are_searched_and_sorted") else {
        return;
    };
    let steps = "
        const rows = () => [...page.querySelectorAll('#seed-list tbody tr')].filter(row => !row.hidden).length;
        const box = page.querySelector('input[type=search]');
        const counts = ['<script>alert(1)', '\"onerror=alert\"', '\"\\\\(', '.*', 'javascript:'].map(text => {
          box.value = text;
          box.dispatchEvent(new page.defaultView.Event('input'));
          return rows();
        });
        box.value = '';
        box.dispatchEvent(new page.defaultView.Event('input'));
        for (const button of page.querySelectorAll('#seed-list thead button')) { button.click(); button.click(); }
        return [counts, rows(), page.querySelectorAll('img, table script').length];";
    let found = used(&browser, "hostile", &page(&hostile()), steps, &[]);
    assert_eq!(found, serde_json::json!([[12, 12, 0, 0, 1], 12, 0]));
}

#[test]
fn long_lists_say_what_is_searched() {
    let Some(browser) = browser("long_lists_say_what_is_searched") else {
        return;
    };
    let steps = "
        const box = page.querySelector('input[type=search]');
        box.value = 'hub7.example';
        box.dispatchEvent(new page.defaultView.Event('input'));
        return page.querySelector('[role=status]').textContent;";
    let long = page(&of_cover(5_003)).replace("host7.example", "hub7.example");
    assert_eq!(
        used(&browser, "long-list", &long, steps, &[]),
        "1 of the first 5,000 of 5,003 shown; the others are in report.json"
    );
}

#[test]
fn a_report_has_no_barrier() {
    let test = "a_report_has_no_barrier";
    let (Some(browser), Some(axe)) = (Browser::start(test), axe(test)) else {
        return;
    };
    for (name, report) in [
        ("cores", of_cores(20)),
        ("cover", of_cover(12)),
        ("hostile", hostile()),
    ] {
        let file = folder().join(format!("barriers-{name}.html"));
        fs::write(&file, page(&report)).unwrap();
        browser.goto(&format!("file://{}", file.display()));
        browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })");
        for width in [1280, 360] {
            browser.set_width(width);
            has_no_barrier(&browser, &axe, name);
        }
    }
}
