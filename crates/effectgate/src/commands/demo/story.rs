//! How the demo is told: to a person on a terminal with some emphasis, plain when piped, not at all with `--json`.

use console::style;
use serde_json::Value;

use super::{Kept, world::World};
use crate::{
    exit::Result,
    output::{Out, cell, printable},
};

pub(super) struct Story {
    out: Out,
}

impl Story {
    pub(super) fn new(out: Out) -> Self {
        Self { out }
    }

    pub(super) fn begin(&self, world: &World) -> Result {
        self.say(&self.strong("Effectgate, the whole story in a few seconds."))?;
        self.say("No network, no config. A real server on loopback over a temporary SQLite file, and a provider")?;
        self.say("that counts every request it executes. All figures below are read from that count.")?;
        self.say(&format!("  gate      {}", world.gate_url()))?;
        self.say(&format!("  provider  {}", world.provider.url()))
    }

    /// A new part.
    pub(super) fn part(&self, title: &str) -> Result {
        self.say("")?;
        self.say(&self.strong(title))
    }

    /// Something that was done or answered.
    pub(super) fn step(&self, text: impl AsRef<str>) -> Result {
        self.say(&format!("  {}", printable(text.as_ref())))
    }

    /// A count, with what it counts.
    pub(super) fn count(&self, what: &str, n: usize) -> Result {
        let n = n.to_string();
        let shown = if self.out.terminal { style(n).cyan().bold().to_string() } else { n };
        self.say(&format!("  {what}: {shown}"))
    }

    pub(super) fn timeline(&self, key: &str, moments: &[Value]) -> Result {
        self.part(&format!("6  The record of {key}"))?;
        moments.iter().try_for_each(|moment| {
            let (at, kind) = (cell(moment, "/at"), cell(moment, "/kind"));
            let clock = at.get(11..23).unwrap_or(&at);
            self.step(format!("{clock}  {kind:<18} {}", cell(moment, "/text")))
        })
    }

    pub(super) fn end(&self, guarantees: &[Kept]) -> Result {
        self.part("What was shown")?;
        guarantees.iter().filter(|g| g.kept).try_for_each(|g| self.step(format!("✓ {}", g.what)))?;
        self.say("")?;
        self.say("Next: `effectgate serve`, then the guide in docs/.")
    }

    fn strong(&self, text: &str) -> String {
        if self.out.terminal { style(text).bold().to_string() } else { text.to_owned() }
    }

    fn say(&self, text: &str) -> Result {
        if self.out.json { Ok(()) } else { self.out.line(text) }
    }
}
