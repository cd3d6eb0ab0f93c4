//! The kill switch, by scope. Off if any scope that applies is off. Absent, unreadable or malformed means off.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{EffectType, FlowName, ProviderName, Tenant},
    time::Timestamp,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    All,
    Tenant,
    Flow,
    Provider,
    EffectType,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::All, Self::Tenant, Self::Flow, Self::Provider, Self::EffectType];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Tenant => "tenant",
            Self::Flow => "flow",
            Self::Provider => "provider",
            Self::EffectType => "effect_type",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// One switch as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    pub scope: Scope,
    /// Empty for the scope `all`.
    pub name: String,
    pub enabled: bool,
    pub reason: String,
    pub by: String,
    pub at: Timestamp,
}

/// The scopes that apply to one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applies {
    pub tenant: Tenant,
    pub flow: FlowName,
    pub provider: ProviderName,
    pub effect_type: EffectType,
}

impl Applies {
    /// The (scope, name) pairs that can turn this effect off.
    #[must_use]
    pub fn pairs(&self) -> [(Scope, &str); 5] {
        [
            (Scope::All, ""),
            (Scope::Tenant, self.tenant.as_str()),
            (Scope::Flow, self.flow.as_str()),
            (Scope::Provider, self.provider.as_str()),
            (Scope::EffectType, self.effect_type.as_str()),
        ]
    }

    /// The first switch that turns this effect off, if any.
    #[must_use]
    pub fn stopped_by<'a>(&self, switches: &'a [Switch]) -> Option<&'a Switch> {
        let pairs = self.pairs();
        switches.iter().find(|s| !s.enabled && pairs.contains(&(s.scope, s.name.as_str())))
    }
}

/// The ceiling above all switches, from the config and the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceiling {
    On,
    Off,
}

impl Ceiling {
    /// `AI_ACTIONS_ENABLED` in the environment beats the config; any value but a clear yes means off.
    #[must_use]
    pub fn from(environment: Option<&str>, config: Option<bool>) -> Self {
        let said = match environment.map(|v| v.trim().to_ascii_lowercase()) {
            Some(v) if matches!(v.as_str(), "true" | "1" | "on" | "yes") => config.unwrap_or(true),
            Some(_) => false,
            None => config.unwrap_or(false),
        };
        if said { Self::On } else { Self::Off }
    }
}

/// What stood where at the moment of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub queued: i64,
    pub scheduled: i64,
    pub leased: i64,
    pub in_flight: i64,
    pub awaiting: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_on() {
        let table = [
            (None, None, Ceiling::Off),
            (None, Some(true), Ceiling::On),
            (None, Some(false), Ceiling::Off),
            (Some("false"), Some(true), Ceiling::Off),
            (Some("true"), None, Ceiling::On),
            (Some("true"), Some(false), Ceiling::Off),
            (Some(""), Some(true), Ceiling::Off),
            (Some("ture"), Some(true), Ceiling::Off),
            (Some("0"), Some(true), Ceiling::Off),
        ];
        for (environment, config, wanted) in table {
            assert_eq!(Ceiling::from(environment, config), wanted, "{environment:?} {config:?}");
        }
    }
}
