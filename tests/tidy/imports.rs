//! Who imports whom within a crate: rooms and wings in their order, and no circles. Between crates
//! Cargo sees to it, but for the words that the algorithms share with the store and the formats.
//!
//! An import is a path in a `use` or in the code, through `crate::`, `super::`, `self::`, a child
//! module or an imported module, with braces. It leads to the file that defines the item: a
//! re-export is followed to its source, and is itself not an import, so that a folder may show what
//! its files define.

use std::collections::{BTreeMap, BTreeSet};

use super::orders::{ORDERS, Order};
use super::{fail_on, product, sources};

/// A module's path from the crate's root; for its `lib.rs` it is empty.
type Path = Vec<String>;

/// A source file.
#[derive(Default)]
struct Module {
    /// Imported names and what they stand for, re-exports among them.
    names: BTreeMap<String, Path>,
    /// Names that are re-exported.
    shown: BTreeSet<String>,
    /// Paths that are imported or named in the code, with the line.
    paths: Vec<(usize, Path)>,
}

/// The files of a crate by module path.
struct Crate(BTreeMap<Path, Module>);

/// One file imports an item that another defines.
struct Import {
    line: usize,
    from: Path,
    to: Path,
}

impl Crate {
    /// The crate whose `lib.rs` is in this folder.
    fn of(folder: &str) -> Self {
        // Unit tests in a file of their own may use whatever they like.
        let of_tests = |path: &std::path::Path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            name == "tests" || name.ends_with("_tests")
        };
        let is_of_another = |path: &std::path::Path| {
            let mut others = CRATES.iter().filter(|other| **other != folder);
            others.any(|other| other.len() > folder.len() && path.starts_with(other))
        };
        let files = sources(folder)
            .into_iter()
            .filter(|(path, _)| !of_tests(path) && !is_of_another(path));
        let files = files.map(|(path, text)| {
            let path = path.with_extension("");
            let mut parts: Path = path
                .strip_prefix(folder)
                .unwrap()
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
                parts.pop();
            }
            (parts, text)
        });
        Self::new(files)
    }

    fn new(files: impl Iterator<Item = (Path, String)>) -> Self {
        Self(files.map(|(path, text)| (path, read(&text))).collect())
    }

    /// A path as written in a module, from the crate's root; `None` where it leads out of the
    /// crate.
    fn absolute(&self, module: &Path, path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => Path::new(),
            "self" => module.clone(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            name => {
                let child: Path = module.iter().chain([first]).cloned().collect();
                let imported = self.0.get(module)?.names.get(name);
                match imported {
                    _ if self.0.contains_key(&child) => child,
                    Some(path) if path.first() != Some(first) => self.absolute(module, path)?,
                    _ => return None,
                }
            }
        };
        for part in rest {
            if part == "super" {
                base.pop()?;
            } else {
                base.push(part.clone());
            }
        }
        Some(base)
    }

    /// The module that defines the item at this path, following re-exports.
    fn home(&self, path: &[String], depth: usize) -> Option<Path> {
        let known = (0..=path.len()).rev();
        let module = known.map(|n| path[..n].to_vec());
        let module = module.into_iter().find(|path| self.0.contains_key(path))?;
        let name = path.get(module.len());
        let shown = name.filter(|name| self.0[&module].shown.contains(*name));
        if let (Some(name), true) = (shown, depth < 8) {
            let source = self.absolute(&module, &self.0[&module].names[name])?;
            if source[..] != *path {
                return self.home(&source, depth + 1).or(Some(module));
            }
        }
        Some(module)
    }

    fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for (from, module) in &self.0 {
            for (line, path) in &module.paths {
                let home = self.absolute(from, path).and_then(|p| self.home(&p, 0));
                if let Some(to) = home.filter(|to| to != from) {
                    let from = from.clone();
                    imports.push(Import {
                        line: *line,
                        from,
                        to,
                    });
                }
            }
        }
        imports
    }
}

/// What a file imports. `use` statements may have several lines.
fn read(text: &str) -> Module {
    let mut module = Module::default();
    let mut statement: Option<(usize, bool, String)> = None;
    for (number, line) in product(text) {
        let trimmed = line.trim();
        if let Some((_, _, so_far)) = &mut statement {
            so_far.push_str(trimmed);
        } else if let Some((is_shown, tree)) = use_of(trimmed) {
            statement = Some((number, is_shown, tree.to_owned()));
        } else {
            let code = trimmed.split(" // ").next().unwrap_or_default();
            for path in paths_in(code) {
                module.paths.push((number, path));
            }
        }
        let Some((number, is_shown, tree)) = statement.take_if(|(_, _, text)| text.ends_with(';'))
        else {
            continue;
        };
        for (path, name) in branches(tree.trim_end_matches(';')) {
            if is_shown {
                module.shown.insert(name.clone());
            } else {
                module.paths.push((number, path.clone()));
            }
            module.names.insert(name, path);
        }
    }
    module
}

