//! Runs a command beside one private PostgreSQL, for test runners that start a process for each test:
//! `private-postgres cargo nextest run`. The command finds the address in `EFFECTGATE_TEST_PG_URL`.

use std::process::{Command, ExitCode};

use effectgate_testkit::pg::{PrivatePg, URL_VARIABLE};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: private-postgres COMMAND [ARGUMENT...]");
        return ExitCode::from(2);
    };
    let server = match PrivatePg::start() {
        Ok(server) => server,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let status = Command::new(program).args(words).env(URL_VARIABLE, server.url("postgres")).status();
    drop(server);
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1)),
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
