//! What a process of this machine has used: CPU time and resident memory, from `/proc`. Elsewhere there are no figures,
//! rather than wrong ones.

/// A reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    /// User and system time, in microseconds, in steps of 10 ms.
    pub(super) cpu_us: u64,
    pub(super) resident_kb: u64,
    pub(super) resident_kb_max: u64,
}

/// Linux shows ticks of 1/100 s to programs, whatever the kernel's own rate (`USER_HZ`, proc(5)).
const TICK_US: u64 = 10_000;

/// Reads what a process has used until now.
pub(super) fn used(pid: u32) -> Option<Used> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let (resident_kb, resident_kb_max) = (field(&status, "VmRSS:")?, field(&status, "VmHWM:")?);
    Some(Used { cpu_us: ticks(&stat)? * TICK_US, resident_kb, resident_kb_max })
}

/// Fields 14 and 15; counted after the command's name, which may hold anything, blanks and brackets included.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_does_not_move_the_fields() {
        let stat = "7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 21 4 0 0 20 0 9 0 1 1 1";

        assert_eq!(ticks(stat), Some(25));
    }

    #[test]
    fn this_process_uses_memory() {
        if cfg!(target_os = "linux") {
            assert!(used(std::process::id()).unwrap().resident_kb > 0);
        }
    }
}
