//! How a body is packed on its way (`Content-Encoding`): not at all, or with gzip. Unpacked within the same bound as a
//! plain body, whatever a few bytes claim to become.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::{HeaderMap, header};

use crate::problem::{Code, Problem, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
}

/// What came of unpacking.
pub(super) enum Unpacked {
    Whole(Bytes),
    /// No gzip, or one that is cut or damaged.
    Broken,
    TooLarge,
}

impl Packing {
    /// Reads the header.
    ///
    /// # Errors
    /// `unsupported_media_type` for any other coding, and for several on top of each other.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self> {
        let lines: Vec<_> = headers.get_all(header::CONTENT_ENCODING).iter().collect();
        let word = match lines[..] {
            [] => return Ok(Self::Plain),
            [one] => one.to_str().unwrap_or_default().trim().to_ascii_lowercase(),
            _ => String::new(),
        };
        match word.as_str() {
            "identity" => Ok(Self::Plain),
            // RFC 9110 section 8.4.1.3: x-gzip is the same.
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            _ => {
                let said = "the body's Content-Encoding must be gzip or identity; nothing was kept";
                Err(Problem::new(Code::UnsupportedMediaType, said))
            }
        }
    }

    /// Unpacks to at most `bytes_max` bytes.
    pub(super) fn unpack(self, body: &Bytes, bytes_max: usize) -> Unpacked {
        if self == Self::Plain {
            return Unpacked::Whole(body.clone());
        }
        let mut whole = Vec::new();
        let mut reader = MultiGzDecoder::new(&body[..]).take(bytes_max as u64 + 1);
        match reader.read_to_end(&mut whole) {
            Ok(n) if n > bytes_max => Unpacked::TooLarge,
            Ok(_) => Unpacked::Whole(whole.into()),
            Err(_) => Unpacked::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use http::HeaderValue;

    use super::*;

    fn packed(plain: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn a_few_bytes_that_would_become_many_are_not_unpacked() {
        let bomb = packed(&vec![0; 10_000_000]);
        assert!(bomb.len() < 20_000);

        assert!(matches!(Packing::Gzip.unpack(&bomb, 1_000_000), Unpacked::TooLarge));
        let whole = packed(&[7; 1_000]);
        assert!(matches!(Packing::Gzip.unpack(&whole, 1_000), Unpacked::Whole(b) if b.len() == 1_000));
        assert!(matches!(Packing::Gzip.unpack(&whole, 999), Unpacked::TooLarge));
        assert!(matches!(Packing::Gzip.unpack(&whole.slice(..whole.len() - 3), 1_000), Unpacked::Broken));
        assert!(matches!(Packing::Gzip.unpack(&Bytes::from_static(b"{}"), 1_000), Unpacked::Broken));
    }

    #[test]
    fn codings_are_read_strictly() {
        let of = |values: &[&'static str]| {
            let line = |value: &&'static str| (header::CONTENT_ENCODING, HeaderValue::from_static(value));
            Packing::of(&HeaderMap::from_iter(values.iter().map(line))).ok()
        };

        assert_eq!(of(&[]), Some(Packing::Plain));
        assert_eq!(of(&["Identity"]), Some(Packing::Plain));
        assert_eq!(of(&["GZIP"]), Some(Packing::Gzip));
        for other in [&["br"][..], &["gzip, gzip"], &["gzip", "identity"], &[""], &["deflate"]] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
