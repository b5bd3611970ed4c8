//! Contents that several crawled pages have, such as twins on two hosts: each counts once.
//!
//! In a selection, only the page that represents a content has a value and can be a seed; the others cost a fetch. In a
//! crawl, the first page of a content that is fetched has its value, whichever it is.

use std::collections::HashMap;

use super::share::Group;
use crate::graph::codec::{Decoder, Encoder};
use crate::watch::Interrupted;

/// A crawled page whose content other crawled pages have too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedContent {
    /// The page; in a share, its local number.
    pub page: u32,
    /// The content: the number in the web of the page that represents it.
    pub content: u32,
    /// The position among the pages with this content; 0 represents it.
    pub rank: u32,
}

/// A page of [`SharedContent`], with what it would be if its content were its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContentPage {
    pub(super) shared: SharedContent,
    /// In millionths.
    pub(super) value: i64,
    pub(super) is_candidate: bool,
}

/// The pages of this process that share contents. Memory: 24 bytes for each.
#[derive(Debug)]
pub(super) struct Contents {
    /// Ascending.
    pub(super) pages: Vec<ContentPage>,
    /// The number of pages of all processes that do not represent their contents.
    pub(super) copies: u64,
}

impl Contents {
    /// Returns what is known of a page; `None` if no other page has its content.
    pub(super) fn of_page(&self, page: u32) -> Option<&ContentPage> {
        let place = self.pages.binary_search_by_key(&page, |of| of.shared.page);
        self.pages.get(place.ok()?)
    }
}

/// What decides which page of a content comes first: the smallest.
pub(super) type Key = [u32; 3];

/// Returns for each of some contents the smallest key that any process passes with it. All processes call it at the same
/// time.
pub(super) fn smallest_keys(group: Group<'_>, own: &[(u32, Key)]) -> Result<Vec<Key>, Interrupted> {
    let processes = group.processes();
    if processes == 1 {
        let smallest = by_content(own);
        return Ok(own.iter().map(|(content, _)| smallest[content]).collect());
    }
    // Each content has a process that compares its keys.
    let owner = |content: u32| content as usize % processes;
    let mut messages = vec![Encoder::default(); processes];
    for &(content, key) in own {
        let message = &mut messages[owner(content)];
        for number in [content].into_iter().chain(key) {
            message.number(number.into());
        }
    }
    let received = group.all_to_all(messages.into_iter().map(|message| message.0).collect())?;
    let mut asked: Vec<Vec<(u32, Key)>> = Vec::with_capacity(processes);
    for message in &received {
        let mut message = Decoder(message);
        let mut of_process = Vec::new();
        while !message.0.is_empty() {
            let mut next = || message.index().ok_or_else(|| group.malformed());
            of_process.push((next()?, [next()?, next()?, next()?]));
        }
        asked.push(of_process);
    }
    let smallest = by_content(asked.iter().flatten());
    let answer = |asked: &Vec<(u32, Key)>| {
        let mut answer = Encoder::default();
        for number in asked.iter().flat_map(|(content, _)| smallest[content]) {
            answer.number(number.into());
        }
        answer.0
    };
    let received = group.all_to_all(asked.iter().map(answer).collect())?;
    // Answers come in the order of the questions.
    let mut answers: Vec<Decoder<'_>> = received.iter().map(|message| Decoder(message)).collect();
    let mut keys = Vec::with_capacity(own.len());
    for &(content, _) in own {
        let answer = answers.get_mut(owner(content));
        let answer =
            answer.and_then(|answer| Some([answer.index()?, answer.index()?, answer.index()?]));
        keys.push(answer.ok_or_else(|| group.malformed())?);
    }
    Ok(keys)
}

fn by_content<'a>(pages: impl IntoIterator<Item = &'a (u32, Key)>) -> HashMap<u32, Key> {
    let mut smallest: HashMap<u32, Key> = HashMap::new();
    for &(content, key) in pages {
        let of_content = smallest.entry(content).or_insert(key);
        *of_content = key.min(*of_content);
    }
    smallest
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
