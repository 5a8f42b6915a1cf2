//! The process's file handles, which connections, the memory's file and the key file share.

/// The handles that are kept for everything but connections: the memory's file and its log for each reader and the writer,
/// the key file, and the files that bodies of lines go through.
#[cfg(unix)]
const KEPT: usize = 128;
/// The most connections that a server has, however many handles there are.
const MAX_CONNECTIONS: usize = 1_024;
/// The fewest, however few handles there are.
#[cfg(unix)]
const MIN_CONNECTIONS: usize = 16;

/// Raises the process's limit on handles as far as the system lets it. A limit that stays is no error: the number of
/// connections follows it.
pub fn raise() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// Returns how many connections may be open: 1,024, or fewer if the process may not have that many handles.
pub(crate) fn connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};

        let limit = getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok());
        limit.map_or(MAX_CONNECTIONS, within)
    }
    #[cfg(not(unix))]
    MAX_CONNECTIONS
}

#[cfg(unix)]
fn within(handles: usize) -> usize {
    handles.saturating_sub(KEPT).clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

/// Whether an error says that the process or the system has no handle left. It says nothing about the file that was to be
/// opened.
pub(crate) fn is_short_of(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;

        let short = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
        error.raw_os_error().is_some_and(|code| short.contains(&code))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_handles_for_the_files() {
        assert_eq!([64, 256, 1_024, 20_000].map(within), [MIN_CONNECTIONS, 128, 896, MAX_CONNECTIONS],);
    }

    #[test]
    fn only_an_error_for_lack_of_handles_is_one() {
        use std::io::{Error, ErrorKind};

        let no_handle = Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(is_short_of(&no_handle));
        assert!(!is_short_of(&Error::from(ErrorKind::PermissionDenied)));
    }
}
