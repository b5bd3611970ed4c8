//! Everything that a bank can be asked, each answer as one short text, so that the answers of two
//! banks can be compared: what must be the same for a bank and its copy is the same text.

use std::collections::BTreeMap;
use std::path::Path;

use seedbank::engine::error::ErrorKind;
use seedbank::engine::query::DiffRequest;
use seedbank::engine::{Bank, EngineError, Which};
use serde::Serialize;
use serde_json::Value;

/// Answers by question. A question is the command line that asks it, without the bank.
pub type Answers = BTreeMap<String, String>;

/// The beginning of the text that stands for an answer where the bank is damaged.
pub const DAMAGED: &str = "status 4";

/// A question that only the library answers: every page with its links.
pub const PAGES: &str = "pages";

/// How many of the [`questions`] come first: these ask for most of what a bank holds.
pub const FIRST: usize = 3;

/// Everything that a bank with this many refreshes can be asked, including about these pages.
pub fn questions(refreshes: u32, urls: &[String]) -> Vec<String> {
    let mut all: Vec<String> = ["status", PAGES].map(str::to_owned).to_vec();
    for refresh in (1..=refreshes).rev() {
        all.push(format!("seeds --refresh {refresh}"));
        all.push(format!("cores --refresh {refresh}"));
    }
    all.push("history".to_owned());
    if refreshes > 1 {
        all.push(format!("diff 1 {refreshes}"));
    }
    for url in urls {
        all.push(format!("history {url}"));
        if refreshes > 0 {
            all.push(format!("explain {url} --refresh {refreshes}"));
        }
    }
    all
}

/// Asks a bank. If the first two questions find it damaged the others are not asked, since a reader
/// waits for a state that is not there.
pub fn ask(bank: &Path, questions: &[String]) -> Answers {
    ask_handle(&Bank::at(bank), questions)
}

/// Asks a bank through a handle, which opens the bank for each question unless it is pinned.
pub fn ask_handle(bank: &Bank, questions: &[String]) -> Answers {
    let mut answers = Answers::new();
    for question in questions {
        let answer = match answer(bank, question) {
            Ok(value) => {
                let text = without_times(value).to_string();
                format!("answered {}", blake3::hash(text.as_bytes()).to_hex())
            }
            Err(error) => format!("status {}: {}", status(&error), error),
        };
        answers.insert(question.clone(), answer);
        if answers.len() == 2 && answers.values().all(|answer| answer.starts_with(DAMAGED)) {
            break;
        }
    }
    answers
}

/// The command line that asks a question of a bank.
pub fn command_line(question: &str, bank: &str) -> Vec<String> {
    let asked = if question == PAGES {
        "status"
    } else {
        question
    };
    let mut words: Vec<String> = asked.split(' ').map(str::to_owned).collect();
    words.insert(1, bank.to_owned());
    words
}

fn answer(bank: &Bank, question: &str) -> Result<Value, EngineError> {
    let words: Vec<&str> = question.split(' ').collect();
    let number = |text: &str| text.parse::<u32>().unwrap();
    let of = |text: &str| Which {
        plan: None,
        refresh: Some(number(text)),
    };
    Ok(match words[..] {
        ["status"] => json(&bank.status()?),
        ["history"] => json(&bank.history()?),
        ["history", url] => json(&bank.page_history(url, None)?),
        ["seeds", _, refresh] => json(&bank.seeds(of(refresh))?.collect::<Result<Vec<_>, _>>()?),
        ["explain", url, _, refresh] => json(&bank.explain(url, of(refresh))?),
        ["diff", one, other] => {
            let request = DiffRequest {
                refreshes: vec![number(one), number(other)],
                ..DiffRequest::default()
            };
            format!("{:?}", bank.diff(&request)?).into()
        }
        ["cores", _, refresh] => {
            let cores = bank.cores(of(refresh))?;
            Value::Array(
                cores
                    .map(|core| Ok(json(&core?)))
                    .collect::<Result<_, EngineError>>()?,
            )
        }
        [PAGES] => {
            let mut pages = Vec::new();
            bank.pages(|page| {
                pages.push(format!("{page:?}").into());
                Ok::<_, EngineError>(())
            })?;
            Value::Array(pages)
        }
        ref other => panic!("no such question: {other:?}"),
    })
}

fn json<T: Serialize>(answer: &T) -> Value {
    serde_json::to_value(answer).unwrap()
}

/// An answer without what differs between two runs: when, how long, and where the bytes and the
/// files are.
fn without_times(answer: Value) -> Value {
    match answer {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| {
                ![
                    "at",
                    "fetched",
                    "age",
                    "seconds",
                    "tables",
                    "groups",
                    "folder_bytes",
                    "log_bytes",
                    "rejects_file",
                    "bits_per_link",
                    "compacted",
                    "inputs",
                ]
                .contains(&name.as_str())
            });
            Value::Object(kept.map(|(name, v)| (name, without_times(v))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        other => other,
    }
}

/// The exit status that the command has for an error.
fn status(error: &EngineError) -> u8 {
    match error.kind() {
        ErrorKind::Failed => 1,
        ErrorKind::Usage => 2,
        ErrorKind::Rejected => 3,
        ErrorKind::Unavailable => 4,
        ErrorKind::NotFound => 5,
        ErrorKind::Interrupted => 130,
    }
}
