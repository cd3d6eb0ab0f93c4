//! Words between replicas: "there may be work". Said by NOTIFY, heard by LISTEN, on one connection of its own.
//!
//! Only a hint: the workers' period finds the work anyway. Said after the commit and not inside it, because a commit
//! that notifies takes a lock that all such commits of the server share, through the flush; and at most once in a
//! while, because one word says as much as ten.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Notify, task::JoinHandle, time::sleep};

use super::connect::{Link, Target};

const LISTEN: &str = "LISTEN effectgate_work";
const SAY: &str = "SELECT pg_notify('effectgate_work', '')";
/// The least time between two words of one replica: a dispatcher's tick takes about as long.
const PAUSE: Duration = Duration::from_millis(20);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// Where words are left and picked up.
#[derive(Clone, Default)]
pub(super) struct Wake {
    heard: Arc<Notify>,
    to_say: Arc<Notify>,
}

impl Wake {
    /// Lets the other replicas know.
    pub(super) fn nudge(&self) {
        self.to_say.notify_one();
    }

    /// Returns when another replica said something since the last return.
    pub(super) async fn heard(&self) {
        self.heard.notified().await;
    }

    /// Keeps the connection until aborted.
    pub(super) fn start(&self, target: &Target) -> JoinHandle<()> {
        tokio::spawn(keep(self.clone(), target.clone()))
    }
}

async fn keep(wake: Wake, target: Target) {
    let mut backoff = BACKOFF_MIN;
    loop {
        match open(&wake, &target).await {
            Ok(link) => {
                backoff = BACKOFF_MIN;
                // Words may have been missed while nobody listened.
                wake.heard.notify_one();
                serve(&wake, link).await;
            }
            Err(what) => tracing::debug!(what, "nobody listens for other replicas' work"),
        }
        sleep(backoff).await;
        backoff = (backoff * 2).min(BACKOFF_MAX);
    }
}

async fn open(wake: &Wake, target: &Target) -> Result<Link, String> {
    let heard = Arc::clone(&wake.heard);
    let own = Arc::new(std::sync::OnceLock::new());
    let me = Arc::clone(&own);
    let link = target
        .connect(move |said| {
            // What this replica said itself it knows.
            if me.get() != Some(&said.process_id()) {
                heard.notify_one();
            }
        })
        .await
        .map_err(|e| e.to_string())?;
    let row = link.client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(|e| e.to_string())?;
    let _ = own.set(row.get(0));
    link.client.batch_execute(LISTEN).await.map_err(|e| e.to_string())?;
    Ok(link)
}

/// Says what is to be said until the connection ends.
async fn serve(wake: &Wake, mut link: Link) {
    loop {
        tokio::select! {
            () = link.closed() => return,
            () = wake.to_say.notified() => {}
        }
        if link.query(SAY, &[]).await.is_err() {
            return;
        }
        sleep(PAUSE).await;
    }
}
