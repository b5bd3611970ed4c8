//! Which process reads which input.
//!
//! A process can read a file that it finds under the same path with the same length. Process 0 reads everything else,
//! such as remote files, and inputs that belong together, such as those of a graph.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Format, Input, Nofollow, Pieces, Progress, Source, Stop};

/// Inputs that can be read by different processes.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in crate::engine) struct Share {
    /// The name of the format.
    format: String,
    drops_nofollow: bool,
    files: Vec<SharedFile>,
}

/// An input that is a file.
#[derive(Clone, Serialize, Deserialize)]
struct SharedFile {
    path: PathBuf,
    /// The length in bytes.
    length: u64,
    /// The name under which its bad records are listed.
    name: String,
}

impl Share {
    /// Returns the inputs whose sources have these names; `None` if not all of them are files that can be read one by
    /// one.
    pub(super) fn of_inputs(format: &Format, inputs: &[Input], names: &[String]) -> Option<Self> {
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
        let file = |(input, name): (&Input, &String)| {
            let Input::File(path) = input else {
                return None;
            };
            let path = std::path::absolute(path).ok()?;
            // The path is sent as text.
            path.to_str()?;
            Some(SharedFile {
                length: length(&path)?,
                path,
                name: name.clone(),
            })
        };
        // A source for each input: an archive can have several.
        if inputs.len() != names.len() {
            return None;
        }
        Some(Self {
            format: name.to_owned(),
            drops_nofollow: nofollow == Nofollow::Drop,
            files: inputs.iter().zip(names).map(file).collect::<Option<_>>()?,
        })
    }

    /// Returns the number of the input to whose file an error refers.
    pub(in crate::engine) fn named_in(&self, error: &str) -> Option<usize> {
        let is_named = |file: &SharedFile| error.contains(&*file.path.to_string_lossy());
        self.files.iter().position(is_named)
    }

    /// Returns which of the inputs this process can read.
    pub(super) fn readable(&self) -> Vec<bool> {
        let can_read = |file: &SharedFile| length(&file.path) == Some(file.length);
        self.files.iter().map(can_read).collect()
    }

    /// Divides the inputs among processes, given which of them each can read; process 0 can read all. Returns the
    /// numbers of inputs of each process.
    ///
    /// Large files are given away first, each to the process with the fewest bytes so far.
    pub(super) fn divide(&self, readable: &[Vec<bool>]) -> Vec<Vec<u32>> {
        let mut shares = vec![(0_u64, Vec::new()); readable.len()];
        let mut order: Vec<(u32, u64)> = (0..)
            .zip(self.files.iter().map(|file| file.length))
            .collect();
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

    /// Returns the sources of inputs, in the order of their numbers.
    pub(super) fn sources(&self, numbers: &[u32]) -> Result<Vec<Box<dyn Source>>> {
        if numbers.is_empty() {
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
        let paths = self.files.iter().map(|file| file.path.clone());
        let inputs: Vec<Input> = paths.map(Input::File).collect();
        let sources = format.sources(&inputs);
        if sources.len() != inputs.len() {
            return Err(unknown);
        }
        let numbered = (0..).zip(sources).zip(&self.files);
        let own = numbered.filter(|((number, _), _)| numbers.binary_search(number).is_ok());
        let named = own.map(|((_, source), file)| {
            let name = file.name.clone();
            Box::new(NamedSource { name, source }) as Box<dyn Source>
        });
        Ok(named.collect())
    }
}

/// A source with the name that process 0 gives it.
struct NamedSource {
    name: String,
    source: Box<dyn Source>,
}

impl Source for NamedSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.source.limit_memory(bytes);
    }

    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        self.source.prepare(watch)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        self.source.open(progress)
    }
}

/// Returns the format with a name, or `None` if no format has it.
fn named(name: &str, nofollow: Nofollow) -> Option<Format> {
    Some(match Format::named(name)? {
        Format::Wat { .. } => Format::Wat { nofollow },
        Format::Warc { .. } => Format::Warc { nofollow },
        Format::Auto { .. } => Format::Auto { nofollow },
        format => format,
    })
}

/// Returns the length of a regular file that this process can read, in bytes.
fn length(path: &Path) -> Option<u64> {
    // A pipe is not opened, which might wait.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(File::open(path).ok()?.metadata().ok()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(lengths: &[u64]) -> Share {
        let file = |length: &u64| SharedFile {
            path: PathBuf::from("/day"),
            length: *length,
            name: String::new(),
        };
        Share {
            format: "jsonl".to_owned(),
            drops_nofollow: false,
            files: lengths.iter().map(file).collect(),
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
        let names = ["day".to_owned()];
        let of_inputs =
            |format: &Format, inputs: &[Input]| Share::of_inputs(format, inputs, &names);
        assert!(of_inputs(&Format::JsonLines, &inputs).is_some());
        let nofollow = Nofollow::Drop;
        assert!(of_inputs(&Format::BvGraph { urls: None }, &inputs).is_none());
        assert!(of_inputs(&Format::JsonLines, &[Input::Stdin]).is_none());
        assert!(of_inputs(&Format::JsonLines, &[Input::File("no/such/file".into())]).is_none());
        let share = of_inputs(&Format::Wat { nofollow }, &inputs).unwrap();
        assert_eq!(share.readable(), [true]);
        assert!(share.drops_nofollow && share.sources(&[]).unwrap().is_empty());
        assert_eq!(share.sources(&[0]).unwrap()[0].name(), "day");
        let path = file.path().display();
        assert_eq!(
            share.named_in(&format!("cannot read {path} after byte 7")),
            Some(0)
        );
    }
}
