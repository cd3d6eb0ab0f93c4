//! The workloads: what one operation is, request by request. Keys are unique to a run of the benchmark, so a database
//! that is used again gives the same work.

use std::sync::OnceLock;

use effectgate_engine::random;
use serde_json::{Value, json};

/// A workload.
pub(super) struct Work {
    pub(super) name: &'static str,
    pub(super) operation: &'static str,
    /// Operations in one round of the steps.
    pub(super) batch: u64,
    /// Whether it matters how many were granted for the first time: one for each hot key.
    pub(super) counts_wins: bool,
    pub(super) steps: &'static [Step],
}

/// One request, made from the connection's number, the operation's number and the answer before.
pub(super) struct Step {
    make: fn(connection: usize, n: u64, before: &[u8]) -> Ask,
    /// What it should be answered with.
    pub(super) statuses: &'static [u16],
}

pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: String,
}

impl Step {
    pub(super) fn ask(&self, connection: usize, n: u64, before: &[u8]) -> Ask {
        (self.make)(connection, n, before)
    }
}

pub(super) const WORKS: &[&Work] = &[&BARE, &RESERVE, &HOT, &BATCH, &CYCLE];

/// The ceiling: the same client and server, nothing behind it.
static BARE: Work = Work {
    name: "bare",
    operation: "GET /healthz",
    batch: 1,
    counts_wins: false,
    steps: &[Step {
        make: |_, _, _| Ask { method: "GET", path: "/healthz".into(), body: String::new() },
        statuses: &[200],
    }],
};

static RESERVE: Work = Work {
    name: "reserve",
    operation: "a reservation of a new key, durable",
    batch: 1,
    counts_wins: false,
    steps: &[Step { make: |connection, n, _| post("/v1/runs", &reservation("new", n, connection)), statuses: &[201] }],
};

/// Keys that everybody wants at once.
const HOT_KEYS: u64 = 10;
static HOT: Work = Work {
    name: "hot",
    operation: "a decision on one of ten hot keys",
    batch: 1,
    counts_wins: true,
    steps: &[Step {
        make: |connection, n, _| post("/v1/runs", &reservation("hot", n % HOT_KEYS, connection)),
        statuses: &[200, 201, 202],
    }],
};

/// What one request may hold.
const BATCH_KEYS: u64 = 100;
static BATCH: Work = Work {
    name: "batch",
    operation: "a reservation of a new key, a hundred in one request",
    batch: BATCH_KEYS,
    counts_wins: false,
    steps: &[Step {
        make: |connection, n, _| {
            let all: Vec<_> = (0..BATCH_KEYS).map(|i| reservation("batch", n * BATCH_KEYS + i, connection)).collect();
            post("/v1/runs/batch", &json!({ "runs": all }))
        },
        statuses: &[200],
    }],
};

static CYCLE: Work = Work {
    name: "cycle",
    operation: "reserve, complete, and a replay of the outcome",
    batch: 1,
    counts_wins: false,
    steps: &[
        Step { make: |connection, n, _| post("/v1/runs", &reservation("cycle", n, connection)), statuses: &[201] },
        Step { make: |connection, _, before| complete(connection, before), statuses: &[200] },
        Step { make: |connection, n, _| post("/v1/runs", &reservation("cycle", n, connection)), statuses: &[200] },
    ],
};

/// The flow of the benchmark's config; with `--url` the server's config must have it.
pub(super) const FLOW: &str = "bench";

pub(super) fn post(path: &str, body: &Value) -> Ask {
    Ask { method: "POST", path: path.to_owned(), body: body.to_string() }
}

/// A reservation as a workflow makes it. The payload is about 300 bytes.
pub(super) fn reservation(kind: &str, n: u64, connection: usize) -> Value {
    json!({
        "flow": FLOW, "key": format!("{kind}:{}:{n}", run()), "owner": owner(connection),
        "payload": { "ticket": n, "customer": { "id": format!("c-{n}"), "email": "somebody@example.test" },
            "text": "Hello, the parcel of last week has not come yet. Could you please look where it is? Thank you. \
                The order number is on the invoice, which I have attached to my first letter." },
    })
}

pub(super) fn owner(connection: usize) -> String {
    format!("bench-{connection}")
}

fn complete(connection: usize, granted: &[u8]) -> Ask {
    let granted: Value = serde_json::from_slice(granted).unwrap_or(Value::Null);
    let id = granted["run"]["id"].as_str().unwrap_or_default();
    let body =
        json!({ "owner": owner(connection), "fence": granted["lease"]["fence"], "result": { "label": "question" } });
    post(&format!("/v1/runs/{id}/complete"), &body)
}

/// Tells this run of the benchmark from the ones before it.
fn run() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| random::token().chars().filter(char::is_ascii_alphanumeric).take(10).collect())
}
