//! Tests what the sensor finds out about files, and that it reads only files below the roots.

use std::{fs, os::unix::fs::symlink, path::Path};

use super::*;
use crate::model::sensor::CheckResult::{self, Fail, Pass, Unknown};

/// Tests do not wait this long.
const PATIENT: Duration = Duration::from_mins(1);

/// A root `ops` next to a folder with a secret.
struct Tree {
    folder: tempfile::TempDir,
    sensor: FsSensor,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ops");
        fs::create_dir_all(root.join("nginx")).unwrap();
        fs::write(root.join("nginx/api.conf"), "listen 8443;\n").unwrap();
        fs::write(folder.path().join("secret"), "the key is 8443").unwrap();
        let sensor = FsSensor::new().root("ops", root).unwrap();
        Self { folder, sensor }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ops")
    }

    fn secret(&self) -> PathBuf {
        self.folder.path().join("secret")
    }

    fn look(&self, subject: &str, expect: &Expect) -> CheckVerdict {
        self.sensor.check(subject, expect, Deadline::after(PATIENT).instant())
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
    fn check(&self, subject: &str, expect: Expect, expected: CheckResult) {
        let verdict = self.look(subject, &expect);
        assert_eq!(verdict.result(), expected, "{subject} {expect:?}: {verdict:?}");
    }

    #[track_caller]
    fn check_unknown(&self, subject: &str, why: UnknownReason) {
        let verdict = self.look(subject, &containing());
        assert_eq!(verdict, CheckVerdict::Unknown(why), "{subject}");
    }
}

fn containing() -> Expect {
    Expect::default().contains("8443")
}

#[test]
fn a_file_is_there_has_a_hash_and_holds_a_text() {
    let tree = Tree::new();
    let digest = hex(&Sha256::digest("listen 8443;\n"));
    let conf = "ops:nginx/api.conf";
    tree.check(conf, Expect::default(), Pass);
    tree.check(conf, Expect::default().exists(true), Pass);
    tree.check(conf, Expect::default().exists(false), Fail);
    tree.check(conf, containing(), Pass);
    tree.check(conf, Expect::default().contains("8080"), Fail);
    tree.check(conf, Expect::default().sha256(digest.to_uppercase()).contains("listen"), Pass);
    tree.check(conf, Expect::default().sha256(digest.replace('a', "b")), Fail);
    tree.check("ops:nginx", Expect::default(), Pass);
    tree.check("ops:nginx", containing(), Unknown);
    tree.check("ops:gone", Expect::default(), Fail);
    tree.check("ops:gone/deeper", Expect::default().exists(false), Pass);
    tree.check("ops:gone", containing(), Fail);
    for expect in
        [Expect::default().sha256("abc"), Expect::default().contains(""), containing().exists(false)]
    {
        assert!(!tree.sensor.understands(conf, &expect), "{expect:?}");
        tree.check(conf, expect, Unknown);
    }
    tree.check(conf, Expect::default().with("contain", "8443"), Unknown);
}

#[test]
fn what_is_seen_is_kept_as_a_hash() {
    let tree = Tree::new();
    let seen = tree.look("ops:nginx/api.conf", &containing()).seen().unwrap();
    assert_eq!(seen, crate::model::sensor::SeenHash::of("listen 8443;\n"));
    assert!(hex(&Sha256::digest("listen 8443;\n")).starts_with(&seen.to_string()));
}

#[test]
fn no_subject_leads_out_of_a_root_or_is_understood_otherwise() {
    let tree = Tree::new();
    let absolute = format!("ops:{}", tree.secret().display());
    for subject in [
        "ops:../secret",
        "ops:nginx/../../secret",
        "ops:nginx/../nginx/api.conf",
        "ops:./nginx/api.conf",
        "ops:nginx//api.conf",
        "ops:nginx/",
        "ops:/nginx/api.conf",
        "ops:",
        "ops",
        ":nginx/api.conf",
        "",
        "other:nginx/api.conf",
        "ops:nginx\\api.conf",
        "ops:c:secret",
        "ops:a\0b",
        &absolute,
        &format!("ops:{}x", "a/".repeat(64)),
    ] {
        assert!(!tree.sensor.understands(subject, &containing()), "{subject}");
        tree.check_unknown(subject, UnknownReason::NotUnderstood);
    }
    assert!(FsSensor::new().root("a", "ops").is_err() && FsSensor::new().root("a:b", "/").is_err());
}

