//! What a model wrote, through the proposal: read as it is, never mended.

use effectgate_engine::{
    EngineError,
    propose::{Output, Proposal, Request},
};
use serde_json::Value;

use crate::{
    common::{Held, Options, PAYLOAD, World, request},
    handed,
};

fn under(schema: &str) -> World {
    World::with(Options { output_schema: Some(serde_json::from_str(schema).unwrap()), ..Options::default() })
}

/// A proposal of this output without effects, for a fresh run.
async fn answer(world: &World, key: &str, output: Output, finish_reason: Option<&str>) -> (Held, Proposal) {
    let held = world.grant(key, "w").await;
    let answer = again(world, &held, output, finish_reason).await;
    (held, answer)
}

async fn again(world: &World, held: &Held, output: Output, finish_reason: Option<&str>) -> Proposal {
    let call = world.call(held, "proposal", &format!("{output:?}"));
    let request = Request {
        output,
        finish_reason: finish_reason.map(str::to_owned),
        effects: Some(vec![]),
        ..Request::default()
    };
    world.engine.propose(&call, &request).await.unwrap().answer
}

fn text(text: &str) -> Output {
    Output::Text(text.to_owned())
}

async fn stored(world: &World, held: &Held) -> Value {
    let content = world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap().unwrap();
    serde_json::from_str(&content.output.unwrap()).unwrap()
}

#[tokio::test]
async fn hc_14_an_example_before_the_answer_is_a_choice_and_nothing_is_chosen() {
    let world = under(handed!("hc14-schema.json"));

    let (held, answer) = answer(&world, "k", text(handed!("hc14-1.txt")), None).await;

    let Proposal::Invalid { repairs_left, .. } = answer else { panic!("{answer:?}") };
    assert_eq!((repairs_left, world.agg(held.run.id).await.run.state.as_str()), (1, "processing"));
}

#[tokio::test]
async fn hc_14_the_answer_is_found_and_the_record_says_that_it_was_extracted() {
    let world = under(handed!("hc14-schema.json"));
    let texts = [
        handed!("hc14-2.txt"),
        handed!("hc14-3.txt"),
        handed!("hc14-4.txt"),
        handed!("hc14-5.txt"),
        handed!("hc14-6.txt"),
    ];
    for (n, output) in texts.into_iter().enumerate() {
        let (held, answer) = answer(&world, &format!("k{n}"), text(output), None).await;

        assert!(matches!(answer, Proposal::Queued { .. }), "{n}: {answer:?}");
        assert_eq!(stored(&world, &held).await["action"], "escalate", "{n}");
        assert_eq!(world.facts(held.run.id, "proposed").await[0]["extracted"], true, "{n}");
    }
    let plain = r#"{"action":"escalate","order":"A-17","amount":"0.00"}"#;
    let (held, _) = answer(&world, "plain", text(plain), None).await;
    assert_eq!(world.facts(held.run.id, "proposed").await[0]["extracted"], false);
}

#[tokio::test]
async fn hc_15_what_was_cut_off_is_repaired_by_the_model_once_or_not_at_all() {
    let world = under(handed!("hc15-schema.json"));
    for (n, cut) in [handed!("hc15-1.txt"), handed!("hc15-2.txt"), handed!("hc15-3.txt")].into_iter().enumerate() {
        let (held, first) = answer(&world, &format!("k{n}"), text(cut), None).await;
        assert!(matches!(first, Proposal::Invalid { repairs_left: 1, .. }), "{first:?}");
        let repaired = r#"{"subject":"Price change","recipients":["anna@example.test"]}"#;
        let (other, _) = answer(&world, &format!("other-{n}"), text(cut), None).await;
        assert!(matches!(again(&world, &other, text(repaired), None).await, Proposal::Queued { .. }));

        let second = again(&world, &held, text(&format!("{cut} ")), None).await;

        let Proposal::Invalid { repairs_left, run, .. } = second else { panic!("{second:?}") };
        assert_eq!((repairs_left, run.state.as_str()), (0, "failed_terminal"));
        assert_eq!(run.reason.as_deref(), Some("invalid_output"));
        world.verify(held.run.id).await;
    }
    assert_eq!(world.alerts().await, ["invalid_output"; 3], "a person is told");
}

#[tokio::test]
async fn hc_15_a_reported_cut_counts_although_the_text_parses() {
    let world = under(handed!("hc15-schema.json"));
    let reported: Value = serde_json::from_str(handed!("hc15-4.json")).unwrap();
    let content = reported["content"].as_str().unwrap();

    let (_, cut) = answer(&world, "k", text(content), reported["finish_reason"].as_str()).await;
    let (_, whole) = answer(&world, "k2", text(content), Some("stop")).await;

    let Proposal::Invalid { findings, .. } = cut else { panic!("{cut:?}") };
    assert_eq!(findings[0].pointer, "/finish_reason");
    assert!(matches!(whole, Proposal::Queued { .. }), "{whole:?}");
}

