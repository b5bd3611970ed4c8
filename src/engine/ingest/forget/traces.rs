//! Texts in which names of forgotten pages stand: lists that plans name, what refreshes kept of pins,
//! lists of bad records.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::found::Names;
use crate::engine::EngineError;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Naming};
use seedbank_store::plan_lists::ListText;
use seedbank_store::{Changes, Hash128, Store, tables};

/// What stands for a name in a text that is kept.
const FORGOTTEN: &str = "forgotten.invalid";

/// Finds names in texts, however they are spelled: what looks like a URL or a host is read as an input's
/// URLs are.
pub(super) struct Traces<'a> {
    pages: HashSet<(&'a str, &'a str)>,
    sites: HashSet<&'a str>,
    naming: Naming,
}

/// Whether a character ends what may be a URL.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`')
}

/// Whether a character may be one of a host.
fn is_of_host(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// What may stand behind a URL in a sentence.
const STOPS: [char; 7] = ['.', ',', ';', ':', '!', ')', '\''];

impl<'a> Traces<'a> {
    pub(super) fn new(names: &'a Names, naming: Naming) -> Self {
        let pages = names.pages.iter();
        Self {
            pages: pages.map(|(site, local)| (&**site, &**local)).collect(),
            sites: names.sites.iter().map(String::as_str).collect(),
            naming,
        }
    }

    fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.sites.is_empty()
    }

    /// Whether a name stands in a text. A longer one that it begins does not count, nor another host of
    /// which it is the end: `a.example` is neither in `a.example.net` nor in `b.a.example`, unless a site
    /// is a domain.
    ///
    /// Cost: a look at each run of letters that may be a host, whatever the number of names.
    fn stand_in(&self, text: &str) -> bool {
        let mut at = 0;
        while let Some(from) = text[at..].find(is_of_host) {
            let from = at + from;
            let run = text[from..].split(|c| !is_of_host(c)).next();
            let run = run.unwrap_or_default();
            at = from + run.len();
            if self.begin_at(text, from, run) {
                return true;
            }
        }
        false
    }

    /// Whether a name is, or begins with, the run of a text that begins here.
    fn begin_at(&self, text: &str, from: usize, run: &str) -> bool {
        let (before, rest) = text.split_at(from);
        let rest = rest.split(ends_url).next().unwrap_or_default();
        if let Some(before) = before.strip_suffix("://") {
            let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next();
            return self.is_one(&[scheme.unwrap_or_default(), "://", rest].concat());
        }
        // `.a.example` and `a.example.` in a list of hosts name it too.
        let host = run.trim_matches('.');
        let rest = rest.trim_start_matches('.');
        let of_site = self.is_site(host);
        of_site
            || host.contains('.')
                && ["http://", "https://"]
                    .iter()
                    .any(|scheme| self.is_one(&[scheme, rest].concat()))
    }

    /// Whether a host is one of a site.
    fn is_site(&self, host: &str) -> bool {
        !self.sites.is_empty()
            && ingest::parse(&["http://", host, "/"].concat(), self.naming)
                .is_ok_and(|found| self.sites.contains(&*found.site))
    }

    /// Whether a URL, with or without what ends a sentence, is a page's, or one of a site.
    fn is_one(&self, url: &str) -> bool {
        let has = |url: &str| {
            ingest::parse(url, self.naming).is_ok_and(|found| {
                self.sites.contains(&*found.site)
                    || self.pages.contains(&(&*found.site, &*found.local))
            })
        };
        has(url) || url.ends_with(STOPS) && has(url.trim_end_matches(STOPS))
    }

    /// The same of JSON, in any of its texts; of what is no JSON as it is.
    fn stand_in_json(&self, json: &str) -> bool {
        fn any(value: &serde_json::Value, has: &dyn Fn(&str) -> bool) -> bool {
            match value {
                serde_json::Value::String(text) => has(text),
                serde_json::Value::Array(values) => values.iter().any(|value| any(value, has)),
                serde_json::Value::Object(fields) => fields.values().any(|value| any(value, has)),
                _ => false,
            }
        }
        // A text may itself be the beginning of a record, as JSON escapes it.
        let has = |text: &str| {
            self.stand_in(text) || text.contains("\\/") && self.stand_in(&text.replace("\\/", "/"))
        };
        match serde_json::from_str(json) {
            Ok(value) => any(&value, &has),
            Err(_) => has(json),
        }
    }
}

