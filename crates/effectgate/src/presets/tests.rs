//! The files are judged as a config is, named in the docs, and merged so that a section's own members win.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::{collections::BTreeSet, path::Path};

use effectgate_core::{ids::ProviderName, provider::Class};
use url::Url;

use super::*;
use crate::config::{ConfigErrors, Environment, Loaded, Resolved, load};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn loaded(text: &str) -> Result<Loaded, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effectgate.toml");
    std::fs::write(&path, text).unwrap();
    for token in ["paypal-token", "salesforce-token"] {
        std::fs::write(folder.path().join(token), "t0ken").unwrap();
    }
    let loaded = load(Some(&path), Environment::default().standing_in())?;
    // Relative files are read when it is judged.
    Ok(Loaded { folder: folder.keep(), ..loaded })
}

fn resolved(text: &str) -> Result<Resolved, ConfigErrors> {
    let loaded = loaded(text)?;
    let resolved = loaded.resolve();
    std::fs::remove_dir_all(&loaded.folder).unwrap();
    resolved
}

fn faults(text: &str) -> Vec<(String, String)> {
    let errors = resolved(text).err().map(|errors| errors.0).unwrap_or_default();
    errors.into_iter().map(|e| (e.path.clone(), e.to_string())).collect()
}

#[test]
fn every_file_of_the_folder_is_in_the_registry() {
    let files = std::fs::read_dir(root().join("providers")).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap().replace(".toml", "")).collect();
    let names: BTreeSet<String> = all().iter().map(|preset| preset.name.clone()).collect();

    assert_eq!(names, files);
    assert!(FILES.iter().zip(all()).all(|((name, _), preset)| *name == preset.name));
}

#[test]
fn every_preset_is_judged_by_the_eyes_that_judge_a_config() {
    for preset in all() {
        let policy = match resolved(&preset.snippet()) {
            Ok(resolved) => resolved.policy,
            Err(errors) => panic!("{}: {errors}", preset.name),
        };

        let provider = &policy.providers[&ProviderName::new(&preset.name)].provider;
        let facts = provider.declared.facts.as_ref().unwrap();
        assert_eq!(facts.preset.as_deref(), Some(preset.name.as_str()));
        if let Class::Enforcing { key_window_ms, margin_ms } = provider.class {
            assert!(!preset.key.covers.is_empty() && margin_ms < key_window_ms, "{}", preset.name);
        }
    }
}

#[test]
fn every_preset_has_its_sources_and_the_day_they_were_read() {
    for preset in all() {
        let facts = preset.section().unwrap().facts.unwrap();
        let day: Vec<u32> = facts.checked.split('-').map(|part| part.parse().unwrap()).collect();

        assert!(matches!(day[..], [(2026..), 1..=12, 1..=31]), "{}: {}", preset.name, facts.checked);
        for page in preset.sources.iter().chain([&facts.source]) {
            assert_eq!(Url::parse(page).unwrap().scheme(), "https", "{}: {page}", preset.name);
        }
        assert!(!preset.says.is_empty() && !preset.not_promised.is_empty(), "{}", preset.name);
    }
}

/// Our keys are 43 characters long.
#[test]
fn our_key_fits_every_provider() {
    assert!(all().iter().all(|preset| preset.key.chars_max.is_none_or(|chars| chars >= 43)));
}

#[test]
fn the_docs_list_what_the_data_says() {
    let path = root().join("docs/providers.md");
    let rows =
        all().iter().map(|preset| format!("| {} |\n", words::row(preset, &preset.section().unwrap()).join(" | ")));
    let heads = format!("| {} |\n|{}\n", words::HEADS.join(" | "), " --- |".repeat(words::HEADS.len()));
    let table = heads + &rows.collect::<String>();
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- presets -->\n").unwrap();
    let (found, after) = rest.split_once("<!-- /presets -->").unwrap();
    if std::env::var_os("UPDATE_PROVIDERS").is_some() {
        std::fs::write(&path, format!("{before}<!-- presets -->\n{table}<!-- /presets -->{after}")).unwrap();
    } else {
        assert_eq!(found, table, "UPDATE_PROVIDERS=1 writes the table anew");
    }
}

#[test]
fn a_sections_own_members_win_and_the_rest_is_the_presets() {
    let text = r#"[providers.pay]
preset = "stripe"
auth = { bearer = "env:KEY" }
timeout_ms = 5_000
rate = { concurrent = 2 }
[providers.pay.effects.refund]
path = "/v1/refunds/own"
[providers.pay.effects.transfer]
path = "/v1/transfers""#;
    let loaded = loaded(text).unwrap();
    let provider = &loaded.config.providers["pay"];

    assert_eq!((provider.timeout_ms, provider.key_window_ms), (Some(5_000), Some(86_400_000)));
    assert_eq!(provider.effects["refund"].path.as_deref(), Some("/v1/refunds/own"));
    assert_eq!(provider.effects["refund"].body, None, "an effect is taken whole");
    assert!(provider.effects.contains_key("transfer"));
    let origins = &loaded.origins["pay"];
    assert_eq!(origins.preset, "stripe");
    let own: BTreeSet<&str> = origins.own.iter().map(String::as_str).collect();
    assert_eq!(own, BTreeSet::from(["auth", "timeout_ms", "rate.concurrent", "effects.refund", "effects.transfer"]));
    for member in ["kind", "class", "url", "key_header", "key_window_ms", "facts.checked"] {
        assert!(origins.from_preset.iter().any(|name| name == member), "{member}: {:?}", origins.from_preset);
    }
}

