//! When a process that serves is to stop: SIGTERM, SIGINT, or the end of standard input where that was asked for.

use tokio::{io::AsyncReadExt as _, signal::unix};

use crate::exit::Result;

/// Completes when the process is to stop.
pub(crate) fn signal(until_stdin_closes: bool) -> Result<impl Future<Output = ()> + Send> {
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    let mut interrupt = unix::signal(unix::SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = stdin_closed(), if until_stdin_closes => {}
        }
    })
}

async fn stdin_closed() {
    let (mut stdin, mut bin) = (tokio::io::stdin(), [0; 64]);
    while matches!(stdin.read(&mut bin).await, Ok(n) if n > 0) {}
}
