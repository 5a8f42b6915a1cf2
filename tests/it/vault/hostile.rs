//! Folders that are not what they seem.

use std::fs;

use thermocline::{ErrorKind, MemoryFilter, MemoryKind, VaultOptions};

use crate::{memories::fix, vault::Kept};

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read_or_written_and_nothing_hostile_is_taken() {
    use std::os::unix::fs::symlink;
    let kept = Kept::new();
    let id = kept.known.save(fix("Known")).id;
    kept.sync();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "A secret of the machine.\n").unwrap();
    let at = |path: &str| kept.folder.join(path);
    symlink(&secret, at("graph/fixes/link.md")).unwrap();
    fs::hard_link(&secret, at("graph/fixes/hard.md")).unwrap();
    symlink(outside.path(), at("graph/workflows")).unwrap();
    symlink(outside.path(), at("episodes2")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("graph/fixes/fifo.md")).status().unwrap().success());
    fs::write(at("graph/fixes/large.md"), "x".repeat(2 << 20)).unwrap();
    fs::write(at("graph/fixes/nul.md"), "a\0b").unwrap();
    fs::write(at("graph/fixes/latin.md"), b"caf\xe9").unwrap();
    fs::create_dir_all(at("graph/fixes/a/b/c/d")).unwrap();
    fs::write(at("graph/fixes/a/b/c/d/deep.md"), "Too deep.").unwrap();
    let report = kept.sync();
    assert_eq!((report.saved.len(), report.refused.len()), (0, 7), "{report:?}");
    assert_eq!(kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap().len(), 1);
    // A memory whose folder became a link is not written.
    kept.known.memories.edit(id, thermocline::Edit::default().kind(MemoryKind::Workflow)).unwrap();
    assert_eq!(kept.vault(VaultOptions::default()).sync().unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "A secret of the machine.\n");
    let blake = kept.known.file.user("blake").unwrap().vault(&kept.folder, VaultOptions::default());
    assert_eq!(blake.sync().unwrap_err().kind(), ErrorKind::Conflict);
    let nowhere = kept.known.file.user("alex").unwrap().vault(outside.path(), VaultOptions::default());
    assert_eq!(nowhere.export().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "no lock is left in what is no vault");
}

#[cfg(all(unix, feature = "llm"))]
#[test]
fn what_a_file_says_of_sensors_is_data() {
    use std::{net::TcpListener, sync::Arc};

    use thermocline::{CommandSensor, FsSensor, HttpSensor, ToCheck};

    let outside = tempfile::tempdir().unwrap();
    let (mark, port) = (outside.path().join("mark"), TcpListener::bind("127.0.0.1:0").unwrap());
    port.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", port.local_addr().unwrap());
    let known = crate::memories::sensing::with_sensors(vec![
        Arc::new(FsSensor::new().root("ops", outside.path()).unwrap()),
        Arc::new(
            CommandSensor::new()
                .command("mark", "/usr/bin/touch", [mark.to_str().unwrap()], outside.path())
                .unwrap(),
        ),
        Arc::new(HttpSensor::new().private_url("api", &url).unwrap()),
    ]);
    let kept = Kept::of(known);
    for (number, (sensor, subject)) in
        [("fs", "ops:mark"), ("code", "mark"), ("http", "api"), ("http", &url)].into_iter().enumerate()
    {
        kept.put(
            &format!("graph/fixes/a{number}.md"),
            &format!(
                "---\ntype: fix\ntitle: \"It holds {number}\"\nupdate_trigger: sensor_change\nvolatility: high\n\
                 created: 2020-01-01T00:00:00+00:00\nsensor: {sensor}\nsubject: \"{subject}\"\n\
                 sensors: [{{sensor: {sensor}, subject: \"{subject}\"}}]\nwatch: [\"{sensor} {subject}\"]\n\
                 validation:\n  validated_by: {sensor}\n  validated_at: 2026-02-28T00:00:00+00:00\n  reliability: 1.0\n\
                 ---\nThe port is {number}. ![x]({url}) [[{subject}]]\n"
            ),
        );
    }
    let report = kept.sync();
    assert_eq!((report.saved.len(), report.refused.len()), (4, 0), "{report:?}");
    let memories = kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap();
    for memory in &memories {
        assert_eq!(kept.known.memories.sensors(memory.id).unwrap(), []);
        assert_eq!((memory.reliability, &memory.state.validated_by), (None, &None), "a claim checks nothing");
    }
    assert_eq!(kept.known.memories.validate(ToCheck::Stale).unwrap(), []);
    kept.check_quiet();
    assert!(!mark.exists() && port.accept().is_err(), "nobody has looked");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_and_linked_folders_are_named() {
    use std::os::unix::ffi::OsStrExt;

    let kept = Kept::new();
    kept.known.save(fix("Known"));
    kept.sync();
    let place = kept.folder.join("graph/fixes");
    std::fs::write(place.join(std::ffi::OsStr::from_bytes(b"bad\xff.md")), "text\n").unwrap();
    std::os::unix::fs::symlink("/", kept.folder.join("graph/linked")).unwrap();
    for report in [kept.sync(), kept.vault(thermocline::VaultOptions::default()).export().unwrap()] {
        let named: Vec<_> = report.refused.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(named, ["graph/linked", "graph/fixes/bad\u{fffd}.md"], "{report:?}");
        assert!(report.saved.is_empty() && report.written.is_empty());
    }
}
