//! Plans as they are typed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::{PlanDetail, PlanOptions};

/// A plan with the command that makes it again.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PlanWithCommand<'a> {
    /// The plan.
    #[serde(flatten)]
    pub detail: &'a PlanDetail,
    /// The command that makes the plan again; `null` where flags cannot say all of it, and the plan
    /// file can.
    pub command: Option<String>,
}

impl<'a> PlanWithCommand<'a> {
    /// A plan of the bank in this folder.
    #[must_use]
    pub fn of(detail: &'a PlanDetail, bank: &str) -> Self {
        Self {
            command: command(bank, detail),
            detail,
        }
    }
}

/// The command that makes a plan; `None` where flags cannot say all of it.
fn command(bank: &str, plan: &PlanDetail) -> Option<String> {
    let said = plan.summary.parameters.said();
    // A name alone makes no plan.
    let named = PlanOptions {
        method: Some(plan.summary.method),
        ..said
    };
    let flags = plan_flags(&named)?;
    let bank = shell(bank);
    let name = &plan.summary.plan;
    Some(format!(
        "seedbank refresh {bank} --plan {name} {}",
        flags.join(" ")
    ))
}

/// A word for a shell: quoted where it has more than the plainest characters.
fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// What was said of a plan as flags; `None` where one of the parameters is more than a number, a
/// word or a switch.
#[must_use]
pub fn plan_flags(parameters: &PlanOptions) -> Option<Vec<String>> {
    let Ok(Value::Object(said)) = serde_json::to_value(parameters.said()) else {
        return None;
    };
    let flag = |(name, value): (&String, &Value)| match value {
        Value::String(word) => Some(format!("--{name} {}", shell(word))),
        Value::Number(_) | Value::Bool(_) => Some(format!("--{name} {value}")),
        // Of a list the name is enough.
        Value::Object(list) => {
            let file = list.get("name")?.as_str()?;
            Some(format!("--{name} {}", shell(file)))
        }
        Value::Null | Value::Array(_) => None,
    };
    // The method first: it says which of the others there are.
    let (method, others): (Vec<_>, Vec<_>) = said.iter().partition(|(name, _)| *name == "method");
    method.into_iter().chain(others).map(flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_flags() {
        let of = |text: &str| plan_flags(&PlanOptions::from_toml(text).unwrap());
        assert_eq!(of(""), Some(Vec::new()));
        let said = of("method = 'cores'\nseeds = 5\ndensity = 99.5\nkeep-spam = true\n").unwrap();
        assert!(said.contains(&"--keep-spam true".to_owned()), "{said:?}");
        assert!(said.contains(&"--density 99.5".to_owned()), "{said:?}");
        assert_eq!(said.len(), 4);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell("a/b.c"), "a/b.c");
        assert_eq!(shell("a b"), "'a b'");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(shell(""), "''");
    }
}
