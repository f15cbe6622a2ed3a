//! Metric names stand in one file, and what stands there is measured.

use std::{ffi::OsStr, fs};

use super::{root, sources::rust_files};

#[test]
fn no_metric_is_named_outside_of_the_list_of_names() {
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        let text: String = text.split_whitespace().collect();
        let literal =
            ["counter!(", "gauge!(", "histogram!("].iter().any(|call| text.contains(&format!("{call}\"")));
        // This very file names them.
        if literal && path.file_name() != Some(OsStr::new("metrics.rs")) {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "use keyrack_telemetry::names in {wrong:#?}");
}

#[test]
fn every_metric_in_the_list_is_measured_somewhere() {
    let list = fs::read_to_string(root().join("shared/telemetry/src/names.rs")).unwrap();
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.trim().split_once(": "))
        .filter(|(name, rest)| {
            name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && rest.contains("\"keyrack_")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(names.len() > 10, "the list is read: {names:?}");
    let telemetry = root().join("shared/telemetry");
    let code: Vec<String> =
        rust_files().filter(|(path, _)| !path.starts_with(&telemetry)).map(|(_, text)| text).collect();
    let unused: Vec<&str> = names
        .into_iter()
        .filter(|name| !code.iter().any(|text| text.contains(&format!("names::{name}"))))
        .collect();
    assert!(unused.is_empty(), "documented and never measured: {unused:?}");
}
