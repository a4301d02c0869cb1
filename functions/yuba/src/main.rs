//! The `yuba` command line.
fn main() {}
