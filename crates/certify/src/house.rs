//! A gate that may be killed and whose files may be read: a throwaway one. Against a gate in service there is none, and
//! the items that need it say so.

use std::path::PathBuf;

use async_trait::async_trait;

/// The house did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HouseError(pub String);

/// Where a throwaway gate lives.
#[async_trait]
pub trait House: Send {
    /// Kills the gate's process with no warning (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// It could not be killed.
    async fn kill(&mut self) -> Result<(), HouseError>;

    /// Starts it again on the same data, and gives its address.
    ///
    /// # Errors
    /// It did not start.
    async fn start(&mut self) -> Result<String, HouseError>;

    /// Stops it in order.
    ///
    /// # Errors
    /// It did not stop in time.
    async fn end(&mut self) -> Result<(), HouseError>;

    /// The last lines of its log, for whoever looks for the reason of a failure.
    fn log_tail(&self) -> String;

    /// The folder that holds the gate's database and log, and nothing else.
    fn folder(&self) -> PathBuf;
}
