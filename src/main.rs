//! The `seedbank` command.

fn main() {}
