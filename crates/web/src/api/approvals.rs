//! Approvals: find and read. Deciding has a file of its own.

use axum::extract::State;
use effectgate_core::{
    approval::{Approval, ApprovalState, member_keys_of},
    ids::ApprovalId,
    time::Timestamp,
};
use effectgate_engine::{
    EngineError,
    view::{self, ApprovalView, ChangeView, RunView},
};
use effectgate_store::{ApprovalFilter, ApprovalItem as Item, INBOX_MEMBERS_MAX, InboxFilter, InboxOrder, Page};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{Reply, may_touch};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{FollowApprovals, ListApprovals, Need as _, OrPerson, ReadApprovals},
    },
    problem::{Code, Problem, Result},
    request::{Id, Query, limit},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalQuery {
    state: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of approvals; open ones by their expiry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    approvals: Vec<ApprovalItem>,
    next_cursor: Option<String>,
}

/// An approval with its run's bearings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalItem {
    #[serde(flatten)]
    approval: ApprovalView,
    flow: String,
    key: String,
}

/// An approval with what it is about.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalDetail {
    #[serde(flatten)]
    approval: ApprovalView,
    /// What people changed, oldest first, with the values.
    edits: Vec<EditDetail>,
    /// Why a person is asked.
    why: Vec<String>,
    /// The effects as they would go out; `effects_hash` is over exactly these.
    effects: Vec<ProposedView>,
    run: RunView,
}

/// An edit with its values.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EditDetail {
    by: String,
    #[schema(value_type = String)]
    at: Timestamp,
    from_hash: String,
    to_hash: String,
    changes: Vec<ChangeView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProposedView {
    #[serde(rename = "type")]
    effect_type: String,
    target: String,
    provider: String,
    impact: String,
    gate: String,
    #[schema(value_type = Object)]
    payload: Option<Box<RawValue>>,
}

/// Find approvals.
///
/// Callers whose scope or role lets them look around see all of them; everybody else who is signed in sees those they
/// were asked about. What an approval is about is in the answer to one of them.
#[utoipa::path(get, path = "/v1/approvals", operation_id = "find_approvals", tag = "approvals", params(ApprovalQuery),
    responses((status = 200, description = "A page; open ones by their expiry", body = ApprovalList)))]
pub(crate) async fn find(
    State(app): State<App>,
    OrPerson { who, .. }: OrPerson<ListApprovals>,
    Query(query): Query<ApprovalQuery>,
) -> Result<Reply> {
    if let Some(state) = &query.state
        && ApprovalState::parse(state).is_none()
    {
        let words: Vec<&str> = ApprovalState::ALL.into_iter().map(ApprovalState::as_str).collect();
        return Err(Problem::new(Code::BadParameter, format!("state must be one of {}", words.join(", "))));
    }
    let sees_all = who.need(ListApprovals::ANY_OF).is_ok();
    let page = page(&app, &who, query, sees_all).await?;
    let is_seen = |item: &Item| who.may_touch(item.run.flow.as_str()) && (sees_all || who.may_read(&item.approval));
    let approvals = page.items.into_iter().filter(is_seen).map(|item| ApprovalItem {
        approval: view::approval_view(&item.approval),
        flow: item.run.flow.as_str().to_owned(),
        key: item.run.key,
    });
    Ok(Reply::ok(&ApprovalList { approvals: approvals.collect(), next_cursor: page.next }))
}

/// A page of what there is. The open ones of somebody who sees only their own come from their inbox, so that its pages
/// are full however many there are of others.
async fn page(app: &App, who: &Identity, query: ApprovalQuery, sees_all: bool) -> Result<Page<Item>> {
    let (store, limit) = (app.engine.store(), limit(query.limit)?);
    let is_open = query.state.as_deref() == Some(ApprovalState::Open.as_str());
    let own = match who {
        Identity::Person(signed_in) if is_open && !sees_all => Some(member_keys_of(&signed_in.person)),
        _ => None,
    };
    let Some(keys) = own else {
        let filter = ApprovalFilter { state: query.state, cursor: query.cursor, limit };
        return Ok(store.approval_find(who.tenant(), &filter).await?);
    };
    let members = Some(keys.into_iter().take(INBOX_MEMBERS_MAX).collect());
    let filter = InboxFilter { members, order: InboxOrder::Due, cursor: query.cursor, limit };
    Ok(store.inbox_find(who.tenant(), &filter).await?)
}

/// Read an approval with the effects it is about.
///
/// For operators and auditors, keys with the scope approver, and signed-in people who were asked, decided, or asked for
/// it. A key with the scope worker follows it: state, decisions with who and reason, the effects without their payloads.
#[utoipa::path(get, path = "/v1/approvals/{id}", operation_id = "get_approval", tag = "approvals",
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, description = "The approval as it is now", body = ApprovalDetail)))]
pub(crate) async fn get(
    State(app): State<App>,
    OrPerson { who, .. }: OrPerson<FollowApprovals>,
    Id(id): Id<ApprovalId>,
) -> Result<Reply> {
    may_touch(&app, &who, id.run).await?;
    let absent = || EngineError::NotFound("approval");
    let agg = app.engine.store().run_load(who.tenant(), id.run).await?.ok_or_else(absent)?;
    let approval = agg.approvals.iter().find(|a| a.id == id).ok_or_else(absent)?;
    let follows = matches!(who, Identity::ApiKey(_)) && who.need(ReadApprovals::ANY_OF).is_err();
    if !follows && !who.may_read(approval) {
        // Whoever sees it in the list is told why; for everybody else it is not there.
        who.need(ListApprovals::ANY_OF).map_err(|_| absent())?;
        return Err(Problem::new(Code::NotInAudience, "only those who were asked, operators and auditors read it"));
    }
    let run = app.engine.view(&agg).await?;
    let followed = app.engine.approval_followed(&agg, approval).await?;
    let detail = detail(approval, followed, run);
    Ok(Reply::ok(&if follows { without_values(detail) } else { detail }))
}

/// What a worker may see of an approval: how it stands, and nothing of what it is about that it might not have written.
fn without_values(mut detail: ApprovalDetail) -> ApprovalDetail {
    detail.effects.iter_mut().for_each(|effect| effect.payload = None);
    let changes = detail.edits.iter_mut().flat_map(|edit| &mut edit.changes);
    changes.for_each(|change| (change.before, change.after) = (None, None));
    detail
}

fn detail(approval: &Approval, mut view: ApprovalView, run: RunView) -> ApprovalDetail {
    let effects = approval.proposed.iter().map(|p| ProposedView {
        effect_type: p.effect_type.as_str().to_owned(),
        target: p.target.clone(),
        provider: p.provider.as_str().to_owned(),
        impact: p.impact.clone(),
        gate: p.gate.clone(),
        payload: RawValue::from_string(p.payload.clone()).ok(),
    });
    // The edits by name only give way to those with their values.
    let named = std::mem::take(&mut view.edits);
    let edits = named.into_iter().zip(&approval.edits).map(|(edit, with_values)| EditDetail {
        by: edit.by,
        at: edit.at,
        from_hash: edit.from_hash,
        to_hash: edit.to_hash,
        changes: view::edit_changes(with_values),
    });
    ApprovalDetail {
        approval: view,
        edits: edits.collect(),
        why: approval.terms.why.clone(),
        effects: effects.collect(),
        run,
    }
}
