//! What workers and people do.

use effectgate_core::{
    approval::{self, EditedEffect, Verdict, Wish},
    effect::Effect,
    ending::{self, FailClass},
    ids::{Fence, Owner},
    inline::{self, Begin, Reported, Settle},
    lease::{self, Claim},
    operate::{self, Asker, Resolution},
    proposal::{self, Proposed},
    retry::{self, Outcome},
    run::RunState,
};

use super::{dice::Dice, world::World};
use crate::given::*;

pub(super) fn claim(world: &mut World, owner: &Owner, dice: &mut Dice) {
    let class = AllOf(Some(world.provider.class));
    let ms = [1_000, 60_000, 600_000][dice.roll(3) as usize];
    match lease::claim(&world.agg, owner, ms, world.now(), &class) {
        Claim::Granted(t) | Claim::Ended(t) => drop(world.commit(&t)),
        Claim::NotFree if dice.roll(2) == 0 && world.agg.run.state == RunState::Processing => {
            let t = lease::renew(&world.agg.run, owner, world.agg.run.fence, ms, &flow().lease, world.now());
            world.commit(&t);
        }
        Claim::NotFree => {
            if let Some(t) = lease::conflict(&world.agg.run, &hash(2), &OPERATOR, world.now()) {
                world.commit(&t);
            }
        }
    }
}

pub(super) fn end(world: &mut World, owner: &Owner, fence: Fence, dice: &mut Dice) {
    let class = AllOf(Some(world.provider.class));
    let done = if dice.roll(3) == 0 {
        ending::complete(&world.agg, owner, fence, "{}", world.now())
    } else {
        let fail = dice.pick(&FailClass::ALL).unwrap();
        ending::fail(&world.agg, &flow(), owner, fence, fail, None, world.now(), 0.5, &class)
    };
    if let Ok(t) = done {
        world.commit(&t);
    }
}

pub(super) fn propose(world: &mut World, owner: &Owner, dice: &mut Dice) {
    if !world.agg.holds_lease(owner, world.agg.run.fence) {
        return;
    }
    if dice.roll(3) == 0 {
        let invalid = proposal::reject(&world.agg, &flow(), owner, "invalid_output", &[], world.now());
        world.commit(&invalid.transition);
        return;
    }
    let taken = |n: i32| world.agg.effects.iter().any(|e| e.target == wanted(n).target);
    let mut effects: Vec<_> = (4..=6).filter(|n| !taken(*n)).map(wanted).take(dice.roll(4) as usize).collect();
    if let Some(first) = effects.first_mut() {
        first.window_ms = [0, 60_000][dice.roll(2) as usize];
    }
    let passage = if dice.roll(2) == 0 { go() } else { person_decides() };
    if let Ok(t) = proposal::accept(&world.agg, &flow(), owner, valid(effects, passage), world.now()) {
        world.commit(&t);
    }
}

pub(super) fn begin(world: &mut World, owner: &Owner, fence: Fence, dice: &mut Dice) {
    let wanted = wanted(1 + dice.roll(2) as i32);
    let holds = |e: &Effect| e.target == wanted.target && retry::key_holds(e, &world.provider, world.now());
    let may_reissue = world.agg.effects.iter().any(holds);
    let Ok(Begin::Begun(t)) = inline::begin(&world.agg, owner, fence, &wanted, &go(), may_reissue, world.now()) else {
        return;
    };
    let effect = t.effects[0].effect.clone();
    // The worker may die between the marker and the call.
    if world.commit(&t) && dice.roll(4) > 0 {
        world.perform(&effect);
    }
}

pub(super) fn settle_inline(world: &mut World, owner: &Owner, fence: Fence, dice: &mut Dice) {
    let Some(effect) = dice.pick(&world.agg.effects) else { return };
    let executed = world.ledger.get(&effect.provider_key).map_or(0, |l| l.executed) > 0;
    // Workers are honest but may not know.
    let outcome = match (executed, dice.roll(3)) {
        (_, 0) => Outcome::Unknown,
        (true, _) => Outcome::Applied,
        (false, 1) => Outcome::Refused,
        (false, _) => Outcome::NotSent,
    };
    let reported = Reported { outcome, external_id: None, message: None };
    let settle = inline::settle(&world.agg, &effect, owner, fence, &reported, world.now());
    if let Ok(Settle::Settled(t) | Settle::Contrary(Some(t))) = settle {
        world.commit(&t);
    }
}

/// The same effect in other words, or now and then in the same.
fn mended(proposed: &Proposed, dice: &mut Dice) -> EditedEffect {
    let (effect_type, target) = (proposed.effect_type.as_str().to_owned(), Some(proposed.target.clone()));
    EditedEffect { effect_type, target, payload: format!(r#"{{"text":"mended {}"}}"#, dice.roll(3)) }
}

pub(super) fn decide(world: &mut World, dice: &mut Dice) {
    let Some(approval) = world.agg.approval() else { return };
    let (id, shown) = (approval.id, approval.effects_hash);
    let verdict = match dice.roll(8) {
        0 | 1 => Verdict::Reject,
        2 => Verdict::Edit,
        _ => Verdict::Approve,
    };
    let edited = (verdict == Verdict::Edit).then(|| approval.proposed.iter().map(|p| mended(p, dice)).collect());
    let shown = if dice.roll(8) == 0 { digest(9) } else { shown };
    let who = person(["anna", "bert"][dice.roll(2) as usize], &[["lead"], ["guest"]][usize::from(dice.roll(5) == 0)]);
    let wish = Wish { verdict, reason: Some("so".into()), shown, edited };
    let now = world.now();
    let t = match approval::decide(&world.agg, id, &who, &wish, now) {
        Ok(t) => Some(t),
        Err(why) => approval::refused(&world.agg, id, &who, &why, now),
    };
    if let Some(t) = t {
        world.commit(&t);
    }
}

pub(super) fn operate_on(world: &mut World, dice: &mut Dice) {
    let now = world.now();
    let chosen = dice.pick(&world.agg.effects);
    let t = match (dice.roll(5), &chosen) {
        (0, _) => operate::release(&world.agg, &OPERATOR, "mended", now).ok(),
        (1, _) if dice.roll(4) == 0 => operate::close(&world.agg, &OPERATOR, "enough", now).ok(),
        (2, Some(effect)) => operate::cancel(&world.agg, effect, &Asker::operator(OPERATOR), &[], "no", now).ok(),
        (_, Some(effect)) => {
            let resolution = [Resolution::Happened { external_id: None }, Resolution::SendAgain, Resolution::Cancel]
                [dice.roll(3) as usize]
                .clone();
            let t = operate::resolve(&world.agg, effect, &OPERATOR, &resolution, "seen", now).ok();
            if t.is_some() {
                world.ledger.entry(effect.provider_key.clone()).or_default().on_a_persons_word = true;
            }
            t
        }
        _ => None,
    };
    if let Some(t) = t {
        world.commit(&t);
    }
}
