//! Single sign-on with the binary as it ships and an issuer on a wire: there, back, out, and an issuer that is away, slow,
//! or behind an address that nobody allowed.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use effectgate_testkit::oidc::{CLIENT_ID, CLIENT_SECRET, ScriptedIssuer, Someone};
use tokio::runtime::Runtime;

use crate::{
    config,
    support::{Gate, House, KEY},
};

/// A browser as far as redirects and cookies go.
#[derive(Default)]
struct Browser(BTreeMap<String, String>);

struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> String {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}: ")));
        line.map(|line| line[name.len() + 2..].to_owned()).unwrap_or_default()
    }
}

impl Browser {
    fn get(&mut self, url: &str) -> Got {
        self.ask("GET", url, "")
    }

    fn ask(&mut self, method: &str, url: &str, body: &str) -> Got {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let cookies: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {}\r\nconnection: close\r\nsec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            cookies.join("; "),
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        for line in head.lines().filter(|line| line.to_lowercase().starts_with("set-cookie: ")) {
            let (name, rest) = line["set-cookie: ".len()..].split_once('=').unwrap();
            match rest.contains("Max-Age=0") {
                true => self.0.remove(name),
                false => self.0.insert(name.to_owned(), rest.split(';').next().unwrap().to_owned()),
            };
        }
        Got { status: head[9..12].parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
    }

    /// There and back; what the way back answers.
    fn sign_in(&mut self, gate: &Gate) -> Got {
        let start = self.get(&format!("{}/auth/oidc/start?next=%2Fme", gate.url));
        if start.status != 303 {
            return start;
        }
        let there = Self::default().get(&start.header("location"));
        assert_eq!(there.status, 303, "{}", there.body);
        self.get(&there.header("location"))
    }
}

fn house(issuer: &str, more: &str) -> House {
    House::with(&format!(
        "{}\n[auth.oidc]\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT_ID}\"\nclient_secret = \"{CLIENT_SECRET}\"\n\
         name = \"House ID\"\nroles = {{ leads = [\"approver\"] }}\n{more}",
        config::to_nobody()
    ))
}

fn issuer() -> (Runtime, ScriptedIssuer) {
    let runtime = Runtime::new().unwrap();
    let issuer = runtime.block_on(ScriptedIssuer::start());
    issuer.sign_in(Someone::new("anna", &["leads"]));
    (runtime, issuer)
}

fn log(house: &House) -> String {
    std::fs::read_to_string(house.path("server.log")).unwrap()
}

#[test]
fn somebody_signs_in_at_an_issuer_looks_at_their_page_and_signs_out_at_both() {
    let (_runtime, issuer) = issuer();
    let house = house(issuer.url(), "");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let mut browser = Browser::default();
    assert!(browser.get(&format!("{}/login", gate.url)).body.contains("House ID"));

    let back = browser.sign_in(&gate);

    assert_eq!((back.status, back.header("location")), (303, "/me".to_owned()), "{}", back.body);
    let me = browser.get(&format!("{}/me", gate.url)).body;
    assert!(me.contains(&format!("oidc:{}#id-of-anna", issuer.url())) && me.contains("approver"), "{me}");
    let form = &me[me.find("action=\"/logout\"").unwrap()..];
    let token = form.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    let out = browser.ask("POST", &format!("{}/logout", gate.url), &format!("csrf={token}"));
    let refresh = out.header("refresh");
    let home = Browser::default().get(refresh.strip_prefix("0; url=").unwrap());
    assert_eq!(home.header("location"), format!("{}/login", gate.url));
    assert_eq!(issuer.asked().signed_out, [Some("id-of-anna".to_owned())]);
    let said = log(&house);
    for secret in [CLIENT_SECRET, "id-of-anna", "anna@house.test", "code-1", "access-1"] {
        assert!(!said.contains(secret), "{secret} is in the log: {said}");
    }
}

#[test]
fn an_operator_signs_somebody_out_beside_the_running_server() {
    let (_runtime, issuer) = issuer();
    let house = house(issuer.url(), "");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let mut browser = Browser::default();
    browser.sign_in(&gate);

    let told = house.run(&["user", "sign-out", "anna@house.test"]);

    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.contains("signed out everywhere"), "{}", told.out);
    assert_eq!(browser.get(&format!("{}/me", gate.url)).status, 303);
    assert_ne!(house.run(&["user", "sign-out", "nobody"]).code, 0);
}

#[test]
fn the_server_serves_without_its_issuer_and_finds_it_when_it_is_back() {
    let (_runtime, issuer) = issuer();
    issuer.down(true);
    let house = house(issuer.url(), "timeout_ms = 500\n");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let mut browser = Browser::default();

    let away = browser.sign_in(&gate);

    assert_eq!((away.status, away.header("retry-after").as_str()), (503, "5"), "{}", away.body);
    assert!(browser.get(&format!("{}/login", gate.url)).body.contains("action=\"/login\""), "local accounts go on");
    assert!(log(&house).contains("nobody can sign in with the issuer"));
    let doctor = house.run(&["doctor", "--json"]);
    assert!(doctor.out.contains("sign-in"), "{}", doctor.out);
    issuer.down(false);
    let doctor = house.run(&["doctor", "--json"]).out;
    assert!(doctor.contains("answers with 1 keys") && doctor.contains("/auth/oidc/callback"), "{doctor}");
}

#[test]
fn an_issuer_that_is_slow_is_given_up_in_time() {
    let (_runtime, issuer) = issuer();
    issuer.slow(Duration::from_secs(30));
    let house = house(issuer.url(), "timeout_ms = 300\n");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);

    assert_eq!(Browser::default().sign_in(&gate).status, 503);
}

#[test]
fn the_issuer_is_reached_only_where_an_issuer_may_be() {
    // A name of this machine's own network by https: no leave was given.
    let house = house("https://10.255.255.1", "timeout_ms = 300\n");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);

    assert_eq!(Browser::default().sign_in(&gate).status, 503);

    assert!(log(&house).contains("10.255.255.1, which is private"), "{}", log(&house));
}
