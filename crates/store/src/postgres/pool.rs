//! The connections that read, and the small writes that belong to no batch. Nothing waits for ever: not for a
//! connection, not for an answer.
//!
//! A read changes nothing, so one whose connection was lost is simply made again on another. Differs: SQLite's pool
//! holds the writer too; here writers have connections of their own ([`super::writer`]).

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool as Connections, PoolError, RecyclingMethod, Timeouts,
};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Row, types::ToSql};

use super::{
    connect::Target,
    tx::{Fault, said},
    writer::WRITERS,
};
use crate::{Result, StoreError};

/// Enough for a burst of loads beside the workers' ticks; PostgreSQL's default of 100 connections must do for about
/// ten replicas, each with these, the writers and one that listens.
const CONNECTIONS: usize = 6;
/// A connection is made or becomes free within this time, or the database counts as away.
const CONNECTION_WAIT: Duration = Duration::from_secs(2);
/// The longest read is a page of 200 rows by index.
const READ_WAIT: Duration = Duration::from_secs(5);
/// A load and a worker's tick must not wait for each other.
const CONNECTIONS_MIN: usize = 2;
/// The listener's connection.
const LISTENERS: usize = 1;
/// Conflicts under serialisable isolation (40001, 40P01): two seconds of them, with [`pause`] between. Readers are
/// refused too; beside a purge that ran all the time, eight times at once were not enough for one of them (tests).
pub(super) const CONFLICTS_MAX: usize = 20;
/// The pause after the first conflict; it doubles up to 64 times that.
const CONFLICT_PAUSE: Duration = Duration::from_millis(2);
pub(super) const IN_THE_WAY: &str = "other transactions were in the way again and again";

/// Waits after the n-th conflict, counted from 0.
pub(super) async fn pause(conflict: usize) {
    sleep(CONFLICT_PAUSE * (1 << conflict.min(6))).await;
}

/// `jit`: compiling a plan costs more than any statement here.
const SESSION: &str = "SET jit = off";

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) struct Pool {
    connections: Connections,
    /// How many connections a read may lose before the database counts as away. Every pooled one may be dead after a
    /// restart, and each costs one.
    lost_max: usize,
    target: Target,
}

impl Pool {
    /// `in_all` bounds the connections of this process, those of the writers and the listener included.
    pub(super) fn new(target: &Target, in_all: Option<usize>) -> Result<Self> {
        let rest = |n: usize| n.saturating_sub(WRITERS + LISTENERS).max(CONNECTIONS_MIN);
        let size = in_all.map_or(CONNECTIONS, rest);
        // A look before each use would cost a round trip; a read that finds its connection dead is made again.
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(target.config.clone(), target.tls.clone(), manager);
        let wait = Some(CONNECTION_WAIT);
        let session = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
        });
        let connections = Connections::builder(manager)
            .max_size(size)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .post_create(session)
            .build()
            .map_err(|e| target.unavailable(&e.to_string()))?;
        Ok(Self { connections, lost_max: size + 1, target: target.clone() })
    }

    /// Every row of a read.
    pub(super) async fn list<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        map: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(sql, params).await?.iter().map(map).collect()
    }

    /// The first row of a read, if there is one.
    pub(super) async fn first<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        map: impl Fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.rows(sql, params).await?.first().map(map).transpose()
    }

    /// The rows of one statement that only reads.
    pub(super) async fn rows(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>> {
        let mut lost = 0;
        for conflict in 0..CONFLICTS_MAX {
            let client = self.connection().await?;
            match self.once(client, sql, params).await? {
                Ok(rows) => return Ok(rows),
                Err(Fault::Lost { .. }) if lost < self.lost_max => lost += 1,
                Err(Fault::Conflict(_)) => pause(conflict).await,
                Err(fault) => return Err(fault.of_read()),
            }
        }
        Err(self.target.unavailable(IN_THE_WAY))
    }

    /// Runs one small statement that writes, by itself, and says how many rows it changed. For what needs no word about
    /// its fate beyond the error: all of these may be done twice.
    pub(super) async fn write(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        for conflict in 0..CONFLICTS_MAX {
            let client = self.connection().await?;
            let writing = async {
                let statement = client.prepare_cached(sql).await?;
                client.execute(&statement, params).await
            };
            match timeout(READ_WAIT, writing).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => match Fault::from(error) {
                    Fault::Conflict(_) => pause(conflict).await,
                    fault => return Err(fault.of_write()),
                },
                Err(_) => {
                    drop(Object::take(client));
                    return Err(StoreError::CommitUnknown { what: "no answer in time".into() });
                }
            }
        }
        Err(self.target.unavailable(IN_THE_WAY))
    }

    async fn connection(&self) -> Result<Object> {
        self.connections.get().await.map_err(|error| match error {
            PoolError::Backend(error) => self.target.unavailable(&said(&error)),
            other => self.target.unavailable(&other.to_string()),
        })
    }

    async fn once(&self, client: Object, sql: &str, params: Params<'_>) -> Result<Result<Vec<Row>, Fault>> {
        let reading = async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, params).await
        };
        match timeout(READ_WAIT, reading).await {
            Ok(result) => Ok(result.map_err(Fault::from)),
            Err(_) => {
                // The answer may still come: not to the next one who gets this connection.
                drop(Object::take(client));
                Err(self.target.unavailable("no answer in time"))
            }
        }
    }

    pub(super) fn close(&self) {
        self.connections.close();
    }
}
