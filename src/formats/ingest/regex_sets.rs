//! Regular expressions of a list, compiled in portions and under a limit for all of them together.
//!
//! What an expression costs to compile, to keep and to search with grows with the size of its
//! automaton, so that size is what is limited, and not the time: a list is accepted or refused the
//! same on every machine. Each expression is first compiled by itself, which is cheap and says its
//! size; about a megabyte of them together then become one program, and between two expressions the
//! work can be interrupted.

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};

use super::bad_pattern::BadPattern;

/// The most bytes that the expressions of a list may take compiled, all together.
const MOST_COMPILED: usize = 64 << 20;

/// The most bytes that one expression may take compiled: what is compiled without a look at the
/// watch.
const MOST_OF_LINE: usize = 8 << 20;

/// The most bytes of an expression's text; a few of them may stand for a large class of characters,
/// which takes memory before it is compiled.
const LONGEST: usize = 16 << 10;

/// The size of a program in bytes, roughly.
const PORTION: usize = 1 << 20;

/// How many bytes of a program's cache each thread may hold.
const CACHE: usize = 2 << 20;

/// The size of everything that was compiled for a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compiled(usize);

impl Compiled {
    /// Adds an expression of `bytes` bytes.
    fn add(&mut self, bytes: usize) -> Result<(), BadPattern> {
        self.0 += bytes;
        if self.0 > MOST_COMPILED {
            return Err(BadPattern::ListTooLarge {
                found: self.0 as u64,
                most: MOST_COMPILED as u64,
            });
        }
        Ok(())
    }
}

/// What expressions match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Matches {
    /// Text: a dot is any character but a line feed.
    Text,
    /// Bytes: a dot is any byte.
    Bytes,
}

impl Matches {
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

/// Expressions that are searched for together.
pub(super) struct Programs {
    matches: Matches,
    compiled: Vec<Regex>,
    /// Expressions that are not in a program yet, and their size.
    waiting: Vec<String>,
    waiting_bytes: usize,
}

impl Programs {
    pub(super) const fn new(matches: Matches) -> Self {
        Self {
            matches,
            compiled: Vec::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
        }
    }

    /// Adds an expression; `bad` makes the error of one that is malformed. Expressions are numbered
    /// from 0 in the order in which they are added.
    pub(super) fn add(
        &mut self,
        expression: &str,
        compiled: &mut Compiled,
        bad: fn(String) -> BadPattern,
    ) -> Result<(), BadPattern> {
        if expression.len() > LONGEST {
            return Err(BadPattern::TooLong {
                found: expression.len() as u64,
                most: LONGEST as u64,
            });
        }
        let bytes = self.size(expression, bad)? + expression.len();
        compiled.add(bytes)?;
        if !self.waiting.is_empty() && self.waiting_bytes + bytes > PORTION {
            self.close()?;
        }
        self.waiting.push(expression.to_owned());
        self.waiting_bytes += bytes;
        Ok(())
    }

    /// The size of an expression's automaton in bytes.
    fn size(&self, expression: &str, bad: fn(String) -> BadPattern) -> Result<usize, BadPattern> {
        let parsed = syntax::parse_with(expression, &self.matches.syntax());
        let parsed = parsed.map_err(|e| bad(e.to_string()))?;
        let settings = thompson::Config::new()
            .utf8(self.matches.is_text())
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MOST_OF_LINE));
        let automaton = NFA::compiler().configure(settings).build_from_hir(&parsed);
        match automaton {
            Ok(automaton) => Ok(automaton.memory_usage()),
            Err(e) if e.size_limit().is_some() => Err(BadPattern::LineTooLarge {
                most: MOST_OF_LINE as u64,
            }),
            Err(e) => Err(bad(e.to_string())),
        }
    }

    /// Compiles what waits into one program.
    fn close(&mut self) -> Result<(), BadPattern> {
        let settings = Regex::config()
            .match_kind(MatchKind::All)
            .utf8_empty(self.matches.is_text())
            .which_captures(WhichCaptures::None)
            // The sizes were limited one by one.
            .nfa_size_limit(None)
            .hybrid_cache_capacity(CACHE);
        let program = Regex::builder()
            .syntax(self.matches.syntax())
            .configure(settings)
            .build_many(&self.waiting)
            .map_err(|e| BadPattern::Expression(e.to_string()))?;
        self.compiled.push(program);
        self.waiting.clear();
        self.waiting_bytes = 0;
        Ok(())
    }

    /// Compiles what is left, after the last expression.
    pub(super) fn finish(&mut self) -> Result<(), BadPattern> {
        if !self.waiting.is_empty() {
            self.close()?;
        }
        self.waiting = Vec::new();
        Ok(())
    }

    /// The number of the first expression that matches somewhere in a text; `None` where none does.
    pub(super) fn first(&self, text: &str) -> Option<usize> {
        let input = Input::new(text);
        let mut before = 0;
        for program in &self.compiled {
            // That one matches is known far sooner than which ones do.
            if program.is_match(input.clone()) {
                let mut found = PatternSet::new(program.pattern_len());
                program.which_overlapping_matches(&input, &mut found);
                let first = found.iter().next()?;
                return Some(before + first.as_usize());
            }
            before += program.pattern_len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(expressions: &[String]) -> Programs {
        let mut programs = Programs::new(Matches::Text);
        let mut compiled = Compiled::default();
        for expression in expressions {
            programs
                .add(expression, &mut compiled, BadPattern::Expression)
                .unwrap();
        }
        programs.finish().unwrap();
        programs
    }

    #[test]
    fn the_first_expression_is_found_in_any_program() {
        // Each takes tens of kilobytes, so they make several programs.
        let expressions: Vec<String> = (0..100)
            .map(|at| format!(r"^x{at}-\w?y|^z{at}-\w"))
            .collect();
        let programs = programs(&expressions);
        assert!(programs.compiled.len() > 2, "{}", programs.compiled.len());
        for at in 0..100 {
            assert_eq!(programs.first(&format!("x{at}-y")), Some(at));
        }
        assert_eq!(programs.first("y"), None);
        let twice = super::tests::programs(&["b".to_owned(), "a".to_owned(), "ab".to_owned()]);
        assert_eq!(twice.first("ab"), Some(0));
        assert_eq!(twice.first("a"), Some(1));
        assert_eq!(super::tests::programs(&[]).first(""), None);
    }

    #[test]
    fn sizes_are_limited_by_line_and_by_list() {
        let mut programs = Programs::new(Matches::Text);
        let mut compiled = Compiled::default();
        let mut add =
            |expression: &str| programs.add(expression, &mut compiled, BadPattern::Expression);
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(
            add(&long),
            Err(BadPattern::TooLong {
                found: 16_385,
                most: 16_384
            })
        );
        let large = Err(BadPattern::LineTooLarge { most: 8 << 20 });
        assert_eq!(add("((a{100}){100}){100}"), large);
        assert_eq!(add(r"\w{1000}"), large);
        assert!(matches!(add("("), Err(BadPattern::Expression(_))));
        // Between one and two MiB each.
        let mut count = 0;
        let refused = loop {
            match add(&format!(r"x{count}\w{{100}}")) {
                Ok(()) => count += 1,
                Err(refused) => break refused,
            }
        };
        assert!((20..60).contains(&count), "{count}");
        let BadPattern::ListTooLarge { found, most } = refused else {
            panic!("{refused}");
        };
        assert!(found > most && found < most + (4 << 20), "{found}");
    }
}
