//! Where things stand, what they are called, how long they may get.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::root;

/// Beside dot files and licences. A new top-level entry is a decision, not an accident.
const TOP_LEVEL: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "Makefile",
    "README.md",
    "clippy.toml",
    "deny.toml",
    "docs",
    "load-tests",
    "migrations",
    "rustfmt.toml",
    "services",
    "shared",
];
/// Made by tools, and ignored by git.
const MADE: &[&str] = &["target", "node_modules"];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "core", "util", "utils", "helper", "helpers", "misc"];
/// Past this a file holds more than one thing.
const LONGEST_FILE: usize = 450;

pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Every file and folder under the places where our code stands.
pub(super) fn ours() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["shared", "services", "load-tests"].map(|place| root().join(place)).into();
    let mut next = 0;
    while next < found.len() {
        if found[next].is_dir() {
            let inside = entries(&found[next]);
            found.extend(inside.into_iter().filter(|path| !MADE.contains(&name(path).as_str())));
        }
        next += 1;
    }
    found
}

pub(super) fn rust_files() -> impl Iterator<Item = (PathBuf, String)> {
    let rust = ours().into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    rust.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    })
}

#[test]
fn the_top_level_is_the_agreed_one() {
    for entry in entries(&root()) {
        let name = name(&entry);
        let fine = name.starts_with('.')
            || name.starts_with("LICENSE")
            || TOP_LEVEL.contains(&name.as_str())
            || MADE.contains(&name.as_str());
        assert!(fine, "{name} does not belong at the top level");
    }
}

#[test]
fn nothing_has_a_name_that_says_nothing() {
    for path in ours() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{}", path.display());
    }
}

#[test]
fn no_file_is_longer_than_one_thing_needs() {
    for (path, text) in rust_files() {
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
    }
}
