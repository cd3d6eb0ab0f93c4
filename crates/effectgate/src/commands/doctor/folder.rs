//! Where a SQLite file lies: who can read it, whether it can be written, how much room is left. Nothing is written to
//! find out.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use super::Finding;
use crate::config::DatabaseSettings;

/// A run with its journal and content takes some 3 KB (measured with payloads of 300 bytes): a gibibyte is some 300,000
/// runs, time enough to be told.
const ROOM_WARN: u64 = 1 << 30;
/// Below this the log alone may fill the disk within seconds.
const ROOM_FAIL: u64 = 64 << 20;

pub(super) fn look(database: &DatabaseSettings) -> Vec<Finding> {
    let DatabaseSettings::Sqlite { path, .. } = database else { return Vec::new() };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    vec![permissions(path, folder), room(folder)]
}

fn permissions(path: &Path, folder: &Path) -> Finding {
    let what = "data directory";
    let Ok(found) = fs::metadata(folder) else {
        return Finding::fail(what, format!("{} is not there", folder.display()), "Make it, for the server's user.");
    };
    if found.permissions().readonly() {
        let detail = format!("{} cannot be written", folder.display());
        return Finding::fail(
            what,
            detail,
            "Give the server's user the right to write there; the log lies beside the file.",
        );
    }
    if !path.exists() {
        return Finding::ok(what, folder.display().to_string());
    }
    // Opened for writing and closed again: the content is not touched.
    if let Err(error) = OpenOptions::new().write(true).open(path) {
        return Finding::fail(what, format!("{}: {error}", path.display()), "Give the file to the server's user.");
    }
    let mode = fs::metadata(path).map_or(0, |m| m.permissions().mode());
    if mode & 0o077 == 0 {
        return Finding::ok(what, format!("{}, for its owner alone", path.display()));
    }
    let detail =
        format!("{} can be read by others (mode {:o}); payloads are personal data", path.display(), mode & 0o777);
    Finding::warn(what, detail, "chmod 600 the file and its -wal and -shm.")
}

fn room(folder: &Path) -> Finding {
    match rustix::fs::statvfs(folder) {
        Err(error) => Finding::warn("disk space", error.to_string(), "Look at the disk by hand."),
        Ok(stat) => judge(stat.f_bavail.saturating_mul(stat.f_frsize)),
    }
}

fn judge(bytes: u64) -> Finding {
    let detail = format!("{} MiB free", bytes >> 20);
    let action = "Make room: without it reservations are refused with 503.";
    match bytes {
        ..ROOM_FAIL => Finding::fail("disk space", detail, action),
        ROOM_FAIL..ROOM_WARN => Finding::warn("disk space", detail, action),
        _ => Finding::ok("disk space", detail),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Verdict, *};

    #[test]
    fn a_file_that_others_can_read_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        fs::write(&path, "").unwrap();
        let look = |mode: u32| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            permissions(&path, folder.path()).verdict
        };

        assert_eq!(look(0o600), Verdict::Ok);
        assert_eq!(look(0o644), Verdict::Warn);
        assert_eq!(permissions(&path, &folder.path().join("absent")).verdict, Verdict::Fail);
    }

    #[test]
    fn little_room_is_a_warning_and_none_a_failure() {
        assert_eq!([0, ROOM_FAIL, ROOM_WARN].map(|b| judge(b).verdict), [Verdict::Fail, Verdict::Warn, Verdict::Ok]);
    }
}
