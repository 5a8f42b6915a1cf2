//! The table of operations, and what is read off it.
#![allow(unreachable_pub, reason = "modules of one test")]

mod bench;
mod pages;
mod refused;
mod rounds;
mod trust;
mod walk;
