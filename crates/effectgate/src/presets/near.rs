//! Which name was perhaps meant: by the number of letters that have to be changed.

/// Names that differ in a third of their letters at most, or begin alike; the nearest first.
pub(super) fn among<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let begins_alike = |other: &str| name.len() >= 3 && (other.starts_with(&name) || name.starts_with(other));
    let mut found: Vec<(usize, &str)> = names
        .map(|other| (if begins_alike(other) { 1 } else { distance(&name, other) }, other))
        .filter(|(distance, other)| *distance <= 1 + other.len() / 4)
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, other)| other).collect()
}

/// Levenshtein's distance, a row at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = before + usize::from(from != *to);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
