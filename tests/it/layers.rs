//! The architecture: imports point one way and form no circle, SQL is in one place, and each file is short and says what
//! it is about.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use crate::imports::{Crate, Imports, circles};

/// Bottom-up. A module may import its own layer and those before it.
const LAYERS: &[&[&str]] = &[
    &["error", "model"],
    &["clock", "cooldown", "endpoint", "english", "event", "faults", "own_thread", "rerank", "text", "times"],
    &["compress", "embed", "index", "memory", "planner", "sensors", "tier"],
    &["config", "local"],
    &["store"],
    &["jobs", "recall", "vault"],
    &["handles"],
];

/// Returns the path of every file in `src` that is no test, and its header and code, without other comments and tests.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let root = folders[0].clone();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                // Comments may name anything, so they are dropped, except the header, which a test below requires.
                let is_kept = |line: &&str| !line.trim_start().starts_with("//") || line.starts_with("//!");
                let code = code.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
                files.push((path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), code));
            }
        }
    }
    // Tests in files of their own are tests, too.
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    files.retain(|(path, _)| !is_test(path));
    assert!(files.len() > 30, "the sources are found");
    files
}

fn layer_of(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("{module} is in no layer"))
}

/// The crates that are checked for circles: the folder with the sources of each, and the file that declares its modules.
const CRATES: [(&str, &str); 2] = [("src", "lib.rs"), ("crates/thermocline-cli/src", "main.rs")];

#[test]
fn imports_point_one_way() {
    let library = Crate::of_sources("src", "lib.rs");
    for (path, imported) in library.imports().into_iter().chain(library.shown()) {
        let module = |path: &str| path.split(['/', '.']).next().unwrap().to_owned();
        if path == "lib.rs" {
            continue; // The public surface.
        }
        for other in imported.keys() {
            let is_below = layer_of(&module(other)) <= layer_of(&module(&path));
            assert!(is_below, "src/{path} imports src/{other}, which lies above it");
        }
    }
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    for (sources, root) in CRATES {
        let imports = Crate::of_sources(sources, root).imports();
        let told: String = circles(&imports).iter().map(|circle| told(circle, &imports)).collect();
        assert!(told.is_empty(), "circles of imports in {sources}:\n{told}");
    }
}

/// Returns a circle as text, one line for each import in it.
fn told(circle: &BTreeSet<String>, imports: &Imports) -> String {
    let mut told = String::new();
    for file in circle {
        for (other, names) in imports[file].iter().filter(|(other, _)| circle.contains(*other)) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            writeln!(told, "{file} imports {names} of {other}").unwrap();
        }
    }
    told
}

#[track_caller]
fn check_circles(files: &[(&str, &str)], expected: &[&[&str]]) {
    let read = |path: &str| files.iter().find(|file| file.0 == path).map(|file| file.1.to_owned());
    let found = circles(&Crate::new("lib.rs", read).imports());
    let expected = expected.iter().map(|circle| circle.iter().map(ToString::to_string).collect()).collect();
    assert_eq!(found, expected, "{files:?}");
}

#[test]
fn a_circle_is_seen_by_whatever_path_it_goes() {
    const BOTH: &[&[&str]] = &[&["a.rs", "b.rs"]];
    let check = |lib: &str, a: &str, b: &str, expected| {
        check_circles(&[("lib.rs", lib), ("a.rs", a), ("b.rs", b)], expected);
    };
    let lib = "mod a; mod b;";
    check(lib, "use crate::b::B; struct A;", "struct B;", &[]);
    check(lib, "use crate::b::B; struct A;", "use crate::a::A; struct B;", BOTH);
    check(
        lib,
        "use crate::{c::C, b::{self as other}}; fn a() { other::b() }",
        "fn b() { super::a::a() }",
        BOTH,
    );
    check("mod a; mod b; pub use crate::{a::A, b::B as C};", "use crate::C;", "fn b(a: crate::A) {}", BOTH);
    check(
        lib,
        "fn a() { use super::b; b::b() }",
        "pub(in crate::a) use crate::a; type B<'b> = a::A<'b>;",
        BOTH,
    );
}

#[test]
fn a_longer_circle_is_one_and_others_are_others() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d; mod e; mod f;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "use crate::{a::A, d::D};"),
        ("d.rs", "use crate::e::E;"),
        ("e.rs", "use crate::d::D;"),
        ("f.rs", "use crate::a::A;"),
    ];
    check_circles(&files, &[&["a.rs", "b.rs", "c.rs"], &["d.rs", "e.rs"]]);
}

#[test]
fn a_parent_may_show_what_its_children_define_but_not_use_it_if_they_use_its_own() {
    const BOTH: &[&[&str]] = &[&["p/c.rs", "p/mod.rs"]];
    let check = |parent: &str, child: &str, expected| {
        check_circles(&[("lib.rs", "mod p;"), ("p/mod.rs", parent), ("p/c.rs", child)], expected);
    };
    let child = "use super::P; pub(super) struct C;";
    check("mod c; pub use c::C; pub struct P;", child, &[]);
    check("mod c; pub(crate) use self::c::C; pub struct P;", child, &[]);
    check("mod c; pub use c::C; pub struct P; fn p() -> C {}", child, BOTH);
    check("mod c; use c::C; pub struct P;", child, BOTH);
    check("mod c; pub struct P; fn p() -> c::C {}", child, BOTH);
    check("mod c; pub struct P; fn p() -> c::C {}", "pub(super) struct C;", &[]);
    check("mod c; pub use c::c; pub struct P; fn p(p: P) { p.c() }", child, &[]);
}

#[test]
fn tests_comments_and_texts_import_nothing() {
    let check = |a: &str| {
        check_circles(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use crate::a::A;")], &[]);
    };
    check("#[cfg(test)]\nmod tests { use crate::b::B; }");
    check(
        "#[cfg(test)] mod nowhere; #[cfg(test)] use crate::{b::B}; #[cfg(test)] fn a() -> crate::b::B { {} }",
    );
    check("// crate::b::B\n/* crate::b::B */ /// crate::b::B\nstruct A;");
    check(
        r##"const A: [&str; 4] = ["crate::b::B", "\"crate::b::B", r"\", r#""crate::b::B"#]; // crate::b::B"##,
    );
    check("const A: [char; 3] = ['\"', '\\'', 'c']; fn a<'a>(a: &'a str) {} // \" crate::b::B");
}

#[test]
fn sql_about_rows_stands_only_in_rows() {
    // `file/` queries the file itself, and reads only the rows of migrations and scrubs.
    let is_elsewhere = |path: &String| !path.starts_with("store/rows/") && !path.starts_with("store/file/");
    for (path, code) in sources().into_iter().filter(|(path, _)| is_elsewhere(path)) {
        for word in ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "PRAGMA "] {
            assert!(!code.contains(word), "src/{path} speaks SQL: {word}");
        }
    }
}

#[test]
fn only_the_file_speaks_to_sqlite() {
    for (path, code) in sources().into_iter().filter(|(path, _)| !path.starts_with("store/file/")) {
        for name in ["rusqlite", "r2d2", "refinery", "connect::", "&Connection", "|conn|"] {
            assert!(!code.contains(name), "src/{path} names {name}");
        }
    }
}

#[test]
fn no_file_has_a_second_idea() {
    for (path, code) in sources() {
        let lines = code.lines().count();
        assert!(lines <= 500, "src/{path} has {lines} lines without its tests");
        assert!(code.starts_with("//! "), "src/{path} does not say what it is about");
    }
}
