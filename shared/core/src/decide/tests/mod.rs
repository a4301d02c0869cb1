//! What is decided, told as stories over one stack.

mod drift;
mod faults;
mod runs;
mod shown;
mod states;
mod world;
