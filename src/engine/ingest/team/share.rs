//! Which process reads which input.
//!
//! A process can read a file that it finds under the same path with the same length. Process 0 reads everything else,
//! such as remote files, and inputs that belong together, such as those of a graph.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{Format, Input, Nofollow, Source};

/// Inputs that can be read by different processes, and those that one of them reads.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in crate::engine) struct Share {
    /// The name of the format.
    format: String,
    drops_nofollow: bool,
    /// The paths and lengths of all inputs.
    pub(super) files: Vec<(PathBuf, u64)>,
    /// The numbers of the inputs to read, ascending.
    pub(in crate::engine) numbers: Vec<u32>,
}

impl Share {
    /// Returns a share of none of these inputs; `None` if not all of them are files that can be read one by one.
    pub(super) fn of_inputs(format: &Format, inputs: &[Input]) -> Option<Self> {
        let nofollow = match format {
            // Their inputs belong together.
            Format::BvGraph { .. } | Format::CcGraph { .. } => return None,
            Format::Wat { nofollow } | Format::Warc { nofollow } | Format::Auto { nofollow } => {
                *nofollow
            }
            _ => Nofollow::default(),
        };
        let is_same = |name: &&str| named(name, nofollow).as_ref() == Some(format);
        let name = Format::NAMES.iter().map(|(name, _)| *name).find(is_same)?;
        let file = |input: &Input| {
            let Input::File(path) = input else {
                return None;
            };
            let path = std::path::absolute(path).ok()?;
            // The path is sent as text.
            path.to_str()?;
            let length = length(&path)?;
            Some((path, length))
        };
        Some(Self {
            format: name.to_owned(),
            drops_nofollow: nofollow == Nofollow::Drop,
            files: inputs.iter().map(file).collect::<Option<_>>()?,
            numbers: Vec::new(),
        })
    }

    /// Returns the number of inputs of all shares.
    pub(in crate::engine) fn inputs(&self) -> u32 {
        // There are fewer inputs than arguments of a command.
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }

    /// Returns which of the inputs this process can read.
    pub(super) fn readable(&self) -> Vec<bool> {
        let can_read = |(path, expected): &(PathBuf, u64)| length(path) == Some(*expected);
        self.files.iter().map(can_read).collect()
    }

    /// Divides the inputs among processes, given which of them each can read; process 0 can read all. Returns the
    /// numbers of inputs of each process.
    ///
    /// Large files are given away first, each to the process with the fewest bytes so far.
    pub(super) fn divide(&self, readable: &[Vec<bool>]) -> Vec<Vec<u32>> {
        let mut shares = vec![(0_u64, Vec::new()); readable.len()];
        let mut order: Vec<(u32, u64)> = (0..).zip(self.files.iter().map(|file| file.1)).collect();
        order.sort_by_key(|(number, bytes)| (std::cmp::Reverse(*bytes), *number));
        for (number, bytes) in order {
            let can_read = |process: &usize| {
                let of_process = readable
                    .get(*process)
                    .and_then(|of| of.get(number as usize));
                *process == 0 || of_process == Some(&true)
            };
            let processes = (0..shares.len()).filter(can_read);
            let least = processes.min_by_key(|process| shares[*process].0);
            let (sum, numbers) = &mut shares[least.unwrap_or(0)];
            *sum = sum.saturating_add(bytes);
            numbers.push(number);
        }
        let sorted = shares.into_iter().map(|(_, mut numbers)| {
            numbers.sort_unstable();
            numbers
        });
        sorted.collect()
    }

    /// Returns the sources of the inputs to read, in the order of their numbers.
    pub(super) fn sources(&self) -> Result<Vec<Box<dyn Source>>> {
        if self.numbers.is_empty() {
            return Ok(Vec::new());
        }
        let unknown = EngineError::Internal("an input of another process is unknown");
        let nofollow = if self.drops_nofollow {
            Nofollow::Drop
        } else {
            Nofollow::Keep
        };
        let Some(format) = named(&self.format, nofollow) else {
            return Err(unknown);
        };
        let inputs: Vec<Input> = self
            .files
            .iter()
            .map(|(path, _)| Input::File(path.clone()))
            .collect();
        let sources = format.sources(&inputs);
        if sources.len() != inputs.len() {
            return Err(unknown);
        }
        let numbered = (0..).zip(sources);
        let own = numbered.filter(|(number, _)| self.numbers.binary_search(number).is_ok());
        Ok(own.map(|(_, source)| source).collect())
    }
}

/// Returns the format with this name; `None` if there is none.
fn named(name: &str, nofollow: Nofollow) -> Option<Format> {
    Some(match Format::named(name)? {
        Format::Wat { .. } => Format::Wat { nofollow },
        Format::Warc { .. } => Format::Warc { nofollow },
        Format::Auto { .. } => Format::Auto { nofollow },
        format => format,
    })
}

/// Returns the length of a regular file in bytes.
fn length(path: &std::path::Path) -> Option<u64> {
    let found = fs::metadata(path).ok()?;
    found.is_file().then(|| found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(lengths: &[u64]) -> Share {
        let file = |length: &u64| (PathBuf::from("/day"), *length);
        Share {
            format: "jsonl".to_owned(),
            drops_nofollow: false,
            files: lengths.iter().map(file).collect(),
            numbers: Vec::new(),
        }
    }

    #[test]
    fn each_process_gets_about_as_many_bytes() {
        let all = vec![true; 5];
        let shares = share(&[4, 9, 3, 5, 2]).divide(&[all.clone(), all]);
        assert_eq!(shares, [vec![1, 2], vec![0, 3, 4]]);
    }

    #[test]
    fn process_0_reads_what_no_other_can_read() {
        let readable = [vec![true; 3], vec![false, true, false], vec![false; 3]];
        let shares = share(&[1, 1, 1]).divide(&readable);
        assert_eq!(shares, [vec![0, 2], vec![1], vec![]]);
    }

    #[test]
    fn inputs_that_belong_together_are_not_shared() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inputs = [Input::File(file.path().to_path_buf())];
        let is_shared =
            |format: &Format, inputs: &[Input]| Share::of_inputs(format, inputs).is_some();
        assert!(is_shared(&Format::JsonLines, &inputs));
        let nofollow = Nofollow::Drop;
        assert!(is_shared(&Format::Wat { nofollow }, &inputs));
        assert!(!is_shared(&Format::BvGraph { urls: None }, &inputs));
        assert!(!is_shared(&Format::JsonLines, &[Input::Stdin]));
        assert!(!is_shared(
            &Format::JsonLines,
            &[Input::File("no/such/file".into())]
        ));
        let share = Share::of_inputs(&Format::Wat { nofollow }, &inputs).unwrap();
        assert_eq!(share.readable(), [true]);
        assert!(share.drops_nofollow && share.sources().unwrap().is_empty());
    }
}
