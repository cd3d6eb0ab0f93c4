//! The token of an approval: stored as a hash, and worth nothing after its end.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use crate::{
    evidence::{Done, Evidence, Stop},
    ground::{Flow, SHORT_MS},
    stage::{Stage, word},
};

/// The token stands in no answer about the run, no journal entry, no log line and no byte of the database. That the
/// search looks in the right places is shown by the token's hash, which must be there.
pub(super) async fn hash(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let waiting = stage.waiting(Flow::Link, "card", seen).await?;
    let token = waiting.link.token().to_owned();
    seen.check(
        token.len() == 43,
        format!("the link carries a token of {} characters (256 bits in base64url)", token.len()),
    );
    // A look at the card, so that whatever logs requests has had its chance.
    stage.form(&waiting.link, "approve").await?;
    let approval = word(&waiting.approval, "/id");
    let paths = [
        format!("/v1/runs/{}", waiting.run),
        format!("/v1/runs/{}/explain", waiting.run),
        format!("/v1/runs/{}/journal?limit=200", waiting.run),
        format!("/v1/approvals/{approval}"),
        "/v1/approvals?limit=200".to_owned(),
    ];
    for path in &paths {
        let holds = !stage.gate.get(path).await?.text().contains(&token);
        let path = path.replace(&waiting.run, "…").replace(&approval, "…");
        seen.check(holds, format!("the token in the answer of {path}: {}", if holds { "not there" } else { "there" }));
    }
    stage.withdraw(&waiting.approval).await?;
    let places = stage.places();
    if places.is_empty() {
        let why = "database and log cannot be seen from here: name them with --look-in";
        return Err(Stop::NotApplicable(why.to_owned()));
    }
    let found = tokio::task::spawn_blocking(move || search(&places, &token)).await;
    let found = found.map_err(|e| Stop::Error(e.to_string()))?.map_err(|e| Stop::Error(e.to_string()))?;
    seen.note(format!("searched {} files, {} bytes", found.files, found.bytes));
    let where_it_is = if found.tokens.is_empty() { "none".to_owned() } else { found.tokens.join(", ") };
    seen.check(found.tokens.is_empty(), format!("files that hold the token: {where_it_is}"));
    seen.check(found.hashes > 0, format!("files that hold its SHA-256, as the database must: {}", found.hashes));
    Ok(())
}

#[derive(Default)]
struct Found {
    files: usize,
    bytes: usize,
    /// Names of files that hold the token.
    tokens: Vec<String>,
    /// How many hold its hash.
    hashes: usize,
}

/// A database that is larger is not read whole into memory; it is said.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

fn search(places: &[PathBuf], token: &str) -> io::Result<Found> {
    let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
    let mut found = Found::default();
    let mut open: Vec<PathBuf> = places.to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                open.push(entry?.path());
            }
            continue;
        }
        let bytes = read(&path)?;
        found.files += 1;
        found.bytes += bytes.len();
        if holds(&bytes, token.as_bytes()) {
            found.tokens.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
        found.hashes += usize::from(holds(&bytes, &hash) || holds(&bytes, hex::encode(hash).as_bytes()));
    }
    Ok(found)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.len() > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("{} is too large to be searched here", path.display())));
    }
    std::fs::read(path)
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

/// After its end an approval decides nothing, whether or not anybody has noted the end; its own outcome says so.
pub(super) async fn expiry(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let waiting = stage.waiting(Flow::Short, "card", seen).await?;
    let form = stage.form(&waiting.link, "approve").await?;
    seen.note(format!("an approval that ends after {SHORT_MS} ms; its card was opened before"));
    sleep(Duration::from_millis(SHORT_MS + 100)).await;
    let click = stage.gate.submit(&form).await?;
    seen.check(click.status >= 400, format!("the button, clicked after the end, is answered with {}", click.status));
    let over = |run: &Value| word(run, "/state") != "awaiting_human";
    let run = stage.until(&waiting.run, "the approval's end in the run", over).await?;
    seen.word("the run then", &word(&run, "/state"), &["failed_terminal"]);
    seen.word("because", &word(&run, "/reason"), &["approval_expired"]);
    stage.look_on().await;
    if stage.far().is_ok() {
        seen.count("effects at the provider", stage.executed(&waiting.path)?, 0);
    }
    Ok(())
}
