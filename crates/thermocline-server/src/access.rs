//! Who else has access to a file that decides what the server does. On systems without Unix permissions, nothing is
//! refused.

use std::{fs::Metadata, path::Path};

/// Refuses a file with a secret that anyone except its owner may read or write. `what` is the file in a sentence, such as
/// `the key file`.
pub fn check_secret(what: &str, path: &Path, about: &Metadata) -> Result<(), String> {
    let path = path.display();
    if mode(about) & 0o077 != 0 {
        return Err(format!("others may read {what} {path}; chmod 600 {path}"));
    }
    Ok(())
}

/// Refuses a file that anyone except this process's user, or root, may write: whoever can write settings decides where
/// texts and keys are sent.
pub fn check_writer(what: &str, path: &Path, about: &Metadata) -> Result<(), String> {
    let path = path.display();
    if mode(about) & 0o022 != 0 {
        return Err(format!("others may write {what} {path}; chmod go-w {path}"));
    }
    if is_of_another(about) {
        return Err(format!("{what} {path} belongs to another user; name a copy that is your own"));
    }
    Ok(())
}

#[cfg(unix)]
fn mode(about: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions())
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn is_of_another(about: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(about);
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_of_another(_: &Metadata) -> bool {
    false
}
