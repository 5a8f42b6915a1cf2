//! Which file imports which: the graph of a crate's files, read from its code.
//!
//! A file imports another one if its code names an item, by whatever path, that the other one defines; `pub use` is
//! followed. Declaring a module and re-exporting an item with `pub use` are not imports; so a `mod.rs` may re-export items
//! of its child modules while the children use items of the `mod.rs`. If the code of the `mod.rs` uses items of the children
//! too, they import each other, which is a circle.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// For each file, the files that it imports, and the names of the items that it imports from each.
pub type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The files of a crate by module, such as `recall::pack`; the root is the empty string.
pub struct Crate(BTreeMap<String, File>);

struct File {
    path: String,
    uses: Vec<Use>,
    /// The paths that the code names, including single names, without test code.
    named: Vec<Vec<String>>,
}

/// One name that a `use` imports.
struct Use {
    name: String,
    path: Vec<String>,
    is_pub: bool,
}

impl Crate {
    /// Returns the crate whose sources are in this folder of the repository.
    pub fn of_sources(folder: &str, root: &str) -> Self {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let sources = Self::new(root, |path| fs::read_to_string(src.join(path)).ok());
        assert!(sources.0.len() > 30, "the sources are found");
        sources
    }

    /// Returns the file `root` and those of all modules declared from there.
    pub fn new(root: &str, read: impl Fn(&str) -> Option<String>) -> Self {
        let folder = root.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let mut files = BTreeMap::new();
        let mut waiting = vec![(String::new(), root.to_owned())];
        while let Some((module, path)) = waiting.pop() {
            let tokens = without_tests(&tokens(&read(&path).unwrap()));
            for child in tokens.windows(3).filter(|three| three[0] == "mod" && three[2] == ";") {
                let child = join(&module, &child[1]);
                let stem = format!("{folder}{}", child.replace("::", "/"));
                let mut places = [format!("{stem}.rs"), format!("{stem}/mod.rs")].into_iter();
                let place = places.find(|place| read(place).is_some());
                waiting.push((child, place.unwrap_or_else(|| panic!("{stem} has no file"))));
            }
            let (uses, code) = split_uses(tokens);
            files.insert(module, File { path, uses, named: paths(&code) });
        }
        Self(files)
    }

    /// Returns which file imports which.
    pub fn imports(&self) -> Imports {
        self.ties(|file| {
            let private = file.uses.iter().filter(|used| !used.is_pub).map(|used| &used.path);
            private.chain(&file.named).collect()
        })
    }

    /// Returns which file re-exports which items.
    pub fn shown(&self) -> Imports {
        self.ties(|file| file.uses.iter().filter(|used| used.is_pub).map(|used| &used.path).collect())
    }

    fn ties(&self, paths: impl Fn(&File) -> Vec<&Vec<String>>) -> Imports {
        let mut ties = Imports::new();
        for (module, file) in &self.0 {
            for path in paths(file) {
                if let Some(definer) = self.definer(module, path).filter(|definer| *definer != file.path) {
                    let names = ties.entry(file.path.clone()).or_default().entry(definer).or_default();
                    names.insert(path.last().unwrap().clone());
                }
            }
        }
        ties
    }

    /// Returns the file that defines what `path` names in a module. `None` for a module, which is not an item itself.
    fn definer(&self, module: &str, path: &[String]) -> Option<String> {
        let (name, rest) = path.split_first()?;
        match name.as_str() {
            "crate" => return self.definer("", rest),
            "self" => return self.definer(module, rest),
            "super" => return self.definer(module.rsplit_once("::").map_or("", |(parent, _)| parent), rest),
            _ => {}
        }
        let child = join(module, name);
        if self.0.contains_key(&child) {
            return self.definer(&child, rest);
        }
        let file = &self.0[module];
        // `use log::log` is another crate's, not itself.
        match file.uses.iter().find(|used| used.name == *name && used.path[0] != *name) {
            Some(used) => self.definer(module, &[&used.path, rest].concat()),
            None => Some(file.path.clone()),
        }
    }
}

/// Returns each set of files that import one another, directly or through others.
pub fn circles(imports: &Imports) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<_, _> = imports.keys().map(|file| (file, reach_of(file, imports))).collect();
    let is_back = |from: &String, to: &String| reach.get(from).is_some_and(|reach| reach.contains(to));
    let in_circles = reach.iter().filter(|(file, reach)| reach.contains(**file));
    in_circles.map(|(file, reach)| reach.iter().filter(|to| is_back(to, file)).cloned().collect()).collect()
}