#[tokio::test]
async fn hc_16_no_word_is_made_into_a_boolean() {
    let world = under(handed!("hc16-schema.json"));
    let lines: Vec<&str> = handed!("hc16-outputs.jsonl").lines().collect();
    for (n, line) in lines.iter().enumerate() {
        for (form, output) in [text(line), Output::Json((*line).to_owned())].into_iter().enumerate() {
            let (held, answer) = answer(&world, &format!("k{n}-{form}"), output, None).await;

            let is_last = n == lines.len() - 1;
            assert_eq!(matches!(answer, Proposal::Queued { .. }), is_last, "{line}: {answer:?}");
            if is_last {
                assert_eq!(stored(&world, &held).await, serde_json::json!({"send": false}));
            }
        }
    }
}

#[tokio::test]
async fn hc_17_no_number_that_is_none_gets_in_with_or_without_prose() {
    let world = under(handed!("hc17-schema.json"));
    for (n, line) in handed!("hc17-outputs.txt").lines().enumerate() {
        let forms = [text(line), Output::Json(line.to_owned()), text(&format!("My answer:\n{line}\nThat is all."))];
        for (form, output) in forms.into_iter().enumerate() {
            let (_, answer) = answer(&world, &format!("k{n}-{form}"), output, None).await;

            let is_valid = line == r#"{"score":0.5,"note":"NaN"}"#;
            assert_eq!(matches!(answer, Proposal::Queued { .. }), is_valid, "{line} ({form}): {answer:?}");
        }
    }
}

const BROKEN: [&str; 3] = [handed!("hc18-high.json"), handed!("hc18-low.json"), handed!("hc18-swapped.json")];

#[tokio::test]
async fn hc_18_half_an_emoji_is_refused_on_every_way_in_and_leaves_nothing_half_written() {
    let world = World::new();
    for (n, broken) in BROKEN.into_iter().enumerate() {
        let refused = world.engine.reserve(&world.caller, request(&format!("k{n}"), broken, "w")).await;
        let Err(EngineError::BadJson { pointer, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(pointer, "/payload/draft");
        assert!(world.store.run_load(&world.caller.tenant, world.id_of(&format!("k{n}"))).await.unwrap().is_none());

        let (held, answer) = answer(&world, &format!("k{n}"), Output::Json(broken.into()), None).await;
        assert!(matches!(answer, Proposal::Invalid { .. }), "{answer:?}");
        let as_text = again(&world, &held, text(broken), None).await;
        assert!(matches!(as_text, Proposal::Invalid { .. }), "{as_text:?}");

        let held = world.grant(&format!("result-{n}"), "w").await;
        let refused = world.engine.complete(&world.call(&held, "complete", broken), broken).await;
        let Err(EngineError::BadJson { pointer, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(pointer, "/result/draft");
        assert_eq!(world.kinds(held.run.id).await, ["reserved"]);
    }
}

#[tokio::test]
async fn hc_18_a_nul_in_a_string_is_kept_without_loss_and_a_nul_in_a_key_is_refused() {
    let world = World::new();
    let nul = handed!("hc18-nul.json");

    let held = match world.reserve("k", nul, "w").await {
        effectgate_engine::reserve::Reserved::Granted { run, lease, .. } => Held { run: *run, lease },
        other => panic!("{other:?}"),
    };
    let answer = again(&world, &held, Output::Json(nul.into()), None).await;
    assert!(matches!(answer, Proposal::Queued { .. }), "{answer:?}");
    let content = world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap().unwrap();
    assert_eq!((content.payload.as_deref(), content.output.as_deref()), (Some(nul), Some(nul)));

    for key in ["a\0b", "done \u{fffe}\0"] {
        let refused = world.engine.reserve(&world.caller, request(key, PAYLOAD, "w")).await;
        assert!(matches!(refused, Err(EngineError::BadKey(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn hc_18_the_valid_pair_comes_back_unchanged() {
    let world = World::new();
    let pair = handed!("hc18-pair-ok.json");
    let held = world.grant("k", "w").await;

    world.engine.complete(&world.call(&held, "complete", pair), pair).await.unwrap();

    let run = world.engine.run(&world.caller.tenant, held.run.id).await.unwrap();
    assert_eq!(run.result.unwrap().get(), pair);
}
