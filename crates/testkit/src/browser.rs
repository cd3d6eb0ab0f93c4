//! A Chromium of one test alone, driven through chromedriver by the W3C WebDriver protocol: what a person sees, presses
//! and types, on a desktop or a phone, in the light or the dark, with JavaScript or without.
//!
//! What lives here: start and end of the two processes, and the looks. What a page is asked is in `page`, what the
//! browser did behind the page in `seen`, the accessibility audit in `axe`, the protocol's bytes in `wire`, and a foreign web
//! site in `site`. What does
//! not: any knowledge of the product. No client library: the protocol is a dozen JSON calls, and the usual crates bring
//! a licence that this tree does not take. As with the private PostgreSQL a small shell waits on a pipe and ends
//! chromedriver when the test process is gone; Chromium hangs on a pipe of chromedriver's and goes with it.

mod axe;
mod look;
mod page;
mod seen;
mod site;
mod wire;

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use wire::Wire;

pub use axe::Violation;
pub use look::Look;
pub use page::Key;
pub use seen::Request;
pub use site::Site;

/// Longest wait for anything a page should come to show: far above a loaded machine's hiccup.
const PATIENCE_MS: u64 = 30_000;

/// Ends chromedriver when the standard input closes, which it does when the test process ends in whatever way.
const GUARD: &str = r#"
"$@" </dev/null &
pid=$!
read -r _
kill $pid 2>/dev/null
wait $pid
"#;

/// A running browser with one window. Dropping it ends the browser and its driver and removes the profile.
pub struct Browser {
    wire: Wire,
    guard: Child,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a fresh profile that wears `look`. None, and a line that says so, where Chromium or
    /// chromedriver is not installed.
    ///
    /// # Panics
    /// If one of the two is there and does not start.
    pub async fn start(look: &Look) -> Option<Self> {
        let (Some(chromium), Some(driver)) =
            (installed(&["chromium", "chromium-browser", "google-chrome"]), installed(&["chromedriver"]))
        else {
            println!("skipped: no Chromium");
            return None;
        };
        let profile = TempDir::new().expect("a folder for the profile");
        let (guard, port) = start_driver(&driver, profile.path());
        let wire = Wire::open(port, &capabilities(&chromium, profile.path())).await;
        let browser = Self { wire, guard, _profile: profile };
        browser.wear(look).await;
        Some(browser)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The session's end closes Chromium in order; the guard's end takes chromedriver, and what might be left.
        self.wire.close();
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

fn installed(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&folders).collect::<Vec<_>>();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// Starts chromedriver on a free port of its choice, which it names in its first lines.
fn start_driver(driver: &Path, profile: &Path) -> (Child, u16) {
    let mut command = Command::new("sh");
    command.args(["-c", GUARD, "guard"]).arg(driver).arg("--port=0");
    // What Chromium keeps for a user goes where the profile goes.
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env(name, profile);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut guard = command.spawn().expect("a shell");
    let lines = BufReader::new(guard.stdout.take().expect("piped")).lines();
    let port = lines.map_while(Result::ok).find_map(|line| port_in(&line)).expect("chromedriver names its port");
    (guard, port)
}

fn port_in(line: &str) -> Option<u16> {
    line.strip_suffix('.')?.split_once("successfully on port ")?.1.parse().ok()
}

fn capabilities(chromium: &Path, profile: &Path) -> Value {
    let data = format!("--user-data-dir={}", profile.join("chromium").display());
    let mut args = vec!["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", &data];
    // Nothing but what a page asks for may go over the network, and Chromium ends with the pipe to its driver.
    args.extend(["--disable-background-networking", "--no-first-run", "--disable-extensions", "--disable-sync"]);
    args.extend(["--remote-debugging-pipe", "--force-color-profile=srgb", "--lang=en-GB"]);
    // Chromium refuses its sandbox to root. The profile's folder was made by this process: its owner is who we are.
    if std::fs::metadata(profile).is_ok_and(|folder| folder.uid() == 0) {
        args.push("--no-sandbox");
    }
    json!({ "alwaysMatch": {
        "timeouts": { "implicit": PATIENCE_MS, "script": PATIENCE_MS, "pageLoad": PATIENCE_MS },
        "goog:loggingPrefs": { "performance": "ALL", "browser": "ALL" },
        "goog:chromeOptions": { "binary": chromium, "args": args },
    }})
}

#[cfg(test)]
mod tests {
    use super::port_in;

    #[test]
    fn the_port_is_read_from_the_line_that_names_it() {
        assert_eq!(port_in("ChromeDriver was started successfully on port 41873."), Some(41873));
        assert_eq!(port_in("Starting ChromeDriver 148.0.7778.167 (65db) on port 0"), None);
    }
}