/// Leaves lines out of lists that plans name, and names out of what refreshes kept as text. Returns
/// how many lines.
///
/// Cost: a look at each line of the lists, and one scan of plans and refreshes.
pub(super) fn of_lists(
    store: &Store,
    changes: &mut Changes,
    traces: &Traces<'_>,
    watch: &dyn Watch,
) -> Result<u64, EngineError> {
    let mut left_out = 0;
    let mut instead: BTreeMap<Hash128, Shorter> = BTreeMap::new();
    for entry in store.scan(&tables::PLAN_LISTS)? {
        let (hash, ListText(text)) = entry?;
        let mut kept = String::with_capacity(text.len());
        for line in text.lines() {
            watch.proceed()?;
            if traces.stand_in(line) {
                left_out += 1;
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        if kept.len() < text.len() {
            let lines = (text.lines().count(), kept.lines().count());
            let list = ListText(kept);
            let shorter = Shorter {
                hash: list.hash(),
                lines,
            };
            instead.insert(hash, shorter);
            changes.delete(&tables::PLAN_LISTS, &hash)?;
            changes.put(&tables::PLAN_LISTS, &list.hash(), &list)?;
        }
    }
    for entry in store.scan(&tables::PLANS)? {
        let (name, mut plan) = entry?;
        let before = plan.clone();
        plan.settings = renamed(&plan.settings, &instead);
        plan.lists = relisted(&plan.lists, &instead);
        if plan != before {
            changes.put(&tables::PLANS, &name, &plan)?;
        }
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, mut refresh) = entry?;
        let before = refresh.clone();
        refresh.settings = renamed(&refresh.settings, &instead);
        refresh.lists = relisted(&refresh.lists, &instead);
        refresh.policy = refresh.policy.map(|policy| without(&policy, traces));
        if refresh != before {
            changes.put(&tables::REFRESHES, &number, &refresh)?;
        }
    }
    Ok(left_out)
}

fn hexadecimal(hash: &Hash128) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What a list is now.
struct Shorter {
    hash: Hash128,
    /// How many lines it had, and has.
    lines: (usize, usize),
}

/// Settings, as JSON, that name the new lists, with how many lines they have.
fn renamed(settings: &str, instead: &BTreeMap<Hash128, Shorter>) -> String {
    let mut settings = settings.to_owned();
    for (old, new) in instead {
        let (old, hash) = (hexadecimal(old), hexadecimal(&new.hash));
        let of = |lines: usize, hash: &str| format!("\"lines\":{lines},\"hash\":\"{hash}\"");
        settings = settings.replace(&of(new.lines.0, &old), &of(new.lines.1, &hash));
        settings = settings.replace(&old, &hash);
    }
    settings
}

fn relisted(lists: &[Hash128], instead: &BTreeMap<Hash128, Shorter>) -> Vec<Hash128> {
    let new = lists
        .iter()
        .map(|list| instead.get(list).map_or(*list, |new| new.hash));
    let mut new: Vec<Hash128> = new.collect();
    new.sort_unstable();
    new.dedup();
    new
}

/// JSON in which no string has a name.
fn without(json: &str, traces: &Traces<'_>) -> String {
    fn clean(value: &mut serde_json::Value, traces: &Traces<'_>) {
        match value {
            serde_json::Value::String(text) if traces.stand_in(text) => {
                *text = format!("http://{FORGOTTEN}/");
            }
            serde_json::Value::Array(values) => {
                for value in values {
                    clean(value, traces);
                }
            }
            serde_json::Value::Object(fields) => {
                for value in fields.values_mut() {
                    clean(value, traces);
                }
            }
            _ => {}
        }
    }
    if !traces.stand_in_json(json) {
        return json.to_owned();
    }
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(mut value) => {
            clean(&mut value, traces);
            value.to_string()
        }
        Err(_) => json.to_owned(),
    }
}

/// Whether a name stands in a list of bad records in the bank's folder.
pub(super) fn are_in_rejects(
    bank: &Path,
    traces: &Traces<'_>,
    watch: &dyn Watch,
) -> Result<bool, EngineError> {
    for path in reject_lists(bank)? {
        let is_there = read_lines(&path, |_, text| {
            watch.proceed()?;
            Ok(traces.stand_in_json(text))
        })?;
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Leaves lines out of the lists of bad records in the bank's folder; returns how many. Each file is
/// replaced whole.
pub(super) fn of_rejects(
    bank: &Path,
    traces: &Traces<'_>,
    watch: &dyn Watch,
) -> Result<u64, EngineError> {
    let mut left_out = 0;
    if traces.is_empty() {
        return Ok(0);
    }
    for path in reject_lists(bank)? {
        left_out += of_file(&path, traces, watch)?;
    }
    Ok(left_out)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> EngineError {
    let path = path.to_path_buf();
    move |source| EngineError::Write { path, source }
}

fn reject_lists(bank: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let folder = bank.join("rejects");
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(&folder))?,
    };
    let mut lists = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(&folder))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && path.extension().is_some_and(|end| end == "jsonl") {
            lists.push(path);
        }
    }
    Ok(lists)
}

