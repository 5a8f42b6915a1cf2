//! Registers sqlite-vec with every SQLite connection that this process opens afterwards.

use std::ffi::{c_char, c_int};

use rusqlite::ffi::{SQLITE_OK, sqlite3, sqlite3_api_routines, sqlite3_auto_extension};

type EntryPoint = unsafe extern "C" fn(*mut sqlite3, *mut *mut c_char, *const sqlite3_api_routines) -> c_int;

/// Registers sqlite-vec, compiled with the default settings of the crate `sqlite-vec`.
pub fn register() {
    // SAFETY: `sqlite3_vec_init` has the signature of an extension's entry point, although its crate declares it without
    // one.
    let entry: EntryPoint = unsafe { std::mem::transmute(sqlite_vec::sqlite3_vec_init as *const ()) };
    // SAFETY: the function lives as long as the process.
    let code = unsafe { sqlite3_auto_extension(Some(entry)) };
    assert_eq!(code, SQLITE_OK, "SQLite takes the extension");
}
