//! Every route there is. The API's are taken from its document, which is made of the router; the others from the source,
//! where each is one line with `.route("PATH", …)`. So a route that is new is in every sweep by itself.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// As it is written: `/v1/runs/{id}`.
    pub path: String,
    pub method: String,
    /// With ids that are well formed and lead nowhere.
    pub example: String,
}

/// Every route, by path and method.
pub fn all() -> BTreeSet<Route> {
    let mut routes = of_document();
    let sources = files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    routes.extend(sources.iter().flat_map(|path| of_source(&std::fs::read_to_string(path).unwrap())));
    assert!(routes.len() > 45, "{} routes: the source is read wrongly", routes.len());
    routes
}

fn of_document() -> BTreeSet<Route> {
    let document = effectgate_web::docs::openapi();
    let items = document["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &serde_json::Value)| -> Vec<Route> {
        item.as_object().unwrap().keys().map(|method| route(&method.to_uppercase(), path)).collect()
    };
    items.iter().flat_map(methods).collect()
}

/// `.route("/inbox", get(inbox::show).post(…))`, also over several lines. Tests in the source are left out.
fn of_source(source: &str) -> Vec<Route> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut routes = Vec::new();
    for rest in source.split(".route(").skip(1) {
        let Some((path, handlers)) = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
            panic!("a route whose path is not written where it is made: {}", &rest[..rest.len().min(60)]);
        };
        let handlers = handlers.split(".route(").next().unwrap();
        let end = handlers.find(".layer(").or_else(|| handlers.find(".merge(")).unwrap_or(handlers.len());
        let handlers = &handlers[..end];
        let mut found = false;
        for method in ["get", "post", "put", "delete", "patch", "any"] {
            let is_made = |at: usize| !handlers[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            if handlers.match_indices(&format!("{method}(")).any(|(at, _)| is_made(at)) {
                routes.push(route(&method.to_uppercase(), path));
                found = true;
            }
        }
        // `.route("/metrics", scrape)`: a variable; every one of them is a GET.
        if !found {
            routes.push(route("GET", path));
        }
    }
    routes
}

fn route(method: &str, path: &str) -> Route {
    let zeros = "0".repeat(32);
    let id = match path {
        path if path.contains("/effects/") => format!("eff_{zeros}1"),
        path if path.contains("/approvals/") => format!("apr_{zeros}1"),
        path if path.contains("/review/") => format!("eff_{zeros}1"),
        path if path.contains("/replays/") => format!("rpl_{zeros}"),
        path if path.contains("/errors/") => "not_found".to_owned(),
        path if path.contains("{seq}") => "1".to_owned(),
        _ => format!("run_{zeros}"),
    };
    let mut example = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').unwrap();
        example.push_str(before);
        example.push_str(if name.starts_with('*') { "nothing" } else { &id });
        rest = behind;
    }
    example.push_str(rest);
    Route { path: path.to_owned(), method: method.to_owned(), example }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let all = found.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}