#[test]
fn what_a_section_says_is_not_contradicted_by_its_preset() {
    let advisory = "[providers.pay]\npreset = \"stripe\"\nclass = \"advisory\"\nauth = { bearer = \"env:KEY\" }";
    let policy = resolved(advisory).unwrap().policy;
    assert_eq!(policy.providers[&ProviderName::new("pay")].provider.class, Class::Advisory);

    let field = "[providers.pay]\npreset = \"stripe\"\nkey_field = \"k\"\nauth = { bearer = \"env:KEY\" }";
    let provider = &loaded(field).unwrap().config.providers["pay"];
    assert_eq!((provider.key_field.as_deref(), provider.key_header.as_deref()), (Some("k"), None));
}

#[test]
fn an_unknown_preset_is_told_with_the_names_that_were_perhaps_meant() {
    let table = [
        ("strpe", "Did you mean stripe?"),
        ("Stripe", "Did you mean stripe?"),
        ("send", "Did you mean sendgrid?"),
        ("yokassa", "Did you mean yookassa?"),
        ("qqqqqqq", "`effectgate providers` lists"),
    ];
    for (name, words) in table {
        let found = faults(&format!("[providers.pay]\npreset = \"{name}\""));

        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == "providers.pay.preset" && found[0].1.contains(words), "{found:?}");
    }
}

#[test]
fn a_request_for_which_no_key_is_documented_is_refused_at_a_preset() {
    let with = |path: &str| {
        let auth = "auth = { bearer_file = \"paypal-token\" }";
        faults(&format!(
            "[providers.pay]\npreset = \"paypal\"\n{auth}\n[providers.pay.effects.order]\npath = \"{path}\""
        ))
    };

    assert_eq!(with("/v2/payments/captures/{{ payload.id }}/refund"), []);
    let refused = with("/v2/checkout/orders");
    assert!(refused[0].0 == "providers.pay.effects.order" && refused[0].1.contains("not for POST"), "{refused:?}");
}

#[test]
fn a_door_at_a_preset_lets_through_only_requests_whose_keys_are_documented() {
    let door = |says: &str| {
        let section = "[providers.pay]\npreset = \"stripe\"\nauth = { bearer = \"env:T\" }\n";
        faults(&format!("{section}[providers.pay.out]\ngate = \"approve\"\naudience = [\"role:a\"]\n{says}"))
    };

    assert_eq!(door("methods = [\"POST\"]\npaths = [\"/v1/refunds\", \"/v1\"]"), []);
    for wide in [
        "methods = [\"POST\"]\npaths = [\"/v1/refunds\", \"/v2/core\"]",
        "methods = [\"POST\"]\npaths = [\"/\"]",
        "paths = [\"/v1/refunds\"]",
    ] {
        let refused = door(wide);
        assert!(refused.len() == 1 && refused[0].0 == "providers.pay.out", "{wide}: {refused:?}");
    }
}

#[test]
fn a_door_at_a_provider_that_takes_its_key_in_the_path_does_not_open_as_enforcing() {
    let section = "[providers.sf]\npreset = \"salesforce\"\nurl = \"https://x.my.salesforce.com\"\n\
        auth = { bearer_file = \"salesforce-token\" }\n";
    let door = "[providers.sf.out]\ngate = \"approve\"\naudience = [\"role:a\"]\npaths = [\"/services/data\"]";

    assert_eq!(faults(section), []);
    let refused = faults(&format!("{section}{door}"));

    assert!(refused.iter().any(|(path, _)| path == "providers.sf.key_header"), "{refused:?}");
}

#[test]
fn what_a_preset_needs_is_said_with_its_example() {
    let found = faults("[providers.desk]\npreset = \"zendesk\"");

    assert!(
        found.iter().any(|(path, said)| path == "providers.desk.url" && said.contains("YOUR-SUBDOMAIN")),
        "{found:?}"
    );
}

#[test]
fn an_enforcing_provider_may_be_told_its_key_in_the_path_only_where_every_request_does() {
    let section = |path: &str| {
        let head = "[providers.x]\nkind = \"http\"\nclass = \"enforcing\"\nurl = \"https://api.example.com\"\nkey_window_ms = 86_400_000";
        faults(&format!(
            "{head}\n[providers.x.effects.a]\npath = \"/a/{{{{ provider_key }}}}\"\n[providers.x.effects.b]\npath = \"{path}\""
        ))
    };

    assert_eq!(section("/b/{{ provider_key }}"), []);
    assert!(section("/b")[0].0 == "providers.x.key_header");
}

#[test]
fn the_words_follow_the_data() {
    let says = |name: &str| {
        let story = words::story(&find(name).unwrap().section().unwrap());
        story.into_iter().map(|said| said.then).collect::<Vec<_>>()
    };

    assert!(says("stripe")[0].contains("same key") && says("stripe")[3].contains("key_poisoned"));
    assert!(says("yookassa")[3].contains("not kept"));
    assert!(says("twilio")[0].contains("a person") && says("twilio")[1].contains("happen twice"));
    assert!(says("smtp")[0].contains("Message-ID"));
    assert!(says("salesforce")[1].contains("one record") && says("salesforce")[2].contains("lookup"));
    assert!(says("adyen")[3].contains("Not documented"));
}
