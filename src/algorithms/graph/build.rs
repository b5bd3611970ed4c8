//! Construction of a [`HubGraph`]: merges equal rows, then equally cited authorities.

use rayon::prelude::*;

use super::csr::Csr;
use super::dense_index::{NONE, number};
use super::error::GraphError;
use super::hub_graph::{ClassOfPage, HubGraph};

/// The rows of the host-pruned graph: the pages that have each row, and its targets.
///
/// The order of the rows does not affect the graph.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) carriers: Csr,
    pub(super) targets: Csr,
}

impl Rows {
    /// Returns an empty set of rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row: the pages that have it and its targets, each strictly ascending. A row without
    /// pages or without targets is ignored.
    pub fn push(&mut self, carriers: &[u32], targets: &[u32]) -> Result<(), GraphError> {
        for pages in [carriers, targets] {
            if !pages.is_sorted_by(|a, b| a < b) {
                return Err(GraphError::Unsorted);
            }
            if pages.last() == Some(&NONE) {
                return Err(GraphError::TooLarge);
            }
        }
        if carriers.is_empty() || targets.is_empty() {
            return Ok(());
        }
        if self.carriers.len() + 1 >= NONE as usize {
            return Err(GraphError::TooLarge);
        }
        self.carriers.push(carriers.iter().copied());
        self.targets.push(targets.iter().copied());
        Ok(())
    }

    /// Adds all rows of another set.
    pub fn append(&mut self, part: &Self) -> Result<(), GraphError> {
        if self.carriers.len() + part.carriers.len() >= NONE as usize {
            return Err(GraphError::TooLarge);
        }
        self.carriers.append(&part.carriers);
        self.targets.append(&part.targets);
        Ok(())
    }

    /// Builds the graph of these rows. Cost: hashes and a few passes over the entries, and a sort
    /// of the hashes; temporary memory: 12 bytes per entry.
    pub fn graph(&self) -> Result<HubGraph, GraphError> {
        let largest = self.carriers.entries().iter().chain(self.targets.entries());
        let pages = largest.max().map_or(0, |&page| page as usize + 1);

        let all: Vec<u32> = (0..number(self.targets.len())).collect();
        let (hub_members, rows) = self.hubs(equal_lists(&all, &self.targets).slices());
        let hub_class = classes_of(&hub_members, pages)?;

        let by_page = rows.transpose(pages);
        let cited: Vec<u32> = (0..number(pages))
            .filter(|&page| !by_page.list(page).is_empty())
            .collect();
        let groups = equal_lists(&cited, &by_page);
        let mut groups = groups.slices();
        groups.sort_unstable_by_key(|group| group[0]);
        let mut authority_members = Csr::with_capacity(groups.len(), cited.len());
        let mut citers = Csr::with_capacity(groups.len(), 0);
        for group in groups {
            citers.push(by_page.list(group[0]).iter().copied());
            authority_members.push(group.iter().copied());
        }
        drop(by_page);
        let authority_class = classes_of(&authority_members, pages)?;
        Ok(HubGraph {
            rows: citers.transpose(hub_members.len()),
            hub_members,
            authority_members,
            citers,
            hub_class: ClassOfPage::Dense(hub_class),
            authority_class: ClassOfPage::Dense(authority_class),
        })
    }

    /// Returns the members of each hub class and its target pages, ordered by smallest member.
    pub(super) fn hubs(&self, groups: Vec<&[u32]>) -> (Csr, Csr) {
        let smallest = |group: &[u32]| -> u32 {
            let firsts = group.iter().map(|&row| self.carriers.list(row)[0]);
            firsts.min().unwrap_or(NONE)
        };
        let mut order: Vec<(u32, &[u32])> = groups.into_iter().map(|g| (smallest(g), g)).collect();
        order.par_sort_unstable();
        let mut members = Csr::with_capacity(order.len(), self.carriers.entries().len());
        let mut rows = Csr::with_capacity(order.len(), 0);
        for (_, group) in order {
            for &row in group {
                members.extend(self.carriers.list(row));
            }
            members.open().sort_unstable();
            members.close();
            rows.push(self.targets.list(group[0]).iter().copied());
        }
        (members, rows)
    }
}

