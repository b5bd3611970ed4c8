//! Regular expressions of a list, compiled in sets under a common size limit.
//!
//! The cost of compiling, storing and searching an expression grows with the size of its automaton. The
//! size is limited and not the time, so that a list is accepted or rejected alike on every machine. Each
//! expression is first compiled alone, which is cheap and determines its size; about a megabyte of
//! expressions is then compiled into one set. The work can be interrupted between expressions.

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};

use super::bad_pattern::BadPattern;

/// The maximum compiled size of all expressions of a list, in bytes.
const MAX_LIST_BYTES: usize = 64 << 20;

/// The maximum compiled size of one expression, in bytes; bounds the time between checks for
/// interruption.
const MAX_LINE_BYTES: usize = 8 << 20;

/// The maximum length of an expression in bytes; a few bytes may stand for a large character class, which
/// takes memory before it is compiled.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// The approximate compiled size of a set, in bytes.
const SET_BYTES: usize = 1 << 20;

/// The size of each thread's cache for a set, in bytes.
const CACHE_BYTES: usize = 2 << 20;

/// The compiled size of all expressions of a list so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompiledSize(usize);

impl CompiledSize {
    /// Adds an expression of `bytes` bytes.
    fn add(&mut self, bytes: usize) -> Result<(), BadPattern> {
        self.0 += bytes;
        if self.0 > MAX_LIST_BYTES {
            return Err(BadPattern::ListTooLarge {
                found: self.0 as u64,
                most: MAX_LIST_BYTES as u64,
            });
        }
        Ok(())
    }
}

/// What expressions are matched against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Haystack {
    /// Text: a dot matches any character except a line feed.
    Text,
    /// Bytes: a dot matches any byte.
    Bytes,
}

impl Haystack {
    fn syntax(self) -> syntax::Config {
        let is_bytes = self == Self::Bytes;
        syntax::Config::new()
            .utf8(!is_bytes)
            .dot_matches_new_line(is_bytes)
    }

    const fn is_text(self) -> bool {
        matches!(self, Self::Text)
    }
}

/// Expressions compiled into sets that are searched one after another.
pub(super) struct RegexSets {
    haystack: Haystack,
    sets: Vec<Regex>,
    /// Expressions that are not in a set yet.
    pending: Vec<String>,
    /// Their compiled size.
    pending_bytes: usize,
}

impl RegexSets {
    pub(super) const fn new(haystack: Haystack) -> Self {
        Self {
            haystack,
            sets: Vec::new(),
            pending: Vec::new(),
            pending_bytes: 0,
        }
    }

    /// Adds an expression. Expressions are numbered from 0 in the order in which they are added. `bad`
    /// creates the error for a malformed expression.
    pub(super) fn add(
        &mut self,
        expression: &str,
        compiled: &mut CompiledSize,
        bad: fn(String) -> BadPattern,
    ) -> Result<(), BadPattern> {
        if expression.len() > MAX_TEXT_BYTES {
            return Err(BadPattern::TooLong {
                found: expression.len() as u64,
                most: MAX_TEXT_BYTES as u64,
            });
        }
        let bytes = self.size(expression, bad)? + expression.len();
        compiled.add(bytes)?;
        if !self.pending.is_empty() && self.pending_bytes + bytes > SET_BYTES {
            self.compile_pending()?;
        }
        self.pending.push(expression.to_owned());
        self.pending_bytes += bytes;
        Ok(())
    }

    /// Returns the size of an expression's automaton in bytes.
    fn size(&self, expression: &str, bad: fn(String) -> BadPattern) -> Result<usize, BadPattern> {
        let parsed = syntax::parse_with(expression, &self.haystack.syntax());
        let parsed = parsed.map_err(|e| bad(e.to_string()))?;
        let settings = thompson::Config::new()
            .utf8(self.haystack.is_text())
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_LINE_BYTES));
        let automaton = NFA::compiler().configure(settings).build_from_hir(&parsed);
        match automaton {
            Ok(automaton) => Ok(automaton.memory_usage()),
            Err(e) if e.size_limit().is_some() => Err(BadPattern::LineTooLarge {
                most: MAX_LINE_BYTES as u64,
            }),
            Err(e) => Err(bad(e.to_string())),
        }
    }

    /// Compiles the pending expressions into a set.
    fn compile_pending(&mut self) -> Result<(), BadPattern> {
        let settings = Regex::config()
            .match_kind(MatchKind::All)
            .utf8_empty(self.haystack.is_text())
            .which_captures(WhichCaptures::None)
            // Sizes are limited per expression.
            .nfa_size_limit(None)
            .hybrid_cache_capacity(CACHE_BYTES);
        let set = Regex::builder()
            .syntax(self.haystack.syntax())
            .configure(settings)
            .build_many(&self.pending)
            .map_err(|e| BadPattern::Expression(e.to_string()))?;
        self.sets.push(set);
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }

    /// Compiles the remaining expressions.
    pub(super) fn finish(&mut self) -> Result<(), BadPattern> {
        if !self.pending.is_empty() {
            self.compile_pending()?;
        }
        self.pending = Vec::new();
        Ok(())
    }

    /// Returns the number of the first expression that matches somewhere in a text.
    pub(super) fn first_match(&self, text: &str) -> Option<usize> {
        let input = Input::new(text);
        let mut offset = 0;
        for set in &self.sets {
            // Whether any expression matches is known much faster than which ones.
            if set.is_match(input.clone()) {
                let mut found = PatternSet::new(set.pattern_len());
                set.which_overlapping_matches(&input, &mut found);
                let first = found.iter().next()?;
                return Some(offset + first.as_usize());
            }
            offset += set.pattern_len();
        }
        None
    }
}

#[cfg(test)]
#[path = "regex_sets_tests.rs"]
mod tests;
