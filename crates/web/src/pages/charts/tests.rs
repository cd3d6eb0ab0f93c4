use super::*;

fn plot(kind: Kind, values: Vec<Vec<Option<f64>>>) -> Plot {
    let weeks = (0..values[0].len()).map(|i| format!("W{}", i + 1)).collect();
    let series = values.into_iter().enumerate().map(|(i, values)| Series { name: format!("series {i}"), values });
    Plot {
        id: "waits",
        kind,
        unit: Unit::Count,
        title: "Waits".into(),
        desc: "How long people waited.".into(),
        weeks,
        series: series.collect(),
    }
}

/// The drawing, read as XML.
fn read(chart: &Chart, see: impl FnOnce(&roxmltree::Document<'_>)) {
    let text = format!("<figure>{chart}</figure>");
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    see(&document);
}

fn of_class<'a>(document: &'a roxmltree::Document<'_>, class: &str) -> Vec<roxmltree::Node<'a, 'a>> {
    let has = |node: &roxmltree::Node<'_, '_>| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    // The legend's swatches are drawings too.
    let in_chart = |node: &roxmltree::Node<'_, '_>| node.ancestors().any(|up| up.attribute("role") == Some("img"));
    document.descendants().filter(|node| has(node) && in_chart(node)).collect()
}

#[test]
fn a_chart_is_well_formed_and_lets_no_text_out_of_its_place() {
    for kind in [Kind::Line, Kind::Bar] {
        let mut plot = plot(kind, vec![vec![Some(1.0), Some(2.0)], vec![None, Some(3.0)]]);
        let evil = r#""><script>alert('1')</script>&amp;<![CDATA[ ]]>"#;
        plot.title = evil.into();
        plot.desc = evil.into();
        plot.weeks[1] = evil.into();
        plot.series[0].name = evil.into();

        let chart = draw(plot);

        read(&chart, |document| {
            assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
            let title = document.descendants().find(|n| n.attribute("id") == Some("waits-title")).unwrap();
            assert_eq!(title.text(), Some(evil), "the text is there, whole");
        });
        assert!(!chart.to_string().contains("<script"));
    }
}

#[test]
fn a_chart_has_a_name_and_a_description_for_who_cannot_see_it() {
    read(&draw(plot(Kind::Line, vec![vec![Some(1.0)]])), |document| {
        let svg = document.descendants().find(|node| node.attribute("role") == Some("img")).unwrap();
        assert_eq!(svg.attribute("aria-labelledby"), Some("waits-title waits-desc"));
        let said = |id: &str| document.descendants().find(|n| n.attribute("id") == Some(id)).unwrap().text();
        assert_eq!((said("waits-title"), said("waits-desc")), (Some("Waits"), Some("How long people waited.")));
    });
}

#[test]
fn a_week_without_a_value_is_a_gap_and_not_a_zero() {
    let values = vec![Some(1.0), Some(2.0), None, Some(3.0), None, Some(1.0), Some(2.0), Some(2.0)];
    read(&draw(plot(Kind::Line, vec![values.clone()])), |document| {
        let ways = of_class(document, "chart-way");
        // Weeks 1 and 2; 4 alone; 6 and 7; and the dotted way from there to the running one.
        assert_eq!(ways.len(), 4);
        assert_eq!(of_class(document, "chart-mark").len(), 6);
    });
    read(&draw(plot(Kind::Bar, vec![values])), |document| assert_eq!(of_class(document, "chart-bar").len(), 6));
}

#[test]
fn the_running_week_is_drawn_otherwise_and_says_so() {
    for (kind, class) in [(Kind::Line, "chart-mark"), (Kind::Bar, "chart-bar")] {
        read(&draw(plot(kind, vec![vec![Some(1.0), Some(2.0), Some(3.0)]])), |document| {
            let drawn = of_class(document, class);
            let running: Vec<_> = drawn.iter().filter(|n| n.attribute("class").unwrap().contains("running")).collect();
            assert_eq!((drawn.len(), running.len()), (3, 1));
            assert_eq!(running[0].first_element_child().unwrap().text(), Some("W3 (running), series 0: 3"));
        });
    }
}

#[test]
fn series_differ_by_more_than_colour() {
    read(&draw(plot(Kind::Line, vec![vec![Some(1.0)], vec![Some(1.0)]])), |document| {
        let marks = of_class(document, "chart-mark");
        let shape = |n: usize| marks[n].attribute("d").unwrap().contains('a');
        assert!(shape(0) && !shape(1), "a circle and a square");
    });
    read(&draw(plot(Kind::Bar, vec![vec![Some(1.0)], vec![Some(1.0)]])), |document| {
        let hatched: Vec<_> =
            of_class(document, "chart-bar").iter().map(|bar| bar.attribute("fill").is_some()).collect();
        assert_eq!(hatched, [false, true]);
    });
}

#[test]
fn everything_stays_inside_the_drawing() {
    for n in [1, 2, 4, 12, 26, 52, 53] {
        for highest in [0.0, 1.0, 7.0, 1e9] {
            let values = vec![(0..n).map(|i| Some(highest * f64::from(i) / f64::from(n))).collect(); 3];
            read(&draw(plot(Kind::Bar, values)), |document| {
                for bar in of_class(document, "chart-bar") {
                    let at = |name: &str| bar.attribute(name).unwrap().parse::<f64>().unwrap();
                    assert!(at("x") >= LEFT - 0.1 && at("x") + at("width") <= WIDTH - RIGHT + 0.2);
                    assert!(at("y") >= TOP - 0.1 && at("y") + at("height") <= HEIGHT - BOTTOM + 0.2);
                }
                assert!(of_class(document, "chart-week").len() <= WEEK_NAMES_MAX);
            });
        }
    }
}

/// Relative luminance, WCAG 2.2.
fn luminance(hex: &str) -> f64 {
    let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
    let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
}

#[test]
fn lines_and_fills_keep_three_to_one_on_the_panel_in_both_schemes() {
    let colours = |sheet: &str, name: &str| -> Vec<String> {
        let begin = format!("{name}: ");
        let said = sheet.split(&begin).skip(1);
        said.map(|rest| rest[..7].to_owned()).filter(|value| value.starts_with('#')).collect()
    };
    let (base, own) = (include_str!("../../../static/css/base.css"), include_str!("../../../static/css/charts.css"));
    // The third is for paper.
    let panels = &colours(base, "--panel")[..2];
    for name in ["--chart-0", "--chart-1", "--chart-2"] {
        let found = colours(own, name);
        assert_eq!(found.len(), 2, "light and dark");
        for (front, back) in found.iter().zip(panels) {
            let (a, b) = (luminance(front), luminance(back));
            let is = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(is >= 3.0, "{name} {front} on {back} is {is:.2}");
        }
    }
}
