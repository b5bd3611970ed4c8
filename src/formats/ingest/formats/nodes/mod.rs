//! What formats share in which pages are nodes with numbers: lists of links by numbers, and the texts
//! of all nodes, held in memory.

pub(super) mod code;
pub(super) mod room;
pub(super) mod texts;
