//! A gate on SQLite, a provider with a ledger, and the relay between them. Windows and pauses are short here; nothing
//! else differs from a gate in service.

use effectgate_relay::{Fault, Mode, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::provider::{Ledger, ScriptedProvider};
use serde_json::{Value, json};

use crate::{
    config::{HEAD, Head, http, ungated},
    ground::{Backend, Calls as _, Ground, eventually},
    support::Gate,
};

const OWNER: &str = "worker-1";

/// Lookups and retries are what these cases wait for, so the sweeper looks more often.
pub(crate) const BRISK: Head = Head { sweeper_ms: 50, ..HEAD };

const LOOKUP: &str = r#"lookup = { path = "/seen?ref={{ provider_key }}", found = "/items/0/id", settle_delay_ms = 1_000, period_ms = 100 }"#;
const FOUR: &str = "attempts_max = 4";
const SOON: &str = "backoff = { base_ms = 100, max_ms = 500 }";
/// No test here is about the breaker.
const PATIENT: &str = "breaker = { failures = 100 }";
const KEEPS: &str = "class = \"enforcing\"\nkey_header = \"Idempotency-Key\"";
const AN_HOUR: &str = "key_window_ms = 3_600_000\nkey_window_margin_ms = 60_000";
/// A window of a minute less a margin of 57 seconds.
const THREE_SECONDS: &str = "key_window_ms = 60_000\nkey_window_margin_ms = 57_000";

/// Providers behind the relay: name, milliseconds of patience, what else is said. `blind`, where nobody can be asked;
/// `seen`, where one can ask by our key; `curt`, as `blind` with little patience; `busy`, whose 503 with Retry-After says
/// "not done"; `keeper`, which keeps our key for an hour; `brief`, whose key is good for three seconds after the first
/// send.
const PROVIDERS: [(&str, u32, &[&str]); 6] = [
    ("blind", 5_000, &[FOUR, SOON, PATIENT]),
    ("seen", 5_000, &[LOOKUP]),
    ("curt", 500, &[FOUR, SOON, PATIENT]),
    ("busy", 5_000, &["not_done = [503]", FOUR, SOON, PATIENT]),
    ("keeper", 5_000, &[KEEPS, AN_HOUR, "conflict_in_flight = true", FOUR, SOON]),
    ("brief", 5_000, &[KEEPS, THREE_SECONDS, "attempts_max = 20", SOON, PATIENT]),
];

/// The providers, and for each a flow of the same name whose one effect `act` goes without a person.
fn config() -> String {
    let both = |(name, timeout_ms, more): (&str, u32, &[&str])| {
        let effect = format!("effects.act = {{ path = \"/{name}\", external_id = \"/id\" }}");
        let times = format!("timeout_ms = {timeout_ms}\nsending_margin_ms = 500");
        let provider = http(name, "RELAY", &[&[times.as_str(), effect.as_str()], more].concat().join("\n"));
        [provider, ungated(name, "act", name)].concat()
    };
    BRISK.with(&[&PROVIDERS.map(both).concat()])
}

/// Everything of one test.
pub(crate) struct World {
    pub(crate) ground: Ground,
    pub(crate) gate: Gate,
    pub(crate) relay: Relay,
    pub(crate) provider: ScriptedProvider,
}

impl World {
    /// A provider that answers 201 and keeps no keys, behind a relay that forwards and responds.
    pub(crate) async fn new() -> Self {
        Self::with(&config()).await
    }

    /// The same with a provider that keeps keys.
    pub(crate) async fn keeping_keys() -> Self {
        let world = Self::new().await;
        world.provider.enforce("Idempotency-Key");
        world
    }

    /// With a config of the test's own, which says `DATABASE` and `RELAY` where those addresses belong.
    pub(crate) async fn with(config: &str) -> Self {
        let provider = ScriptedProvider::start([]).await;
        let relay = relay_to(&provider).await;
        let ground = Ground::new(Backend::Sqlite, &config.replace("RELAY", &relay.url())).await.unwrap();
        let gate = ground.serve();
        Self { ground, gate, relay, provider }
    }

    /// The next exchange gets this fault.
    pub(crate) fn next(&self, fault: Fault) {
        self.relay.add_rule(Rule::next(fault)).unwrap();
    }

    /// A run whose worker has proposed its one effect; the gate sends it in its own time.
    pub(crate) fn queued(&self, flow: &str, key: &str) -> String {
        let granted = self.gate.reserve(flow, key, OWNER).unwrap();
        assert_eq!(granted.status, 201, "{}", granted.body);
        let run = granted.run_id();
        let proposed = self.gate.propose(&run, (OWNER, granted.fence()), &json!({ "cents": 100 })).unwrap();
        assert_eq!(proposed.status, 200, "{}", proposed.body);
        run
    }

    /// Waits until the run's only effect is in this state, and gives the run's story.
    pub(crate) fn until(&self, run: &str, state: &str) -> Value {
        self.gate.until_effect(run, &[state])
    }

    /// Waits until the run's only effect was tried so often and waits for its next time; the run as it is then.
    pub(crate) fn until_waiting(&self, run: &str, attempts: i64) -> Value {
        eventually(&format!("{run} after {attempts} attempts"), || {
            let view = self.gate.get(&format!("/v1/runs/{run}"));
            let effect = &view["effects"][0];
            (effect["state"] == "pending" && effect["attempts"] == attempts).then_some(view)
        })
    }

    /// Waits until every worker of the gate has looked so many times more at what is due.
    pub(crate) fn sweeps(&self, times: usize) {
        for _ in 0..times {
            let before = self.ticks();
            eventually("another tick of each worker", || {
                let now = self.ticks();
                before.iter().zip(&now).all(|(before, now)| before != now).then_some(())
            });
        }
    }

    /// When each worker last ended a tick.
    fn ticks(&self) -> Vec<Value> {
        let workers = self.gate.get("/readyz")["workers"].as_array().cloned().unwrap_or_default();
        assert!(!workers.is_empty());
        workers.iter().map(|worker| worker["last_tick_at"].clone()).collect()
    }

    /// kill -9, and the same data again.
    pub(crate) fn killed_and_started(self) -> Self {
        let Self { ground, gate, relay, provider } = self;
        gate.kill();
        let gate = ground.serve();
        Self { ground, gate, relay, provider }
    }

    /// A person's word about the run's only effect: it did not happen, send it again. Status and body.
    pub(crate) fn send_again(&self, run: &str) -> (u16, Value) {
        let effect = self.gate.explain(run)["effects"][0]["id"].as_str().unwrap().to_owned();
        let body = json!({ "verdict": "did_not_happen", "then": "send_again", "reason": "a test" });
        let answer = self.gate.call("POST", &format!("/v1/effects/{effect}/resolve"), &body).unwrap();
        (answer.status, answer.body)
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.provider.ledger()
    }

    /// The provider keys of every request that arrived over there, in order.
    pub(crate) fn keys_seen(&self) -> Vec<String> {
        let key = |r: &effectgate_testkit::provider::Received| r.header("Idempotency-Key").unwrap_or("none").to_owned();
        self.ledger().requests.iter().map(key).collect()
    }

    /// Turns the switch of everything.
    pub(crate) fn turn(&self, enabled: bool) {
        let body = json!({ "scope": "all", "name": "", "enabled": enabled, "reason": "a test" });
        let turned = self.gate.call("PUT", "/v1/switches", &body).unwrap();
        assert_eq!(turned.status, 200, "{}", turned.body);
    }
}

async fn relay_to(provider: &ScriptedProvider) -> Relay {
    let upstream = Upstream::http(&provider.url()).unwrap();
    Relay::start(RelaySettings { mode: Mode::ForwardAndRespond, ..RelaySettings::to(upstream) }).await.unwrap()
}

/// The attempts of a run's only effect.
pub(crate) fn attempts(story: &Value) -> &Vec<Value> {
    story["effects"][0]["attempts"].as_array().unwrap_or_else(|| panic!("{story:#}"))
}
