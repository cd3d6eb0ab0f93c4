//! The other names of a person. A local account and a single sign-on that share an address which either vouches for are
//! one person: who asked by one name may not approve by the other (HC-32), and nobody fills a quorum alone.
//!
//! What does not live here: roles. Each way of signing in has its own, and none is lent to another.

use effectgate_core::{
    actor::{Person, Subject},
    ids::Tenant,
};
use effectgate_store::ProfileSource;

use crate::{engine::Engine, error::Result};

impl Engine {
    /// The same person with every name that a shared address adds. Names alone: an address that only another of the
    /// names has is not added, so that nobody is in an audience by it. Disabled accounts count: a name that was taken
    /// away is still whose it was.
    ///
    /// # Errors
    /// The store.
    pub async fn whole(&self, tenant: &Tenant, person: &Person) -> Result<Person> {
        let known = |email: Option<&str>| email.map(Subject::mail).is_some_and(|address| person.is(&address));
        let users = self.store().user_list(tenant).await?;
        let accounts = users.iter().filter(|user| known(user.email.as_deref())).map(|user| Subject::user(&user.name));
        let profiles = self.store().profile_list(tenant).await?;
        let vouched = profiles.iter().filter(|p| p.source == ProfileSource::Oidc && known(p.email.as_deref()));
        let names = accounts.chain(vouched.map(|profile| Subject::named(&profile.subject)));
        let mut whole = person.clone();
        whole.aliases.extend(names.filter(|name| *name != person.subject));
        Ok(whole)
    }
}
