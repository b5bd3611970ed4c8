//! The plan parameters of `refresh`: flags take precedence over the plan file, and that over the stored
//! plan.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{Parameter, Section};
use seedbank::watch::{Interruptible, Watch};

use super::failure::CliError;
use super::parameter_flags::{ParameterFlags, Selection};
use super::values::human_bytes;

/// Maximum size of a plan file in bytes; typical files have a few hundred.
const MAX_PLAN_FILE: u64 = 1 << 20;

/// The heading of parameters of plans over the whole web.
const OVER_WEB: &str =
    "Advanced: plans over the whole web (greedy, max-weight, max-out, baselines)";

/// The flags for all plan parameters.
#[derive(Debug, Args)]
pub(super) struct PlanFlags {
    /// TOML file with parameters, named like the flags, for example `seeds = 50`
    ///
    /// Flags take precedence over the file, and the file over the stored parameters of the plan.
    #[arg(
        long,
        value_name = "FILE",
        env = "SEEDBANK_PLAN_FILE",
        hide_short_help = true
    )]
    plan_file: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterFlags<All>,
    /// Tune the plan for its budget again
    ///
    /// Tunes --hops, --fetch-cost and --value-known, unless they are given.
    #[arg(long, help_heading = None)]
    tune: bool,
}

#[derive(Clone, Debug)]
struct All;

impl Selection for All {
    fn includes(_: &Parameter) -> bool {
        true
    }

    fn heading(parameter: &Parameter) -> Option<&'static str> {
        if Self::is_short(parameter) {
            return None;
        }
        match parameter.section {
            Section::Plan => Some("Advanced: the method"),
            Section::Cores => Some("Advanced: method cores"),
            Section::Cover => Some("Advanced: methods that cover each site (all but cores)"),
            Section::Web => Some(OVER_WEB),
            Section::Policies => Some("Policies (any method)"),
        }
    }

    /// Only what most users need is in the short help.
    fn is_short(parameter: &Parameter) -> bool {
        ["goal", "seeds", "budget", "max-per-site", "exclude", "pin"].contains(&&*parameter.name)
    }
}

/// Reads a plan file, which may be a pipe without an end.
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
            "plan file {}: expected at most {} of TOML",
            path.display(),
            human_bytes(MAX_PLAN_FILE)
        )));
    }
    String::from_utf8(bytes).map_err(|e| failed(io::Error::new(ErrorKind::InvalidData, e)))
}

impl PlanFlags {
    pub(super) fn tune(&self) -> bool {
        self.tune
    }

    /// Merges flags and plan file, and reads the lists that they name.
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
