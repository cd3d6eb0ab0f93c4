//! Just enough of a browser to press a button: finds the form that decides, its hidden fields and its button. Reads
//! only pages of our own, which a test of the web room keeps well-formed.

use http::{HeaderMap, header::SET_COOKIE};
use secrecy::SecretString;

/// A form as it would be sent.
#[derive(Debug, Clone)]
pub struct Form {
    pub action: String,
    fields: Vec<(String, String)>,
    pub cookies: Option<SecretString>,
}

impl Form {
    /// The form with the cookies that its page set.
    #[must_use]
    pub fn with_cookies(mut self, headers: &HeaderMap) -> Self {
        let pairs = headers.get_all(SET_COOKIE).iter().filter_map(|v| v.to_str().ok()?.split(';').next());
        let cookies = pairs.collect::<Vec<_>>().join("; ");
        self.cookies = (!cookies.is_empty()).then(|| SecretString::from(cookies));
        self
    }

    /// The form with this value in a field: typed by a person, or tampered with.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        let mut form = self.without(name);
        form.fields.push((name.to_owned(), value.to_owned()));
        form
    }

    /// The form without one of its fields.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(have, _)| have != name);
        self
    }

    /// The body as a browser would encode it.
    #[must_use]
    pub fn body(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.fields).finish()
    }
}

/// The first form that has a button of this value, pressed.
#[must_use]
pub fn deciding(html: &str, button: &str) -> Option<Form> {
    html.split("<form").skip(1).filter_map(|rest| read(rest.split("</form>").next()?, button)).next()
}

fn read(form: &str, button: &str) -> Option<Form> {
    let (head, inside) = form.split_once('>')?;
    let tags = || inside.split('<').filter_map(|part| part.split('>').next());
    let pressed = tags().find(|tag| is(tag, "button") && attribute(tag, "value").as_deref() == Some(button))?;
    let hidden = tags().filter(|tag| is(tag, "input") && attribute(tag, "type").as_deref() == Some("hidden"));
    let fields = hidden.chain([pressed]).filter_map(|tag| {
        let name = attribute(tag, "name")?;
        Some((name, attribute(tag, "value").unwrap_or_default()))
    });
    Some(Form { action: attribute(head, "action").unwrap_or_default(), fields: fields.collect(), cookies: None })
}

fn is(tag: &str, name: &str) -> bool {
    tag.strip_prefix(name).is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let rest = tag.split_once(&format!(" {name}=\"")).or_else(|| tag.split_once(&format!("\n{name}=\"")))?.1;
    let (value, _) = rest.split_once('"')?;
    Some(value.replace("&quot;", "\"").replace("&#34;", "\"").replace("&#39;", "'").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<form method="get" action="/x"><button value="go">Go</button></form>
        <form method="post" action="/a/t"><input type="hidden" name="csrf" value="a&amp;b">
        <textarea name="reason"></textarea>
        <button type="submit" name="decision" value="reject">No</button>
        <button type="submit" name="decision" value="approve">Yes</button></form>"#;

    #[test]
    fn the_button_that_is_pressed_and_the_hidden_fields_are_sent() {
        let form = deciding(PAGE, "approve").unwrap();

        assert_eq!(form.action, "/a/t");
        assert_eq!(form.body(), "csrf=a%26b&decision=approve");
    }

    #[test]
    fn a_field_can_be_tampered_with_or_left_out() {
        let form = deciding(PAGE, "approve").unwrap();

        assert_eq!(form.clone().with("csrf", "x").body(), "decision=approve&csrf=x");
        assert_eq!(form.clone().without("csrf").with("reason", "a b").body(), "decision=approve&reason=a+b");
        assert_eq!(form.without("csrf").body(), "decision=approve");
    }

    #[test]
    fn a_page_without_the_button_has_no_form() {
        assert!(deciding(PAGE, "delete").is_none());
    }
}
