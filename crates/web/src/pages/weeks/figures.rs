//! What the weeks say: six charts and the rows of the table. A number that cannot be made (nothing happened) is a dash in
//! the table and a gap in a chart.

use effectgate_engine::{tally::count::Count, weeks::Week};

use super::Name;
use crate::pages::{
    charts::{Chart, Kind, Plot, Series, Unit, draw},
    text::grouped,
    time::span,
};

/// A chart with its heading and how the newest weeks stand.
pub(super) struct Figure {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// How the numbers are made.
    pub(super) about: &'static str,
    pub(super) now: String,
    pub(super) before: Option<String>,
    pub(super) chart: Chart,
}

/// One week's row.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) reservations: String,
    pub(super) duplicates: String,
    pub(super) duplicate_rate: String,
    pub(super) conflicts: String,
    pub(super) decided: String,
    pub(super) p50: String,
    pub(super) p95: String,
    pub(super) expired: String,
    pub(super) proposals: String,
    pub(super) invalid: String,
    pub(super) invalid_rate: String,
    pub(super) first_invalid_rate: String,
    pub(super) automatic: String,
    pub(super) person: String,
    pub(super) sampled: String,
    pub(super) ratio: String,
    pub(super) exhausted_runs: String,
    pub(super) exhausted_effects: String,
    pub(super) takeovers: String,
    pub(super) unknown: String,
    pub(super) review: String,
}

const NONE: &str = "–";

impl Row {
    pub(super) fn new(week: &Week) -> Self {
        let name = Name::of(week.monday);
        let count = |n: u64| grouped(usize::try_from(n).unwrap_or(usize::MAX));
        let of = |what: Count| count(week.of(what));
        Self {
            name: name.whole(),
            from: name.from,
            reservations: count(week.reservations()),
            duplicates: count(week.duplicates()),
            duplicate_rate: percent(week.duplicate_rate()),
            conflicts: of(Count::Conflict),
            decided: count(week.decided()),
            p50: wait(week.wait_ms(0.5)),
            p95: wait(week.wait_ms(0.95)),
            // Nobody decided, whether or not somebody could be told.
            expired: count(week.of(Count::Expired) + week.of(Count::Undeliverable)),
            proposals: count(week.proposals()),
            invalid: count(week.invalid()),
            invalid_rate: percent(week.invalid_rate()),
            first_invalid_rate: percent(week.first_invalid_rate()),
            automatic: of(Count::Automatic),
            person: of(Count::Person),
            sampled: of(Count::Sampled),
            ratio: ratio(week),
            exhausted_runs: of(Count::RunExhausted),
            exhausted_effects: of(Count::EffectExhausted),
            takeovers: of(Count::Takeover),
            unknown: of(Count::Unknown),
            review: of(Count::Review),
        }
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or(NONE.into(), |share| format!("{:.1} %", share * 100.0))
}

#[expect(clippy::cast_possible_truncation, reason = "milliseconds of a wait")]
fn wait(ms: Option<f64>) -> String {
    match ms {
        None => NONE.into(),
        Some(ms) if ms < 1_000.0 => format!("{} ms", ms.round() as i64),
        Some(ms) => span(ms.round() as i64),
    }
}

/// Automatic to human, with a person as one.
#[expect(clippy::cast_precision_loss, reason = "a ratio has few digits")]
fn ratio(week: &Week) -> String {
    match (week.of(Count::Automatic), week.of(Count::Person)) {
        (0, 0) => NONE.into(),
        (_, 0) => "all automatic".into(),
        (automatic, person) => format!("{:.2} : 1", automatic as f64 / person as f64),
    }
}

/// How one figure's numbers are taken from a week: the name of a series and its value.
type Values = &'static [(&'static str, fn(&Week) -> Option<f64>)];

struct Sketch {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    kind: Kind,
    unit: Unit,
    series: Values,
    /// The week in one phrase.
    said: fn(&Week) -> String,
}

/// A count of a week in which nothing at all happened is no zero to draw.
#[expect(clippy::cast_precision_loss, reason = "a chart has few digits")]
fn drawn(week: &Week, n: u64) -> Option<f64> {
    (!week.is_empty()).then_some(n as f64)
}

