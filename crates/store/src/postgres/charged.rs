//! The commit of a transition that charges budgets: the statement of [`super::commit`] with the counts in it. What
//! charges nothing never comes here, so it pays nothing.
//!
//! One transition at a time: of two that charge one count, the second must see what the first added, and the rows of one
//! statement do not see each other. The count's row is locked after the run's, in every statement alike, and judged with
//! the row in hand. Differs: SQLite has one writer, which reads and adds.

use std::sync::LazyLock;

use effectgate_core::{ids::RunId, transition::Transition};
use tokio_postgres::Row;

use super::{
    batch::{self, Fate, OpId, Seen, Slot, Waiting, Work},
    charge::{self, CHARGES},
    columns::{Rows, Shape, expand},
    commit::{SHAPES, commit_statement, rows, run_and_lease},
    connect::Link,
    tx::{Fault, now},
};
use crate::{Result, types::Commit};

/// `counts` waits for the run's row before it locks a count's. `short` is the first count without room. A count whose
/// row is not there (purged in between) wins nothing, and the caller reads again.
const CHARGED: &str = commit_statement!(
    ",
counts AS MATERIALIZED (SELECT g.*, c.used FROM {g} CROSS JOIN LATERAL (SELECT used FROM charges
    WHERE charges.scope = g.scope AND charges.window_start = g.window_start AND (SELECT count(*) FROM held) > 0
    FOR UPDATE) c),
short AS MATERIALIZED (SELECT scope, window_end FROM counts WHERE most IS NOT NULL AND used + amount > most
  ORDER BY scope, window_start LIMIT 1)",
    ",
  (SELECT scope FROM short) AS short_scope, (SELECT window_end FROM short) AS short_until,
  (SELECT count(*) FROM {g} WHERE most IS NOT NULL) = (SELECT count(*) FROM counts WHERE most IS NOT NULL) AS counted",
    "
    AND h.short_scope IS NULL AND h.counted",
    ",
added AS MATERIALIZED (SELECT c.* FROM counts c WHERE c.amount <> 0 AND (c.run_id IN (SELECT run_id FROM won)) IS TRUE),
charge AS (UPDATE charges t SET used = greatest(0, a.used + a.amount) FROM added a
  WHERE t.scope = a.scope AND t.window_start = a.window_start)",
    "
UNION ALL SELECT run_id, NULL, NULL, clock, 1, short_scope, short_until FROM timed
WHERE short_scope IS NOT NULL AND at_seq = expected_seq",
    ", NULL::text AS short_scope, NULL::bigint AS short_until"
);

pub(super) static CHARGED_SQL: LazyLock<String> = LazyLock::new(|| {
    let shapes: Vec<&Shape> = SHAPES.into_iter().chain([&CHARGES]).collect();
    expand(CHARGED, &shapes)
});

/// A transition that charges something, or gives something back.
pub(super) struct Charged(pub(super) Transition);

impl Work for Charged {
    type Answer = Commit;

    fn run_id(&self) -> RunId {
        self.0.run.id
    }

    fn statement() -> &'static str {
        &CHARGED_SQL
    }

    fn rows<'a>(ops: &[(&'a Self, OpId)]) -> Result<Vec<Rows<'a>>> {
        let transitions: Vec<(&Transition, OpId)> = ops.iter().map(|(op, id)| (&op.0, *id)).collect();
        let mut all = rows(&transitions)?;
        let mut charges = Rows::new(&CHARGES);
        ops.iter().for_each(|(op, _)| charge::push_all(&mut charges, &op.0.run.id, &op.0.charges));
        all.push(charges);
        Ok(all)
    }

    fn read(row: &Row) -> Result<(RunId, Commit)> {
        let (id, lease) = run_and_lease(row)?;
        Ok(match charge::over(row)? {
            Some((scope, until)) => (id, Commit::OverBudget { scope, until }),
            None => (id, Commit::Committed { lease }),
        })
    }

    async fn unsaid(&self, id: OpId, link: &mut Link) -> Result<Commit, Fault> {
        self.0.unsaid(id, link).await
    }

    fn entry_seq(&self) -> i64 {
        self.0.entry_seq()
    }

    fn judge(&self, id: OpId, seen: Option<&Seen>) -> Fate<Commit> {
        self.0.judge(id, seen)
    }

    fn is_change(answer: &Commit) -> bool {
        Transition::is_change(answer)
    }
}

/// How often the counts' rows are begun when the connection is lost under it: by then nothing was charged.
const BEGINS_MAX: usize = 2;

/// Commits one transition and answers it.
pub(super) async fn run(slot: &mut Slot, waiting: Waiting<Charged>) {
    let mut begun = Ok(());
    for _ in 0..BEGINS_MAX {
        begun = match slot.link().await {
            Ok(link) => charge::begin(link, &waiting.op.0.charges).await.map_err(Fault::of_read),
            Err(error) => Err(error),
        };
        if begun.is_ok() {
            break;
        }
    }
    match begun {
        Ok(()) => batch::run(slot, vec![waiting]).await,
        Err(error) => batch::answer_all(vec![waiting], &error),
    }
}