/// Returns all files that this one imports, directly or through others.
fn reach_of(file: &String, imports: &Imports) -> BTreeSet<String> {
    let mut reach = BTreeSet::new();
    let mut waiting = vec![file];
    while let Some(file) = waiting.pop() {
        let imported = imports.get(file).into_iter().flat_map(BTreeMap::keys);
        waiting.extend(imported.filter(|file| reach.insert((*file).clone())));
    }
    reach
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// Returns the words and marks of Rust code; `::` is one mark. Comments, strings and characters are skipped.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let until = |begin: &str, end: &str| {
            rest.strip_prefix(begin).map(|rest| rest.find(end).map_or("", |at| &rest[at + end.len()..]))
        };
        let skipped = until("//", "\n").or_else(|| until("/*", "*/")).or_else(|| until("r\"", "\""));
        if let Some(behind) = skipped.or_else(|| until("r#\"", "\"#")).or_else(|| behind_literal(rest)) {
            rest = behind;
            continue;
        }
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
        if !first.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns the rest after the string or character literal that begins here, if one does.
fn behind_literal(rest: &str) -> Option<&str> {
    let mut chars = rest.chars();
    let quote = chars.next().filter(|c| matches!(c, '"' | '\''))?;
    let is_lifetime = quote == '\'' && !rest.starts_with("'\\") && rest.chars().nth(2) != Some('\'');
    if is_lifetime {
        return None;
    }
    while let Some(c) = chars.next().filter(|c| *c != quote) {
        if c == '\\' {
            chars.next();
        }
    }
    Some(chars.as_str())
}

/// Returns the tokens without the items after `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some(token) = rest.first() {
        if rest.len() > 7 && rest[..7].concat() == "#[cfg(test)]" {
            rest = behind_item(&rest[7..]);
        } else {
            kept.push(token.clone());
            rest = &rest[1..];
        }
    }
    kept
}

/// Returns the rest after an item: after its semicolon, or the brace that closes its body.
fn behind_item(tokens: &[String]) -> &[String] {
    let is_use = tokens.iter().take_while(|token| *token != ";" && *token != "{").any(|token| token == "use");
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (token == ";" || (token == "}" && !is_use)) {
            return &tokens[at + 1..];
        }
    }
    &[]
}

/// Returns the names that `use`s import, and the code without them.
fn split_uses(tokens: Vec<String>) -> (Vec<Use>, Vec<String>) {
    let (mut uses, mut code) = (Vec::new(), Vec::new());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        // `impl Trait + use<'a>` is not an import.
        if token == "use" && tokens.peek().is_some_and(|next| next != "<") {
            let ends_item = |token: &String| matches!(token.as_str(), ";" | "{" | "}" | "]");
            let visibility = code.rsplit(ends_item).next().and_then(<[String]>::first);
            let is_pub = visibility.is_some_and(|first| first == "pub");
            let tree: Vec<_> = tokens.by_ref().take_while(|token| token != ";").collect();
            add_uses(&tree, &[], is_pub, &mut uses);
            code.push(";".to_owned());
        } else {
            code.push(token);
        }
    }
    (uses, code)
}

/// Returns the leaves of a tree: of `a::{b, c as d, self}` these are `a::b`, `a::c` and `a`.
fn add_uses(tree: &[String], before: &[String], is_pub: bool, uses: &mut Vec<Use>) {
    let mut path = before.to_vec();
    for (at, token) in tree.iter().enumerate() {
        match token.as_str() {
            "::" => {}
            "self" if !path.is_empty() => {}
            "as" => {
                uses.push(Use { name: tree[at + 1].clone(), path, is_pub });
                return;
            }
            "{" => {
                let mut depth = 0;
                let branches = tree[at + 1..tree.len() - 1].split(|token| {
                    depth += i32::from(token == "{") - i32::from(token == "}");
                    token == "," && depth == 0
                });
                for branch in branches.filter(|branch| !branch.is_empty()) {
                    add_uses(branch, &path, is_pub, uses);
                }
                return;
            }
            _ => path.push(token.clone()),
        }
    }
    uses.push(Use { name: path.last().unwrap().clone(), path, is_pub });
}

/// Returns every path in the code, including single names, but no methods and no fields.
fn paths(code: &[String]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut before = "";
    for token in code {
        if token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            match paths.last_mut() {
                Some(path) if before == "::" => path.push(token.clone()),
                _ if before != "." => paths.push(vec![token.clone()]),
                _ => {}
            }
        }
        before = token;
    }
    paths
}
