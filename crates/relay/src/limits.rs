//! The relay's bounds, each with its reason. They keep a test tool that was left running from filling a machine; no
//! real provider's exchange comes near them.

use std::time::Duration;

/// Connections served at a time; more wait in the listener's backlog.
pub(crate) const CONNECTIONS_MAX: usize = 1_024;
/// Connections of the control listener at a time.
pub(crate) const CONTROL_CONNECTIONS_MAX: usize = 16;
/// Body of a request to the control listener: a rule is a few hundred bytes.
pub(crate) const CONTROL_BYTES_MAX: usize = 16 * 1024;
/// An SMTP command or reply line with its end. RFC 4954 section 4 asks for 12,288 where a client authenticates.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024;
/// Lines of one SMTP reply.
pub(crate) const REPLY_LINES_MAX: usize = 128;
/// Recipients of one message that can be sent a second time. RFC 5321 section 4.5.3.1.8 asks for 100.
pub(crate) const RECIPIENTS_MAX: usize = 1_000;
/// Head of a request or an answer. Twice what common servers accept (16 to 32 KiB).
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Header lines. hyper's own limit is 100; a proxy on the way may add some.
pub(crate) const HEADERS_MAX: usize = 128;
/// Body of a request or an answer that streams through, as it is on the wire.
pub(crate) const BODY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// What must be held in memory to be sent or given a second time: `duplicate` only.
pub(crate) const HELD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What is kept of an answer's body to give half of it.
pub(crate) const HALF_BYTES_MAX: usize = 64 * 1024;
/// Read at a time.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;
/// Log lines kept; the oldest go first.
pub(crate) const LOG_LINES_MAX: usize = 1_000;
/// Path in a log line.
pub(crate) const PATH_CHARS_MAX: usize = 256;
/// Rules that wait.
pub(crate) const RULES_MAX: usize = 1_000;
/// Different requests whose header is counted down (`times=`).
pub(crate) const HEADER_USES_MAX: usize = 10_000;
/// Until the upstream's connection stands, TLS included.
pub(crate) const CONNECT_WAIT: Duration = Duration::from_secs(15);
/// Without a byte from either side: the longest wait that RFC 5321 section 4.5.3.2.6 asks for.
pub(crate) const IDLE_WAIT: Duration = Duration::from_secs(600);
/// How long a silence lasts if the caller never leaves.
pub(crate) const SILENCE_WAIT: Duration = Duration::from_secs(3_600);
/// What is still written of a request whose answer came early.
pub(crate) const EARLY_ANSWER_WAIT: Duration = Duration::from_secs(2);
/// After a close: how long what the caller still sends is read, so that it sees the close and no reset.
pub(crate) const LINGER_WAIT: Duration = Duration::from_secs(1);
/// After a connection could not be accepted, such as for too many open files: until one of them may be closed.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
