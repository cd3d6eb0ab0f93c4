//! Where a body ends (RFC 9112 section 6.3). The bytes stay as they are on the wire, chunk sizes and trailers included.

/// How the length of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    /// Answers only: the body is what comes until the connection closes.
    UntilClose,
}

/// A body that is being read.
#[derive(Debug, Clone)]
pub(super) struct Body {
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Left(u64),
    UntilClose,
    /// In a chunk's size line: the size so far, hexadecimal digits seen, past the digits.
    Size {
        size: u64,
        digits: u8,
        past: bool,
    },
    Chunk(u64),
    /// Between a chunk's data and the next size line.
    ChunkEnd,
    /// In the trailers: bytes of the present line, bytes of all lines.
    Trailers {
        line: u32,
        all: u32,
    },
    Done,
}

/// Chunks that do not follow the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadChunk;

/// Trailers, and the extensions in a size line. As hyper's own limit.
const TRAILER_BYTES_MAX: u32 = 16 * 1024;
/// A size of 15 digits cannot overflow.
const SIZE_DIGITS_MAX: u8 = 15;

const SIZE: State = State::Size { size: 0, digits: 0, past: false };

impl Body {
    pub(super) fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(n) => State::Left(n),
            Framing::Chunked => SIZE,
            Framing::UntilClose => State::UntilClose,
        };
        Self { state }
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    pub(super) fn ends_with_the_connection(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Says how many of these bytes belong to the body, and moves past them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, BadChunk> {
        let mut used = 0;
        while used < bytes.len() && self.state != State::Done {
            used += self.step(&bytes[used..])?;
        }
        Ok(used)
    }

    /// One run of data, or one byte of what lies between.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, BadChunk> {
        let many = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let (used, next) = match self.state {
            State::UntilClose => (many, State::UntilClose),
            State::Left(left) if left > many => (many, State::Left(left - many)),
            State::Left(left) => (left, State::Done),
            State::Chunk(left) if left > many => (many, State::Chunk(left - many)),
            State::Chunk(left) => (left, State::ChunkEnd),
            between => (1, after(between, bytes[0])?),
        };
        self.state = next;
        // No more than the bytes given, which are counted in usize.
        Ok(usize::try_from(used).unwrap_or(bytes.len()))
    }
}

fn after(state: State, byte: u8) -> Result<State, BadChunk> {
    match (state, byte) {
        (State::Size { size: 0, digits: 1.., .. }, b'\n') => Ok(State::Trailers { line: 0, all: 0 }),
        (State::Size { size, digits: 1.., .. }, b'\n') => Ok(State::Chunk(size)),
        (State::Size { size, digits, past: false }, digit) if digit.is_ascii_hexdigit() && digits < SIZE_DIGITS_MAX => {
            let value = u64::from(char::from(digit).to_digit(16).unwrap_or_default());
            Ok(State::Size { size: size * 16 + value, digits: digits + 1, past: false })
        }
        // An extension, or the line's CR.
        (State::Size { size, digits: digits @ 1.., past }, byte)
            if past || matches!(byte, b';' | b'\r' | b' ' | b'\t') =>
        {
            Ok(State::Size { size, digits, past: true })
        }
        (State::ChunkEnd, b'\r') => Ok(State::ChunkEnd),
        (State::ChunkEnd, b'\n') => Ok(SIZE),
        (State::Trailers { line: 0, .. }, b'\n') => Ok(State::Done),
        (State::Trailers { all, .. }, b'\n') => Ok(State::Trailers { line: 0, all: all + 1 }),
        (State::Trailers { line, all }, b'\r') => Ok(State::Trailers { line, all }),
        (State::Trailers { line, all }, _) if all < TRAILER_BYTES_MAX => {
            Ok(State::Trailers { line: line + 1, all: all + 1 })
        }
        _ => Err(BadChunk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds in pieces of `step` bytes; what was taken, and whether the end was found.
    fn fed(framing: Framing, bytes: &[u8], step: usize) -> Result<(usize, bool), BadChunk> {
        let mut body = Body::new(framing);
        let mut taken = 0;
        for piece in bytes.chunks(step) {
            let used = body.take(piece)?;
            taken += used;
            if used < piece.len() {
                break;
            }
        }
        Ok((taken, body.is_done()))
    }

    #[test]
    fn the_end_is_found_in_whatever_pieces_the_bytes_come() {
        let chunked: &[u8] = b"4;x=\"y\"\r\nWiki\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nGET /next";
        let whole = chunked.len() - b"GET /next".len();
        for step in 1..=chunked.len() {
            assert_eq!(fed(Framing::Chunked, chunked, step), Ok((whole, true)), "{step}");
            assert_eq!(fed(Framing::Length(7), b"1234567890", step), Ok((7, true)), "{step}");
        }
        assert_eq!(fed(Framing::Chunked, b"0\r\n\r\n", 2), Ok((5, true)));
        assert_eq!(fed(Framing::UntilClose, b"12", 1), Ok((2, false)));
        assert_eq!(fed(Framing::Length(0), b"12", 1), Ok((0, true)));
    }

    #[test]
    fn half_a_body_is_not_done() {
        for half in [&b"4\r\nWi"[..], b"4\r\nWiki\r\n", b"0\r\n", b"0\r\nX: 1\r\n"] {
            assert_eq!(fed(Framing::Chunked, half, 3), Ok((half.len(), false)));
        }
    }

    #[test]
    fn chunks_that_break_the_grammar_are_refused() {
        for bad in [&b"\r\n"[..], b"x\r\n", b"-1\r\n", b"ffffffffffffffff\r\n", b"1\r\nab\r\n"] {
            assert_eq!(fed(Framing::Chunked, bad, 1), Err(BadChunk), "{bad:?}");
        }
    }
}
