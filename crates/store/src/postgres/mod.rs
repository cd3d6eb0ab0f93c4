//! The PostgreSQL twin: any number of processes over one database. The other twin has the same file names and the same
//! order of functions; a difference carries a comment that begins "Differs:".
//!
//! Writers drain their queues into statements that carry a batch each ([`writer`], [`batch`], [`doubt`]); reads use pooled
//! connections ([`pool`]); one more connection hears of other replicas' work ([`wake`]). Leases are judged by the
//! database's moving clock inside the statements ([`tx::now`]).

mod approval;
mod asked;
mod batch;
mod charge;
mod charged;
mod columns;
mod commit;
mod connect;
mod doubt;
mod effect;
mod health;
mod house;
mod journal;
mod migrate;
mod notice;
#[cfg(test)]
mod plans;
mod pool;
mod profile;
mod purge;
mod replay;
mod reserve;
mod run;
mod search;
mod session;
mod store;
mod subscription;
mod tally;
mod tls;
mod tx;
mod wake;
mod writer;

use tokio::task::JoinHandle;

use self::{connect::Target, pool::Pool, wake::Wake, writer::Writers};
use crate::{Result, known::KnownFlows};

/// What may be set apart from the URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct PgOptions {
    /// Connections of this process in all: the writers', the listener's, and the rest for reads (at least two).
    pub connections_max: Option<usize>,
}

/// The store over one PostgreSQL database.
pub struct PgStore {
    pool: Pool,
    writers: Writers,
    known: KnownFlows,
    wake: Wake,
    listener: JoinHandle<()>,
}

impl PgStore {
    /// Connects to a `postgres://` URL (several hosts and unix sockets as in libpq), migrates the schema, and starts the
    /// writers. A server in recovery is refused. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::Open`](crate::StoreError::Open) if the URL cannot be used,
    /// [`StoreError::Unavailable`](crate::StoreError::Unavailable) if the database does not answer,
    /// [`StoreError::TooNew`](crate::StoreError::TooNew) and
    /// [`StoreError::MigrationChanged`](crate::StoreError::MigrationChanged) if another binary made its schema.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, PgOptions::default()).await
    }

    /// The same with every option.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: PgOptions) -> Result<Self> {
        let target = Target::parse(url)?;
        migrate::migrate(&target).await?;
        Self::start(&target, options)
    }

    /// The same for commands that only look: the schema is judged and not touched.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and [`StoreError::Open`](crate::StoreError::Open) if the schema is older than this
    /// binary.
    pub async fn connect_unmigrated(url: &str) -> Result<Self> {
        let target = Target::parse(url)?;
        migrate::check_current(&target).await?;
        Self::start(&target, PgOptions { connections_max: Some(0) })
    }

    fn start(target: &Target, options: PgOptions) -> Result<Self> {
        let wake = Wake::default();
        let (pool, writers) = (Pool::new(target, options.connections_max)?, Writers::start(target, &wake));
        let listener = wake.start(target);
        Ok(Self { pool, writers, known: KnownFlows::default(), wake, listener })
    }
}

impl Drop for PgStore {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