/// Returns the class of each page; an error if a page is in two.
fn classes_of(members: &Csr, pages: usize) -> Result<Vec<u32>, GraphError> {
    let mut classes = vec![NONE; pages];
    for class in 0..number(members.len()) {
        for &page in members.list(class) {
            if classes[page as usize] != NONE {
                return Err(GraphError::TwoRows(page));
            }
            classes[page as usize] = class;
        }
    }
    Ok(classes)
}

/// Numbers of lists, with equal lists adjacent and their numbers ascending.
pub(super) struct Groups {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl Groups {
    pub(super) fn slices(&self) -> Vec<&[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts
            .zip(&self.ends)
            .map(|(&from, &to)| &self.ids[from..to])
            .collect()
    }
}

/// Groups the lists with these numbers by content. The hash only makes equal lists adjacent;
/// equality is decided by comparison.
pub(super) fn equal_lists(numbers: &[u32], lists: &Csr) -> Groups {
    let mut keyed: Vec<(u64, u32)> = numbers
        .par_iter()
        .map(|&id| (hash(lists.list(id)), id))
        .collect();
    keyed.par_sort_unstable();
    let mut ids = Vec::with_capacity(keyed.len());
    let mut ends = Vec::new();
    for run in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
        let first = lists.list(run[0].1);
        if run.iter().any(|&(_, id)| lists.list(id) != first) {
            run.sort_by(|a, b| lists.list(a.1).cmp(lists.list(b.1)));
        }
        for equal in run.chunk_by(|a, b| lists.list(a.1) == lists.list(b.1)) {
            ids.extend(equal.iter().map(|&(_, id)| id));
            ends.push(ids.len());
        }
    }
    Groups { ids, ends }
}

fn hash(list: &[u32]) -> u64 {
    let mix = |state: u64, &page: &u32| {
        let mixed = (state ^ u64::from(page)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 32)
    };
    list.iter().fold(list.len() as u64, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(csr: &Csr) -> Vec<&[u32]> {
        (0..number(csr.len())).map(|i| csr.list(i)).collect()
    }

    #[test]
    fn equal_pages_become_one_class_in_each_role() {
        let mut rows = Rows::new();
        rows.push(&[9], &[0, 2, 3]).unwrap();
        rows.push(&[4, 8], &[2, 3]).unwrap();
        rows.push(&[1], &[0, 2, 3]).unwrap();
        rows.push(&[], &[7]).unwrap();
        let graph = rows.graph().unwrap();
        assert_eq!(lists(graph.hub_members()), [&[1, 9][..], &[4, 8]]);
        assert_eq!(lists(graph.authority_members()), [&[0][..], &[2, 3]]);
        assert_eq!(lists(graph.rows()), [&[0, 1][..], &[1]]);
        assert_eq!(lists(graph.citers()), [&[0][..], &[0, 1]]);
        assert_eq!((graph.hub_class(8), graph.hub_class(7)), (Some(1), None));
        assert_eq!(graph.authority_class(99), None);
        assert_eq!(graph.links(), 10);
    }

    #[test]
    fn the_order_of_rows_makes_no_difference() {
        let all: [(&[u32], &[u32]); 3] = [(&[5], &[1]), (&[0, 3], &[2, 6]), (&[2], &[1])];
        let mut forth = Rows::new();
        let mut back = Rows::new();
        for (carriers, targets) in all {
            forth.push(carriers, targets).unwrap();
        }
        for (carriers, targets) in all.into_iter().rev() {
            back.push(carriers, targets).unwrap();
        }
        assert_eq!(forth.graph().unwrap(), back.graph().unwrap());
    }

    #[test]
    fn invalid_rows_are_rejected() {
        let mut rows = Rows::new();
        assert_eq!(rows.push(&[1, 1], &[2]), Err(GraphError::Unsorted));
        assert_eq!(rows.push(&[1], &[3, 2]), Err(GraphError::Unsorted));
        assert_eq!(rows.push(&[1], &[NONE]), Err(GraphError::TooLarge));
        rows.push(&[1], &[2]).unwrap();
        rows.push(&[0, 1], &[3]).unwrap();
        assert_eq!(rows.graph().unwrap_err(), GraphError::TwoRows(1));
    }
}
