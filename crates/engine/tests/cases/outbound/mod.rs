//! The outbound door on real sockets: a workflow's own request as one effect, and its answer at every repeat.

mod answers;
mod budgets;
mod gates;
mod keys;
mod losses;

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    gate::Gate,
    ids::{FlowName, ProviderName},
    provider::Class,
};
use effectgate_engine::{
    Caller, Engine,
    connect::{http::HttpLimits, tls::Tls},
    connector::Connector,
    connectors::{Auth, DoorSettings, HttpConnector, HttpSettings, KeyPlace},
    outbound::{Began, Kept, OutAnswer, OutPolicy, OutRequest, OutRules},
};
use effectgate_testkit::provider::{ScriptedProvider, Step};
use http::Method;
use secrecy::SecretString;

use crate::common::{Options, World};

/// How much of an answer is kept in these tests.
const ANSWER_BYTES_MAX: usize = 2_000;

/// Longer than any machine's hiccup; an outcome that is there ends the wait at once.
const PATIENCE_MS: u64 = 60_000;

fn rules() -> OutRules {
    let headers = vec!["x-version".parse().unwrap()];
    OutRules { methods: vec![Method::POST, Method::DELETE], paths: vec!["/v1/refunds".into()], headers }
}

fn connector(url: &str, key: KeyPlace) -> Arc<dyn Connector> {
    Arc::new(HttpConnector::new(&settings(url, key), Tls::new(None).unwrap()).unwrap())
}

fn settings(url: &str, key: KeyPlace) -> HttpSettings {
    HttpSettings {
        url: url.parse().unwrap(),
        allow_private: true,
        auth: Some(Auth::Bearer(SecretString::from("our-s3cret"))),
        key,
        replayed: None,
        limits: HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, answer_bytes_max: 16 },
        effects: BTreeMap::new(),
        lookup: None,
        door: Some(DoorSettings { rules: rules(), answer_bytes_max: ANSWER_BYTES_MAX }),
    }
}

fn options(url: &str, class: Class, gate: Gate) -> Options {
    let out = OutPolicy {
        flow: FlowName::new("ticket"),
        rules: rules(),
        wait_ms: PATIENCE_MS,
        external_id: Some("/id".into()),
    };
    let connector = Some(connector(url, KeyPlace::default()));
    Options { connector, out: Some(out), class, gate, attempts_max: 4, ..Options::default() }
}

async fn world(script: impl IntoIterator<Item = Step>, class: Class, gate: Gate) -> (ScriptedProvider, World) {
    let provider = ScriptedProvider::start(script).await;
    let world = World::with(options(&provider.url(), class, gate));
    (provider, world)
}

fn refund(key: &str) -> OutRequest {
    OutRequest {
        provider: ProviderName::new("crm"),
        key: key.into(),
        method: Method::POST,
        path: "/v1/refunds?expand=1".into(),
        content_type: Some("application/json".into()),
        accept: None,
        headers: BTreeMap::new(),
        body: "{ \"amount\": 1.10 }".into(),
    }
}

async fn begin(engine: &Engine, caller: &Caller, request: &OutRequest) -> Began {
    engine.out_begin(caller, request).await.unwrap()
}

/// One request as the web room makes it, waiting no longer than one look.
async fn ask(world: &World, request: &OutRequest) -> OutAnswer {
    match begin(&world.engine, &world.caller, request).await {
        Began::Answered(answer) => answer,
        Began::Waiting(mut waiting) => {
            waiting.wait_ms = 0;
            world.engine.out_wait(&waiting).await.unwrap()
        }
    }
}

/// One request that waits for its outcome while the dispatcher works.
async fn send(world: &World, request: &OutRequest) -> OutAnswer {
    let Began::Waiting(waiting) = begin(&world.engine, &world.caller, request).await else {
        panic!("answered at once")
    };
    let engine = world.engine.clone();
    let waits = tokio::spawn(async move { engine.out_wait(&waiting).await.unwrap() });
    world.round().await;
    world.engine.sweep_tick().await.unwrap();
    waits.await.unwrap()
}

fn kept(answer: OutAnswer) -> (Kept, bool) {
    match answer {
        OutAnswer::Kept { kept, replayed, .. } => (kept, replayed),
        other => panic!("no answer of the provider: {other:?}"),
    }
}
