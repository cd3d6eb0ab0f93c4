# The commands of the house. `just` alone lists them.

default:
    @just --list

# Format, lints, docs: what a reviewer would otherwise have to say.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items

# Every test, PostgreSQL demanded.
test:
    EFFECTGATE_REQUIRE_PG=1 cargo test --workspace

# The seeded simulation, ten times as long as in the tests. SEED=n begins elsewhere; with SIM_ROUNDS=1 it tells that world.
sim:
    SIM_ROUNDS=${SIM_ROUNDS:-10000} cargo test -p effectgate-engine --test sim -- --nocapture worlds

# The exhaustive model of lease, approval and outbox, and the shortest way to where each broken variant falls.
model:
    cargo test -p effectgate-core --test model -- --nocapture

# Benchmarks against the baselines; see bench/README.md.
bench:
    bench/run.sh

# The crash tests alone: kill -9 at each named point, restart on the same data.
e2e:
    EFFECTGATE_REQUIRE_PG=1 cargo test -p effectgate --test it

# Pictures of the pages, light, dark and phone.
screenshots:
    scripts/screenshots.sh

# Writes the golden OpenAPI file anew; read the difference before you commit it.
openapi:
    UPDATE_OPENAPI=1 cargo test -p effectgate-web --test documents
    [ ! -d n8n/n8n-nodes-effectgate/node_modules ] || npm --prefix n8n/n8n-nodes-effectgate run types

# The n8n node: installs its tooling, then types, lint, build, tests against the debug binary, and the offline scan.
node:
    cargo build -p effectgate
    cd n8n/n8n-nodes-effectgate && npm ci --ignore-scripts && npm run types -- --check && npm run lint && npm run build && npm test && npm run scan

# The n8n node's types anew from the golden OpenAPI file.
node-types:
    cd n8n/n8n-nodes-effectgate && npm run types

# The n8n node as a package that n8n installs: n8n/n8n-nodes-effectgate/*.tgz.
node-pack:
    cd n8n/n8n-nodes-effectgate && npm ci --ignore-scripts && npm run build && npm pack

# The gate beside a real n8n 2.41.1, with and without it, effects counted at the far side; see n8n/e2e/README.md.
e2e-n8n *ARGS:
    python3 n8n/e2e/run.py {{ARGS}}
