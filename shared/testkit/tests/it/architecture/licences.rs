//! Licences and banned crates, by the lists of `deny.toml`.

use std::{collections::BTreeSet, fs};

use super::{built_in, root};

struct Lists {
    allowed: BTreeSet<String>,
    banned: BTreeSet<String>,
}

fn lists() -> Lists {
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    let allowed = deny["licenses"]["allow"].as_array().unwrap().iter().map(text).collect();
    let banned = deny["bans"]["deny"].as_array().unwrap().iter().map(|b| text(&b["crate"])).collect();
    Lists { allowed, banned }
}

/// Whether an SPDX expression can be satisfied with the allowed licences.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // The slash is how licences were listed before SPDX expressions.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let fine = any_of(&mut words, allowed);
    assert!(words.next().is_none(), "cannot read the licence {expression:?}");
    fine
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut fine = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        fine |= all_of(words, allowed);
    }
    fine
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut fine = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        fine &= one(words, allowed);
    }
    fine
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let fine = any_of(words, allowed);
        assert_eq!(words.next(), Some(")"));
        return fine;
    }
    let mut licence = words.next().unwrap().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        licence = format!("{licence} WITH {}", words.next().unwrap());
    }
    allowed.contains(&licence)
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(String::from).into();
    for fine in
        ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "MIT AND (GPL-3.0 OR ISC)", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(satisfied(fine, &allowed), "{fine}");
    }
    for not in
        ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "ISC AND (GPL-3.0 OR AGPL-3.0)", "GPL-3.0 OR MIT AND X"]
    {
        assert!(!satisfied(not, &allowed), "{not}");
    }
}

#[test]
fn every_dependency_has_a_licence_that_we_may_ship() {
    let Lists { allowed, .. } = lists();
    assert!(!allowed.iter().any(|licence| licence.contains("GPL")));
    let packages = built_in();
    assert!(packages.len() > 100, "the tree is read");
    let wrong: Vec<_> = packages.iter().filter(|(_, licence)| !satisfied(licence, &allowed)).collect();
    assert!(wrong.is_empty(), "not allowed: {wrong:#?}");
}

#[test]
fn banned_crates_are_not_there() {
    let Lists { banned, .. } = lists();
    assert!(banned.contains("openssl"));
    let packages = built_in();
    let names = packages.iter().filter_map(|(package, _)| package.split_whitespace().next());
    let there: Vec<&str> = names.filter(|name| banned.contains(*name)).collect();
    assert!(there.is_empty(), "banned and there: {there:?}");
}
