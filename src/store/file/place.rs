//! Reads and writes bytes at a place in a file, beside others who use the same handle.

use std::{fs::File, io};

#[cfg(unix)]
pub(super) fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Reads as many bytes as there are, and at most as many as fit.
#[cfg(unix)]
pub(super) fn read_some_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, start)
}

#[cfg(unix)]
pub(super) fn write_at(file: &File, bytes: &[u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, start)
}

#[cfg(not(unix))]
pub(super) fn read_some_at(mut file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    file.read(bytes)
}

#[cfg(not(unix))]
pub(super) fn read_at(mut file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(super) fn write_at(mut file: &File, bytes: &[u8], start: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(start))?;
    file.write_all(bytes)
}