/// Hands on each line of a file, as bytes and as text, until `each` says that it is enough. Returns
/// whether it did.
fn read_lines(
    path: &Path,
    mut each: impl FnMut(&[u8], &str) -> Result<bool, EngineError>,
) -> Result<bool, EngineError> {
    let mut lines = BufReader::new(fs::File::open(path).map_err(failed(path))?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(failed(path))? > 0 {
        if each(&line, &String::from_utf8_lossy(&line))? {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

/// Begins a file under a name that a command which was killed may have left. Whatever has the name is
/// removed first: a link there is not followed.
fn begin(fresh: &Path) -> io::Result<fs::File> {
    match fs::remove_file(fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(fresh),
    }
}

fn of_file(path: &Path, traces: &Traces<'_>, watch: &dyn Watch) -> Result<u64, EngineError> {
    let fresh = path.with_extension("new");
    let mut out = BufWriter::new(begin(&fresh).map_err(failed(&fresh))?);
    let mut left_out = 0;
    let written = read_lines(path, |line, text| {
        watch.proceed()?;
        if traces.stand_in_json(text) {
            left_out += 1;
        } else {
            out.write_all(line).map_err(failed(&fresh))?;
        }
        Ok(false)
    });
    if left_out == 0 || written.is_err() {
        drop(out);
        fs::remove_file(&fresh).map_err(failed(&fresh))?;
        return written.map(|_| 0);
    }
    let replace = || {
        let file = out.into_inner()?;
        file.set_permissions(fs::metadata(path)?.permissions())?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    };
    replace().map_err(failed(path))?;
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank_formats::ingest::{SiteMode, UrlRules};

    fn has(text: &str, what: &str, sites: SiteMode) -> bool {
        let naming = sites.with(UrlRules::Rfc3986);
        let names = Names::parse(&[what.to_owned()], naming).unwrap();
        Traces::new(&names, naming).stand_in(text)
    }

    #[test]
    fn a_page_is_found_whole_and_however_it_is_spelled() {
        let has = |text: &str| has(text, "http://a.example/x", SiteMode::BareHost);
        assert!(has("http://a.example/x"));
        assert!(has(r#"{"url":"HTTP://A.example/x"}"#));
        assert!(has("line 3: \"http://a.example:80/y/../%78\" is"));
        assert!(has("it leads to http://a.example/x, which is"));
        assert!(has("it leads to http://a.example/x."));
        assert!(has("a.example/x"));
        for other in [
            "http://a.example/xy",
            "http://a.example/x/",
            "http://a.example/x?y",
            "http://aa.example/x",
            "http://a.example.net/x",
            "https://a.example/x",
            "http://www.a.example/x",
            "http://shop.a.example/x",
            "a.example",
            "x",
            "",
        ] {
            assert!(!has(other), "{other}");
        }
    }

    #[test]
    fn of_a_site_everything_counts_and_nothing_of_others() {
        let bare = |text: &str| has(text, "a.example", SiteMode::BareHost);
        let own = [
            "http://a.example:8080/x",
            ".a.example",
            "a.example",
            "A.Example.",
            "http://www.a.example/",
            "www.a.example",
            "http://a.example",
            "@a.example/x*",
            "ftp is not http: //a.example/x",
        ];
        for text in own {
            assert!(bare(text), "{text}");
        }
        let others = [
            "http://ba.example/",
            "http://a.examples/",
            "sub.a.example",
            "http://sub.a.example/q",
            "example",
        ];
        for text in others {
            assert!(!bare(text), "{text}");
        }
        assert!(!has("www.a.example", "a.example", SiteMode::Host));
        assert!(has("http://sub.a.com/q", "a.com", SiteMode::Domain));
        assert!(has(
            "m\u{fc}nchen.test/x",
            "m\u{fc}nchen.test",
            SiteMode::Host
        ));
        assert!(has(
            "xn--mnchen-3ya.test",
            "m\u{fc}nchen.test",
            SiteMode::Host
        ));
    }

    #[test]
    fn json_keeps_all_but_the_name() {
        let naming = SiteMode::Host.with(UrlRules::Rfc3986);
        let names = Names::parse(&["http://a.example/x".to_owned()], naming).unwrap();
        let traces = Traces::new(&names, naming);
        let json = r#"{"left_out":[{"url":"http://a.example/x","why":"gone"}],"n":1}"#;
        let clean = without(json, &traces);
        assert_eq!(
            clean,
            r#"{"left_out":[{"url":"http://forgotten.invalid/","why":"gone"}],"n":1}"#
        );
        assert_eq!(without(&clean, &traces), clean);
        assert!(traces.stand_in_json(r#"{"text":"{\"url\":\"http:\\/\\/a.example\\/x\"}"}"#));
    }
}
