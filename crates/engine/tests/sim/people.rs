//! What people do: decide (two at once, twice the same, with an edit, on what was shown long ago), settle what is on the
//! desk by what really happened or by a guess that says "again", cancel, turn switches.

use effectgate_core::{
    actor::Person,
    approval::{Approval, EditedEffect, Verdict, Wish},
    effect::{Effect, EffectState},
    operate::{Asker, Resolution},
    run::Aggregate,
    switch::Scope,
};
use effectgate_engine::switch::Turn;

use crate::{
    common::{lead, olga},
    history::Event,
    world::World,
};

/// How long a turn waits before it answers, and everybody else's time goes on: [`effectgate_engine::switch`].
const SETTLE_MS: i64 = 250;

impl World {
    /// Two people look at the same card at once; one of them clicks twice.
    pub fn decide(&mut self) {
        let asked: Vec<Approval> = self.runs().iter().filter_map(|agg| agg.approval().cloned()).collect();
        if asked.is_empty() {
            return;
        }
        let approval = self.dice.pick(&asked).clone();
        let (first, second) = (self.wish(&approval), self.wish(&approval));
        let (id, tenant) = (approval.id, self.caller.tenant.clone());
        let clicks = [("anna", first.clone()), ("bo", second), ("anna", first)];
        let answers = self.run(async |engine| {
            let click = |(name, wish): (&'static str, Wish)| {
                let (engine, tenant) = (engine.clone(), tenant.clone());
                async move {
                    let person: Person = lead(name);
                    let answer = engine.decide(&tenant, id, &person, &wish).await;
                    (name, wish.verdict, answer)
                }
            };
            futures_util::future::join_all(clicks.map(click)).await
        });
        for (person, verdict, answer) in answers.into_iter().flatten() {
            match answer {
                Ok(decided) => {
                    let repeated = decided.repeated;
                    self.history.push(Event::Decided { approval: id, person, verdict, repeated });
                }
                Err(error) => self.unexpected(&error),
            }
        }
    }

    fn wish(&mut self, approval: &Approval) -> Wish {
        let verdict = *self.dice.pick(&[
            Verdict::Approve,
            Verdict::Approve,
            Verdict::Approve,
            Verdict::Approve,
            Verdict::Reject,
            Verdict::Edit,
        ]);
        let n = self.dice.below(3);
        let edited = (verdict == Verdict::Edit).then(|| approval.proposed.iter().map(|p| mended(p, n)).collect());
        // Now and then a card that was opened before the last edit.
        let old = approval.edits.first().filter(|_| self.dice.one_in(4)).map(|edit| edit.from_hash);
        let shown = old.unwrap_or(approval.effects_hash);
        Wish { verdict, reason: Some("so".into()), shown, edited }
    }

    /// Somebody looks at the desk: what is there is settled by what really happened, or by a guess.
    pub fn review(&mut self) {
        for agg in self.runs() {
            for effect in agg.effects.iter().filter(|e| matches!(e.state, EffectState::Review { .. })) {
                let guess = self.dice.one_in(4);
                self.settle(effect, guess);
            }
        }
    }

    /// Somebody says that what is over was not so. Refused, whatever is said.
    pub fn contradict(&mut self) {
        let all: Vec<Effect> = self.runs().iter().flat_map(|agg| agg.effects.clone()).collect();
        let over: Vec<&Effect> = all.iter().filter(|e| e.state.is_final()).collect();
        if over.is_empty() {
            return;
        }
        let (id, tenant) = (self.dice.pick(&over).id, self.caller.tenant.clone());
        let how = [Resolution::SendAgain, Resolution::Cancel][self.dice.below(2)].clone();
        let done = self.run(async |engine| engine.resolve(&tenant, id, &olga(), &how, "it was not so").await.map(drop));
        assert!(self.broken.is_some() || done.is_none_or(|done| done.is_err()), "{id} was over");
    }

