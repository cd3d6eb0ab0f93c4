//! Who looks at a card, and what they may see of it.
//!
//! Where the flow wants a sign-in, the link only finds the card: without a session it shows the flow's name and that a
//! sign-in is wanted, nothing of the key, the effects or the people. Where the link alone is enough, the viewer is
//! whoever it was issued to. A session always goes before the link: whoever is known is named.

use effectgate_core::{
    actor::{Actor, Person, SignIn},
    approval::{Approval, LoginRule},
    ids::Tenant,
    operate::Asker,
};

use effectgate_engine::keys::KeyScope;

use super::visit::Visit;
use crate::{
    auth::allowed::{Need as _, Operate, Read, ReadContent, has_part_in},
    problem::Result,
};

/// Somebody who may read the card.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    pub(crate) person: Person,
}

impl Viewer {
    pub(crate) fn is_by_link(&self) -> bool {
        self.person.sign_in == SignIn::Token
    }

    /// Who asks for an operator's command; nobody, where a link alone says who it is.
    pub(crate) fn asker(&self) -> Option<Asker> {
        let actor = Actor::Person(self.person.subject.clone());
        let asker = Asker { actor, person: Some(self.person.clone()), is_operator: self.is_operator() };
        (!self.is_by_link()).then_some(asker)
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.holds(Operate::ANY_OF)
    }

    /// True if the run's own page is open to them too.
    pub(crate) fn may_read_runs(&self) -> bool {
        self.holds(Read::ANY_OF)
    }

    /// The same as over the API: a part in it, or a role that reads content.
    fn may_read(&self, approval: &Approval) -> bool {
        has_part_in(approval, &self.person) || self.holds(ReadContent::ANY_OF)
    }

    /// True for a signed-in person with one of the scopes; a link gives none.
    fn holds(&self, any_of: &[KeyScope]) -> bool {
        let held = self.person.roles.iter().filter_map(|role| KeyScope::parse(role));
        !self.is_by_link() && held.into_iter().any(|scope| scope == KeyScope::Admin || any_of.contains(&scope))
    }
}

/// What a visit comes to.
pub(crate) enum Sight {
    Card(Viewer),
    SignIn,
    /// Signed in, but nobody who was asked, and without a role that reads everything.
    Outsider,
    /// The account behind the link is disabled.
    Disabled,
}

/// `audience` is whom the link was issued to; `None` on the way from the inbox.
pub(crate) async fn sight(
    visit: &Visit,
    tenant: &Tenant,
    approval: &Approval,
    audience: Option<&str>,
) -> Result<Sight> {
    let person = match (visit.person_of(tenant), audience) {
        (Some(person), _) => visit.app.engine.whole(tenant, person).await?,
        (None, Some(audience)) if approval.terms.login == LoginRule::Token => {
            match visit.app.engine.token_person(tenant, audience).await? {
                Some(person) => person,
                None => return Ok(Sight::Disabled),
            }
        }
        _ => return Ok(Sight::SignIn),
    };
    let viewer = Viewer { person };
    Ok(if viewer.may_read(approval) { Sight::Card(viewer) } else { Sight::Outsider })
}
