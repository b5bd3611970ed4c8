//! What formats share in which pages are nodes with numbers: lists of links by numbers, and the texts
//! of all nodes, held in memory.

pub(super) mod gap_code;
pub(super) mod url_budget;
pub(super) mod front_coded;
