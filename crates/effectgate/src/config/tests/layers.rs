//! File, environment, secrets: what beats what, and what is refused in words that help.

use effectgate_core::switch::Ceiling;

use super::*;

fn load_text(text: &str, environment: Environment) -> Result<Loaded, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effectgate.toml");
    std::fs::write(&path, text).unwrap();
    load(Some(&path), environment)
}

fn only_error(result: Result<Loaded, ConfigErrors>) -> ConfigError {
    let ConfigErrors(mut errors) = result.unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn the_environment_beats_the_file() {
    let loaded = load_example(&[
        ("EFFECTGATE__SERVER__LISTEN", "127.0.0.1:9999"),
        ("EFFECTGATE__DISPATCHER__WORKERS", "8"),
        ("EFFECTGATE__ACTIONS__ENABLED", "false"),
        ("EFFECTGATE__PROVIDERS__CRM__RATE__PER_SECOND", "2.5"),
        ("EFFECTGATE__FLOWS__TICKET-REPLY__APPROVAL__AUDIENCE", r#"["role:a", "b@example.test"]"#),
        ("EFFECTGATE__PROVIDERS__CRM__AUTH__BEARER", "0123"),
    ]);

    let config = &loaded.config;
    assert_eq!(config.server.listen, "127.0.0.1:9999");
    assert_eq!((config.dispatcher.workers, config.actions.enabled), (8, Some(false)));
    assert_eq!(config.providers["crm"].rate.per_second, 2.5);
    assert_eq!(config.providers["crm"].auth.as_ref().unwrap().bearer, Some(secret::Secret::new("0123")));
    assert_eq!(config.flows["ticket-reply"].approval.as_ref().unwrap().audience, ["role:a", "b@example.test"]);
    assert_eq!(config.flows["ticket-reply"].approval.as_ref().unwrap().expires_ms, 86_400_000);
}

#[test]
fn a_forgotten_underscore_is_told_and_not_ignored() {
    let error = only_error(load(None, with(&[("EFFECTGATE_SERVER__LISTEN", "x")])));

    assert!(error.advice.contains("EFFECTGATE__SERVER__LISTEN"), "{error}");
    assert!(load(None, with(&[("EFFECTGATE_RELAY_MODE", "x"), ("EFFECTGATE_LOG", "x")])).is_ok());
}

#[test]
fn only_a_clear_yes_turns_actions_on() {
    let ceiling = |more: &[(&str, &str)]| load_example(more).resolve().unwrap().policy.ceiling;

    assert_eq!(ceiling(&[]), Ceiling::On);
    assert_eq!(ceiling(&[("AI_ACTIONS_ENABLED", "false")]), Ceiling::Off);
    assert_eq!(ceiling(&[("AI_ACTIONS_ENABLED", "maybe")]), Ceiling::Off);
    assert_eq!(ceiling(&[("EFFECTGATE__ACTIONS__ENABLED", "false"), ("AI_ACTIONS_ENABLED", "true")]), Ceiling::Off);
    assert!(load(None, with(&[("EFFECTGATE__ACTIONS__ENABLED", "yes")])).is_err());
}

#[test]
fn a_wrong_name_or_type_is_told_with_its_path() {
    let table = [
        ("[server]\nlisten_on = \"x\"", "server", "unknown field `listen_on`"),
        ("[srever]\nlisten = \"x\"", "", "unknown field `srever`"),
        ("[dispatcher]\nworkers = \"four\"", "dispatcher.workers", "expected i64"),
        ("[dispatcher]\nworkers = 1.5", "dispatcher.workers", "expected i64"),
        ("[actions]\nenabled = \"yes\"", "actions.enabled", "expected a boolean"),
        ("[providers.x]\nurl = \"https://a.example\"", "providers.x", "missing field `kind`"),
        ("[providers.x]\nkind = \"soap\"", "providers.x.kind", "unknown variant `soap`"),
        ("[[alerts]]\non = [\"stuk\"]\nto = \"notify.chat\"", "alerts[0].on[0]", "unknown variant `stuk`"),
        (
            "[flows.x.effects.e]\nprovider = \"p\"\ngate = \"maybe\"",
            "flows.x.effects.e.gate",
            "unknown variant `maybe`",
        ),
        ("[server]\nlisten = \"a\"\nlisten = \"b\"", "", "duplicate key"),
        ("[server", "", "line 1"),
    ];
    for (text, path, words) in table {
        let error = only_error(load_text(text, Environment::default()));

        assert!(error.path.starts_with(path) && error.what.contains(words), "{text}: {error:?}");
    }
}

#[test]
fn a_broken_line_with_a_secret_is_not_quoted() {
    let error = only_error(load_text("[providers.x]\npassword = \"s3cret\n", Environment::default()));

    assert!(!error.to_string().contains("s3cret"), "{error}");
}

#[test]
fn a_secret_that_reads_as_a_number_is_not_repeated() {
    let error = only_error(load(None, with(&[("EFFECTGATE__DATABASE__URL", "1.5")])));

    assert!(error.path == "database.url" && !error.to_string().contains("1.5"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let error = only_error(load(Some(Path::new("/nowhere/effectgate.toml")), Environment::default()));

    assert!(error.what.contains("/nowhere/effectgate.toml"), "{error}");
}

#[test]
fn a_secret_may_lie_in_a_file_beside_the_config() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effectgate.toml");
    std::fs::write(folder.path().join("db-url"), "postgres://gate:pw@db/gate\n").unwrap();
    std::fs::write(&path, "[database]\nurl_file = \"db-url\"").unwrap();

    let resolved = load(Some(&path), Environment::default()).unwrap().resolve().unwrap();

    assert!(matches!(resolved.database, DatabaseSettings::Postgres { connections_max: 16, .. }));
}
