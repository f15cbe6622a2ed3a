//! The demo hotels and the tokens that speak for them, written where a person finds them.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use keyrack_booking::{
    Fault,
    credentials::{self, CreateCredentialError, CredentialInput},
    demo,
    hotel_directory::HotelDirectory,
};
use keyrack_domain::{
    code::HotelCode,
    horizon::Horizon,
    ids::{HotelId, PrincipalId},
    principal::{Caller, Role},
    token::TokenHash,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::failure::Failure;

/// Where the tokens are written, and where they are good for.
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    pub(crate) base_url: String,
    /// Of a sandbox: what the simulator was asked is shown there.
    pub(crate) simulator_url: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Credentials {
    base_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    simulator_url: Option<String>,
    /// `operator`, `staff:HTL-204`, `pms:HTL-204`, `channel:HTL-204`, ...
    tokens: BTreeMap<String, String>,
}

const OF_A_HOTEL: [Role; 3] = [Role::Staff, Role::Pms, Role::Channel];

/// Sets up the demo hotels and their credentials, as far as they are not there. Tokens of the file that are
/// still good stay; only their hashes are kept elsewhere, so that lost ones are replaced.
pub(crate) async fn set_up(hotels: &HotelDirectory, horizon: Horizon, place: &Place) -> Result<(), Failure> {
    let mut tokens = read(&place.file)?;
    let operator = operator(hotels, &mut tokens).await?;
    for code in demo::seed(hotels, horizon, &operator).await? {
        for role in OF_A_HOTEL {
            of_hotel(hotels, &operator, &code, role, &mut tokens).await?;
        }
    }
    let (base_url, simulator_url) = (place.base_url.clone(), place.simulator_url.clone());
    write(&place.file, &Credentials { base_url, simulator_url, tokens })
}

async fn operator(hotels: &HotelDirectory, tokens: &mut BTreeMap<String, String>) -> Result<Caller, Failure> {
    let name = Role::Operator.as_str();
    let known = still_good(hotels, tokens.get(name), Role::Operator, None).await?;
    let principal = if let Some(principal) = known {
        principal
    } else {
        let (principal, token) = credentials::create_operator(hotels.shards(), name.to_owned()).await?;
        tokens.insert(name.to_owned(), token.expose_secret().to_owned());
        principal
    };
    Ok(Caller { principal, role: Role::Operator, hotel: None, request_id: "set-up".to_owned() })
}

async fn of_hotel(
    hotels: &HotelDirectory,
    operator: &Caller,
    code: &HotelCode,
    role: Role,
    tokens: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    let name = format!("{}:{code}", role.as_str());
    let failed = |source| Failure::Credential { name: name.clone(), source };
    let hotel = hotels.by_code(code).await.map_err(|error| failed(error.into()))?;
    if still_good(hotels, tokens.get(&name), role, Some(hotel.id)).await?.is_some() {
        return Ok(());
    }
    let input = CredentialInput { role, name: name.clone(), channel: None };
    let token = fresh(hotels, operator, code, input).await.map_err(failed)?;
    tokens.insert(name, token.expose_secret().to_owned());
    Ok(())
}

/// The key is of this try alone: a token that was shown to nobody must not be waited for.
async fn fresh(
    hotels: &HotelDirectory,
    operator: &Caller,
    code: &HotelCode,
    input: CredentialInput,
) -> Result<SecretString, CreateCredentialError> {
    let key = Uuid::new_v4().to_string().parse().map_err(Fault::internal)?;
    let made = credentials::create(hotels, operator, code, input, key).await?;
    made.answer.token.ok_or_else(|| Fault::internal("a new credential has no token").into())
}

async fn still_good(
    hotels: &HotelDirectory,
    token: Option<&String>,
    role: Role,
    hotel: Option<HotelId>,
) -> Result<Option<PrincipalId>, Failure> {
    let Some(token) = token else { return Ok(None) };
    let hash = TokenHash(Sha256::digest(token).into());
    let bearer = credentials::authenticate(hotels.shards(), hash).await?;
    Ok(bearer.filter(|bearer| bearer.role == role && bearer.hotel == hotel).map(|bearer| bearer.principal))
}

fn read(file: &Path) -> Result<BTreeMap<String, String>, Failure> {
    match fs::read(file) {
        Ok(text) => {
            let credentials: Credentials = serde_json::from_slice(&text)
                .map_err(|source| Failure::CredentialsFile { path: file.to_owned(), source })?;
            Ok(credentials.tokens)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(source) => Err(Failure::File { path: file.to_owned(), source }),
    }
}

/// For its owner alone, and moved to its place when complete: whoever reads it sees all of it.
fn write(file: &Path, credentials: &Credentials) -> Result<(), Failure> {
    let half = file.with_extension("json.new");
    let failed = |source| Failure::File { path: file.to_owned(), source };
    let mut text = serde_json::to_vec_pretty(credentials).map_err(io::Error::other).map_err(failed)?;
    text.push(b'\n');
    match fs::remove_file(&half) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut new = options.open(&half).map_err(failed)?;
    new.write_all(&text).and_then(|()| new.sync_all()).map_err(failed)?;
    fs::rename(&half, file).map_err(failed)
}
