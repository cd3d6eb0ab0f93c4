//! What can fail in the store. Expected alternatives (lost, busy, absent) are values, not errors.

/// What the store could not do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer, or refused for a passing reason (full disk, too many connections). Nothing was
    /// committed. Worth another try later.
    #[error("the database is not available: {what}")]
    Unavailable { what: String },
    /// The connection was lost at the commit, or the wait for a standby was cancelled: whether it committed is not
    /// known. Read again before anything else.
    #[error("whether the commit happened is not known: {what}")]
    CommitUnknown { what: String },
    /// A row that this program never writes.
    #[error("table {table}, row {row}: column {column} holds what it cannot hold")]
    Corrupt { table: &'static str, column: &'static str, row: String },
    /// A constraint of the schema refused a row: a bug of ours, kept from becoming bad data.
    #[error("the database refused a row: {what}")]
    Rejected { what: String },
    /// A caller's cursor that no page of this list ends with.
    #[error("this is no cursor of this list")]
    BadCursor,
    /// The database was migrated by a newer binary.
    #[error("the database is at schema {found}, this binary knows up to {known}: use the newer binary")]
    TooNew { found: i64, known: i64 },
    /// A migration's text is not the one that was applied.
    #[error("migration {number} was applied with another text than this binary carries")]
    MigrationChanged { number: i64 },
    /// Another process holds the SQLite file.
    #[error("{path} is in use by another process; one process serves one SQLite file")]
    InUse { path: String },
    /// The URL or path cannot be used.
    #[error("cannot open {url}: {what}")]
    Open { url: String, what: String },
}

impl StoreError {
    /// True where the same call may succeed later without anybody mending anything.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::CommitUnknown { .. })
    }
}
