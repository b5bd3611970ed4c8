//! Errors of the library that name parameters, in terms of the command line: by their flags.

use indicatif::BinaryBytes;
use seedbank::engine::{BadCover, EngineError, Family, PlanError, RequestError, StoreError};
use seedbank::shown::shortened;

/// The whole text of an error; `None` where the library's own words, with those of its causes, will
/// do.
pub(super) fn engine(error: &EngineError) -> Option<String> {
    match error {
        EngineError::Plan(e) => plan(e),
        EngineError::Request(RequestError::KeepsNothing) => {
            Some("--keep 0 would delete the refresh itself; keep at least 1".to_owned())
        }
        EngineError::Store(StoreError::NoRoom { path, needed, free }) => Some(format!(
            "what is to be written to {} takes {}, and {} are free",
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
            None => format!(
                "{} has no scheme; write https:// or http:// before it",
                shortened(url)
            ),
        }),
        _ => None,
    }
}

/// The whole text of an error of a plan; `None` as in [`engine`].
pub(super) fn plan(error: &PlanError) -> Option<String> {
    let text = match error {
        PlanError::File(source) => return Some(format!("the plan file: {source}")),
        PlanError::Kept(source) => {
            return Some(format!(
                "the plan was kept by another version of seedbank ({source}); name a new plan"
            ));
        }
        PlanError::OtherFamily {
            method,
            parameters,
            family,
        } => return Some(other_family(method, parameters, *family)),
        PlanError::OutOfRange {
            parameter,
            expected,
            found,
        } => return Some(format!("--{parameter}: expected {expected}, found {found}")),
        PlanError::NoCoreSize => "--new-members goes with --core-size; give that too",
        PlanError::TwoRules => {
            "a core is extracted by density or by size; give --density and --growth, or --core-size and --new-members"
        }
        PlanError::NoIterations => {
            "--iterations goes with --hits classic; converged HITS iterates until it is certain"
        }
        PlanError::TwoPicks => {
            "--succeed keeps seeds and --pick best does not; give one of the two"
        }
        PlanError::NothingToTune => {
            "--tune tries hops and prices for a crawl over the whole web; give --scope web and a --budget, and leave --hops or --fetch-cost out"
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
        Family::Cover => "a cover method (--method max-weight, say)",
    };
    format!(
        "the plan's method is {method}, and {} belong{ending} to {other}; leave out what does not fit, or name the method",
        flags.join(", ")
    )
}

/// The text of an error about parameters of a cover method.
fn covering(error: &BadCover) -> Option<String> {
    Some(match error {
        BadCover::CannotRemove(method) => format!(
            "`--covered remove` makes no sense for {method}; leave it out, or take max-out, max-weight or max-scc"
        ),
        BadCover::CannotZero => {
            "max-out always removes the pages it has covered; leave `--covered zero` out, or take `max-weight --depth 1`"
                .to_owned()
        }
        BadCover::NoDepth(method) => format!(
            "{method} takes no `--depth`; leave it out, or take max-weight, max-scc or root-scc"
        ),
        BadCover::GreedyDepth { depth, hops } => format!(
            "greedy always looks {hops} hops deep, as far as it covers; leave `--depth {depth}` out, or take `max-weight --depth {depth}`"
        ),
        BadCover::TooDeep { depth, hops } => format!(
            "a depth of {depth} is more than the {hops} hops that a seed covers; take `--depth {hops}` or less, or raise `--hops`"
        ),
        BadCover::TwoCounts => {
            "`--per-site` and `--seeds` contradict each other; give one of them".to_owned()
        }
        BadCover::NothingToShare => {
            "`--share` needs a total to share out; add `--seeds N`".to_owned()
        }
        _ => return over_web(error),
    })
}

/// The text of an error about parameters of a plan over the whole web.
fn over_web(error: &BadCover) -> Option<String> {
    Some(match error {
        BadCover::OnlyPerSite(method) => format!(
            "{method} works site by site; leave `--scope web` out, or take greedy or max-weight"
        ),
        BadCover::PerSiteOverWeb => {
            "a plan over the whole web has one list: give `--seeds` in the place of `--per-site`"
                .to_owned()
        }
        BadCover::ShareOverWeb => {
            "a plan over the whole web shares nothing out over sites; leave `--share` out"
                .to_owned()
        }
        BadCover::RemoveOverWeb => {
            "over the whole web only max-out removes the pages it has covered; leave `--covered remove` out"
                .to_owned()
        }
        BadCover::NoGain(method) => format!(
            "{method} picks by no value that a `--fetch-cost` could be taken from; take greedy or max-weight"
        ),
        BadCover::NoBudget(method) => format!(
            "`--budget` tries hops and prices of greedy, not of {method}; leave it out, or take greedy"
        ),
        BadCover::NothingToTune => {
            "`--tune-visits` limits what a `--budget` tries; give that too, or leave it out"
                .to_owned()
        }
        BadCover::NeedsWeb(parameter) => format!(
            "`--{parameter}` belongs to plans over the whole web; give `--scope web`, or leave it out"
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
                "the plan's method is cores, and --hops, --depth belong to a cover method (--method max-weight, say); leave out what does not fit, or name the method",
            ),
            (
                "method = 'greedy'\ndensity = 60",
                "the plan's method is greedy, and --density belongs to --method cores; leave out what does not fit, or name the method",
            ),
            (
                "method = 'random'\nshare = 'value'",
                "`--share` needs a total to share out; add `--seeds N`",
            ),
            (
                "method = 'max-out'\nvalue-spam = 1000001",
                "--value-spam: expected -1000000 to 1000000, found 1000001",
            ),
            (
                "method = 'greedy'\nbudget = 100",
                "`--budget` belongs to plans over the whole web; give `--scope web`, or leave it out",
            ),
            (
                "method = 'greedy'\nscope = 'web'\nper-site = 3",
                "a plan over the whole web has one list: give `--seeds` in the place of `--per-site`",
            ),
            (
                "method = 'random'\nscope = 'web'\nfetch-cost = 0.5",
                "random picks by no value that a `--fetch-cost` could be taken from; take greedy or max-weight",
            ),
            (
                "new-members = 2",
                "--new-members goes with --core-size; give that too",
            ),
            ("seeds = 0", "--seeds: expected at least 1, found 0"),
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
