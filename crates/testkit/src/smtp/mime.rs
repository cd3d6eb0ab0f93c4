//! What a mail program shows of a message: its text parts with the transfer encoding undone. Reads what well-formed mail
//! holds (RFC 2045, 2046); anything else is handed on as it came, for a test to stumble over.

use base64::Engine as _;

/// Content type and text of each part, nested ones in order.
pub(super) fn texts(entity: &str) -> Vec<(String, String)> {
    let (head, body) = entity.split_once("\r\n\r\n").unwrap_or((entity, ""));
    let kind = field(head, "content-type").unwrap_or_else(|| "text/plain".to_owned());
    match boundary(&kind) {
        Some(boundary) => {
            let border = format!("--{boundary}");
            let parts = body.split(border.as_str()).skip(1).take_while(|part| !part.starts_with("--"));
            parts.flat_map(|part| texts(part.trim_start_matches("\r\n"))).collect()
        }
        None => vec![(kind, decoded(body, &field(head, "content-transfer-encoding").unwrap_or_default()))],
    }
}

fn field(head: &str, name: &str) -> Option<String> {
    let head = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    fields.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

fn boundary(kind: &str) -> Option<String> {
    let value = kind.split_once("boundary=")?.1;
    Some(value.split(';').next()?.trim().trim_matches('"').to_owned())
}

fn decoded(body: &str, encoding: &str) -> String {
    let bytes = match encoding.to_ascii_lowercase().as_str() {
        "base64" => {
            let text: String = body.split_whitespace().collect();
            base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_else(|_| body.into())
        }
        "quoted-printable" => quoted_printable(body),
        _ => body.into(),
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn quoted_printable(body: &str) -> Vec<u8> {
    let body = body.replace("=\r\n", "");
    let mut parts = body.split('=');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => bytes.extend([b"=", part.as_bytes()].concat()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_their_encodings_undone() {
        let mail = "Subject: x\r\nContent-Type: multipart/alternative;\r\n boundary=\"b1\"\r\n\r\n\
                    --b1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
                    caf=C3=A9 1=3D1 lo=\r\nng\r\n\
                    --b1\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+aGk8\r\nL2I+\r\n--b1--\r\n";

        let texts = texts(mail);

        assert_eq!(texts[0], ("text/plain; charset=utf-8".to_owned(), "café 1=1 long\r\n".to_owned()));
        assert_eq!(texts[1], ("text/html".to_owned(), "<b>hi</b>".to_owned()));
    }

    #[test]
    fn a_message_of_one_part_is_one_text() {
        assert_eq!(texts("Subject: x\r\n\r\nhello"), [("text/plain".to_owned(), "hello".to_owned())]);
    }
}
