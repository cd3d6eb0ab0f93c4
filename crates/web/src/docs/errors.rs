//! GET /errors/{code}: what a problem's `type` leads to. The pages are the files in `docs/errors`, compiled in; a code
//! without a page does not compile.

use askama::Template;
use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};

use super::html;
use crate::problem::{Code, Problem, Result};

#[derive(Template)]
#[template(path = "docs/error.html")]
struct ErrorPage<'a> {
    code: &'static str,
    title: &'static str,
    status: u16,
    blocks: Vec<Block<'a>>,
}

/// The little of Markdown that the pages use.
enum Block<'a> {
    Title(&'a str),
    Heading(&'a str),
    Item(Vec<Word<'a>>),
    Paragraph(Vec<Word<'a>>),
}

struct Word<'a> {
    text: &'a str,
    is_code: bool,
}

/// GET /errors/{code}
pub(crate) async fn error_page(Path(word): Path<String>) -> Result<Response> {
    let code = Code::parse(&word).ok_or_else(|| Problem::new(Code::NoSuchPath, "there is no problem of this code"))?;
    let page = ErrorPage {
        code: code.as_str(),
        title: code.title(),
        status: code.status().as_u16(),
        blocks: blocks(code.page()),
    };
    match page.render() {
        Ok(text) => Ok(html(text)),
        Err(error) => Ok(Problem::internal(&error).into_response()),
    }
}

/// One block a paragraph; the pages have one line each, without hard breaks.
fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let lines = markdown.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match (line.strip_prefix("# "), line.strip_prefix("## "), line.strip_prefix("- ")) {
            (Some(title), _, _) => Block::Title(title),
            (_, Some(heading), _) => Block::Heading(heading),
            (_, _, Some(item)) => Block::Item(words(item)),
            _ => Block::Paragraph(words(line)),
        })
        .collect()
}

fn words(line: &str) -> Vec<Word<'_>> {
    line.split('`').enumerate().map(|(n, text)| Word { text, is_code: n % 2 == 1 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_says_what_happened_what_was_done_outside_and_what_to_do() {
        for code in Code::ALL {
            let page = code.page();
            assert!(page.starts_with(&format!("# {}", code.as_str())), "{}", code.as_str());
            for heading in ["## What happened", "## Was anything done outside", "## What to do"] {
                assert!(page.contains(heading), "{}: {heading}", code.as_str());
            }
        }
    }

    #[test]
    fn there_is_no_page_without_a_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let word = name.strip_suffix(".md").unwrap_or(&name);
            assert!(word == "README" || Code::parse(word).is_some(), "{name} belongs to no code");
        }
    }
}
