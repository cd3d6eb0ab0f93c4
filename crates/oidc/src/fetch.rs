//! How this room reaches the issuer: one request, one bounded answer, no redirect. The binary gives the engine's own
//! connection with its egress guard; a test gives what it likes.

use async_trait::async_trait;
use http::{Request, Response};

/// Why there is no answer. The text holds no secret: it may be logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchFailed(pub String);

/// Makes one request.
///
/// Guarantees asked of an implementation: bounded in time and in bytes, redirects are answers and not followed, only
/// the host of the URL is connected to.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// The whole answer, whatever its status.
    ///
    /// # Errors
    /// None came, or not whole, or not in time.
    async fn fetch(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, FetchFailed>;
}
