//! Finds and removes names of forgotten pages in texts: lists that plans reference, stored results
//! of pins, and lists of bad records.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::matches::NameSet;
use crate::engine::Result;
use crate::engine::ingest::reject_list::write_error;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Naming};
use seedbank_store::plan_lists::ListText;
use seedbank_store::{Changes, Hash128, Store, tables};

/// Replaces a host in stored texts.
const FORGOTTEN: &str = "forgotten.invalid";

/// Finds names in texts, in any spelling: everything that looks like a URL or a host is parsed like
/// the URLs of an input.
pub(super) struct Redactor<'a> {
    pages: HashSet<(&'a str, &'a str)>,
    sites: HashSet<&'a str>,
    naming: Naming,
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`')
}

/// Whether a character can be part of a host.
fn is_host_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Characters after a URL in a sentence.
const PUNCTUATION: [char; 7] = ['.', ',', ';', ':', '!', ')', '\''];

impl<'a> Redactor<'a> {
    pub(super) fn new(names: &'a NameSet, naming: Naming) -> Self {
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

    /// Whether a text contains a name. A longer name with it as a prefix does not count, nor
    /// another host with it as a suffix: `a.example` is contained neither in `a.example.net` nor in
    /// `b.a.example`, unless sites are domains.
    ///
    /// Cost: one parse per maximal run of host characters, whatever the number of names.
    fn is_in(&self, text: &str) -> bool {
        let mut at = 0;
        while let Some(from) = text[at..].find(is_host_char) {
            let from = at + from;
            let run = text[from..].split(|c| !is_host_char(c)).next();
            let run = run.unwrap_or_default();
            at = from + run.len();
            if self.matches_at(text, from, run) {
                return true;
            }
        }
        false
    }

    /// Whether a name equals, or begins with, the run of a text at this position.
    fn matches_at(&self, text: &str, from: usize, run: &str) -> bool {
        let (before, rest) = text.split_at(from);
        let rest = rest.split(ends_url).next().unwrap_or_default();
        if let Some(before) = before.strip_suffix("://") {
            let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next();
            return self.is_match(&[scheme.unwrap_or_default(), "://", rest].concat());
        }
        // `.a.example` and `a.example.` in a list of hosts name the host too.
        let host = run.trim_matches('.');
        let rest = rest.trim_start_matches('.');
        let of_site = self.is_site(host);
        of_site
            || host.contains('.')
                && ["http://", "https://"]
                    .iter()
                    .any(|scheme| self.is_match(&[scheme, rest].concat()))
    }

    fn is_site(&self, host: &str) -> bool {
        !self.sites.is_empty()
            && ingest::parse(&["http://", host, "/"].concat(), self.naming)
                .is_ok_and(|found| self.sites.contains(&*found.site))
    }

    /// Whether a URL, with or without punctuation at its end, is one of the pages or on one of the
    /// sites.
    fn is_match(&self, url: &str) -> bool {
        let has = |url: &str| {
            ingest::parse(url, self.naming).is_ok_and(|found| {
                self.sites.contains(&*found.site)
                    || self.pages.contains(&(&*found.site, &*found.local))
            })
        };
        has(url) || url.ends_with(PUNCTUATION) && has(url.trim_end_matches(PUNCTUATION))
    }

    /// Whether a string in a JSON text contains a name. Invalid JSON is searched as plain text.
    fn is_in_json(&self, json: &str) -> bool {
        fn any(value: &serde_json::Value, has: &dyn Fn(&str) -> bool) -> bool {
            match value {
                serde_json::Value::String(text) => has(text),
                serde_json::Value::Array(values) => values.iter().any(|value| any(value, has)),
                serde_json::Value::Object(fields) => fields.values().any(|value| any(value, has)),
                _ => false,
            }
        }
        // A string may itself be the beginning of a record, with slashes escaped as in JSON.
        let has = |text: &str| {
            self.is_in(text) || text.contains("\\/") && self.is_in(&text.replace("\\/", "/"))
        };
        match serde_json::from_str(json) {
            Ok(value) => any(&value, &has),
            Err(_) => has(json),
        }
    }
}

/// Removes lines with names from lists that plans reference, and names from stored results. Returns
/// the number of removed lines.
///
/// Cost: reading each line of the lists, and one scan of plans and refreshes.
pub(super) fn redact_lists(
    store: &Store,
    changes: &mut Changes,
    redactor: &Redactor<'_>,
    watch: &dyn Watch,
) -> Result<u64> {
    let mut removed = 0;
    let mut replacements: BTreeMap<Hash128, RedactedList> = BTreeMap::new();
    for entry in store.scan(&tables::PLAN_LISTS)? {
        let (hash, ListText(text)) = entry?;
        let mut kept = String::with_capacity(text.len());
        for line in text.lines() {
            watch.proceed()?;
            if redactor.is_in(line) {
                removed += 1;
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        // A shorter list has another hash, so everything that references it must be updated.
        if kept.len() < text.len() {
            let lines = (text.lines().count(), kept.lines().count());
            let list = ListText(kept);
            let redacted = RedactedList {
                hash: list.hash(),
                lines,
            };
            replacements.insert(hash, redacted);
            changes.delete(&tables::PLAN_LISTS, &hash)?;
            changes.put(&tables::PLAN_LISTS, &list.hash(), &list)?;
        }
    }
    for entry in store.scan(&tables::PLANS)? {
        let (name, mut plan) = entry?;
        let before = plan.clone();
        plan.settings = replace_lists(&plan.settings, &replacements);
        plan.lists = replace_hashes(&plan.lists, &replacements);
        if plan != before {
            changes.put(&tables::PLANS, &name, &plan)?;
        }
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, mut refresh) = entry?;
        let before = refresh.clone();
        refresh.settings = replace_lists(&refresh.settings, &replacements);
        refresh.lists = replace_hashes(&refresh.lists, &replacements);
        refresh.policy = refresh.policy.map(|policy| redact_json(&policy, redactor));
        if refresh != before {
            changes.put(&tables::REFRESHES, &number, &refresh)?;
        }
    }
    Ok(removed)
}

struct RedactedList {
    hash: Hash128,
    /// Numbers of lines before and after.
    lines: (usize, usize),
}

/// Replaces hashes and numbers of lines in settings (JSON).
fn replace_lists(settings: &str, replacements: &BTreeMap<Hash128, RedactedList>) -> String {
    let mut settings = settings.to_owned();
    for (old, new) in replacements {
        let hex = |hash: &Hash128| format!("{:032x}", u128::from_be_bytes(*hash));
        let (old, hash) = (hex(old), hex(&new.hash));
        let of = |lines: usize, hash: &str| format!("\"lines\":{lines},\"hash\":\"{hash}\"");
        settings = settings.replace(&of(new.lines.0, &old), &of(new.lines.1, &hash));
        settings = settings.replace(&old, &hash);
    }
    settings
}

fn replace_hashes(
    lists: &[Hash128],
    replacements: &BTreeMap<Hash128, RedactedList>,
) -> Vec<Hash128> {
    let new = lists
        .iter()
        .map(|list| replacements.get(list).map_or(*list, |new| new.hash));
    let mut new: Vec<Hash128> = new.collect();
    new.sort_unstable();
    new.dedup();
    new
}

/// Replaces names in all strings of a JSON text.
fn redact_json(json: &str, redactor: &Redactor<'_>) -> String {
    fn clean(value: &mut serde_json::Value, redactor: &Redactor<'_>) {
        match value {
            serde_json::Value::String(text) if redactor.is_in(text) => {
                *text = format!("http://{FORGOTTEN}/");
            }
            serde_json::Value::Array(values) => {
                for value in values {
                    clean(value, redactor);
                }
            }
            serde_json::Value::Object(fields) => {
                for value in fields.values_mut() {
                    clean(value, redactor);
                }
            }
            _ => {}
        }
    }
    if !redactor.is_in_json(json) {
        return json.to_owned();
    }
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(mut value) => {
            clean(&mut value, redactor);
            value.to_string()
        }
        Err(_) => json.to_owned(),
    }
}

pub(super) fn is_in_reject_lists(
    bank: &Path,
    redactor: &Redactor<'_>,
    watch: &dyn Watch,
) -> Result<bool> {
    for path in reject_lists(bank)? {
        let is_there = read_lines(&path, |_, text| {
            watch.proceed()?;
            Ok(redactor.is_in_json(text))
        })?;
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes lines with names from the lists of bad records in the bank's folder. Returns their
/// number. Each file is replaced atomically.
pub(super) fn redact_reject_lists(
    bank: &Path,
    redactor: &Redactor<'_>,
    watch: &dyn Watch,
) -> Result<u64> {
    let mut removed = 0;
    if redactor.is_empty() {
        return Ok(0);
    }
    for path in reject_lists(bank)? {
        removed += redact_file(&path, redactor, watch)?;
    }
    Ok(removed)
}

fn reject_lists(bank: &Path) -> Result<Vec<PathBuf>> {
    let folder = bank.join("rejects");
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(write_error(&folder))?,
    };
    let mut lists = Vec::new();
    for entry in entries {
        let path = entry.map_err(write_error(&folder))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && path.extension().is_some_and(|end| end == "jsonl") {
            lists.push(path);
        }
    }
    Ok(lists)
}

/// Calls `each` with the lines of a file, as bytes and as text, until it returns true. Returns
/// whether it did.
fn read_lines(path: &Path, mut each: impl FnMut(&[u8], &str) -> Result<bool>) -> Result<bool> {
    let mut lines = BufReader::new(fs::File::open(path).map_err(write_error(path))?);
    let mut line = Vec::new();
    while lines
        .read_until(b'\n', &mut line)
        .map_err(write_error(path))?
        > 0
    {
        if each(&line, &String::from_utf8_lossy(&line))? {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

/// Creates a temporary file. Removes a file that a killed command left under this name, without
/// following a link.
fn create_temporary(temporary: &Path) -> io::Result<fs::File> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(temporary),
    }
}

fn redact_file(path: &Path, redactor: &Redactor<'_>, watch: &dyn Watch) -> Result<u64> {
    let temporary = path.with_extension("new");
    let mut out = BufWriter::new(create_temporary(&temporary).map_err(write_error(&temporary))?);
    let mut removed = 0;
    let written = read_lines(path, |line, text| {
        watch.proceed()?;
        if redactor.is_in_json(text) {
            removed += 1;
        } else {
            out.write_all(line).map_err(write_error(&temporary))?;
        }
        Ok(false)
    });
    if removed == 0 || written.is_err() {
        drop(out);
        fs::remove_file(&temporary).map_err(write_error(&temporary))?;
        return written.map(|_| 0);
    }
    let replace = || {
        let file = out.into_inner()?;
        file.set_permissions(fs::metadata(path)?.permissions())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    replace().map_err(write_error(path))?;
    Ok(removed)
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
