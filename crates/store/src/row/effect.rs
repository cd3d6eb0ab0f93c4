//! Rows of `effects` and `attempts`.

use effectgate_core::{
    budget::Charged,
    effect::{Attempt, AttemptEnd, Effect, EffectState, Executor},
    ids::{EffectId, EffectType, Fence, ProviderName},
    retry::Class,
};

use super::{Cells, RUNS, Reader, json, of_word, run, table};
use crate::{
    Result,
    types::{ChargeRow, DueEffect},
};

table!(
    EFFECTS,
    effect_columns,
    "effects",
    "e",
    run_id,
    n,
    type,
    target,
    provider,
    executor,
    state,
    reason,
    payload,
    decided,
    provider_key,
    external_id,
    fence,
    attempts,
    due_at,
    first_sent_at,
    unknown_since,
    created_at,
    updated_at,
    charged,
);
table!(
    ATTEMPTS,
    attempt_columns,
    "attempts",
    "a",
    run_id,
    effect_n,
    fence,
    started_at,
    ended_at,
    class,
    phase,
    bytes_sent,
    status,
    detail,
    handle,
);

table!(CHARGES, charge_columns, "charges", "g", scope, window_start, window_end, used);

pub(crate) fn effect<C: Cells>(cells: &C) -> Result<Effect> {
    effect_at(cells, 0)
}

/// A row of [`RUNS`] followed by [`EFFECTS`].
pub(crate) fn due_effect<C: Cells>(cells: &C) -> Result<DueEffect> {
    Ok(DueEffect { run: run(cells)?, effect: effect_at(cells, RUNS.columns.len())? })
}

fn effect_at<C: Cells>(cells: &C, offset: usize) -> Result<Effect> {
    let r = Reader::new(cells, &EFFECTS, offset);
    let state = EffectState::from_parts(&r.text("state")?, r.opt_time("due_at")?);
    Ok(Effect {
        id: EffectId { run: r.run_id("run_id")?, n: r.small("n")? },
        effect_type: EffectType::new(r.text("type")?),
        target: r.text("target")?,
        provider: ProviderName::new(r.text("provider")?),
        executor: r.word("executor", of_word::<Executor>)?,
        state: state.ok_or_else(|| r.corrupt("state"))?,
        reason: r.opt_text("reason")?,
        payload: r.text("payload")?,
        decided: r.opt_digest("decided")?,
        provider_key: r.text("provider_key")?,
        external_id: r.opt_text("external_id")?,
        fence: Fence(r.int("fence")?),
        attempts: r.small("attempts")?,
        first_sent_at: r.opt_time("first_sent_at")?,
        unknown_since: r.opt_time("unknown_since")?,
        charged: charged(&r)?,
        created_at: r.time("created_at")?,
        updated_at: r.time("updated_at")?,
    })
}

fn charged<C: Cells>(r: &Reader<'_, C>) -> Result<Vec<Charged>> {
    let text = r.opt_text("charged")?;
    text.map_or(Ok(Vec::new()), |text| serde_json::from_str(&text).map_err(|_| r.corrupt("charged")))
}

/// The cell of an effect's charges; NULL where it has none, so that no byte is written where no budget is.
pub(crate) fn charged_cell(effect: &Effect) -> Result<Option<String>> {
    if effect.charged.is_empty() { Ok(None) } else { json(&effect.charged).map(Some) }
}

pub(crate) fn charge<C: Cells>(cells: &C) -> Result<ChargeRow> {
    let r = Reader::new(cells, &CHARGES, 0);
    Ok(ChargeRow {
        scope: r.text("scope")?,
        start: r.time("window_start")?,
        end: r.time("window_end")?,
        used: r.int("used")?,
    })
}

pub(crate) fn attempt<C: Cells>(cells: &C) -> Result<Attempt> {
    let r = Reader::new(cells, &ATTEMPTS, 0);
    Ok(Attempt {
        effect: EffectId { run: r.run_id("run_id")?, n: r.small("effect_n")? },
        fence: Fence(r.int("fence")?),
        started_at: r.time("started_at")?,
        end: attempt_end(&r)?,
    })
}

fn attempt_end<C: Cells>(r: &Reader<'_, C>) -> Result<Option<AttemptEnd>> {
    let Some(at) = r.opt_time("ended_at")? else { return Ok(None) };
    let status = r.opt_int("status")?.map(u16::try_from).transpose().map_err(|_| r.corrupt("status"))?;
    Ok(Some(AttemptEnd {
        at,
        class: r.word("class", Class::parse)?,
        phase: r.word("phase", of_word)?,
        bytes_sent: r.int("bytes_sent")?,
        status,
        detail: r.opt_text("detail")?,
        handle: r.opt_text("handle")?,
    }))
}
