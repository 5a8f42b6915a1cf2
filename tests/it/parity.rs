//! The blocking handles mirror the async ones: the same methods, arguments and results, each blocking.

use std::{collections::BTreeSet, fs, path::Path};

/// Returns the public methods of a handle as declared in its file: `user(&self, name: &str) -> Result<User>`.
fn methods(file: &str, handle: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/handles").join(file);
    let source = fs::read_to_string(path).unwrap();
    let start = format!("\nimpl {handle} {{\n");
    let blocks = source.split(&start).skip(1).map(|block| block.split("\n}\n").next().unwrap());
    blocks.flat_map(|block| block.split("\n    pub ").skip(1).filter_map(signature)).collect()
}

/// Returns a declaration without its async parts; `None` if it is not a method.
fn signature(declared: &str) -> Option<String> {
    let declared = declared.strip_prefix("async ").unwrap_or(declared).strip_prefix("fn ")?;
    let head = declared.split(" {\n").next()?;
    let words = head.split_whitespace().collect::<Vec<_>>().join(" ");
    // Line breaks and paths do not matter.
    Some(words.replace("( ", "(").replace(", )", ")").replace("crate::", ""))
}

/// Returns the methods of a handle whose methods are in several files.
fn methods_in(files: &[&str], handle: &str) -> BTreeSet<String> {
    files.iter().flat_map(|file| methods(file, handle)).collect()
}

#[track_caller]
fn check(handle: &str, files: &[&str], blocking: &[&str]) {
    let (wanted, found) = (methods_in(files, handle), methods_in(blocking, handle));
    assert!(wanted.len() > 3, "{handle} has methods: {wanted:#?}");
    let missing: Vec<_> = wanted.difference(&found).collect();
    let own: Vec<_> = found.difference(&wanted).collect();
    assert!(
        missing.is_empty() && own.is_empty(),
        "{handle}: async only {missing:#?}, blocking only {own:#?}"
    );
}

#[test]
fn blocking_has_every_method_of_the_async_handles() {
    check("Thermocline", &["thermocline.rs"], &["blocking.rs"]);
    check("User", &["user.rs"], &["blocking.rs"]);
    check("Session", &["session.rs"], &["blocking/session.rs"]);
    check(
        "Memories",
        &["foreign.rs", "memories.rs", "sensors.rs"],
        &["blocking/memories.rs", "blocking/sensors.rs", "blocking/vault.rs"],
    );
    check("Vault", &["vault.rs"], &["blocking/vault.rs"]);
}
