//! What is decided, told as stories over one stack.

mod backend_first;
mod drift;
mod faults;
mod frozen;
mod people;
mod renamed;
mod runs;
mod shown;
mod states;
mod trail;
mod world;
