//! Who may call, and with which token.

use std::time::Duration;

use keyrack_booking::{
    FieldError, KeyRefusal,
    credentials::{self, Bearer, CreateCredentialError, CredentialInput},
    guest_sessions,
};
use keyrack_domain::{principal::Role, token::TokenHash};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::world::{World, caller, guest, htl_204, key};

fn hash(token: &SecretString) -> TokenHash {
    TokenHash(Sha256::digest(token.expose_secret()).into())
}

async fn bearer(world: &World, token: &SecretString) -> Option<Bearer> {
    credentials::authenticate(world.hotels.shards(), hash(token)).await.expect("an answer")
}

fn staff() -> CredentialInput {
    CredentialInput { role: Role::Staff, name: "Front desk".to_owned(), channel: None }
}

#[tokio::test]
async fn a_guest_session_speaks_for_its_principal_until_it_ends() {
    let world = World::new().await;
    let session =
        guest_sessions::open(world.hotels.shards(), guest_sessions::LASTS).await.expect("a session");
    let who = bearer(&world, &session.token).await.expect("known");
    assert_eq!(who, Bearer { principal: session.principal, role: Role::Guest, hotel: None });
    let ended = guest_sessions::open(world.hotels.shards(), Duration::from_secs(1)).await.expect("a session");
    let past = "UPDATE directory.guest_sessions SET created_at = now() - interval '2 s', expires_at = now() - interval '1 s'
                WHERE expires_at < now() + interval '1 h'";
    world.database().execute(past).await;
    assert_eq!(bearer(&world, &ended.token).await, None);
    let stranger = SecretString::from("krg_0000".to_owned());
    assert_eq!(bearer(&world, &stranger).await, None);
}

#[tokio::test]
async fn a_credential_belongs_to_its_hotel_and_its_token_is_shown_once_and_not_kept() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let create = || credentials::create(&world.hotels, &world.operator, &hotel, staff(), key("k1"));
    let made = create().await.expect("a credential");
    let token = made.answer.token.expect("shown");
    let id = world.hotels.by_code(&hotel).await.expect("the hotel").id;
    let who = bearer(&world, &token).await.expect("known");
    assert_eq!((who.role, who.hotel), (Role::Staff, Some(id)));
    let again = create().await.expect("the same");
    assert!(again.replayed && again.answer.token.is_none());
    assert_eq!(again.answer.id, made.answer.id);
    let secret = token.expose_secret();
    let kept = format!(
        "SELECT count(*) FROM (SELECT to_jsonb(k)::text AS row FROM idempotency_keys k
             UNION ALL SELECT to_jsonb(a)::text FROM audit a
             UNION ALL SELECT to_jsonb(c)::text FROM directory.credentials c) AS all_rows
         WHERE row LIKE '%{secret}%'"
    );
    assert_eq!(world.database().value(&kept).await, 0);
    world.database().execute("UPDATE directory.credentials SET revoked_at = now()").await;
    assert_eq!(bearer(&world, &token).await, None);
}

/// The process ends between the key's record and the credential's row.
#[tokio::test]
async fn a_repeat_after_a_crash_makes_the_credential_and_shows_its_token() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    let create = || credentials::create(&world.hotels, &world.operator, &hotel, staff(), key("k1"));
    let lost = create().await.expect("a credential");
    world.database().execute("DELETE FROM directory.credentials").await;
    let made = create().await.expect("finished");
    assert!(!made.replayed);
    assert_eq!(made.answer.id, lost.answer.id);
    assert!(bearer(&world, &made.answer.token.expect("shown")).await.is_some());
}

#[tokio::test]
async fn only_operators_make_credentials_and_none_of_their_own_kind() {
    let world = World::new().await;
    let hotel = world.create(htl_204(), "open").await.expect("a hotel").answer.code;
    for who in [guest(), caller(Role::Staff), caller(Role::Provider)] {
        let refused = credentials::create(&world.hotels, &who, &hotel, staff(), key("k1")).await;
        assert!(matches!(refused, Err(CreateCredentialError::HotelNotFound)), "{refused:?}");
    }
    let channel = Some("ota".parse().expect("a code"));
    let wrong = CredentialInput { role: Role::Operator, name: "\u{7}".to_owned(), channel };
    let refused = credentials::create(&world.hotels, &world.operator, &hotel, wrong, key("k1")).await;
    let Err(CreateCredentialError::Invalid(faults)) = refused else { panic!("{refused:?}") };
    let told: Vec<_> =
        faults.iter().map(|FieldError { pointer, code, .. }| (pointer.as_str(), *code)).collect();
    assert_eq!(
        told,
        [("/role", "INVALID_VALUE"), ("/name", "CONTROL_CHARACTER"), ("/channel", "NOT_ALLOWED")]
    );
    credentials::create(&world.hotels, &world.operator, &hotel, staff(), key("k1")).await.expect("made");
    let other = CredentialInput { name: "Back office".to_owned(), ..staff() };
    let reused = credentials::create(&world.hotels, &world.operator, &hotel, other, key("k1")).await;
    assert!(matches!(reused, Err(CreateCredentialError::Key(KeyRefusal::Reused))), "{reused:?}");
}

#[tokio::test]
async fn an_operator_is_made_by_whoever_sets_the_installation_up() {
    let world = World::new().await;
    let (principal, token) =
        credentials::create_operator(world.hotels.shards(), "sandbox".to_owned()).await.expect("an operator");
    assert_eq!(bearer(&world, &token).await, Some(Bearer { principal, role: Role::Operator, hotel: None }));
}
