//! Banks to damage, damages, and who judges what came of them.
#![allow(
    unreachable_pub,
    reason = "a module of a test program is reachable by nobody else"
)]

pub mod banks;
pub mod cases;
pub mod judge;
pub mod runs;
pub mod strikes;
