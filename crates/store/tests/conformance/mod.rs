//! The conformance suite: what every store must do, run by each twin. A twin brings a [`Bench`] and one line:
//! `conformance!(MyBench);`. Tests are grouped by noun; each gets a database of its own.
//!
//! Nobody sleeps here. Time passes by [`Bench::advance`]: a clock that is moved, or data that is moved into the past.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared by the test binaries of both twins; each uses the parts it needs"
)]

pub mod approval;
pub mod batch;
pub mod budget;
pub mod commit;
pub mod effect;
pub mod fixtures;
pub mod guard;
pub mod house;
pub mod inbox;
pub mod journal;
pub mod notice;
pub mod people;
pub mod purge;
pub mod replay;
pub mod reserve;
pub mod run;
pub mod search;
pub mod subscription;

use std::sync::Arc;

use async_trait::async_trait;
use effectgate_core::time::Timestamp;
use effectgate_store::Store;

/// A database of its own with a store on it.
#[async_trait]
pub trait Bench: Send + Sync + Sized {
    /// `None` if the database is not installed here; the bench has said so.
    async fn new() -> Option<Self>;
    fn store(&self) -> Arc<dyn Store>;
    /// A second handle on the same database: another replica, where the database allows one.
    async fn other(&self) -> Arc<dyn Store> {
        self.store()
    }
    /// Lets time pass as the database sees it: leases end, dues come. A store whose clock cannot be moved moves
    /// [`TIMES`] into the past instead.
    async fn advance(&self, ms: i64);
    /// Runs a statement beside the store, as somebody with access to the database might.
    async fn sql(&self, statement: &str);

    /// What the database's clock says.
    async fn now(&self) -> Timestamp {
        self.store().health().await.unwrap().clock
    }
}

/// Every column that holds a moment, by table.
pub const TIMES: &[(&str, &[&str])] = &[
    (
        "runs",
        &[
            "lease_since",
            "lease_expires_at",
            "next_attempt_at",
            "created_at",
            "updated_at",
            "expires_at",
            "content_expires_at",
        ],
    ),
    ("charges", &["window_start", "window_end"]),
    ("effects", &["due_at", "lease_expires_at", "first_sent_at", "unknown_since", "created_at", "updated_at"]),
    ("attempts", &["started_at", "ended_at"]),
    ("approvals", &["created_at", "expires_at", "next_step_at", "decided_at"]),
    ("asked", &["created_at", "expires_at"]),
    ("approval_tokens", &["created_at", "expires_at"]),
    ("heads", &["purge_after"]),
    ("notices", &["due_at"]),
    ("sessions", &["created_at", "seen_at", "expires_at"]),
    ("replays", &["made_at", "expires_at", "started_at", "ended_at", "held_until", "purge_after"]),
    ("profiles", &["created_at", "seen_at"]),
    ("subscriptions", &["created_at", "failing_since", "gone_since", "last_delivered_at"]),
    ("deliveries", &["due_at", "created_at"]),
];

