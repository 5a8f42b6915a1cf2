//! The table of operations, and what is read off it.

mod bench;
mod pages;
mod refused;
mod rounds;
mod trust;
mod walk;
