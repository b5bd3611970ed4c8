//! Brings a patched image into the form of one that was loaded from the tables.

use super::{Added, GraphImage, ImageSite, Lists, NO_ROW, PageAttributes, length};
use seedbank_algorithms::page::RowId;

impl GraphImage {
    /// Returns the number of a row; `None` if the image lacks it.
    pub(super) fn row_number(&self, row: RowId) -> Option<u32> {
        let site = self.sites.get(row.site().0 as usize)?;
        let first = site.first_row as usize;
        let of_site = &self.row_indexes[first..first + site.rows as usize];
        let found = of_site.binary_search(&row.index());
        let old = found.ok().and_then(|at| u32::try_from(first + at).ok());
        old.or_else(|| self.added.rows.get(&row).copied())
    }

    /// Returns the same image with slots and rows in the order of ids, without rows that no page has.
    ///
    /// Cost: a pass over pages and links. Memory: a second image.
    pub(super) fn normalised(&self) -> Self {
        let mut has_pages = vec![false; self.row_indexes.len()];
        for &row in self.row_of.iter().filter(|row| **row != NO_ROW) {
            has_pages[row as usize] = true;
        }
        let mut added: Vec<_> = self.added.rows.iter().map(|(id, at)| (*id, *at)).collect();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let mut pages = self.added.pages.iter().peekable();
        let mut new_slot = vec![0; self.flags.len()];
        let mut new_row = vec![NO_ROW; self.row_indexes.len()];
        // The old slots and the old numbers of rows in the new order.
        let mut slots: Vec<u32> = Vec::with_capacity(self.flags.len());
        let mut rows: Vec<u32> = Vec::with_capacity(self.row_indexes.len());
        let mut sites = Vec::with_capacity(self.sites.len());
        for (id, site) in (0_u32..).zip(&self.sites) {
            let (first, first_row) = (slots.len(), rows.len());
            slots.extend(site.first..site.first + site.pages);
            while let Some(page) = pages.next_if(|page| page.site().0 == id) {
                slots.extend(self.added.slots.get(page));
            }
            // Rows get ascending numbers, so new ones follow.
            rows.extend(site.first_row..site.first_row + site.rows);
            while let Some((_, at)) = added.next_if(|(row, _)| row.site().0 == id) {
                rows.push(at);
            }
            let mut of_site = rows.split_off(first_row);
            of_site.retain(|row| has_pages[*row as usize]);
            of_site.sort_unstable_by_key(|row| self.row_indexes[*row as usize]);
            rows.append(&mut of_site);
            sites.push(ImageSite {
                first: length(first),
                pages: length(slots.len() - first),
                first_row: length(first_row),
                rows: length(rows.len() - first_row),
                ..*site
            });
        }
        for (new, &old) in (0..).zip(&slots) {
            new_slot[old as usize] = new;
        }
        for (new, &old) in (0..).zip(&rows) {
            new_row[old as usize] = new;
        }
        let renumbered = |list: &[u32]| {
            let mut list: Vec<u32> = list.iter().map(|slot| new_slot[*slot as usize]).collect();
            list.sort_unstable();
            list
        };
        let lists = |lists: &Lists, numbers: &[u32]| {
            let mut all = Lists::default();
            for &number in numbers {
                all.push(renumbered(lists.list(number)));
            }
            all
        };
        let row = |slot: &u32| match self.row_of[*slot as usize] {
            NO_ROW => NO_ROW,
            row => new_row[row as usize],
        };
        let mut attributes = Vec::new();
        let none = PageAttributes::default();
        if self.attributes.iter().any(|of_page| *of_page != none) {
            attributes.extend(slots.iter().map(|slot| self.attributes(*slot)));
        }
        Self {
            batch: self.batch,
            sites,
            flags: slots
                .iter()
                .map(|slot| self.flags[*slot as usize])
                .collect(),
            row_of: slots.iter().map(row).collect(),
            attributes,
            row_indexes: rows
                .iter()
                .map(|row| self.row_indexes[*row as usize])
                .collect(),
            rows: lists(&self.rows, &rows),
            intra: self.intra.as_ref().map(|intra| lists(intra, &slots)),
            order: self
                .order
                .iter()
                .map(|slot| new_slot[*slot as usize])
                .collect(),
            runs: self.runs.clone(),
            added: Added::default(),
            ghosts: None,
        }
    }
}
