//! Charts as SVG, drawn by the server: lines and bars over weeks. Geometry and numbers only; what they mean is the page's
//! business. Every text goes through the template's escaping, and no chart says anything by colour alone: series differ
//! by dash, by the shape of their marks or by hatching, and by a legend in words.
//!
//! A week without a value is a gap, never a zero. The last week is still running and is drawn as such: hollow marks, a
//! dotted way to it, bars in outline.

mod axis;

use askama::Template;

pub(crate) use axis::Unit;

/// The drawing's own units; the page scales it to its place. Small, so that 12 units of text stay readable on a phone.
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 28.0;
/// Names of weeks along the axis; more would touch.
const WEEK_NAMES_MAX: usize = 6;
/// Above this many weeks marks would touch; the line alone is enough then.
const MARKS_MAX: usize = 27;
/// The share of a week's place that its bars fill.
const BAR_SHARE: f64 = 0.72;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    Bar,
}

/// What is to be drawn.
pub(crate) struct Plot {
    /// Unique on the page: the names of title and description hang on it.
    pub(crate) id: &'static str,
    pub(crate) kind: Kind,
    pub(crate) unit: Unit,
    pub(crate) title: String,
    /// What a reader who cannot see it is told.
    pub(crate) desc: String,
    /// Names of the weeks, oldest first; the last one is running.
    pub(crate) weeks: Vec<String>,
    /// At most three: there are three ways of drawing one.
    pub(crate) series: Vec<Series>,
}

pub(crate) struct Series {
    pub(crate) name: String,
    /// One for each week.
    pub(crate) values: Vec<Option<f64>>,
}

/// A drawing. Its template escapes every text, so the whole is safe to put into a page.
#[derive(Template)]
#[template(path = "chart.html")]
pub(crate) struct Chart {
    id: &'static str,
    title: String,
    desc: String,
    width: Px,
    height: Px,
    left: Px,
    right: Px,
    floor: Px,
    ticks: Vec<Label>,
    weeks: Vec<Label>,
    lines: Vec<Line>,
    bars: Vec<Bar>,
    legend: Vec<Key>,
}

impl askama::filters::HtmlSafe for Chart {}

/// A coordinate, to a tenth.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Px(f64);

impl std::fmt::Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // Minus zero is a coordinate that nobody wants to read.
        write!(f, "{}", if tenths == 0.0 { 0.0 } else { tenths })
    }
}

struct Label {
    at: Px,
    text: String,
}

struct Line {
    series: usize,
    /// Runs of weeks that have a value.
    paths: Vec<String>,
    /// The way to the running week.
    running: Option<String>,
    marks: Vec<Mark>,
}

struct Mark {
    path: String,
    is_running: bool,
    text: String,
}

struct Bar {
    series: usize,
    x: Px,
    y: Px,
    width: Px,
    height: Px,
    is_running: bool,
    text: String,
}

struct Key {
    series: usize,
    is_line: bool,
    mark: String,
    name: String,
}

/// Where a value and a week lie in the drawing.
struct Frame {
    weeks: usize,
    top: f64,
}

impl Frame {
    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / as_f64(self.weeks.max(1))
    }

    /// The middle of a week's place.
    fn x(&self, week: usize) -> f64 {
        LEFT + (as_f64(week) + 0.5) * self.step()
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / self.top).clamp(0.0, 1.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "weeks and series are few")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// Draws it.
pub(crate) fn draw(plot: Plot) -> Chart {
    let highest = plot.series.iter().flat_map(|s| s.values.iter().flatten()).copied().fold(0.0, f64::max);
    let ticks = axis::ticks(plot.unit, highest);
    let frame = Frame { weeks: plot.weeks.len(), top: ticks.last().copied().unwrap_or(1.0) };
    let label = |value: &f64| Label { at: Px(frame.y(*value)), text: axis::short(plot.unit, *value) };
    let (mut lines, mut bars) = (Vec::new(), Vec::new());
    for (n, series) in plot.series.iter().enumerate() {
        match plot.kind {
            Kind::Line => lines.push(line(&plot, &frame, n, series)),
            Kind::Bar => bars.extend(bars_of(&plot, &frame, n, series)),
        }
    }
    let key = |(n, s): (usize, &Series)| Key {
        series: n,
        is_line: plot.kind == Kind::Line,
        mark: shape(n, 13.0, 7.0),
        name: s.name.clone(),
    };
    Chart {
        ticks: ticks.iter().map(label).collect(),
        weeks: week_names(&plot.weeks, &frame),
        legend: plot.series.iter().enumerate().map(key).collect(),
        lines,
        bars,
        id: plot.id,
        title: plot.title,
        desc: plot.desc,
        width: Px(WIDTH),
        height: Px(HEIGHT),
        left: Px(LEFT),
        right: Px(WIDTH - RIGHT),
        floor: Px(HEIGHT - BOTTOM),
    }
}

