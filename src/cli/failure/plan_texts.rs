//! Texts of plan errors and other library errors, in terms of command-line flags.

use indicatif::BinaryBytes;
use seedbank::display::truncated;
use seedbank::engine::EngineError;
use seedbank::engine::error::{Family, PlanError, RequestError, StoreError};
use seedbank::engine::policy::BadPattern;

use super::hints::without_number;
use crate::cli::parameter_flags::names_as_flags;

/// Returns the whole text of an error; `None` if the library's own text, with its causes, needs no
/// change.
pub(super) fn engine(error: &EngineError) -> Option<String> {
    match error {
        EngineError::Plan(e) => plan(e),
        EngineError::Request(RequestError::QuotasWithoutPlan(by)) => Some(format!(
            "--by {by} does not use a plan; remove --plan, or use --by value or --by seeds"
        )),
        EngineError::Store(StoreError::InsufficientSpace { path, needed, free }) => Some(format!(
            "not enough disk space for {}: expected {}, found {} free",
            path.display(),
            BinaryBytes(*needed),
            BinaryBytes(*free)
        )),
        _ => None,
    }
}

/// Replaces words about types in an error of a plan file, and the list of all parameters.
fn in_words(text: &str) -> String {
    let text = text
        .replace("expected u32", "expected a whole number")
        .replace("expected u64", "expected a whole number");
    let list = text.find(", expected one of `goal`");
    match list {
        Some(at) if text.contains("unknown field `") => format!(
            "{}; `seedbank refresh --help` lists the parameters",
            text.get(..at).unwrap_or(&text)
        ),
        _ => text,
    }
}

/// Returns the whole text of a plan error; `None` as in [`engine`].
pub(super) fn plan(error: &PlanError) -> Option<String> {
    Some(match error {
        PlanError::File(source) => format!("the plan file: {}", in_words(&source.to_string())),
        PlanError::List { name, source } => format!(
            "cannot read the list {name}: {}",
            without_number(source.to_string())
        ),
        PlanError::Line {
            list,
            line,
            why: BadPattern::Expression(text) | BadPattern::Shape(text),
        } => {
            // The error of a regular expression has several lines. The last one is the message.
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            format!("invalid line {:?} in the list {list}: {why}", truncated(line))
        }
        PlanError::Stored(source) => format!(
            "the plan was stored by another version of seedbank ({source}); use a new plan name"
        ),
        PlanError::OtherFamily {
            method,
            parameters,
            family,
        } => other_family(method, parameters, *family),
        PlanError::NothingToTune => {
            "--tune tries hops, fetch costs and values of known pages for a crawl over the whole web; use a goal such as --goal coverage with --budget, and omit at least one of --hops, --fetch-cost and --value-known".to_owned()
        }
        PlanError::NotReplaced(parameter) => format!(
            "the plan has another --{parameter}; use --replace to replace all parameters of the plan by those given, or --plan NAME for another plan"
        ),
        PlanError::OutOfRange { .. }
        | PlanError::NoCoreSize
        | PlanError::TwoRules
        | PlanError::NoIterations
        | PlanError::TwoPicks
        | PlanError::NoSeedAllowed(_)
        | PlanError::TooManyPins { .. }
        | PlanError::Cores(_)
        | PlanError::Cover(_) => names_as_flags(&error.to_string()),
        _ => return None,
    })
}

fn other_family(method: &str, parameters: &[&str], family: Family) -> String {
    let flags: Vec<String> = parameters.iter().map(|name| format!("--{name}")).collect();
    let plural_s = if flags.len() > 1 { "" } else { "s" };
    let other = match family {
        Family::Cores => "--method cores",
        Family::Cover => "a cover method (such as --method max-weight)",
    };
    format!(
        "{} belong{plural_s} to {other}, but the plan's method is {method}; remove what does not fit, or give the method",
        flags.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::failure::CliError;
    use seedbank::engine::PlanOptions;

    #[test]
    fn parameters_are_named_as_flags() {
        let cases = [
            (
                "hops = 3\ndepth = 1",
                "--hops, --depth belong to a cover method (such as --method max-weight), but the plan's method is cores; remove what does not fit, or give the method",
            ),
            (
                "method = 'greedy'\ndensity = 60",
                "--density belongs to --method cores, but the plan's method is greedy; remove what does not fit, or give the method",
            ),
            (
                "method = 'random'\nshare = 'value'",
                "`--share` requires a total number of seeds; add `--seeds`",
            ),
            (
                "method = 'max-out'\nvalue-spam = 1000001",
                "`--value-spam`: expected -1000000 to 1000000, found 1000001",
            ),
            (
                "method = 'greedy'\nbudget = 100",
                "`--budget` applies only to plans over the whole web; add `--scope web`, or omit `--budget`",
            ),
            (
                "method = 'greedy'\nscope = 'web'\nper-site = 3",
                "a plan over the whole web has one list of seeds; use `--seeds` instead of `--per-site`",
            ),
            (
                "method = 'random'\nscope = 'web'\nfetch-cost = 0.5",
                "random does not select by value, so `--fetch-cost` does not apply; use greedy or max-weight",
            ),
            ("new-members = 2", "`--new-members` requires `--core-size`"),
            ("seeds = 0", "`--seeds`: expected at least 1, found 0"),
        ];
        for (options, text) in cases {
            let error = PlanOptions::from_toml(options).unwrap().resolve();
            let error = CliError::from(EngineError::from(error.unwrap_err()));
            assert_eq!(error.text(), text);
            assert_eq!((error.exit_status(), error.hint()), (2, None));
        }
    }

    #[test]
    fn a_plan_file_shows_where_it_is_wrong() {
        let error = CliError::PlanText {
            path: "a\nb.toml".into(),
            source: PlanOptions::from_toml("sedes = 3\n").unwrap_err(),
        };
        let text = error.text();
        let head = "a\\nb.toml: the plan file: TOML parse error at line 1";
        assert!(text.starts_with(head), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }
}
