//! Named failure points, for crash tests: `EFFECTGATE_FAILPOINT=name=abort` ends the process at that point as kill -9
//! would; `name=pause` announces the point on standard error and waits there to be killed. Does nothing unless the
//! variable is set when the process starts.

use std::sync::OnceLock;

struct Point {
    name: String,
    action: Action,
}

#[derive(PartialEq)]
enum Action {
    Abort,
    Pause,
}

fn armed() -> Option<&'static Point> {
    static POINT: OnceLock<Option<Point>> = OnceLock::new();
    POINT
        .get_or_init(|| {
            let text = std::env::var("EFFECTGATE_FAILPOINT").ok()?;
            let (name, action) = text.split_once('=')?;
            let action = if action == "pause" { Action::Pause } else { Action::Abort };
            Some(Point { name: name.to_owned(), action })
        })
        .as_ref()
}

/// The process has come to the point `name`.
pub async fn at(name: &str) {
    let Some(point) = armed() else { return };
    if point.name != name {
        return;
    }
    #[expect(clippy::print_stderr, reason = "the test that armed the point waits for this line")]
    {
        eprintln!("failpoint {name}");
    }
    match point.action {
        Action::Abort => std::process::abort(),
        Action::Pause => std::future::pending().await,
    }
}
