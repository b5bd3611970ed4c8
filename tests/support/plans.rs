//! Parameters of plans in tests.

use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{Method, Slack};

/// The same parameters, of exact cores if neither a goal nor a method is given; no parameters stay none, for a
/// plan that is stored.
pub fn exact_cores(mut options: PlanOptions) -> PlanOptions {
    if options == PlanOptions::default() {
        return options;
    }
    if options.goal.is_none() {
        options.method.get_or_insert_default();
    }
    if options.method == Some(Method::Cores) {
        options.within.get_or_insert(Slack::EXACT);
    }
    options
}

/// The arguments of `refresh bank` with these flags, of exact cores if they have no method, goal or plan of
/// their own.
pub fn refresh<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let is_other = |flag: &&str| ["--method", "--goal"].contains(flag);
    let exact: &[&str] = if flags.iter().any(is_other) {
        &[]
    } else {
        &["--method", "cores", "--within", "0"]
    };
    [&["refresh", "bank"], exact, flags].concat()
}

/// The parameters of a plan as on the command line, without dashes: `plan("seeds=8 method=greedy scope=web")`.
pub fn plan(text: &str) -> PlanOptions {
    let fields = text.split_whitespace().map(|word| {
        let (name, value) = word.split_once('=').unwrap();
        let value = serde_json::from_str(value);
        (
            name.to_owned(),
            value.unwrap_or_else(|_| word[name.len() + 1..].into()),
        )
    });
    let fields: serde_json::Map<String, serde_json::Value> = fields.collect();
    serde_json::from_value(fields.into()).unwrap()
}
