use std::{fs, path::Path, time::Duration};

use keyrack_domain::ids::ShardId;
use keyrack_runtime::settings::{ProviderKind, Settings, SettingsError, Wrong};
use secrecy::ExposeSecret;

const SAMPLE: &str = include_str!("../../../../docs/keyrack.sample.toml");
const DATABASE: (&str, &str) = ("DATABASE_URL", "postgres://a:hunter1@b/c");

fn load(file: Option<&str>, environment: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyrack.toml");
    if let Some(text) = file {
        fs::write(&path, text).unwrap();
    }
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Settings::load(file.map(|_| path.as_path()), environment.iter().map(own))
}

fn refused(file: Option<&str>, environment: &[(&str, &str)]) -> String {
    load(file, environment).unwrap_err().to_string()
}

#[test]
fn the_sample_is_a_settings_file_and_the_defaults_are_the_ones_promised() {
    let settings = load(Some(SAMPLE), &[DATABASE]).unwrap();
    assert_eq!(settings.listen().to_string(), "127.0.0.1:8080");
    assert_eq!(settings.workers.listen().to_string(), "127.0.0.1:8082");
    assert_eq!(settings.http.body_limit_bytes.get(), 256 * 1024);
    assert_eq!(settings.database.lock_timeout(), Duration::from_millis(500));
    assert_eq!(settings.holds.most_active_per_hotel.get(), 5);
    assert_eq!(settings.provider.deadline(), Duration::from_secs(10));
    assert_eq!(settings.provider.auth_timeout(), Duration::from_mins(2));
    assert_eq!(settings.operations.replay_window(), Duration::from_hours(24));
    assert_eq!(settings.operations.key_retention(), Duration::from_hours(7 * 24));
    assert_eq!(settings.operations.provider_call_retention(), Duration::from_hours(400 * 24));
    assert_eq!(settings.operations.guest_session_retention(), Duration::from_hours(30 * 24));
    assert_eq!(settings.inventory.horizon_days.get(), 750);
    assert_eq!(settings.payments.provider, ProviderKind::Simulator);
    let stripe = settings.payments.stripe;
    assert_eq!(stripe.base_url, "https://api.stripe.com");
    assert_eq!((stripe.return_url(), stripe.webhook_secrets.len()), (None, 0));
    assert_eq!(stripe.webhook_tolerance(), Duration::from_mins(5));
}

#[test]
fn stripe_takes_payments_with_a_key_and_any_number_of_webhook_secrets() {
    let chosen = "[payments]\nprovider = 'stripe'\n";
    assert!(refused(Some(chosen), &[DATABASE]).contains("payments.stripe.secret_key"));
    let key = ("KEYRACK_PAYMENTS__STRIPE__SECRET_KEY", "sk_test_hunter2");
    let secrets = ("KEYRACK_PAYMENTS__STRIPE__WEBHOOK_SECRETS", "whsec_hunter3  whsec_hunter4");
    let settings = load(Some(chosen), &[DATABASE, key, secrets]).unwrap();
    assert_eq!(settings.payments.provider, ProviderKind::Stripe);
    let read: Vec<_> =
        settings.payments.stripe.webhook_secrets.iter().map(ExposeSecret::expose_secret).collect();
    assert_eq!(read, ["whsec_hunter3", "whsec_hunter4"]);
    assert!(!format!("{settings:?}").contains("hunter"), "{settings:?}");
    let file = format!("{chosen}[payments.stripe]\nsecret_key = 'sk_1'\nwebhook_secrets = ['whsec_1']\n");
    assert_eq!(load(Some(&file), &[DATABASE]).unwrap().payments.stripe.webhook_secrets.len(), 1);
}

#[test]
fn every_setting_has_its_unit_in_its_name_or_counts_something() {
    let sample: toml::Table = SAMPLE.parse().unwrap();
    let unitless = ["http.port", "workers.port", "database.pool_connections", "holds.most_active_per_hotel"];
    for (section, settings) in sample.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
        for (name, _) in settings.iter().filter(|(_, value)| value.is_integer()) {
            let name = format!("{section}.{name}");
            let named = ["_ms", "_s", "_hours", "_days", "_bytes"].iter().any(|unit| name.ends_with(unit));
            assert!(named || unitless.contains(&name.as_str()), "{name} has no unit");
        }
    }
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_defaults() {
    let file = "[http]\nport = 1\nbody_limit_bytes = 2\n";
    let settings = load(Some(file), &[DATABASE, ("KEYRACK_HTTP__PORT", "3")]).unwrap();
    assert_eq!((settings.http.port, settings.http.body_limit_bytes.get()), (3, 2));
    let own = ("KEYRACK_DIRECTORY__DATABASE_URL", "postgres://own/own");
    let settings = load(None, &[own, DATABASE]).unwrap();
    assert_eq!(settings.directory.database_url.expose_secret(), own.1);
}

#[test]
fn webhook_secrets_are_a_list_in_a_file_and_a_line_in_the_environment() {
    let exposed = |settings: Settings| {
        let secrets = settings.provider.webhook_secrets;
        secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect::<Vec<_>>()
    };
    assert!(exposed(load(None, &[DATABASE]).unwrap()).is_empty());
    let listed = load(Some("[provider]\nwebhook_secrets = ['a', 'b']\n"), &[DATABASE]).unwrap();
    assert_eq!(exposed(listed), ["a", "b"]);
    let line = load(None, &[DATABASE, ("KEYRACK_PROVIDER__WEBHOOK_SECRETS", "c d")]).unwrap();
    assert_eq!(exposed(line), ["c", "d"]);
}

