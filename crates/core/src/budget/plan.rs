//! Where an effect finds room: in the present window of every budget it counts against, or in the first later moment at
//! which all of them have some.

use std::collections::BTreeMap;

use super::{Charge, Charged, Want, window};
use crate::{effect::Effect, time::Timestamp, transition::Transition};

/// Windows that are looked at ahead. A queue that is longer than this many windows is dealt with in portions: what
/// finds no room in them is looked at again when they are over. It bounds what is read for one plan.
pub const AHEAD_MAX: usize = 64;

/// A budget that an effect alone would overrun is looked at again after this long, not at every turn of a short
/// window: only a new config lets it go.
const HOPELESS_MS: i64 = 3_600_000;

/// Counts as they were read, by scope and beginning of the window. What is not there is zero.
#[derive(Debug, Clone, Default)]
pub struct Used(BTreeMap<(String, Timestamp), i64>);

impl Used {
    pub fn insert(&mut self, scope: String, start: Timestamp, used: i64) {
        self.0.insert((scope, start), used);
    }

    /// Counts what a plan charges, so that the next one of the same reading sees it.
    pub fn add(&mut self, charges: &[Charge]) {
        for charge in charges {
            *self.0.entry((charge.scope.clone(), charge.start)).or_insert(0) += charge.amount;
        }
    }

    #[must_use]
    pub fn at(&self, scope: &str, start: Timestamp) -> i64 {
        self.0.get(&(scope.to_owned(), start)).copied().unwrap_or(0)
    }
}

/// What a plan comes to. `charges` leads from what the effect is charged now to `charged`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// There is room now, as far as the counts say; the commit judges it again.
    Now { charges: Vec<Charge>, charged: Vec<Charged> },
    /// Room at `at`, charged ahead (nothing is charged where the queue is longer than [`AHEAD_MAX`] windows). `by` stood
    /// in the way.
    Later { at: Timestamp, charges: Vec<Charge>, charged: Vec<Charged>, by: Want },
    /// It asks for more than the whole of a budget, or its amount cannot be read: looked at again at `at`.
    Never { at: Timestamp, charges: Vec<Charge>, by: Want },
}

/// Plans an effect that is charged `held` by now.
#[must_use]
pub fn plan(wants: &[Want], held: &[Charged], used: &Used, now: Timestamp) -> Plan {
    if let Some(want) = wants.iter().find(|w| w.amount.is_none_or(|amount| amount > w.max)) {
        let at = window(want.window_ms, now).1.max(now.plus_ms(HOPELESS_MS));
        return Plan::Never { at, charges: difference(wants, held, &[]), by: want.clone() };
    }
    let Some((by, mut at)) = in_the_way(wants, held, used, now) else {
        let charged = charged_at(wants, now);
        return Plan::Now { charges: difference(wants, held, &charged), charged };
    };
    for _ in 1..AHEAD_MAX {
        let Some((_, end)) = in_the_way(wants, held, used, at) else {
            let charged = charged_at(wants, at);
            return Plan::Later { at, charges: difference(wants, held, &charged), charged, by: by.clone() };
        };
        at = end;
    }
    Plan::Later { at, charges: difference(wants, held, &[]), charged: Vec::new(), by: by.clone() }
}

/// The budget without room at a moment whose window ends last, and that end.
fn in_the_way<'w>(wants: &'w [Want], held: &[Charged], used: &Used, at: Timestamp) -> Option<(&'w Want, Timestamp)> {
    let full = wants.iter().filter_map(|want| {
        let (start, end) = window(want.window_ms, at);
        let others = used.at(&want.scope, start).saturating_sub(own(held, &want.scope, start));
        (others.saturating_add(want.amount.unwrap_or(0)) > want.max).then_some((want, end))
    });
    full.max_by_key(|(_, end)| *end)
}

fn own(held: &[Charged], scope: &str, start: Timestamp) -> i64 {
    held.iter().filter(|c| c.scope == scope && c.start == start).map(|c| c.amount).sum()
}

fn charged_at(wants: &[Want], at: Timestamp) -> Vec<Charged> {
    let one = |want: &Want| {
        let (start, end) = window(want.window_ms, at);
        Charged { scope: want.scope.clone(), start, end, amount: want.amount.unwrap_or(0) }
    };
    wants.iter().map(one).collect()
}

/// What leads from one set of charges to another, in the order in which every replica takes the rows. A charge that
/// stays as it is stands there with nothing to add, so that its limit is judged again: a smaller one counts at once.
fn difference(wants: &[Want], held: &[Charged], wanted: &[Charged]) -> Vec<Charge> {
    let max_of = |scope: &str| wants.iter().find(|w| w.scope == scope).map(|w| w.max);
    let stays = |old: &Charged| wanted.iter().any(|new| new.scope == old.scope && new.start == old.start);
    let added = wanted.iter().map(|new| Charge {
        scope: new.scope.clone(),
        start: new.start,
        end: new.end,
        amount: new.amount - own(held, &new.scope, new.start),
        max: max_of(&new.scope),
    });
    let mut charges: Vec<Charge> = added.chain(held.iter().filter(|old| !stays(old)).cloned().map(taken_off)).collect();
    charges.sort_by(|a, b| (&a.scope, a.start).cmp(&(&b.scope, b.start)));
    charges
}

/// The charge that takes an earlier one off again.
pub(super) fn taken_off(old: Charged) -> Charge {
    Charge { scope: old.scope, start: old.start, end: old.end, amount: -old.amount, max: None }
}

/// Puts a plan's charges into a transition that writes the effect.
pub fn attach(transition: &mut Transition, effect: &Effect, charges: Vec<Charge>, charged: &[Charged]) {
    for write in transition.effects.iter_mut().filter(|write| write.effect.id == effect.id) {
        write.effect.charged = charged.to_vec();
    }
    transition.charges = charges;
}
