//! An exhaustive model of lease, approval and outbox: every order of steps of two workers, two people, two attempts on the
//! wire, the sweeper, time, the switch and crashes, on core's own functions ([`moves`]) under the store's promise
//! ([`protocol`]). No guarantee falls in any state that can be reached; in each of five broken variants one does, and the
//! shortest way there is printed.
//!
//! A state holds a small projection of core's rows (states, fences, counts, whether a lease lives), not the rows. One key
//! is gone through with everything; two keys share the workers, the people and the switch.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "tests may panic, and the tables' givens are more than is needed here"
)]

#[path = "../tables/given.rs"]
mod given;
mod moves;
mod protocol;

use protocol::{Broken, Protocol};
use stateright::{Checker, Model};

/// Goes through every state that can be reached.
fn holds(protocol: Protocol) {
    let began = std::time::Instant::now();
    let checker = protocol.checker().spawn_bfs().join();
    println!("{protocol:?}: {} states in {:?}", checker.unique_state_count(), began.elapsed());
    assert!(checker.is_done());
    checker.assert_properties();
}

/// One key, three attempts: what a person's "again" and a re-issue can come to.
const ONE_KEY: Protocol = Protocol { keys: 1, enforcing: false, broken: None, sends: 3 };

#[test]
fn no_guarantee_falls_at_an_advisory_provider() {
    holds(ONE_KEY);
}

#[test]
fn no_guarantee_falls_at_an_enforcing_provider() {
    holds(Protocol { enforcing: true, ..ONE_KEY });
}

/// Two keys share the workers, the people and the switch. One attempt of each: everything else is gone through with one
/// key, and the states of two multiply (380,674, measured 2026-11-30).
#[test]
fn no_guarantee_falls_with_two_keys() {
    holds(Protocol { keys: 2, sends: 1, ..ONE_KEY });
}

/// The shortest way to where a guarantee falls that the variant breaks: the checker keeps the last way that it found, so
/// it is let one step further each time until there is one.
fn falls(broken: Broken, guarantees: &[&'static str]) {
    let protocol = Protocol { broken: Some(broken), ..ONE_KEY };
    for guarantee in guarantees {
        let way = (1..DEPTH_MAX).find_map(|depth| {
            let checker = protocol.checker().target_max_depth(depth).spawn_bfs().join();
            checker.discovery(guarantee)
        });
        let way = way.unwrap_or_else(|| panic!("{broken:?}: {guarantee} was not seen to fall"));
        println!("{broken:?}: {guarantee} falls by");
        way.into_actions().iter().for_each(|action| println!("    {action:?}"));
    }
}

/// Steps within which a broken variant must show itself.
const DEPTH_MAX: usize = 20;

#[test]
fn without_the_fence_a_late_worker_writes() {
    falls(Broken::NoFence, &["g2_fenced_writes"]);
}

#[test]
fn with_the_attempt_written_after_the_call_it_is_done_twice() {
    falls(Broken::AttemptAfterCall, &["g8_intent_first", "g10_no_blind_resend"]);
}

#[test]
fn with_a_look_before_the_insert_two_own_one_key() {
    falls(Broken::CheckThenInsert, &["g1_one_lease"]);
}

#[test]
fn with_the_unknown_sent_again_it_is_done_twice() {
    falls(Broken::UnknownResent, &["g10_no_blind_resend"]);
}

#[test]
fn with_a_token_that_is_not_used_up_two_decide() {
    falls(Broken::TokenTwice, &["g6_single_use"]);
}
