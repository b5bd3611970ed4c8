//! Formats plans as commands.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::PlanOptions;
use crate::engine::plan::{CoverMethod, Method};
use crate::engine::query::PlanDetail;

/// Plan with the command that recreates it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PlanWithCommand {
    /// The plan.
    #[serde(flatten)]
    pub detail: PlanDetail,
    /// Command that recreates the plan; `null` if flags cannot express all parameters, which the plan
    /// file can.
    pub command: Option<String>,
}

impl PlanWithCommand {
    /// Creates the view of a plan of the bank in the folder `bank`.
    #[must_use]
    pub fn new(detail: PlanDetail, bank: &str) -> Self {
        Self {
            command: command(bank, &detail),
            detail,
        }
    }
}

/// Returns the command that creates a plan; `None` if flags cannot express all parameters.
fn command(bank: &str, plan: &PlanDetail) -> Option<String> {
    let given = plan.summary.parameters.without_tuning();
    // The goal or the method is always shown: a name alone does not describe a plan.
    let named = match given.goal {
        Some(_) => given,
        None => PlanOptions {
            method: Some(plan.summary.method),
            ..given
        },
    };
    let flags = plan_flags(&named)?;
    let bank = shell_word(bank);
    let name = &plan.summary.plan;
    Some(format!(
        "seedbank refresh {bank} --plan {name} {}",
        flags.join(" ")
    ))
}

/// Quotes a word for a shell if it contains special characters.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the flags of a refresh of a plan that make it the list of these parameters.
#[must_use]
pub fn flags_of_list(plan: &str, parameters: &PlanOptions, replaces: bool) -> String {
    let replace = if replaces { " --replace" } else { "" };
    let mut flags = plan_flags(parameters).unwrap_or_default().join(" ");
    if parameters.method == Some(Method::Cover(CoverMethod::Random)) {
        flags.push_str(" --rng-seed $(date +%Y%j)");
    }
    format!("--plan {}{replace} {flags}", shell_word(plan))
}

/// Returns the given parameters of a plan as flags, without those that its goal sets; `None` if a parameter
/// is not a number, a word, a switch or a named list.
#[must_use]
pub fn plan_flags(parameters: &PlanOptions) -> Option<Vec<String>> {
    let by_goal = parameters
        .goal
        .map(PlanOptions::of_goal)
        .unwrap_or_default();
    let (Ok(Value::Object(mut given)), Ok(Value::Object(by_goal))) = (
        serde_json::to_value(parameters.without_tuning()),
        serde_json::to_value(by_goal),
    ) else {
        return None;
    };
    given.retain(|name, value| name == "goal" || by_goal.get(name) != Some(value));
    let flag = |(name, value): (&String, &Value)| match value {
        Value::String(word) => Some(format!("--{name} {}", shell_word(word))),
        Value::Bool(on) => Some(format!("--{name} {on}")),
        // Percentages are floats in JSON: 100.0.
        Value::Number(number) => {
            let number = number.to_string();
            Some(format!("--{name} {}", number.trim_end_matches(".0")))
        }
        // A list is given by its file name.
        Value::Object(list) => {
            let file = list.get("name")?.as_str()?;
            Some(format!("--{name} {}", shell_word(file)))
        }
        Value::Null | Value::Array(_) => None,
    };
    // The goal and the method come first: they decide which parameters apply.
    let is_first = |name: &str| ["goal", "method"].contains(&name);
    let (first, others): (Vec<_>, Vec<_>) = given.iter().partition(|(name, _)| is_first(name));
    first.into_iter().chain(others).map(flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::plan::Goal;

    #[test]
    fn parameters_are_flags() {
        let of = |text: &str| plan_flags(&PlanOptions::from_toml(text).unwrap());
        assert_eq!(of(""), Some(Vec::new()));
        let said = of("method = 'cores'\nseeds = 5\ndensity = 99.5\nkeep-spam = true\n").unwrap();
        assert!(said.contains(&"--keep-spam true".to_owned()), "{said:?}");
        assert!(said.contains(&"--density 99.5".to_owned()), "{said:?}");
        assert_eq!(said.len(), 4);
        let of_goal = PlanOptions {
            seeds: Some(5),
            p_uniq: None,
            ..PlanOptions::of_goal(Goal::Discovery)
        };
        assert_eq!(
            plan_flags(&of_goal),
            Some(vec!["--goal discovery".to_owned(), "--seeds 5".to_owned()])
        );
    }

    #[test]
    fn words_are_quoted_for_a_shell_word() {
        assert_eq!(shell_word("a/b.c"), "a/b.c");
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
