//! A delivery, read and believed: which source, the whole body within its bounds, and a signature over the bytes as they
//! came or, where they were packed, over what they unpack to. Both are the sender's own.
//!
//! A refusal tells the sender no more than its code; which of the reasons it was stands in the log.

use axum::extract::Request;
use bytes::Bytes;
use effectgate_core::ids::{SourceName, Tenant};
use effectgate_engine::inbound::{Delivery, SourcePolicy, Unsigned};
use http::HeaderMap;

use super::packing::{Packing, Unpacked};
use crate::{
    app::App,
    problem::{Code, Problem, Result},
    request::read_body,
};

/// Names in the config have at most 64 characters; what is longer came from somewhere else.
const NAME_CHARS_SHOWN: usize = 64;

/// Reads a delivery.
///
/// # Errors
/// `unknown_source`, `unsupported_media_type`, what is wrong with the body, `bad_signature`, `stale_signature`,
/// `too_many_requests`.
pub(super) async fn read(app: &App, name: &SourceName, request: Request) -> Result<Delivery> {
    let source = app.engine.policy().source(name).ok_or_else(|| unknown(name))?;
    let (parts, body) = request.into_parts();
    let packing = Packing::of(&parts.headers)?;
    let raw = read_body(body, app).await?;
    let body = believed(app, name, source, &parts.headers, packing, raw)?;
    // Only what is signed is counted: who cannot sign cannot use up a sender's room.
    paced(app, name)?;
    Ok(Delivery { tenant: Tenant::new(app.settings.tenant.clone()), headers: parts.headers, body })
}

fn unknown(name: &SourceName) -> Problem {
    let name: String = name.as_str().chars().take(NAME_CHARS_SHOWN).collect();
    Problem::new(Code::UnknownSource, format!("there is no inbound door {name:?}"))
}

/// The body to go on with: unpacked, or as it came where that is signed and cannot be unpacked.
fn believed(
    app: &App,
    name: &SourceName,
    source: &SourcePolicy,
    headers: &HeaderMap,
    packing: Packing,
    raw: Bytes,
) -> Result<Bytes> {
    let max = app.settings.body_bytes_max;
    let signed = |bytes: &Bytes| source.signature.judge(headers, bytes, app.engine.now());
    let too_large = || Problem::new(Code::BodyTooLarge, format!("an unpacked body has at most {max} bytes"));
    match signed(&raw) {
        Ok(()) => match packing.unpack(&raw, max) {
            Unpacked::Whole(body) => Ok(body),
            Unpacked::Broken => Ok(raw),
            Unpacked::TooLarge => Err(too_large()),
        },
        Err(Unsigned::Wrong) if packing != Packing::Plain => match packing.unpack(&raw, max) {
            Unpacked::Whole(body) => signed(&body).map(|()| body).map_err(|why| refused(name, why)),
            Unpacked::Broken => Err(refused(name, Unsigned::Wrong)),
            Unpacked::TooLarge => Err(too_large()),
        },
        Err(why) => Err(refused(name, why)),
    }
}

fn refused(name: &SourceName, why: Unsigned) -> Problem {
    let (code, said) = match why {
        Unsigned::Missing | Unsigned::Wrong => (Code::BadSignature, "this is not signed by the source's secret"),
        Unsigned::Stale { .. } => (Code::StaleSignature, "this was signed too long ago, or too far ahead"),
    };
    tracing::warn!(source = %name, ?why, "a delivery was not believed; nothing was kept");
    let labels = [("source", name.as_str().to_owned()), ("answer", code.as_str().to_owned())];
    metrics::counter!("effectgate_inbound_total", &labels).increment(1);
    Problem::new(code, said)
}

/// As many as one API key may ask: a source is one caller.
fn paced(app: &App, name: &SourceName) -> Result<()> {
    app.pace.take(&format!("source:{name}"), app.engine.now()).map_err(|wait_ms| {
        let said = format!("this source brings more than {} events in a second", app.pace.per_second());
        Problem::new(Code::TooManyRequests, said).retry_after_ms(wait_ms)
    })
}