    pub fn settle(&mut self, effect: &Effect, guess: bool) {
        let happened = self.provider.executed(&effect.provider_key) > 0;
        let how = match (happened, guess) {
            (_, true) => Resolution::SendAgain,
            (true, _) => Resolution::Happened { external_id: Some("found".into()) },
            (false, _) if self.dice.one_in(2) => Resolution::SendAgain,
            (false, _) => Resolution::Cancel,
        };
        if how == Resolution::SendAgain {
            // Noted before it is said: what follows may follow at once.
            self.history.push(Event::SaidAgain { provider_key: effect.provider_key.clone() });
        }
        let tenant = self.caller.tenant.clone();
        let done = self.run(async |engine| engine.resolve(&tenant, effect.id, &olga(), &how, "seen").await.map(drop));
        if let Some(Err(error)) = done {
            self.unexpected(&error);
        }
    }

    /// An effect is called back; refused where it may have left.
    pub fn cancel(&mut self) {
        let waits = |e: &&Effect| matches!(e.state, EffectState::Pending { .. } | EffectState::Scheduled { .. });
        let waiting: Vec<_> = self.runs().iter().flat_map(|agg| agg.effects.clone()).collect();
        let Some(effect) = waiting.iter().find(waits) else { return };
        let tenant = self.caller.tenant.clone();
        let asker = Asker::operator(olga());
        let done = self.run(async |engine| engine.cancel(&tenant, effect.id, &asker, "not wanted").await.map(drop));
        if let Some(Err(error)) = done {
            self.unexpected(&error);
        }
    }

    /// A switch is turned off, or the one that is off is turned on again.
    pub fn turn(&mut self) {
        if let Some((scope, name)) = self.off.take() {
            self.turns_it(scope, name, true);
            return;
        }
        let scopes =
            [(Scope::All, ""), (Scope::Provider, "other"), (Scope::Flow, "ticket"), (Scope::EffectType, "note")];
        let (scope, name) = *self.dice.pick(&scopes);
        self.turn_off(scope, name);
    }

    /// After the answer what stood still right before its write goes on.
    pub fn turn_off(&mut self, scope: Scope, name: &'static str) {
        let has_answered = self.turns_it(scope, name, false);
        self.off = Some((scope, name));
        self.elapse(SETTLE_MS);
        if has_answered {
            self.history.push(Event::Stopped { scope, name: name.into() });
        }
        self.provider.go_on();
        self.turns(20);
    }

    fn turns_it(&mut self, scope: Scope, name: &'static str, enabled: bool) -> bool {
        let turn = Turn { scope, name: name.into(), enabled, reason: "the test turns it".into() };
        let tenant = self.caller.tenant.clone();
        let done = self.run(async |engine| engine.turn_switch(&tenant, &olga(), &turn).await.map(drop));
        if let Some(Err(error)) = &done {
            self.unexpected(error);
        }
        done.is_some()
    }

    /// A person who brings a run to its end, whatever it waits for.
    pub fn help(&mut self, agg: &Aggregate) {
        for effect in agg.effects.iter().filter(|e| matches!(e.state, EffectState::Review { .. })) {
            self.settle(effect, false);
        }
        let Some(approval) = agg.approval() else { return };
        for name in ["cleo", "dora"] {
            let wish = Wish { verdict: Verdict::Approve, reason: None, shown: approval.effects_hash, edited: None };
            let (tenant, id, person) = (self.caller.tenant.clone(), approval.id, lead(name));
            let _ = self.run(async |engine| engine.decide(&tenant, id, &person, &wish).await.map(drop));
        }
    }
}

/// The same effect in other words.
fn mended(proposed: &effectgate_core::proposal::Proposed, n: usize) -> EditedEffect {
    let (effect_type, target) = (proposed.effect_type.as_str().to_owned(), Some(proposed.target.clone()));
    EditedEffect { effect_type, target, payload: format!(r#"{{"mended":{n}}}"#) }
}