/// Every so many weeks, counted from the running one, so that its name always stands there.
fn week_names(weeks: &[String], frame: &Frame) -> Vec<Label> {
    let every = weeks.len().div_ceil(WEEK_NAMES_MAX).max(1);
    let named = weeks.iter().enumerate().filter(|(i, _)| (weeks.len() - 1 - i).is_multiple_of(every));
    named.map(|(i, name)| Label { at: Px(frame.x(i)), text: name.clone() }).collect()
}

fn text(plot: &Plot, series: &Series, week: usize, value: f64) -> String {
    let running = if week + 1 == plot.weeks.len() { " (running)" } else { "" };
    let name = plot.weeks.get(week).map_or("", String::as_str);
    format!("{name}{running}, {}: {}", series.name, axis::long(plot.unit, value))
}

fn line(plot: &Plot, frame: &Frame, n: usize, series: &Series) -> Line {
    let (last, mut paths, mut running) = (plot.weeks.len().saturating_sub(1), Vec::new(), None);
    let (mut path, mut before): (String, Option<(f64, f64)>) = (String::new(), None);
    let mut marks = Vec::new();
    for (week, value) in series.values.iter().enumerate() {
        let Some(value) = *value else {
            paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
            before = None;
            continue;
        };
        let (x, y) = (frame.x(week), frame.y(value));
        match before {
            Some((from_x, from_y)) if week == last => {
                running = Some(format!("M{} {}L{} {}", Px(from_x), Px(from_y), Px(x), Px(y)));
            }
            Some(_) => path.push_str(&format!("L{} {}", Px(x), Px(y))),
            None => path = format!("M{} {}", Px(x), Px(y)),
        }
        let is_alone = before.is_none() && series.values.get(week + 1).copied().flatten().is_none();
        before = Some((x, y));
        if week == last || is_alone || plot.weeks.len() <= MARKS_MAX {
            let text = text(plot, series, week, value);
            marks.push(Mark { path: shape(n, x, y), is_running: week == last, text });
        }
    }
    paths.extend((!path.is_empty()).then_some(path));
    Line { series: n, paths, running, marks }
}

/// A circle, a square, a triangle: around its point, about 7 units across.
fn shape(n: usize, x: f64, y: f64) -> String {
    match n {
        0 => format!("M{} {}a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z", Px(x - 3.4), Px(y)),
        1 => format!("M{} {}h6.4v6.4h-6.4z", Px(x - 3.2), Px(y - 3.2)),
        _ => format!("M{} {}l4 7.2h-8z", Px(x), Px(y - 4.4)),
    }
}

fn bars_of(plot: &Plot, frame: &Frame, n: usize, series: &Series) -> Vec<Bar> {
    let width = frame.step() * BAR_SHARE / as_f64(plot.series.len().max(1));
    let of_week = |(week, value): (usize, &Option<f64>)| {
        let value = (*value)?;
        let x = frame.x(week) - frame.step() * BAR_SHARE / 2.0 + as_f64(n) * width;
        let y = frame.y(value);
        Some(Bar {
            series: n,
            x: Px(x),
            y: Px(y),
            width: Px(width),
            height: Px(HEIGHT - BOTTOM - y),
            is_running: week + 1 == plot.weeks.len(),
            text: text(plot, series, week, value),
        })
    };
    series.values.iter().enumerate().filter_map(of_week).collect()
}

#[cfg(test)]
mod tests;
