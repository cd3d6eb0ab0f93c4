//! Rows that belong to no run: `switches`, `api_keys`, `users`, `sessions`, and the heads of chains.

use effectgate_core::{
    ids::Tenant,
    journal::Head,
    switch::{Scope, Switch},
};

use super::{Cells, Reader, table};
use crate::{
    Result,
    types::{ApiKeyRow, ChainHead, SessionRow, UserRow},
};

table!(SWITCHES, switch_columns, "switches", "s", scope, name, enabled, reason, turned_by, turned_at);
table!(
    API_KEYS,
    api_key_columns,
    "api_keys",
    "k",
    public_id,
    tenant,
    name,
    secret_hash,
    scopes,
    flows,
    created_at,
    revoked_at,
);
table!(USERS, user_columns, "users", "u", name, tenant, email, password_hash, roles, disabled, created_at, updated_at,);
table!(SESSIONS, session_columns, "sessions", "s", hash, tenant, user_name, data, created_at, seen_at, expires_at);
table!(HEADS, head_columns, "heads", "h", run_id, tenant, seq, hash);

pub(crate) fn switch<C: Cells>(cells: &C) -> Result<Switch> {
    let r = Reader::new(cells, &SWITCHES, 0);
    Ok(Switch {
        scope: r.word("scope", Scope::parse)?,
        name: r.text("name")?,
        enabled: r.flag("enabled")?,
        reason: r.text("reason")?,
        by: r.text("turned_by")?,
        at: r.time("turned_at")?,
    })
}

pub(crate) fn api_key<C: Cells>(cells: &C) -> Result<ApiKeyRow> {
    let r = Reader::new(cells, &API_KEYS, 0);
    Ok(ApiKeyRow {
        public_id: r.text("public_id")?,
        tenant: Tenant::new(r.text("tenant")?),
        name: r.text("name")?,
        secret_hash: r.digest("secret_hash")?,
        scopes: r.json("scopes")?,
        flows: r.json("flows")?,
        created_at: r.time("created_at")?,
        revoked_at: r.opt_time("revoked_at")?,
    })
}

pub(crate) fn user<C: Cells>(cells: &C) -> Result<UserRow> {
    let r = Reader::new(cells, &USERS, 0);
    Ok(UserRow {
        tenant: Tenant::new(r.text("tenant")?),
        name: r.text("name")?,
        email: r.opt_text("email")?,
        password_hash: r.text("password_hash")?,
        roles: r.json("roles")?,
        disabled: r.flag("disabled")?,
        created_at: r.time("created_at")?,
        updated_at: r.time("updated_at")?,
    })
}

pub(crate) fn session<C: Cells>(cells: &C) -> Result<SessionRow> {
    let r = Reader::new(cells, &SESSIONS, 0);
    Ok(SessionRow {
        hash: r.digest("hash")?,
        tenant: Tenant::new(r.text("tenant")?),
        user: r.text("user_name")?,
        data: r.text("data")?,
        created_at: r.time("created_at")?,
        seen_at: r.time("seen_at")?,
        expires_at: r.time("expires_at")?,
    })
}

/// A row of [`HEADS`], or the same four of a run.
pub(crate) fn chain_head<C: Cells>(cells: &C) -> Result<ChainHead> {
    let r = Reader::new(cells, &HEADS, 0);
    let head = Head { seq: r.int("seq")?, hash: Some(r.digest("hash")?) };
    Ok(ChainHead { tenant: Tenant::new(r.text("tenant")?), run: r.run_id("run_id")?, head })
}
