//! A report as a document: Markdown for people and tickets, JUnit XML for build servers. What stands in it came from
//! outside in part (addresses, reasons of a gate), so nothing of it may break out of its place.

use std::fmt::Write as _;

use effectgate_core::visible::is_hidden;

use crate::{
    evidence::Verdict,
    report::{Outcome, Report},
};

impl Report {
    /// The report as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(text, "# Effectgate certify: {}\n", if self.ready { "ready" } else { "not ready" });
        if let Some(guard) = &self.broken_guard {
            let _ = writeln!(
                text,
                "**A guard was taken out of this build on purpose ({guard}). This certifies nothing.**\n"
            );
        }
        let _ = writeln!(text, "- judged: {}", plain(&self.target));
        let _ = writeln!(text, "- when: {}, in {} ms, by effectgate {}", self.started_at, self.took_ms, self.version);
        let _ = writeln!(text, "- {}", self.summary());
        if !self.not_asked.is_empty() {
            let ids: Vec<_> = self.not_asked.iter().map(|item| format!("`{}`", item.id())).collect();
            let _ = writeln!(text, "- not asked for: {}", ids.join(", "));
        }
        let _ = writeln!(text, "\n| item | verdict | what it says |\n| --- | --- | --- |");
        for outcome in &self.items {
            let _ = writeln!(text, "| `{}` | {} | {} |", outcome.item.id(), verdict(self, outcome), outcome.title);
        }
        for outcome in &self.items {
            let _ = writeln!(text, "\n## {}: {}\n", outcome.item.id(), verdict(self, outcome));
            if let Some(reason) = &outcome.reason {
                let _ = writeln!(text, "{}\n", plain(reason));
            }
            for fact in &outcome.evidence {
                let _ = writeln!(
                    text,
                    "- {}{}",
                    if fact.holds { "" } else { "**not as it must be:** " },
                    plain(&fact.seen)
                );
            }
        }
        text
    }

    /// The report as JUnit XML: what is no pass and was not accepted by name is a failure or an error there, so that no
    /// build server counts it as green.
    #[must_use]
    pub fn junit(&self) -> String {
        let red = |outcome: &&Outcome| !self.is_fine(outcome) && outcome.verdict != Verdict::Error;
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            text,
            "<testsuite name=\"effectgate certify\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\" \
             timestamp=\"{}\">",
            self.items.len(),
            self.items.iter().filter(red).count(),
            self.count(Verdict::Error),
            self.items.iter().filter(|o| o.verdict == Verdict::NotApplicable && self.is_fine(o)).count(),
            seconds(self.took_ms),
            self.started_at
        );
        for outcome in &self.items {
            self.case(&mut text, outcome);
        }
        text.push_str("</testsuite>\n");
        text
    }

    fn case(&self, text: &mut String, outcome: &Outcome) {
        let (id, title) = (outcome.item.id(), escaped(outcome.title));
        let time = seconds(outcome.took_ms);
        let _ = writeln!(text, "  <testcase classname=\"{id}\" name=\"{title}\" time=\"{time}\">");
        let reason = escaped(outcome.reason.as_deref().unwrap_or_default());
        let word = outcome.verdict.as_str();
        let _ = match outcome.verdict {
            Verdict::Pass => Ok(()),
            Verdict::NotApplicable if self.is_fine(outcome) => writeln!(text, "    <skipped message=\"{reason}\"/>"),
            Verdict::Error => writeln!(text, "    <error type=\"{word}\" message=\"{reason}\"/>"),
            Verdict::Fail | Verdict::NotApplicable => {
                writeln!(text, "    <failure type=\"{word}\" message=\"{reason}\"/>")
            }
        };
        let facts: Vec<_> = outcome.evidence.iter().map(|f| format!("{} {}", mark(f.holds), f.seen)).collect();
        let _ = writeln!(text, "    <system-out>{}</system-out>\n  </testcase>", escaped(&facts.join("\n")));
    }
}

fn mark(holds: bool) -> &'static str {
    if holds { "+" } else { "!" }
}

fn verdict(report: &Report, outcome: &Outcome) -> String {
    let accepted = outcome.verdict == Verdict::NotApplicable && report.is_fine(outcome);
    let word = outcome.verdict.as_str().replace('_', " ");
    if accepted { format!("{word} (accepted by name)") } else { word }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of one run")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// One line without anything that Markdown would read as more than text.
fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if is_hidden(c) => line.push('\u{fffd}'),
            '<' | '|' | '`' | '*' | '[' | '\\' => {
                line.push('\\');
                line.push(c);
            }
            c => line.push(c),
        }
    }
    line
}

/// Characters that XML 1.0 cannot carry are replaced, the five that it reads are written out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use effectgate_core::time::Timestamp;

    use super::*;
    use crate::{evidence::Fact, item::Item};

    fn report(verdict: Verdict, accepted: Vec<Item>) -> Report {
        let seen = "a <b> & \"c\" | `d`\u{7}\nsecond".to_owned();
        let outcome = Outcome {
            item: Item::Crash,
            title: Item::Crash.title(),
            verdict,
            reason: Some("because \u{202e}<x>".to_owned()),
            evidence: vec![Fact { holds: false, seen }],
            took_ms: 1_500,
        };
        let report = Report {
            ready: false,
            target: "http://127.0.0.1:1".to_owned(),
            version: "0",
            started_at: Timestamp::from_micros(0),
            took_ms: 2_000,
            broken_guard: None,
            items: vec![outcome],
            not_asked: vec![Item::Switch],
            accepted,
            log_tail: None,
        };
        report.judged()
    }

    #[test]
    fn what_is_not_applicable_is_no_pass_unless_it_was_accepted_by_name() {
        let (plain, accepted) =
            (report(Verdict::NotApplicable, vec![]), report(Verdict::NotApplicable, vec![Item::Crash]));

        assert!(!plain.ready && accepted.ready);
        assert!(plain.junit().contains("<failure type=\"not_applicable\""), "{}", plain.junit());
        assert!(accepted.junit().contains("<skipped ") && accepted.junit().contains("skipped=\"1\""));
        assert!(accepted.markdown().contains("not applicable (accepted by name)"));
    }

    #[test]
    fn nothing_from_outside_breaks_out_of_the_documents() {
        let red = report(Verdict::Fail, vec![]);

        let (junit, markdown) = (red.junit(), red.markdown());

        assert!(junit.contains("a &lt;b&gt; &amp; &quot;c&quot; | `d`\u{fffd}\nsecond"), "{junit}");
        assert!(markdown.contains("a \\<b> & \"c\" \\| \\`d\\`\u{fffd} second"), "{markdown}");
        assert!(!markdown.contains('\u{202e}'));
    }

    #[test]
    fn a_report_without_items_is_not_ready() {
        let mut empty = report(Verdict::Pass, vec![]);
        empty.items.clear();

        assert!(!empty.judged().ready);
    }
}
