//! Inputs of which the first bytes say what they are: WAT, or else JSON Lines.

use std::sync::{Arc, OnceLock};

use super::json_lines::JsonLines;
use super::wat::{self, Nofollow};
use crate::ingest::foreign::Foreign;
use crate::ingest::lines;
use crate::ingest::open::{Input, SeenInput};
use crate::ingest::progress::Progress;
use crate::ingest::source::{Pieces, Source, Sources, Stop};
use crate::watch::Watch;

/// The sources for files of either format, each for itself.
pub(super) fn sources(inputs: &[Input], nofollow: Nofollow) -> Sources {
    let source = |input: &Input| {
        Box::new(Auto {
            input: input.clone(),
            nofollow,
            seen: Arc::default(),
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// An input in one of the two formats.
#[derive(Clone, Debug)]
struct Auto {
    input: Input,
    nofollow: Nofollow,
    /// What it is by its first bytes, where it is read as lines.
    seen: Arc<OnceLock<SeenInput>>,
}

impl Source for Auto {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        if opened.look_ahead() == Some(Foreign::Wat) {
            return Ok(wat::pieces(self.name(), opened, self.nofollow, progress));
        }
        let seen = Arc::clone(&self.seen);
        Ok(lines::pieces(opened, &JsonLines, seen, progress))
    }

    fn seen(&self) -> Option<SeenInput> {
        self.seen.get().cloned()
    }
}
