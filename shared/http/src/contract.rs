//! The OpenAPI document as the gate reads it: which operations exist, which of them are public and
//! which query parameters they know. So the document cannot promise what the server does not do.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::http::Method;
use utoipa::openapi::{
    OpenApi, RefOr,
    path::{Operation, ParameterIn, PathItem},
};

/// Path template -> method -> what the gate must know.
#[derive(Clone, Debug, Default)]
pub struct Contract {
    paths: BTreeMap<String, BTreeMap<&'static str, Entry>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Needs no caller. Only what says so itself (`security(())`) is.
    pub public: bool,
    pub query: BTreeSet<String>,
}

impl Contract {
    pub fn new(document: &OpenApi) -> Self {
        let entries =
            |item: &PathItem| operations(item).map(|(method, found)| (method, Entry::of(found))).collect();
        let paths = document.paths.paths.iter();
        Self { paths: paths.map(|(path, item)| (path.clone(), entries(item))).collect() }
    }

    pub fn find(&self, path: &str, method: &Method) -> Option<&Entry> {
        self.paths.get(path)?.get(method.as_str())
    }

    /// The methods of a path, sorted; empty where there is no such path.
    pub fn methods(&self, path: &str) -> Vec<&'static str> {
        self.paths.get(path).map(|methods| methods.keys().copied().collect()).unwrap_or_default()
    }

    /// Path, method and entry of everything there is.
    pub fn all(&self) -> impl Iterator<Item = (&str, &'static str, &Entry)> {
        self.paths.iter().flat_map(|(path, methods)| {
            methods.iter().map(move |(method, entry)| (path.as_str(), *method, entry))
        })
    }
}

impl Entry {
    fn of(operation: &Operation) -> Self {
        let public = operation.security.as_ref().is_some_and(|needs| {
            needs
                .iter()
                .any(|need| serde_json::to_value(need).is_ok_and(|value| value == serde_json::json!({})))
        });
        let parameters = operation.parameters.iter().flatten();
        let query = parameters.filter_map(|parameter| match parameter {
            RefOr::T(parameter) if matches!(parameter.parameter_in, ParameterIn::Query) => {
                Some(parameter.name.clone())
            }
            RefOr::T(_) | RefOr::Ref(_) => None,
        });
        Self { public, query: query.collect() }
    }
}

fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let methods = [
        ("DELETE", &item.delete),
        ("GET", &item.get),
        ("PATCH", &item.patch),
        ("POST", &item.post),
        ("PUT", &item.put),
    ];
    methods.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}
