//! One server process on one data directory: made, run, ended, run again. Which databases lie in it is not known here.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{PgError, PgOptions};

pub(super) const USER: &str = "effectgate";
/// Long enough for a crash recovery on a machine that does much else; a start takes well under a second.
const READY_WAIT: Duration = Duration::from_secs(60);
const READY_POLL: Duration = Duration::from_millis(20);
/// Waits for a word or for the end of its caller, then ends the server. Without a word the caller is gone and nobody
/// else will clean up. The signal is repeated: one that comes before the server has set its handlers is lost.
const KEEPER: &str = r#"
dir=$1; shift
"$@" </dev/null >"$dir/log" 2>&1 &
pid=$!
read -r signal
while kill -s "${signal:-QUIT}" $pid 2>/dev/null; do sleep 0.05; done
wait $pid
[ -n "$signal" ] || rm -rf "$dir"
"#;

pub(super) struct Server {
    binaries: PathBuf,
    dir: TempDir,
    port: u16,
    settings: Vec<String>,
    account: Option<Account>,
    keeper: Option<Child>,
}

/// Who the server runs as: PostgreSQL refuses to run as root.
#[derive(Clone, Copy)]
struct Account {
    uid: u32,
    gid: u32,
}

impl Server {
    pub(super) fn create(binaries: &Path, options: PgOptions) -> Result<Self, PgError> {
        let dir = tempfile::Builder::new().prefix("effectgate-pg-").tempdir().map_err(io("make a directory"))?;
        let account = unprivileged(dir.path())?;
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).map_err(io("set permissions"))?;
        let mut settings = options.settings;
        if options.no_fsync {
            settings.extend(["fsync=off", "full_page_writes=off", "synchronous_commit=off"].map(str::to_owned));
        }
        let mut server = Self { binaries: binaries.to_owned(), dir, port: 0, settings, account, keeper: None };
        server.init()?;
        server.run_on_a_free_port()?;
        Ok(server)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn socket_dir(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        // Without a home of ours, and with messages that tests can read.
        command.current_dir(self.dir.path()).env("LC_ALL", "C").stdin(Stdio::null());
        if let Some(Account { uid, gid }) = self.account {
            command.gid(gid).uid(uid);
        }
        command
    }

    fn init(&self) -> Result<(), PgError> {
        let mut initdb = self.command(self.binaries.join("initdb"));
        // -N: the files need not be flushed, a crash of the machine ends the test anyway.
        initdb.args(["-N", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", USER, "-D"]).arg(self.data());
        let output = initdb.output().map_err(io("initdb"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(PgError::Failed { step: "initdb", said: String::from_utf8_lossy(&output.stderr).into_owned() })
    }

    pub(super) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Another process may take the port between the look and the start.
    fn run_on_a_free_port(&mut self) -> Result<(), PgError> {
        let mut last = None;
        for _ in 0..3 {
            self.port = free_port()?;
            match self.run() {
                Ok(()) => return Ok(()),
                Err(e) => last = Some(e),
            }
        }
        Err(last.expect("the loop ran at least once"))
    }

    /// Starts the server and waits until it takes connections.
    pub(super) fn run(&mut self) -> Result<(), PgError> {
        let mut keeper = self.command("/bin/sh");
        keeper
            .args(["-c", KEEPER, "sh"])
            .arg(self.dir.path())
            .arg(self.binaries.join("postgres"))
            .arg("-D")
            .arg(self.data());
        keeper.arg("-k").arg(self.dir.path()).args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        for setting in &self.settings {
            keeper.arg("-c").arg(setting);
        }
        // Not what the last server said.
        let _ = fs::remove_file(self.dir.path().join("log"));
        // A group of its own: whoever ends the test's group must not end the one who cleans up.
        keeper.stdin(Stdio::piped()).process_group(0);
        self.keeper = Some(keeper.spawn().map_err(io("start"))?);
        self.wait_until_ready()
    }

    #[expect(clippy::disallowed_methods, reason = "the server gives no signal when it is ready")]
    fn wait_until_ready(&mut self) -> Result<(), PgError> {
        let began = Instant::now();
        while began.elapsed() < READY_WAIT {
            if self.is_ready() {
                return Ok(());
            }
            if self.has_given_up() {
                break;
            }
            std::thread::sleep(READY_POLL);
        }
        let said = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        self.end("QUIT");
        Err(PgError::Failed { step: "start", said })
    }

    fn is_ready(&self) -> bool {
        let mut probe = self.command(self.binaries.join("pg_isready"));
        probe.args(["-q", "-h"]).arg(self.dir.path()).args(["-p", &self.port.to_string(), "-d", "postgres"]);
        probe.status().is_ok_and(|status| status.success())
    }

    /// True if the log says that the server is not going to come up.
    fn has_given_up(&self) -> bool {
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        let last = log.lines().next_back().unwrap_or_default();
        last.contains("FATAL:  could not") || last.ends_with("database system is shut down")
    }

    /// Ends the server with a signal and waits until it is gone. Does nothing if it does not run.
    pub(super) fn end(&mut self, signal: &str) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(mut pipe) = keeper.stdin.take() {
            // The pipe closes with the word; a keeper that is gone needs none.
            let _ = writeln!(pipe, "{signal}");
        }
        let _ = keeper.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("QUIT");
    }
}

fn free_port() -> Result<u16, PgError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(io("find a free port"))?;
    Ok(listener.local_addr().map_err(io("find a free port"))?.port())
}

/// For root: the account of the distribution's PostgreSQL, else nobody's; the directory becomes that account's.
fn unprivileged(dir: &Path) -> Result<Option<Account>, PgError> {
    if fs::metadata(dir).map_err(io("look at a directory"))?.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").map_err(io("read /etc/passwd"))?;
    let account = ["postgres", "nobody"].into_iter().find_map(|name| account_of(&users, name));
    let account = account.ok_or_else(|| PgError::Failed {
        step: "find an account",
        said: "PostgreSQL refuses to run as root, and there is neither `postgres` nor `nobody`".into(),
    })?;
    chown(dir, Some(account.uid), Some(account.gid)).map_err(io("give a directory away"))?;
    Ok(Some(account))
}

fn account_of(users: &str, name: &str) -> Option<Account> {
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2);
    Some(Account { uid: ids.next()?.parse().ok()?, gid: ids.next()?.parse().ok()? })
}

fn io(step: &'static str) -> impl Fn(std::io::Error) -> PgError {
    move |source| PgError::Io { step, source }
}
