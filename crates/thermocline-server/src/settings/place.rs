//! Where a user's own settings file is.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The settings file, below the user's configuration folder.
const FILE: &str = "thermocline/thermocline.toml";

/// Returns the place of the user's own settings file, whether or not it exists: below `XDG_CONFIG_HOME`, otherwise below
/// `~/.config`, and on Windows below `APPDATA`. `None` if none of them is an absolute path. The working directory never
/// counts, because it may be somebody else's.
pub fn own_file() -> Option<PathBuf> {
    let variable = if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" };
    below(env::var_os(variable), env::home_dir())
}

fn below(stated: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    // A relative path would depend on the working directory.
    let stated = stated.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = home.filter(|home| home.is_absolute()).map(|home| home.join(".config"));
    Some(stated.or(home)?.join(Path::new(FILE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_is_the_users_own_and_never_the_working_directory() {
        #[track_caller]
        fn check(stated: Option<&str>, home: Option<&str>, expected: Option<&str>) {
            let found = below(stated.map(OsString::from), home.map(PathBuf::from));
            assert_eq!(found.as_deref(), expected.map(Path::new));
        }
        check(Some("/x"), Some("/home/alex"), Some("/x/thermocline/thermocline.toml"));
        check(None, Some("/home/alex"), Some("/home/alex/.config/thermocline/thermocline.toml"));
        for relative in ["", ".", "config", "./config"] {
            let below_home = Some("/home/alex/.config/thermocline/thermocline.toml");
            check(Some(relative), Some("/home/alex"), below_home);
            check(Some(relative), Some(relative), None);
        }
        check(None, None, None);
    }
}
