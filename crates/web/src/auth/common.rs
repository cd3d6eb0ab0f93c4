//! Passwords that are tried first: runs and repetitions, and the commonest words with digits around them. NIST SP 800-63B
//! section 3.1.1.2 wants new passwords held against such a list, the service's and the person's own name included.
//!
//! Not a list of leaked passwords: of those hardly any has the twelve characters that are asked for, and those that do
//! are made as this module describes.

/// Words that passwords are made of when nobody thinks. Chosen from the words that lead every published list.
const WORDS: &str = "password passwort losenord lösenord passphrase welcome willkommen valkommen letmein qwerty qwertz \
    qwertyuiop qwertzuiop asdfgh asdfghjkl zxcvbn zxcvbnm iloveyou admin administrator changeme secret geheim hemlig \
    master login monkey dragon football baseball basketball hockey sunshine princess superman batman trustno one hello \
    hallo summer sommer winter spring autumn fall monday friday january december effectgate approver operator auditor \
    default temp temporary test testing guest root user access company office starwars pokemon whatever freedom shadow \
    michael jordan jennifer thomas ashley daniel charlie abc abcd abcdef pass word my the is this new your our please \
    for and me you i a 1q2w3e4r 1qaz2wsx correcthorsebatterystaple";
/// Rows and orders that fingers follow.
const ORDERS: [&str; 6] = [
    "01234567890123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "1234567890qwertyuiop",
    "1q2w3e4r5t6y7u8i9o0p",
];
/// Fewer different characters than this are a pattern.
const DIFFERENT_MIN: usize = 5;

/// True for a password that somebody who guesses tries first.
pub(super) fn is_common(password: &str) -> bool {
    let plain: Vec<char> = password.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let different = password.chars().collect::<std::collections::BTreeSet<_>>().len();
    different < DIFFERENT_MIN || is_run(&plain) || is_words(&letters(password), WORDS.split_whitespace())
}

/// True for a password that is somebody's own name, with digits and signs around it, once or more.
pub(super) fn is_name(password: &str, name: &str) -> bool {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| part.chars().count() >= 3);
    let parts: Vec<String> = parts.map(str::to_lowercase).collect();
    !parts.is_empty() && is_words(&letters(password), parts.iter().map(String::as_str))
}

/// Part of an order, forwards or backwards.
fn is_run(plain: &[char]) -> bool {
    let text: String = plain.iter().collect();
    let back: String = plain.iter().rev().collect();
    plain.len() >= 4 && ORDERS.iter().any(|order| order.contains(&text) || order.contains(&back))
}

/// What is left without digits and signs around it, with the usual signs read as the letters they stand for.
fn letters(password: &str) -> Vec<char> {
    let lower = password.to_lowercase();
    let core = lower.trim_matches(|c: char| !c.is_alphabetic());
    let read = |c| match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        c => c,
    };
    core.chars().map(read).filter(|c| c.is_alphanumeric()).collect()
}

/// True if the text is these words and nothing else.
fn is_words<'a>(text: &[char], words: impl Iterator<Item = &'a str>) -> bool {
    let words: Vec<Vec<char>> = words.map(|word| word.chars().collect()).collect();
    // reached[n]: the first n characters are words.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = !text.is_empty();
    for from in 0..text.len() {
        if reached[from] {
            for word in words.iter().filter(|word| text[from..].starts_with(word)) {
                reached[from + word.len()] = true;
            }
        }
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_first_is_common() {
        for common in [
            "passwordpassword",
            "Password123456!",
            "P@ssw0rd2026!!",
            "123456789012",
            "abcdefghijkl",
            "qwertyuiopas",
            "aaaaaaaaaaaaaa",
            "121212121212",
            "Effectgate2026!",
            "correct horse battery staple",
            "lösenord1234",
        ] {
            assert!(is_common(common), "{common}");
        }
    }

    #[test]
    fn what_somebody_made_up_is_not() {
        for own in
            ["correct horse battery", "long enough for us", "kaffe vid fönstret", "7f!kQ_zz-31xW", "another password"]
        {
            assert!(!is_common(own), "{own}");
        }
    }

    #[test]
    fn ones_own_name_is_no_password() {
        assert!(is_name("anna.svensson2026", "anna.svensson") && is_name("annaannaanna", "anna"));
        assert!(!is_name("anna eats apples", "anna") && !is_name("some other words", "bo"));
    }
}
