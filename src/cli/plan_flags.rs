//! The parameters of a plan as flags, and the order of precedence of flags, plan file and stored
//! plan.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Parameter, PlanOptions, Section};
use seedbank::watch::{Interruptible, Watch};

use super::failure::CliError;
use super::parameter_flags::{ParameterFlags, Selection};
use super::values::human_bytes;

/// The most bytes of a plan file; real ones have a few hundred.
const MAX_PLAN_FILE: u64 = 1 << 20;

/// The heading of parameters of plans over the whole web.
const OVER_WEB: &str = "The same over the whole web (greedy, max-weight, max-out, baselines)";

/// The parameters of any method.
#[derive(Debug, Args)]
pub(super) struct PlanFlags {
    /// A TOML file with parameters, named as the flags are: `seeds = 50`
    ///
    /// Flags take precedence over the file, the file over what the plan stored.
    #[arg(long, value_name = "FILE", env = "SEEDBANK_PLAN_FILE")]
    plan_file: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterFlags<All>,
    /// Try hops and costs for the budget again, except those given here
    #[arg(long, help_heading = OVER_WEB)]
    tune: bool,
}

/// All parameters.
#[derive(Clone, Debug)]
struct All;

impl Selection for All {
    fn takes(_: &Parameter) -> bool {
        true
    }

    fn heading(parameter: &Parameter) -> Option<&'static str> {
        match parameter.section {
            Section::Plan => None,
            Section::Cores => Some("Method cores"),
            Section::Cover => Some("Methods that cover each site (all but cores)"),
            Section::Web => Some(OVER_WEB),
            Section::Policies => Some("Policies (any method)"),
        }
    }
}

/// The text of a plan file. The file may be a pipe, which need not have an end.
fn read(path: &Path, watch: &dyn Watch) -> Result<String, CliError> {
    let failed = |source| {
        CliError::reading(source, |source| {
            let path = path.to_path_buf();
            CliError::PlanFile { path, source }
        })
    };
    let mut bytes = Vec::new();
    Interruptible::file(path, watch)
        .and_then(|file| file.take(MAX_PLAN_FILE + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_PLAN_FILE {
        return Err(CliError::Usage(format!(
            "the plan file {} is longer than {}; a plan is a few lines of TOML",
            path.display(),
            human_bytes(MAX_PLAN_FILE)
        )));
    }
    String::from_utf8(bytes).map_err(|e| failed(io::Error::new(ErrorKind::InvalidData, e)))
}

impl PlanFlags {
    /// Whether hops and costs are to be tried again.
    pub(super) fn tune(&self) -> bool {
        self.tune
    }

    /// What flags and plan file say, with the lists that they name.
    pub(super) fn options(self, watch: &dyn Watch) -> Result<PlanOptions, CliError> {
        let file = match &self.plan_file {
            None => PlanOptions::default(),
            Some(path) => {
                let text = read(path, watch)?;
                let options =
                    PlanOptions::from_toml(&text).map_err(|source| CliError::PlanText {
                        path: path.clone(),
                        source,
                    })?;
                let folder = path.parent().unwrap_or(Path::new(""));
                options.read_lists(folder, watch)?
            }
        };
        Ok(self.parameters.read(watch)?.merged_over(&file))
    }
}
