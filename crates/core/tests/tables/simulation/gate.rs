//! What the gate does by itself: it sends, settles, sweeps and asks.

use effectgate_core::{
    approval,
    effect::{Effect, EffectState},
    lease,
    outcome::{Phase, Report},
    retry::{self, Class, Classified, Look, Outcome, Settlement},
    sending::{self, Due},
};

use super::{dice::Dice, world::World};
use crate::given::*;

pub(super) fn dispatch(world: &mut World, dice: &mut Dice) {
    let Some(effect) = dice.pick(&world.agg.effects) else { return };
    match sending::claim(&world.agg.run, &effect, &world.provider, world.now()) {
        Due::Leave => {}
        Due::Divert(t) => drop(world.commit(&t)),
        Due::Send(t) => {
            let claimed = t.effects[0].effect.clone();
            if world.commit(&t) {
                let class = dice.pick(&Class::ALL).unwrap();
                // What may have arrived did arrive, half the time.
                if class == Class::Applied || (class.outcome() == Outcome::Unknown && dice.roll(2) == 0) {
                    world.perform(&claimed);
                }
                world.under_way.push((claimed, class));
            }
        }
    }
}

/// An attempt under way ends: in time, late, or (never popped) not at all.
pub(super) fn answer(world: &mut World, dice: &mut Dice) {
    if world.under_way.is_empty() {
        return;
    }
    let (claimed, mut class) = world.under_way.remove(dice.roll(world.under_way.len() as u64) as usize);
    // An enforcing provider replays its first answer: what was executed under this key is never refused or undone.
    let executed = world.ledger.get(&claimed.provider_key).map_or(0, |l| l.executed) > 0;
    if executed && class == Class::Refused {
        class = Class::Applied;
    }
    let Some(effect) = world.agg.effects.iter().find(|e| e.id == claimed.id).cloned() else { return };
    let report = Report { phase: Phase::Answered, bytes_sent: 1, answer: None, error: None, handle: None };
    let found = Classified { class, external_id: None, retry_after_ms: None, detail: None, repeats: false };
    let now = world.now();
    if effect.fence == claimed.fence && effect.state == EffectState::Sending {
        let t = sending::settle(&world.agg.run, &effect, &world.provider, now, &report, &found, now, 0.5);
        if world.commit(&t) {
            return;
        }
    }
    if let Some(t) = sending::late_report(&world.agg.run, &effect, &found, now) {
        world.commit(&t);
    }
}

pub(super) fn sweep(world: &mut World) {
    let (now, class) = (world.now(), AllOf(Some(world.provider.class)));
    for effect in world.agg.effects.clone() {
        if let Some(t) = sending::expire(&world.agg.run, &effect, now) {
            world.commit(&t);
        }
    }
    if world.agg.lease.is_some_and(|l| !l.is_live)
        && let Some(t) = lease::overtaken(&world.agg, now, &class)
    {
        world.commit(&t);
    }
    if let Some(t) = approval::expire(&world.agg, now).or_else(|| approval::remind(&world.agg, now)) {
        world.commit(&t);
    }
}

pub(super) fn reconcile(world: &mut World, dice: &mut Dice) {
    let now = world.now();
    let due = |e: &Effect| matches!(e.state, EffectState::Unknown { look_at } if look_at <= now);
    for effect in world.agg.effects.clone().into_iter().filter(due) {
        let mut settlement = retry::reconcile(&effect, &world.provider, None, now);
        let mut look = None;
        if settlement == Settlement::AskFirst {
            look = Some(what_the_provider_says(world, &effect, dice));
            settlement = retry::reconcile(&effect, &world.provider, look.as_ref(), now);
        }
        if let Some(t) = sending::reconciled(&world.agg.run, &effect, &settlement, look.as_ref(), now) {
            world.commit(&t);
        }
    }
}

/// Truthful, except that the index may lag by less than the settle delay, and that it may be away.
fn what_the_provider_says(world: &World, effect: &Effect, dice: &mut Dice) -> Look {
    let executed = world.ledger.get(&effect.provider_key).map_or(0, |l| l.executed);
    let lags = effect.unknown_since.is_none_or(|since| world.now().ms_since(since) < 120_000) && dice.roll(2) == 0;
    match executed {
        _ if dice.roll(5) == 0 => Look::Nothing { detail: "timeout".into() },
        0 => Look::Absent,
        _ if lags => Look::Absent,
        1 => Look::Found { external_id: Some("x1".into()) },
        n => Look::FoundMany { count: n as usize },
    }
}
