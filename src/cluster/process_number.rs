//! The number of this process, given or set by Slurm or Kubernetes.

use crate::error::{ClusterError, NumberError};
use crate::members::Members;

impl Members {
    /// Returns the number of this process: `given`, or the value of `SLURM_PROCID` or
    /// `JOB_COMPLETION_INDEX`. With Slurm, `SLURM_NTASKS` must be the number of processes.
    ///
    /// `env` returns the value of an environment variable; `None` means that it is not set.
    pub fn process_number(
        &self,
        given: Option<usize>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<usize, ClusterError> {
        if let Some(given) = given {
            return Ok(self.checked("the given number", given.to_string())?);
        }
        if let Some(number) = env("SLURM_PROCID") {
            let processes = self.processes().len();
            let found = env("SLURM_NTASKS");
            if found.as_ref().and_then(|tasks| tasks.parse().ok()) != Some(processes) {
                return Err(NumberError::Tasks { processes, found }.into());
            }
            return Ok(self.checked("SLURM_PROCID", number)?);
        }
        let number = env("JOB_COMPLETION_INDEX").ok_or(NumberError::Unset)?;
        Ok(self.checked("JOB_COMPLETION_INDEX", number)?)
    }

    /// Parses a process number and checks that the members file has it.
    pub(crate) fn checked(
        &self,
        origin: &'static str,
        found: String,
    ) -> Result<usize, NumberError> {
        let processes = self.processes().len();
        match found.parse() {
            Ok(number) if number < processes => Ok(number),
            _ => Err(NumberError::Range {
                origin,
                processes,
                found,
            }),
        }
    }
}