#[test]
fn unknown_settings_are_refused_by_their_name() {
    assert!(refused(Some("[http]\nprot = 1\n"), &[DATABASE]).contains("`prot`"));
    assert!(refused(Some("[htpp]\nport = 1\n"), &[DATABASE]).contains("`htpp`"));
    assert!(refused(None, &[DATABASE, ("KEYRACK_HTTP__PROT", "1")]).contains("`prot`"));
    assert!(refused(None, &[DATABASE, ("KEYRACK_PORT", "1")]).contains("`port`"));
    assert!(refused(Some("[[shards]]\nid = 1\nname = 'x'\n"), &[DATABASE]).contains("`name`"));
    load(None, &[DATABASE, ("KEYRACK_TEST_DATABASE_URL", "x"), ("PATH", "/bin")]).unwrap();
}

#[test]
fn values_that_cannot_be_are_refused_by_the_name_of_their_setting() {
    let wrong = |file: &str, name: &str| {
        let said = refused(Some(file), &[DATABASE]);
        assert!(said.contains(name), "{said}");
    };
    wrong("[provider]\nwebhook_tolerance_s = 0\n", "provider.webhook_tolerance_s is wrong: at least 1");
    wrong("[provider]\nwebhook_tolerance_s = 3601\n", "provider.webhook_tolerance_s");
    wrong("[provider]\nwebhook_secrets = ['a', '']\n", "provider.webhook_secrets");
    wrong("[http]\nport = 70000\n", "http.port");
    wrong("[http]\nlisten_address = 'here'\n", "http.listen_address");
    wrong("[database]\nlock_timeout_ms = 0\n", "database.lock_timeout_ms");
    wrong("[log]\nformat = 'xml'\n", "log.format");
    wrong("[provider]\nbase_url = 'pay.example'\n", "provider.base_url");
    wrong("[payments]\nprovider = 'cash'\n", "payments.provider");
    wrong("[payments.stripe]\nbase_url = 'api.stripe.com'\n", "payments.stripe.base_url");
    wrong("[payments.stripe]\nreturn_url = 'here'\n", "payments.stripe.return_url");
    wrong("[payments.stripe]\nwebhook_tolerance_s = 0\n", "payments.stripe.webhook_tolerance_s");
    wrong("[operations]\nreplay_window_hours = 200\n", "operations.key_retention_days");
    wrong("[inventory]\nhorizon_days = 2001\n", "inventory.horizon_days");
}

#[test]
fn without_a_database_nothing_starts_and_a_file_that_is_not_there_is_named() {
    let none = load(None, &[]).unwrap_err();
    assert!(matches!(none, SettingsError::Wrong("directory.database_url", Wrong::NoDatabase)), "{none}");
    let missing = Settings::load(Some(Path::new("/nowhere/keyrack.toml")), []).unwrap_err();
    assert!(missing.to_string().contains("/nowhere/keyrack.toml"));
}

#[test]
fn shards_come_from_a_file_or_from_one_variable_and_default_to_the_directory() {
    let ids = |settings: &Settings| settings.shards.iter().map(|s| s.id).collect::<Vec<_>>();
    let one = load(None, &[DATABASE]).unwrap();
    assert_eq!(ids(&one), [ShardId(1)]);
    assert_eq!(one.shards[0].database_url.expose_secret(), DATABASE.1);
    let variable = ("KEYRACK_SHARDS", "1=postgres://a/b  2=postgres://c/d?x=y");
    let two = load(None, &[DATABASE, variable]).unwrap();
    assert_eq!(ids(&two), [ShardId(1), ShardId(2)]);
    assert_eq!(two.shards[1].database_url.expose_secret(), "postgres://c/d?x=y");
    let file = "[[shards]]\nid = 7\ndatabase_url = 'postgres://a/b'\n";
    assert_eq!(ids(&load(Some(file), &[DATABASE]).unwrap()), [ShardId(7)]);
    for wrong in ["1=postgres://a/b 1=postgres://c/d", "0=postgres://a/b", "1=mysql://a/b"] {
        assert!(refused(None, &[DATABASE, ("KEYRACK_SHARDS", wrong)]).contains("shards."), "{wrong}");
    }
}

#[test]
fn passwords_are_neither_shown_nor_repeated_in_errors() {
    let settings = load(None, &[DATABASE]).unwrap();
    assert!(!format!("{settings:?}").contains("hunter1"));
    let settings = load(None, &[DATABASE, ("KEYRACK_PROVIDER__WEBHOOK_SECRETS", "hunter2")]).unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
    let said = refused(None, &[DATABASE, ("KEYRACK_SHARDS", "postgres://a:hunter2@b/c")]);
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_sandbox_may_start_without_a_database_and_is_checked_all_the_same() {
    let sandbox = |environment: &[(&str, &str)]| {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Settings::load_for_sandbox(None, environment.iter().map(own))
    };
    let settings = sandbox(&[]).unwrap();
    assert!(!settings.names_a_database());
    let settings = settings.in_database("postgres://own/own".into()).unwrap();
    assert_eq!(settings.directory.database_url.expose_secret(), "postgres://own/own");
    assert_eq!(settings.shards.len(), 1);

    assert!(sandbox(&[DATABASE]).unwrap().names_a_database());
    for wrong in [("DATABASE_URL", "mysql://a/b"), ("KEYRACK_INVENTORY__HORIZON_DAYS", "2001")] {
        assert!(sandbox(&[wrong]).is_err(), "{wrong:?}");
    }
}
