//! What only a file can get wrong: two processes, other binaries, full disks, power cuts, rows that somebody wrote.

mod durable;
mod full;
mod open;
mod row;
