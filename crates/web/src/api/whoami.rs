//! GET /v1/whoami: who the server takes the caller for.

use serde::Serialize;
use utoipa::ToSchema;

use super::Reply;
use crate::auth::{
    Identity,
    allowed::{Allowed, Known},
};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhoamiAnswer {
    /// `api_key` or `person`.
    kind: &'static str,
    tenant: String,
    name: String,
    scopes: Vec<&'static str>,
    /// Flows an API key is restricted to; empty means all.
    flows: Vec<String>,
    /// A person's roles and qualifications.
    roles: Vec<String>,
}

/// Say who the caller is.
#[utoipa::path(get, path = "/v1/whoami", tag = "access",
    responses((status = 200, description = "The caller as the server knows it", body = WhoamiAnswer)))]
pub(crate) async fn whoami(Allowed { who, .. }: Allowed<Known>) -> Reply {
    let scopes = who.scopes().into_iter().map(effectgate_engine::keys::KeyScope::as_str).collect();
    let tenant = who.tenant().as_str().to_owned();
    Reply::ok(&match who {
        Identity::ApiKey(key) => WhoamiAnswer {
            kind: "api_key",
            tenant,
            name: key.name.clone(),
            scopes,
            flows: key.flows.clone(),
            roles: Vec::new(),
        },
        Identity::Person(signed_in) => WhoamiAnswer {
            kind: "person",
            tenant,
            name: signed_in.person.subject.to_string(),
            scopes,
            flows: Vec::new(),
            roles: signed_in.person.roles.into_iter().collect(),
        },
    })
}