/// Whether a line begins a `use`; if so, whether others may use what it names, and the tree.
fn use_of(line: &str) -> Option<(bool, &str)> {
    let (is_shown, rest) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (true, rest.split_once(") ")?.1),
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    };
    Some((is_shown, rest.strip_prefix("use ")?))
}

/// The paths of a `use` tree, with the names that they get.
fn branches(tree: &str) -> Vec<(Path, String)> {
    let tree = tree.trim();
    if let Some((before, inside)) = tree.split_once('{') {
        let before: Path = split(before.trim_end_matches("::"));
        let inside = inside.strip_suffix('}').unwrap_or(inside);
        let mut found = Vec::new();
        let (mut depth, mut from) = (0, 0);
        for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    for (path, name) in branches(&inside[from..at]) {
                        let whole: Path = before.iter().cloned().chain(path).collect();
                        let is_self = whole.last().is_some_and(|part| part == "self");
                        let whole = whole[..whole.len() - usize::from(is_self)].to_vec();
                        let name = if is_self && name == "self" {
                            whole.last().cloned().unwrap_or_default()
                        } else {
                            name
                        };
                        found.push((whole, name));
                    }
                    from = at + 1;
                }
                _ => {}
            }
        }
        return found;
    }
    if tree.is_empty() {
        return Vec::new();
    }
    let (path, name) = match tree.split_once(" as ") {
        Some((path, name)) => (split(path), name.to_owned()),
        None => (split(tree), split(tree).pop().unwrap_or_default()),
    };
    vec![(path, name)]
}

fn split(path: &str) -> Path {
    path.split("::")
        .filter(|part| !part.is_empty())
        .map(|part| part.trim().to_owned())
        .collect()
}

/// The paths of two parts or more in a line of code.
fn paths_in(code: &str) -> Vec<Path> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .filter(|word| word.contains("::") && !word.starts_with("::"))
        .map(split)
        .collect()
}

fn shown(path: &[String]) -> String {
    if path.is_empty() {
        "lib".to_owned()
    } else {
        path.join("/")
    }
}

/// The folders of the crates.
const CRATES: [&str; 7] = [
    "src",
    "src/algorithms",
    "src/cluster",
    "src/formats",
    "src/python",
    "src/remote",
    "src/store",
];

/// Imports against an order.
fn upward(imports: &[Import], order: &Order) -> Vec<String> {
    let folder: Path = order.folder.iter().map(ToString::to_string).collect();
    let height = |room: &str| order.lines.iter().position(|line| line.contains(&room));
    let room_of =
        |path: &Path| -> Option<String> { path.strip_prefix(folder.as_slice())?.first().cloned() };
    let mut wrong = Vec::new();
    for import in imports {
        let (Some(from), Some(to)) = (room_of(&import.from), room_of(&import.to)) else {
            continue;
        };
        if from == to {
            continue;
        }
        let outside = ["main", "cli", "guide"];
        if folder.is_empty() && (outside.contains(&&*from) || outside.contains(&&*to)) {
            continue;
        }
        let problem = match (height(&from), height(&to)) {
            (Some(from), Some(to)) if from > to => continue,
            (Some(_), Some(_)) => "stands beside or above it",
            _ => "one of the two has no place in the order",
        };
        wrong.push(format!(
            "{} line {}: {from} imports {to}: {problem}",
            shown(&import.from),
            import.line,
        ));
    }
    wrong
}

/// Circles among the files and folders of each folder; its own `mod.rs` counts as one of them.
fn circles(imports: &[Import]) -> Vec<String> {
    let mut by_folder: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for Import { from, to, .. } in imports {
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let child = |path: &Path| path.get(common).map_or("mod", String::as_str).to_owned();
        let edges = by_folder.entry(from[..common].to_vec()).or_default();
        edges.entry(child(from)).or_default().insert(child(to));
    }
    let mut found = Vec::new();
    for (folder, edges) in by_folder {
        let reached = |start: &String| -> BTreeSet<String> {
            let mut seen = BTreeSet::new();
            let mut next: Vec<&String> = edges.get(start).into_iter().flatten().collect();
            while let Some(name) = next.pop() {
                if seen.insert(name.clone()) {
                    next.extend(edges.get(name).into_iter().flatten());
                }
            }
            seen
        };
        let inside: Vec<&String> = edges.keys().filter(|n| reached(n).contains(*n)).collect();
        if !inside.is_empty() {
            found.push(format!("{}: {inside:?}", shown(&folder)));
        }
    }
    found
}

