//! What has to be known of an issuer before anything is asked of it.

use secrecy::SecretString;

/// One issuer, and this server as its client.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Byte by byte as the issuer's own discovery document says it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<SecretString>,
    /// Where the issuer sends people back: registered there.
    pub redirect_url: String,
    /// Where the issuer sends people after signing out: registered there.
    pub signed_out_url: String,
    /// Beside `openid`.
    pub scopes: Vec<String>,
    /// The claim that lists groups: a name, or a JSON Pointer such as `/realm_access/roles`.
    pub groups_claim: String,
    /// The claim that names the tenant, if one does: a name or a JSON Pointer.
    pub tenant_claim: Option<String>,
}
