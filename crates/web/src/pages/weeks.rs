//! GET /metrics/weeks: the metrics page. Week by week (ISO weeks, UTC) what the tally counted, as charts with the numbers in a
//! table below. What is counted and how rates are made is the engine's ([`effectgate_engine::weeks`]); here it gets
//! words. The same counts stand at `/metrics` for a scraper.

mod figures;

use askama::Template;
use axum::{extract::RawQuery, response::Response};
use effectgate_core::time::Timestamp;
use effectgate_engine::weeks::{Week, Weeks};
use http::StatusCode;

use self::figures::{Figure, Row};
use super::{
    answer::{self, Frame},
    visit::Entitled,
};
use crate::auth::allowed::Read;

/// How many weeks may be looked at; the first that is asked for without a word is [`WEEKS`].
const CHOICES: [u16; 4] = [4, 12, 26, 52];
/// A quarter of a year.
const WEEKS: u16 = 12;
const DAY_MICROS: i64 = 86_400_000_000;

#[derive(Template)]
#[template(path = "weeks.html")]
struct WeeksPage {
    frame: Frame,
    choices: Vec<Choice>,
    /// Empty where there is only one: nothing to choose.
    flows: Vec<Choice>,
    figures: Vec<Figure>,
    rows: Vec<Row>,
    is_empty: bool,
    /// Name of the running week.
    running: String,
}

struct Choice {
    value: String,
    text: String,
    is_chosen: bool,
}

/// What is asked for. What is not understood is left out: a page shows something.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    weeks: u16,
    flow: Option<String>,
}

pub(crate) async fn show(entitled: Entitled<Read>, RawQuery(query): RawQuery) -> Response {
    let (visit, asked) = (&entitled.visit, asked(query.as_deref().unwrap_or_default()));
    let tenant = entitled.who.tenant();
    match visit.app.engine.weeks(tenant, asked.weeks, asked.flow.as_deref()).await {
        Ok(weeks) => {
            let configured = visit.app.engine.policy().flows.keys().map(|flow| flow.as_str().to_owned());
            answer::page(StatusCode::OK, &page(Frame::new("Metrics", Some(visit)), &asked, configured, weeks))
        }
        Err(error) => answer::problem(&error.into(), Some(visit)),
    }
}

fn asked(query: &str) -> Asked {
    let member = |name: &str| {
        let parts = query.split('&').filter_map(|part| part.split_once('='));
        let value = parts.into_iter().find(|(n, _)| *n == name)?.1.replace('+', " ");
        percent_encoding::percent_decode_str(&value).decode_utf8().ok().map(|text| text.into_owned())
    };
    let weeks = member("weeks").and_then(|n| n.parse().ok()).filter(|n| CHOICES.contains(n)).unwrap_or(WEEKS);
    Asked { weeks, flow: member("flow").filter(|flow| !flow.is_empty()) }
}

fn page(frame: Frame, asked: &Asked, configured: impl Iterator<Item = String>, weeks: Weeks) -> WeeksPage {
    let choice = |value: String, text: String, is_chosen: bool| Choice { value, text, is_chosen };
    let choices = CHOICES.map(|n| choice(n.to_string(), format!("{n} weeks"), n == asked.weeks));
    let mut flows = weeks.flows;
    flows.extend(configured);
    flows.extend(asked.flow.clone());
    let every = choice(String::new(), "all flows".into(), asked.flow.is_none());
    let one = |flow: String| choice(flow.clone(), flow.clone(), asked.flow.as_ref() == Some(&flow));
    let flows =
        if flows.len() > 1 { std::iter::once(every).chain(flows.into_iter().map(one)).collect() } else { vec![] };
    WeeksPage {
        frame,
        choices: choices.into(),
        flows,
        figures: figures::figures(&weeks.weeks),
        rows: weeks.weeks.iter().rev().map(Row::new).collect(),
        is_empty: weeks.weeks.iter().all(Week::is_empty),
        running: weeks.weeks.last().map(|week| Name::of(week.monday).whole()).unwrap_or_default(),
    }
}

/// An ISO week's name.
struct Name {
    year: i64,
    week: i64,
    /// Its first day.
    from: String,
}

impl Name {
    /// Of the week with this Monday, in days since 1970-01-01: the week belongs to the year of its Thursday (ISO 8601).
    fn of(monday: i32) -> Self {
        let date = |day: i64| Timestamp::from_micros(day * DAY_MICROS).to_string().get(..10).unwrap_or("").to_owned();
        let thursday = i64::from(monday) + 3;
        let year: i64 = date(thursday).get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970);
        let new_year = format!("{year:04}-01-01T00:00:00Z").parse().map_or(0, |at: Timestamp| at.micros() / DAY_MICROS);
        Self { year, week: (thursday - new_year) / 7 + 1, from: date(i64::from(monday)) }
    }

    fn short(&self) -> String {
        format!("W{:02}", self.week)
    }

    fn whole(&self) -> String {
        format!("{:04}-W{:02}", self.year, self.week)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_are_named_by_iso_8601() {
        let named = |text: &str| {
            let monday = effectgate_engine::weeks::monday_of(text.parse().unwrap());
            (Name::of(monday).whole(), Name::of(monday).from)
        };
        assert_eq!(named("2026-11-30T12:00:00Z"), ("2026-W49".into(), "2026-11-30".into()));
        assert_eq!(named("2027-01-03T23:59:59Z"), ("2026-W53".into(), "2026-12-28".into()));
        assert_eq!(named("2024-12-30T00:00:00Z"), ("2025-W01".into(), "2024-12-30".into()));
        assert_eq!(named("2023-01-01T00:00:00Z"), ("2022-W52".into(), "2022-12-26".into()));
    }

    #[test]
    fn a_query_that_is_not_understood_shows_a_quarter_of_all_flows() {
        let default = Asked { weeks: 12, flow: None };
        for query in ["", "weeks=", "weeks=13", "weeks=-4", "weeks=4000000000", "flow=", "flow=%ff", "x", "&&="] {
            assert_eq!(asked(query), default, "{query}");
        }
        assert_eq!(asked("flow=a%20b%26c+d&weeks=52"), Asked { weeks: 52, flow: Some("a b&c d".into()) });
    }
}
