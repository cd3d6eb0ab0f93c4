//! `docs/certify.md` and the list are one: a row for every item, and every option that the page names exists.

use std::fs;

use effectgate_certify::Item;

use crate::support::{effectgate, root, said};

fn page() -> String {
    fs::read_to_string(root().join("docs/certify.md")).unwrap()
}

#[test]
fn the_page_has_a_row_for_every_item_in_the_order_of_the_list() {
    let page = page();
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();

    let items: Vec<&str> = Item::ALL.iter().map(|item| item.id()).collect();

    assert_eq!(rows, items);
}

#[test]
fn every_option_that_the_page_names_exists() {
    let help = said(&mut effectgate(&["certify", "--help"])).out;
    let page = page();
    let word = |c: char| !(c.is_ascii_lowercase() || c == '-');

    let options = page.split(word).filter(|word| word.starts_with("--") && word.len() > 3);

    for option in options {
        assert!(help.contains(option), "{option}");
    }
}