/// Makes a test of every function of the suite, for one bench.
#[macro_export]
macro_rules! conformance {
    ($bench:ty) => {
        $crate::conformance! { @ $bench;
            reserve {
                a_new_key_is_kept_whole
                a_key_that_exists_changes_nothing_and_is_read
                hc_01_ten_simultaneous_reservations_make_one_run
                hc_02_a_duplicate_is_told_the_real_run
                hc_04_no_run_is_in_processing_without_a_lease_end
                the_same_key_in_two_tenants_or_flows_is_two_runs
                a_reservation_that_fails_in_its_last_part_leaves_nothing
                a_queued_run_has_no_lease
            }
            commit {
                a_transition_is_written_whole
                a_transition_with_a_bad_row_writes_nothing
                a_stale_journal_length_is_lost
                another_tenants_run_is_never_committed
                of_many_commits_on_one_length_one_wins
                a_run_that_is_not_there_is_lost
                content_that_is_not_given_stays
                the_first_answer_to_a_call_stays
                one_transition_may_close_an_approval_and_open_the_next
                two_open_approvals_are_refused
                one_intention_is_one_effect
                an_undecided_effect_is_refused
                an_effect_that_is_not_there_cannot_be_changed
                an_attempt_ends_once_started
                a_forked_journal_is_refused
            }
            budget {
                a_charge_is_added_with_what_it_is_for
                a_count_without_room_writes_nothing_and_says_until_when
                of_several_counts_all_are_charged_or_none
                a_lost_commit_charges_nothing
                what_is_given_back_is_free_again
                a_limit_is_judged_where_nothing_is_added
                the_next_window_begins_with_nothing
                of_64_claims_at_once_a_budget_of_10_lets_10_go
                claims_of_crossed_counts_do_not_wait_for_each_other_for_ever
                an_effect_keeps_what_it_was_charged
                a_window_that_is_over_is_purged_after_a_day
                what_waits_for_a_budget_is_found_in_its_order
            }
            guard {
                a_live_guard_takes_the_owner_with_its_fence_only
                a_late_owner_writes_nothing
                a_lease_that_is_over_can_be_taken_over_once
                an_over_guard_waits_for_the_end
                a_free_guard_takes_what_nobody_works_on
                a_renewal_keeps_the_chain_and_its_total
                a_grant_begins_a_new_chain
                a_lease_is_kept_until_it_is_cleared
                hc_04_a_lease_of_no_length_is_refused
                the_dispatchers_lease_is_judged_by_effect_and_fence
                a_write_beside_it_keeps_the_dispatchers_lease
                a_switch_that_applies_and_is_off_stops_the_commit
                a_switch_that_does_not_apply_stops_nothing
                of_a_turn_and_a_commit_the_one_is_seen_by_the_other
            }
            run {
                load_reads_children_in_the_order_of_their_numbers
                find_pages_through_every_run_newest_first
                find_demands_everything_that_is_given
                a_cursor_of_another_list_is_refused
                claimable_are_due_runs_oldest_first
                deliverable_are_due_runs_of_one_source_oldest_first
                lease_over_lists_only_what_nobody_may_claim
                unchanged_lists_what_stands_still_in_every_open_state
                gauges_count_what_is_open
                health_tells_schema_and_clock
            }
            effect {
                due_effects_come_by_provider_oldest_first
                one_providers_queue_does_not_hide_anothers
                what_a_switch_holds_back_fills_no_batch
                lost_effects_are_those_whose_dispatcher_is_late
                unknown_effects_are_looked_at_when_due_whoever_sent_them
                what_has_waited_for_a_person_comes_oldest_first_page_by_page
                find_pages_through_a_tenants_effects
            }
            approval {
                a_token_leads_to_its_approval_even_when_expired
                open_approvals_come_by_their_expiry
                edits_are_read_as_they_were_written
                other_approvals_come_newest_first
                overdue_approvals_are_expired_or_have_a_step_due
            }
            inbox {
                an_inbox_stands_in_each_order
                a_person_sees_what_was_asked_of_any_of_their_names
                pages_over_several_members_leave_nothing_out_and_show_nothing_twice
                a_page_goes_on_where_it_ended_whatever_was_decided_meanwhile
                an_inbox_follows_its_approvals
                a_lost_commit_leaves_the_inbox_alone
                an_approval_that_replaces_another_takes_its_place
                an_inbox_is_counted_so_far_and_no_further
                bad_inbox_questions_are_refused
            }
            journal {
                a_chain_is_read_in_pages_and_verifies
                heads_of_runs_and_houses_are_listed_together
                hc_41_an_edited_row_is_named
                hc_41_chains_do_not_fork_under_load
            }
            search {
                a_tenants_entries_are_found_newest_first
                a_search_demands_everything_that_is_given
                a_search_goes_on_behind_what_a_page_looks_at
                a_key_is_found_in_every_flow_it_was_used_in
            }
            house {
                a_change_of_the_house_is_compared_and_set
                of_many_changes_on_one_length_one_wins
                a_turn_counts_what_stands_where_in_its_scope
                a_failed_change_writes_nothing
                api_keys_are_kept_listed_and_revoked
                a_key_of_another_tenant_is_not_replaced
                people_are_kept_by_tenant_and_name
                sessions_come_and_go
            }
            people {
                a_profile_is_what_the_last_sign_in_told
                every_session_of_a_person_ends_at_once
                tallies_add_up_by_day_name_and_bucket
                tallies_of_many_at_once_lose_nothing
            }
            notice {
                due_notices_come_oldest_first
                a_notice_is_claimed_by_one
                a_settled_notice_stays_settled
                a_sent_word_is_known_since_its_moment
            }
            subscription {
                a_subscription_is_kept_with_its_entry_and_replaced_by_its_id
                a_subscription_that_is_gone_is_dropped_by_nobody
                a_delivery_is_added_once_and_due_by_its_subscription
                a_delivery_is_claimed_by_one_and_settled_for_good
                how_sending_goes_is_counted_where_it_stands
                what_was_delivered_is_forgotten_after_a_day
                a_subscription_of_a_key_that_is_not_there_is_refused
            }
            replay {
                a_plan_is_kept_with_its_items_or_not_at_all
                a_plan_is_started_once_and_in_time
                an_item_is_settled_by_one_and_the_plan_ends_when_none_waits
                a_running_plan_is_in_one_hand_until_the_hold_is_over
                plans_are_listed_newest_first
                old_plans_go_with_the_purge_and_running_ones_stay
                matching_runs_come_oldest_first_by_state_and_time
                a_filter_names_the_event_type
                the_corrections_of_a_run_are_found_by_the_original
            }
            purge {
                only_final_runs_past_their_time_go
                a_purge_is_bounded
                a_purged_runs_journal_stays_and_verifies
                a_purged_journal_goes_after_its_own_time
                a_flow_says_how_long_its_journals_stay
                a_key_used_again_goes_on_in_the_old_chain
                content_goes_before_the_run_and_the_hashes_stay
                expired_sessions_go_with_the_purge
                hc_40_a_purge_and_reservations_do_not_disturb_each_other
            }
            batch {
                an_operation_that_fails_among_many_fails_alone
                what_was_answered_is_seen_by_the_next_read
                a_caller_that_goes_away_does_not_undo_the_write
            }
        }
    };
    (@ $bench:ty; $($noun:ident { $($name:ident)+ })+) => {
        $(mod $noun {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let Some(bench) = <$bench as $crate::conformance::Bench>::new().await else { return };
                    $crate::conformance::$noun::$name(&bench).await;
                    $crate::conformance::Bench::store(&bench).close().await;
                }
            )+
        })+
    };
}
