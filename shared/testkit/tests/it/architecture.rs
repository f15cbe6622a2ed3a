//! The house's rules that no compiler checks: which crate may know which, which dependency may be used
//! where and under what licence, where things stand and how long they may get.

mod counters;
mod directions;
mod licences;
mod metrics;
mod sources;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{Metadata, MetadataCommand};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Of this machine's platform alone: cargo has not fetched what others would need.
fn metadata() -> Metadata {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let options = ["--offline", "--locked", "--filter-platform", host].map(String::from);
    MetadataCommand::new().current_dir(root()).other_options(options).exec().unwrap()
}

/// Every package that is built into something of ours, and its licence. Cargo's metadata would list
/// what an optional feature could bring, too.
fn built_in() -> Vec<(String, String)> {
    let arguments =
        ["tree", "--workspace", "--offline", "--locked", "--edges", "normal,build,dev", "--prefix", "none"];
    let mut tree = Command::new(env!("CARGO"));
    tree.args(arguments).args(["--format", "{p}|{l}"]).current_dir(root());
    let tree = tree.output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    // A package that was shown before is marked, and shown without what it depends on.
    let tree = String::from_utf8(tree.stdout).unwrap();
    let lines: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    let packages = lines.iter().filter_map(|line| line.split_once('|'));
    packages.map(|(package, licence)| (package.to_owned(), licence.to_owned())).collect()
}