const SKETCHES: [Sketch; 6] = [
    Sketch {
        id: "duplicates",
        title: "Duplicate rate",
        about: "Reservations that were answered repeated, busy or replay, of all reservations.",
        kind: Kind::Line,
        unit: Unit::Share,
        series: &[("duplicates", Week::duplicate_rate)],
        said: |week| percent(week.duplicate_rate()),
    },
    Sketch {
        id: "wait",
        title: "Approval wait",
        about: "From the request to the person's decision, in the week it was decided. At most 10 % off.",
        kind: Kind::Line,
        unit: Unit::Wait,
        series: &[("p95", |week| week.wait_ms(0.95)), ("p50", |week| week.wait_ms(0.5))],
        said: |week| match week.decided() {
            0 => NONE.into(),
            _ => format!("p50 {}, p95 {}", wait(week.wait_ms(0.5)), wait(week.wait_ms(0.95))),
        },
    },
    Sketch {
        id: "invalid",
        title: "Invalid output rate",
        about: "Proposals that broke the flow's schema or rules; of all, and of the first tries alone.",
        kind: Kind::Line,
        unit: Unit::Share,
        series: &[("first tries", Week::first_invalid_rate), ("all proposals", Week::invalid_rate)],
        said: |week| percent(week.invalid_rate()),
    },
    Sketch {
        id: "ratio",
        title: "Automatic to human",
        about: "What the gate let go by itself, and what it sent to a person (the sample included).",
        kind: Kind::Bar,
        unit: Unit::Count,
        series: &[
            ("automatic", |week| drawn(week, week.of(Count::Automatic))),
            ("to a person", |week| drawn(week, week.of(Count::Person))),
        ],
        said: ratio,
    },
    Sketch {
        id: "exhausted",
        title: "Exhausted retries",
        about: "Runs and effects whose attempts were used up.",
        kind: Kind::Bar,
        unit: Unit::Count,
        series: &[
            ("runs", |week| drawn(week, week.of(Count::RunExhausted))),
            ("effects", |week| drawn(week, week.of(Count::EffectExhausted))),
        ],
        said: |week| grouped(usize::try_from(week.exhausted()).unwrap_or(usize::MAX)),
    },
    Sketch {
        id: "unknown",
        title: "Unknown and review",
        about: "Effects whose outcome came into doubt, and effects that were handed to a person.",
        kind: Kind::Bar,
        unit: Unit::Count,
        series: &[
            ("became unknown", |week| drawn(week, week.of(Count::Unknown))),
            ("went to review", |week| drawn(week, week.of(Count::Review))),
        ],
        said: |week| format!("{} unknown, {} to review", week.of(Count::Unknown), week.of(Count::Review)),
    },
];

/// The charts, oldest week first.
pub(super) fn figures(weeks: &[Week]) -> Vec<Figure> {
    SKETCHES.iter().map(|sketch| figure(sketch, weeks)).collect()
}

fn figure(sketch: &Sketch, weeks: &[Week]) -> Figure {
    let series = sketch
        .series
        .iter()
        .map(|(name, value)| Series { name: (*name).to_owned(), values: weeks.iter().map(value).collect() });
    let (now, before) = match weeks {
        [.., before, now] => ((sketch.said)(now), Some((sketch.said)(before))),
        [now] => ((sketch.said)(now), None),
        [] => (NONE.into(), None),
    };
    let plot = Plot {
        id: sketch.id,
        kind: sketch.kind,
        unit: sketch.unit,
        title: format!("{}, week by week", sketch.title),
        desc: description(weeks.len(), &now, before.as_deref()),
        weeks: weeks.iter().map(|week| Name::of(week.monday).short()).collect(),
        series: series.collect(),
    };
    Figure { id: sketch.id, title: sketch.title, about: sketch.about, now, before, chart: draw(plot) }
}

fn description(weeks: usize, now: &str, before: Option<&str>) -> String {
    let before = before.map(|said| format!(", the week before: {said}")).unwrap_or_default();
    format!("{weeks} weeks. The running week: {now}{before}. Every number is in the table below.")
}
