//! Row sums: a measure of the density around each page, from the links two steps around it.
//!
//! With M = A^T A, the row sum of an authority v is `r_v = (M 1)_v`: the outdegrees of the hubs
//! that link to v, summed. The best authority of a region with singular value sigma has
//! `r_v >= sigma^2`: with x scaled so that `x_v = 1` is its largest entry,
//! `sigma^2 = (M x)_v <= (M 1)_v` (`src/guide/cores.md`, *Why a small residual is not
//! enough*). For hubs the same holds with A A^T: the indegrees of the authorities that a hub links
//! to, summed. So a page whose row sums are below the square of the last core's sigma was not the best page
//! of any core.

use crate::graph::{Csr, HubShare, Role};
use crate::watch::Interrupted;

/// The row sum of the pages of each class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct RowSums {
    /// By hub class.
    pub(super) hubs: Vec<u64>,
    /// By authority class.
    pub(super) authorities: Vec<u64>,
}

/// Computes the row sums of the own classes. All processes call it at the same time. Cost: four passes over the entries.
pub(super) fn row_sums(share: &HubShare) -> Result<RowSums, Interrupted> {
    let graph = share.graph();
    let left = share.all();
    let sums = |role: Role, lists: &Csr| -> Result<Vec<u64>, Interrupted> {
        let (own, other) = (share.side(role).own(), role.other());
        // Of the classes on the other side, the number of links of a page; below 2^53.
        let others = share.side(other);
        let other_lists = match other {
            Role::Hub => graph.rows(),
            Role::Authority => graph.citers(),
        };
        let degree = |class: u32| {
            let list = other_lists.list(class).iter();
            list.map(|&class| u64::from(left.pages(role, class)))
                .sum::<u64>() as f64
        };
        let mut degrees: Vec<f64> = others.own().map(degree).collect();
        degrees.resize(others.len(), 0.0);
        share.pull(other, &mut degrees)?;
        let part = |&class: &u32| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "degrees were converted exactly"
            )]
            let degree = degrees[class as usize] as u64;
            u64::from(left.pages(other, class)).saturating_mul(degree)
        };
        let sum = |class| {
            let list = lists.list(class).iter();
            list.map(part).fold(0, u64::saturating_add)
        };
        Ok(own.map(sum).collect())
    };
    Ok(RowSums {
        hubs: sums(Role::Hub, graph.rows())?,
        authorities: sums(Role::Authority, graph.citers())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Rows;

    #[test]
    fn a_complete_graph_has_the_square_of_its_sigma() {
        // Three hubs to two authorities: sigma^2 is 6, and so is every row sum.
        let mut rows = Rows::new();
        rows.push(&[0, 1, 2], &[3, 4]).unwrap();
        let sums = row_sums(&HubShare::of_graph(rows.graph().unwrap())).unwrap();
        assert_eq!((sums.hubs, sums.authorities), (vec![6], vec![6]));
    }

    #[test]
    fn degrees_are_summed_over_pages() {
        let mut rows = Rows::new();
        rows.push(&[0, 1], &[5, 6]).unwrap();
        rows.push(&[2], &[6, 7, 8]).unwrap();
        let sums = row_sums(&HubShare::of_graph(rows.graph().unwrap())).unwrap();
        // Indegrees: 2 of page 5, 3 of page 6, 1 each of 7 and 8.
        assert_eq!(sums.hubs, [5, 5]);
        assert_eq!(sums.authorities, [4, 7, 3]);
    }
}