#[test]
fn imports_follow_the_order_of_rooms() {
    let mut wrong = Vec::new();
    for folder in CRATES {
        let imports = Crate::of(folder).imports();
        assert!(imports.len() > 20, "{folder}: {} imports", imports.len());
        let orders = ORDERS.iter().filter(|order| order.of == folder);
        wrong.extend(orders.flat_map(|order| upward(&imports, order)));
    }
    fail_on("imports against the order of rooms", &wrong);
}

#[test]
fn every_room_has_its_place() {
    let mut wrong = Vec::new();
    for order in ORDERS.iter().filter(|order| !order.folder.is_empty()) {
        let modules = Crate::of(order.of);
        let folder: Path = order.folder.iter().map(ToString::to_string).collect();
        let there: BTreeSet<&str> = modules
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(folder.as_slice())?.first())
            .map(String::as_str)
            .collect();
        let named: BTreeSet<&str> = order.lines.iter().copied().flatten().copied().collect();
        for room in there.symmetric_difference(&named) {
            wrong.push(format!("{}/{room}", shown(&folder)));
        }
    }
    fail_on("rooms without a place, or places without a room", &wrong);
}

#[test]
fn there_are_no_circles() {
    let mut found = Vec::new();
    for folder in CRATES {
        let circles = circles(&Crate::of(folder).imports());
        found.extend(circles.iter().map(|circle| format!("{folder}: {circle}")));
    }
    fail_on("modules that import each other", &found);
}

fn made_up(files: &[(&str, &str)]) -> Vec<Import> {
    let files = files.iter().map(|(path, text)| {
        let text = format!("//! A file.\n{text}\n");
        (split(path), text)
    });
    Crate::new(files).imports()
}

#[test]
fn a_mutual_pair_is_a_circle() {
    let found = |a: &str, b: &str| {
        let imports = made_up(&[
            ("", ""),
            ("room", "mod a;\nmod b;"),
            ("room::a", a),
            ("room::b", b),
        ]);
        circles(&imports)
    };
    assert!(found("use super::b::B;", "struct B;").is_empty());
    assert_eq!(found("use super::b::B;", "use super::a::A;").len(), 1);
    assert_eq!(
        found(
            "use super::{\n    b::{B, C},\n};",
            "fn f() {\n    super::a::f();\n}"
        )
        .len(),
        1
    );
    assert_eq!(
        found("use crate::room::b;\n", "use crate::room::a as other;").len(),
        1
    );
    // Through a folder that re-exports what its files define.
    let imports = made_up(&[
        ("", ""),
        ("room", "mod a;\nmod b;\npub use a::A;\npub use b::B;"),
        ("room::a", "use super::B;"),
        ("room::b", "use super::A;"),
    ]);
    assert_eq!(circles(&imports), [r#"room: ["a", "b"]"#]);
    // A folder defines something that its files use, while it uses them.
    let imports = made_up(&[
        ("", ""),
        ("room", "mod a;\nuse a::A;\npub struct B;"),
        ("room::a", "use super::B;"),
    ]);
    assert_eq!(circles(&imports), [r#"room: ["a", "mod"]"#]);
}

#[test]
fn an_import_upward_is_found() {
    let upward_of = |plan: &str| {
        let imports = made_up(&[
            ("", ""),
            (
                "engine",
                "mod plan;\nmod refresh;\npub use refresh::Report;",
            ),
            ("engine::plan", plan),
            ("engine::refresh", ""),
        ]);
        let of_engine = |order: &&Order| order.folder == ["engine"];
        upward(&imports, ORDERS.iter().find(of_engine).unwrap()).len()
    };
    assert_eq!(upward_of("use crate::engine::refresh::Report;"), 1);
    assert_eq!(upward_of("use super::{Report};"), 1);
    assert_eq!(upward_of("fn f() -> super::refresh::Report {}"), 1);
    assert_eq!(upward_of("// super::refresh::Report"), 0);
    assert_eq!(upward_of("use super::Bank;"), 0);
}
