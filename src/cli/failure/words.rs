//! Texts of library errors that name parameters, in terms of the flags of the command line.

use indicatif::BinaryBytes;
use seedbank::engine::{BadCover, EngineError, Family, PlanError, RequestError, StoreError};
use seedbank::shown::shortened;

/// Returns the whole text of an error; `None` if the library's own text, with its causes, needs no
/// change.
pub(super) fn engine(error: &EngineError) -> Option<String> {
    match error {
        EngineError::Plan(e) => plan(e),
        EngineError::Request(RequestError::KeepsNothing) => {
            Some("--keep 0 would delete the refresh itself; use at least 1".to_owned())
        }
        EngineError::Store(StoreError::NoRoom { path, needed, free }) => Some(format!(
            "not enough disk space for {}: expected {}, found {} free",
            path.display(),
            BinaryBytes(*needed),
            BinaryBytes(*free)
        )),
        EngineError::NoScheme { url, meant } => Some(match meant {
            Some(meant) => format!(
                "{} has no scheme: did you mean {}?",
                shortened(url),
                shortened(meant)
            ),
            None => format!("{} has no scheme; add https:// or http://", shortened(url)),
        }),
        _ => None,
    }
}

/// Returns the whole text of a plan error; `None` as in [`engine`].
pub(super) fn plan(error: &PlanError) -> Option<String> {
    let text = match error {
        PlanError::File(source) => return Some(format!("the plan file: {source}")),
        PlanError::Kept(source) => {
            return Some(format!(
                "the plan was stored by another version of seedbank ({source}); use a new plan name"
            ));
        }
        PlanError::OtherFamily {
            method,
            parameters,
            family,
        } => return Some(other_family(method, parameters, *family)),
        PlanError::NoCoreSize => "--new-members requires --core-size",
        PlanError::TwoRules => {
            "--density and --growth conflict with --core-size and --new-members; cores are extracted by density or by size"
        }
        PlanError::NoIterations => {
            "--iterations requires --hits classic; converged HITS iterates until the result is proved"
        }
        PlanError::TwoPicks => {
            "--succeed conflicts with --pick best: it keeps seeds, which --pick best never does; remove one of them"
        }
        PlanError::NothingToTune => {
            "--tune tries hops and fetch costs for a crawl over the whole web; use --scope web and --budget, and omit --hops or --fetch-cost"
        }
        PlanError::Cover(e) => return covering(e),
        _ => return None,
    };
    Some(text.to_owned())
}

fn other_family(method: &str, parameters: &[&str], family: Family) -> String {
    let flags: Vec<String> = parameters.iter().map(|name| format!("--{name}")).collect();
    let ending = if flags.len() > 1 { "" } else { "s" };
    let other = match family {
        Family::Cores => "--method cores",
        Family::Cover => "a cover method (such as --method max-weight)",
    };
    format!(
        "{} belong{ending} to {other}, but the plan's method is {method}; remove what does not fit, or give the method",
        flags.join(", ")
    )
}

/// Returns the text of an error about parameters of a cover method.
fn covering(error: &BadCover) -> Option<String> {
    Some(match error {
        BadCover::CannotRemove(method) => format!(
            "{method} does not support `--covered remove`; omit it, or use max-out, max-weight or max-scc"
        ),
        BadCover::CannotZero => {
            "max-out always removes the pages that it has covered; omit `--covered zero`, or use `max-weight --depth 1`"
                .to_owned()
        }
        BadCover::NoDepth(method) => format!(
            "{method} does not support `--depth`; omit it, or use max-weight, max-scc or root-scc"
        ),
        BadCover::GreedyDepth { depth, hops } => format!(
            "greedy always looks {hops} hops ahead, as far as a seed covers; omit `--depth {depth}`, or use `max-weight --depth {depth}`"
        ),
        BadCover::TooDeep { depth, hops } => format!(
            "expected a depth of at most the {hops} hops that a seed covers, found {depth}; use `--depth {hops}` or less, or raise `--hops`"
        ),
        BadCover::TooManyHops { hops, most } => {
            format!("expected at most {most} hops, found {hops}; no site has more; lower `--hops`")
        }
        BadCover::TwoCounts => {
            "`--per-site` conflicts with `--seeds`; use one of them".to_owned()
        }
        BadCover::NothingToShare => {
            "`--share` requires a total number of seeds; add `--seeds N`".to_owned()
        }
        BadCover::WeightTooLarge {
            setting,
            value,
            most,
        } => format!("`--{setting}`: expected a value from -{most} to {most}, found {value}"),
        BadCover::NoProbability(value) => {
            format!("`--p-uniq`: expected a probability from 0 to 1, found {value}")
        }
        _ => return over_web(error),
    })
}

/// Returns the text of an error about parameters of a plan over the whole web.
fn over_web(error: &BadCover) -> Option<String> {
    Some(match error {
        BadCover::OnlyPerSite(method) => format!(
            "{method} selects site by site; omit `--scope web`, or use greedy or max-weight"
        ),
        BadCover::PerSiteOverWeb => {
            "a plan over the whole web has one list of seeds; use `--seeds` instead of `--per-site`"
                .to_owned()
        }
        BadCover::ShareOverWeb => {
            "a plan over the whole web does not distribute seeds over sites; omit `--share`"
                .to_owned()
        }
        BadCover::RemoveOverWeb => {
            "over the whole web, only max-out removes the pages that it has covered; omit `--covered remove`"
                .to_owned()
        }
        BadCover::NoGain(method) => format!(
            "{method} does not select by value, so `--fetch-cost` does not apply; use greedy or max-weight"
        ),
        BadCover::NoPrice { price, most } => {
            format!("`--fetch-cost`: expected a value from 0 to {most}, found {price}")
        }
        BadCover::NoBudget(method) => format!(
            "`--budget` applies to greedy only, and the method is {method}; omit it, or use greedy"
        ),
        BadCover::EmptyBudget => {
            "`--budget`: expected at least 1 page, found 0".to_owned()
        }
        BadCover::NothingToTune => {
            "`--tune-visits` requires `--budget`, whose search it limits".to_owned()
        }
        BadCover::NeedsWeb(parameter) => format!(
            "`--{parameter}` applies only to plans over the whole web; add `--scope web`, or omit `--{parameter}`"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::failure::CliError;
    use seedbank::engine::PlanOptions;

    #[test]
    fn parameters_are_named_by_their_flags() {
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
                "`--share` requires a total number of seeds; add `--seeds N`",
            ),
            (
                "method = 'max-out'\nvalue-spam = 1000001",
                "`--value-spam`: expected a value from -1000000 to 1000000, found 1000001",
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
            ("new-members = 2", "--new-members requires --core-size"),
            ("seeds = 0", "expected at least 1 seed, found 0"),
        ];
        for (options, text) in cases {
            let error = PlanOptions::from_toml(options).unwrap().decide();
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
