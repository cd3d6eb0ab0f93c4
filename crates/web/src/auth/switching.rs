//! Which switches a caller may turn and see, beside the scope `switch_owner`. Flows, providers and effect types belong to
//! the house and hold every tenant's effects, so they are turned by the house's own people; another tenant turns itself.
//! A key that is bound to flows turns those and nothing else.

use effectgate_core::{
    ids::Tenant,
    switch::{Scope, Switch},
};
use effectgate_engine::sign_on::TenantRule;

use super::Identity;
use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// Asks that the caller may turn this switch, on as well as off: what one tenant turned off no other turns on.
///
/// # Errors
/// [`Code::Forbidden`].
pub(crate) fn may_turn(app: &App, who: &Identity, scope: Scope, name: &str) -> Result<()> {
    let refused = |said: &str| Err(Problem::new(Code::Forbidden, said));
    if who.is_restricted() && !(scope == Scope::Flow && who.may_touch(name)) {
        return refused("this key is bound to flows and turns no more than those");
    }
    let is_own = scope == Scope::Tenant && name == who.tenant().as_str();
    if is_own || is_house(app, who.tenant()) {
        return Ok(());
    }
    refused("this switch holds other tenants' effects too; turn your own tenant, or ask whoever runs this server")
}

/// True if the caller may know how this switch stands: another tenant's is nobody's business but the house's.
pub(crate) fn may_see(app: &App, who: &Identity, switch: &Switch) -> bool {
    switch.scope != Scope::Tenant || switch.name == who.tenant().as_str() || is_house(app, who.tenant())
}

/// The tenant of whoever runs this server, or the one to which everybody comes who signs in with the issuer.
fn is_house(app: &App, tenant: &Tenant) -> bool {
    let everybody = app.single_sign_on.as_ref().map(|sso| &sso.policy.tenant);
    tenant.as_str() == app.settings.tenant || matches!(everybody, Some(TenantRule::Fixed(fixed)) if fixed == tenant)
}
