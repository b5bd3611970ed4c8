//! Texts in which names of forgotten pages stand: lists that plans name, what refreshes kept of pins,
//! lists of bad records.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use crate::engine::EngineError;
use crate::storage::lists::ListText;
use crate::storage::{Changes, Hash128, Store, tables};

/// What stands for a name in a text that is kept.
const FORGOTTEN: &str = "forgotten.invalid";

/// Whether a name stands in a text, whatever the case of its letters. A longer name that it begins
/// does not count: `a.example/x` is not in `a.example/xy`.
fn names_one(text: &str, needles: &[String]) -> bool {
    let text = text.to_lowercase();
    needles.iter().any(|needle| stands_in(&text, needle))
}

/// Whether a URL that has come this far in a text ends here, perhaps before the stop or comma of a
/// sentence.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['.', ',', ';', ':', '!', ')', '\'']);
    let after = rest.chars().next();
    after.is_none_or(|c| !(c.is_alphanumeric() || "-_~%/?&=+@$(*".contains(c)))
}

fn stands_in(text: &str, needle: &str) -> bool {
    let needle = needle.to_lowercase();
    let is_host = !needle.contains(['/', '?']);
    text.match_indices(&needle).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + needle.len()..];
        let begins = before.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        begins && (is_end(rest) || is_host && rest.starts_with(['/', ':', '?']))
    })
}

/// Leaves lines out of lists that plans name, and names out of what refreshes kept as text. Returns
/// how many lines.
///
/// Cost: a look at each line of the lists, and one scan of plans and refreshes.
pub(super) fn of_lists(
    store: &Store,
    changes: &mut Changes,
    needles: &[String],
) -> Result<u64, EngineError> {
    let mut left_out = 0;
    let mut instead: BTreeMap<Hash128, Shorter> = BTreeMap::new();
    for entry in store.scan(&tables::LISTS)? {
        let (hash, ListText(text)) = entry?;
        let mut kept = String::with_capacity(text.len());
        for line in text.lines() {
            if names_one(line, needles) {
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
            changes.delete(&tables::LISTS, &hash)?;
            changes.put(&tables::LISTS, &list.hash(), &list)?;
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
        refresh.policy = refresh.policy.map(|policy| without(&policy, needles));
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
fn without(json: &str, needles: &[String]) -> String {
    fn clean(value: &mut serde_json::Value, needles: &[String]) {
        match value {
            serde_json::Value::String(text) if names_one(text, needles) => {
                *text = format!("http://{FORGOTTEN}/");
            }
            serde_json::Value::Array(values) => {
                for value in values {
                    clean(value, needles);
                }
            }
            serde_json::Value::Object(fields) => {
                for value in fields.values_mut() {
                    clean(value, needles);
                }
            }
            _ => {}
        }
    }
    if !names_one(json, needles) {
        return json.to_owned();
    }
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(mut value) => {
            clean(&mut value, needles);
            value.to_string()
        }
        Err(_) => json.to_owned(),
    }
}

/// Leaves lines out of the lists of bad records in the bank's folder; returns how many. Each file is
/// replaced whole.
pub(super) fn of_rejects(bank: &Path, needles: &[String]) -> Result<u64, EngineError> {
    let folder = bank.join("rejects");
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| EngineError::Write { path, source }
    };
    let mut left_out = 0;
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(failed(&folder))?,
    };
    for entry in entries {
        let path = entry.map_err(failed(&folder))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if !is_file || path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        left_out += of_file(&path, needles).map_err(failed(&path))?;
    }
    Ok(left_out)
}

fn of_file(path: &Path, needles: &[String]) -> std::io::Result<u64> {
    let mut lines = BufReader::new(fs::File::open(path)?);
    let fresh = path.with_extension("new");
    let mut out = BufWriter::new(fs::File::create(&fresh)?);
    let mut left_out = 0;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        // A URL may be escaped in JSON, as one with `\/`.
        let text = String::from_utf8_lossy(&line).replace("\\/", "/");
        if names_one(&text, needles) {
            left_out += 1;
        } else {
            out.write_all(&line)?;
        }
        line.clear();
    }
    if left_out == 0 {
        drop(out);
        fs::remove_file(&fresh)?;
        return Ok(0);
    }
    out.into_inner()?.sync_all()?;
    fs::set_permissions(&fresh, fs::metadata(path)?.permissions())?;
    fs::rename(&fresh, path)?;
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole() {
        let has = |text: &str, needle: &str| names_one(text, &[needle.to_owned()]);
        assert!(has("http://a.example/x", "a.example/x"));
        assert!(has(r#"{"url":"HTTP://A.example/x"}"#, "a.example/x"));
        assert!(has("line 3: \"https://a.example/x\" is", "a.example/x"));
        assert!(has(
            "it leads to http://a.example/x, which is",
            "a.example/x"
        ));
        assert!(has("it leads to http://a.example/x.", "a.example/x"));
        for longer in [
            "http://a.example/xy",
            "http://a.example/x/",
            "http://a.example/x?y",
        ] {
            assert!(!has(longer, "a.example/x"), "{longer}");
        }
        assert!(!has("http://aa.example/x", "a.example/x"));
        // Of a site everything counts.
        assert!(has("http://a.example:8080/x", "a.example"));
        assert!(has(".a.example", "a.example"));
        assert!(has("http://www.a.example/", "a.example"));
        assert!(!has("http://ba.example/", "a.example"));
        assert!(!has("http://a.examples/", "a.example"));
    }

    #[test]
    fn json_keeps_all_but_the_name() {
        let needles = ["a.example/x".to_owned()];
        let json = r#"{"left_out":[{"url":"http://a.example/x","why":"gone"}],"n":1}"#;
        let clean = without(json, &needles);
        assert_eq!(
            clean,
            r#"{"left_out":[{"url":"http://forgotten.invalid/","why":"gone"}],"n":1}"#
        );
        assert_eq!(without(&clean, &needles), clean);
    }
}