#[test]
fn links_are_followed_nowhere() {
    let tree = Tree::new();
    let root = tree.root();
    symlink(tree.secret(), root.join("file")).unwrap();
    symlink(tree.folder.path(), root.join("folder")).unwrap();
    symlink("nginx", root.join("inside")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fs::hard_link(tree.secret(), root.join("hard")).unwrap();
    for subject in ["ops:file", "ops:folder/secret", "ops:inside/api.conf", "ops:dangling", "ops:hard"] {
        tree.check_unknown(subject, UnknownReason::Refused);
        tree.check(subject, Expect::default(), Unknown);
        tree.check(subject, Expect::default().exists(false), Unknown);
    }
}

#[test]
fn a_link_that_is_swapped_in_meanwhile_lets_nothing_outside_be_read() {
    let tree = Tree::new();
    let (root, outside) = (tree.root(), tree.folder.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("api.conf"), "secret").unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (ended, at) = (stop.clone(), root.clone());
    // A folder, and a link to a folder outside, alternate under the same name.
    let swap = std::thread::spawn(move || {
        let (folder, link) = (at.join("nginx"), at.join("link"));
        symlink(&outside, &link).unwrap();
        while !ended.load(std::sync::atomic::Ordering::Relaxed) {
            fs::rename(&folder, at.join("aside")).unwrap();
            fs::rename(&link, &folder).unwrap();
            fs::rename(&folder, &link).unwrap();
            fs::rename(at.join("aside"), &folder).unwrap();
        }
    });
    for _ in 0..2_000 {
        let verdict = tree.look("ops:nginx/api.conf", &Expect::default().contains("secret"));
        assert_ne!(verdict.result(), Pass, "what lies outside was read");
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swap.join().unwrap();
}

#[test]
fn a_fifo_is_not_waited_for_and_a_device_or_a_socket_not_read() {
    let tree = Tree::new();
    let fifo = tree.root().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(tree.root().join("socket")).unwrap();
    for subject in ["ops:fifo", "ops:socket"] {
        tree.check_unknown(subject, UnknownReason::Refused);
        tree.check(subject, Expect::default(), Unknown);
    }
    if Path::new("/dev/null").exists() {
        let devices = FsSensor::new().root("dev", "/dev").unwrap();
        let verdict = devices.check("dev:null", &containing(), Deadline::after(PATIENT).instant());
        assert_eq!(verdict, CheckVerdict::Unknown(UnknownReason::Refused));
    }
}

#[test]
fn a_file_of_2_gb_is_not_read() {
    let tree = Tree::new();
    let sparse = fs::File::create(tree.root().join("sparse")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    tree.check_unknown("ops:sparse", UnknownReason::TooLarge);
    tree.check("ops:sparse", Expect::default(), Pass);
    sparse.set_len(MAX_BYTES).unwrap();
    tree.check("ops:sparse", containing(), Fail);
    sparse.set_len(MAX_BYTES + 1).unwrap();
    tree.check_unknown("ops:sparse", UnknownReason::TooLarge);
}

#[test]
fn a_search_takes_as_long_as_its_text_whatever_is_sought() {
    let tree = Tree::new();
    fs::write(tree.root().join("a"), "a".repeat(4 << 20)).unwrap();
    let sought = "a".repeat(8 << 10) + "b";
    tree.check("ops:a", Expect::default().contains(sought), Fail);
}

#[test]
fn a_root_that_is_gone_and_a_time_that_is_over_say_nothing() {
    let tree = Tree::new();
    let over = Deadline::after(Duration::ZERO).instant();
    let verdict = tree.sensor.check("ops:nginx/api.conf", &containing(), over);
    assert_eq!(verdict, CheckVerdict::Unknown(UnknownReason::Late));
    fs::rename(tree.root(), tree.folder.path().join("moved")).unwrap();
    tree.check_unknown("ops:nginx/api.conf", UnknownReason::Unreachable);
    tree.check("ops:nginx/api.conf", Expect::default().exists(false), Unknown);
}
