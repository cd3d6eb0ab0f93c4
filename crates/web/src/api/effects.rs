//! Reading effects.

use axum::extract::State;
use effectgate_core::{
    effect::EffectState,
    ids::{EffectId, ProviderName, RunId},
};
use effectgate_engine::view::{self, EffectView};
use effectgate_store::EffectFilter;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Reply, may_touch};
use crate::{
    app::App,
    auth::allowed::{Allowed, Read},
    problem::{Code, Problem, Result},
    request::{Id, Query, limit},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EffectQuery {
    /// One state, or several with commas: `unknown,review`.
    state: Option<String>,
    provider: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of effects, most recently changed first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EffectList {
    effects: Vec<EffectItem>,
    next_cursor: Option<String>,
}

/// An effect with its run's bearings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EffectItem {
    #[serde(flatten)]
    effect: EffectView,
    #[schema(value_type = String)]
    run_id: RunId,
    flow: String,
    key: String,
}

/// Find effects.
#[utoipa::path(get, path = "/v1/effects", operation_id = "find_effects", tag = "effects", params(EffectQuery),
    responses((status = 200, description = "A page, most recently changed first", body = EffectList)))]
pub(crate) async fn find(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Query(query): Query<EffectQuery>,
) -> Result<Reply> {
    let page = app.engine.store().effect_find(who.tenant(), &query.filter()?).await?;
    let switches = app.engine.switches().await;
    let seen = page.items.into_iter().filter(|item| who.may_touch(item.run.flow.as_str()));
    let effects = seen.map(|item| EffectItem {
        effect: view::effect_view(&item.run, &item.effect, &switches),
        run_id: item.run.id,
        flow: item.run.flow.as_str().to_owned(),
        key: item.run.key,
    });
    Ok(Reply::ok(&EffectList { effects: effects.collect(), next_cursor: page.next }))
}

impl EffectQuery {
    fn filter(self) -> Result<EffectFilter> {
        let states: Vec<String> = self.state.iter().flat_map(|s| s.split(',')).map(|s| s.trim().to_owned()).collect();
        if states.iter().any(|state| !EffectState::WORDS.contains(&state.as_str())) {
            let said = format!("state must be of {}", EffectState::WORDS.join(", "));
            return Err(Problem::new(Code::BadParameter, said));
        }
        let provider = self.provider.map(ProviderName::new);
        Ok(EffectFilter { states, provider, cursor: self.cursor, limit: limit(self.limit)?, oldest_first: false })
    }
}

/// Read an effect.
#[utoipa::path(get, path = "/v1/effects/{id}", operation_id = "get_effect", tag = "effects",
    params(("id" = String, Path, description = "The effect")),
    responses((status = 200, description = "The effect as it is now", body = EffectItem)))]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(effect): Id<EffectId>,
) -> Result<Reply> {
    may_touch(&app, &who, effect.run).await?;
    let run = app.engine.run(who.tenant(), effect.run).await?;
    let effect = app.engine.effect(who.tenant(), effect).await?;
    Ok(Reply::ok(&EffectItem { effect, run_id: run.id, flow: run.flow, key: run.key }))
}
