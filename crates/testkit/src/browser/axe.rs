//! The accessibility audit: axe-core, as its makers ship it, run in the page against WCAG 2.2 level AA. It is injected
//! by WebDriver, so the page's own policy against foreign scripts stays on.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Browser;

/// axe-core 4.14.1 from the npm package, unmodified; see `vendor/axe-core/README.md`.
const AXE: &str = include_str!("../../vendor/axe-core/axe.min.js");
/// Level A and AA of WCAG 2.0 to 2.2, in axe's words.
const TAGS: [&str; 4] = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];
const RUN: &str = "const done = arguments[1];
    axe.run(document, { runOnly: { type: 'tag', values: arguments[0] }, resultTypes: ['violations'] })
        .then(r => done(r.violations), e => done('' + e));";

/// A rule that the page breaks, and where.
#[derive(Debug, Clone, Deserialize)]
pub struct Violation {
    /// axe's name of the rule, such as `color-contrast`.
    pub id: String,
    pub help: String,
    pub nodes: Vec<Node>,
}

/// One element that breaks a rule.
#[derive(Debug, Clone, Deserialize)]
pub struct Node {
    pub html: String,
    /// How to find it: CSS selectors, from the outermost frame inwards.
    pub target: Value,
    #[serde(rename = "failureSummary")]
    pub why: String,
}

impl Browser {
    /// What the page breaks of WCAG 2.2 AA, as far as a machine can tell. Wants JavaScript on.
    ///
    /// # Panics
    /// If the audit itself fails.
    pub async fn audit(&self) -> Vec<Violation> {
        if self.script("return typeof axe", &[]).await != json!("object") {
            self.script(AXE, &[]).await;
        }
        let found = self.script_async(RUN, &[json!(TAGS)]).await;
        serde_json::from_value(found.clone()).unwrap_or_else(|e| panic!("axe: {e}: {found}"))
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::AXE;

    #[test]
    fn axe_core_is_the_file_that_its_makers_ship() {
        let hash = Sha256::digest(AXE.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();

        assert_eq!(hash, "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c");
    }
}
