//! A key: how it is created, and how the key file stores it.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};
use thermocline::Origin;

use crate::{
    caller::{Caller, Rate, Users},
    ops::spec::KeyScope,
};

/// The length of a hash, in bytes.
pub(super) const HASH_BYTES: usize = 32;
/// The prefix of a key, which lets scanners for leaked secrets recognize it.
const PREFIX: &str = "thc_";
const ID_CHARS: usize = 8;
/// The alphabet of ids: 32 characters, none of which look alike, for 5 bits each.
const ID_ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

/// A key as stored in the file: its rights, and the hash of its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The key's id, which is not secret: logs and the audit file use it.
    pub id: String,
    /// The name that the owner gave the key.
    pub name: String,
    /// SHA-256 of the key's text.
    #[serde(rename = "sha256", serialize_with = "write_hash", deserialize_with = "read_hash")]
    pub hash: [u8; HASH_BYTES],
    /// The rights of the key's holder.
    pub scopes: Vec<KeyScope>,
    /// The users whose memory the holder may access.
    pub users: Users,
    /// When the key expires; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// The key's rate limit; `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The origin of the holder's statements; `user` only if the owner says that they are the user's own words.
    #[serde(default = "assistant")]
    pub origin: Origin,
}

/// The properties of a new key.
#[derive(Clone, Debug)]
pub struct New {
    /// The name that the owner gave the key.
    pub name: String,
    /// The rights of the key's holder.
    pub scopes: Vec<KeyScope>,
    /// The users whose memory the holder may access.
    pub users: Users,
    /// When the key expires; `None` for never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The key's rate limit; `None` for no limit.
    pub rate: Option<Rate>,
    /// The origin of the holder's statements.
    pub origin: Origin,
}

fn assistant() -> Origin {
    Origin::Assistant
}

impl Key {
    /// Creates a key, and returns it with its text, which is stored nowhere.
    pub fn make(new: New) -> Result<(Self, String), getrandom::Error> {
        let (mut id, mut secret) = ([0; ID_CHARS], [0; 32]);
        getrandom::fill(&mut id)?;
        getrandom::fill(&mut secret)?;
        let id: String = id.iter().map(|byte| char::from(ID_ALPHABET[usize::from(byte % 32)])).collect();
        let text = format!("{PREFIX}{id}_{}", BASE64_URL_SAFE_NO_PAD.encode(secret));
        let New { name, scopes, users, expires_at, rate, origin } = new;
        let key = Self { id, name, hash: hash(&text), scopes, users, expires_at, rate, origin };
        Ok((key, text))
    }

    /// Whether the key has expired.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    pub(super) fn caller(&self) -> Caller {
        Caller {
            id: self.id.clone(),
            scopes: self.scopes.clone(),
            users: self.users.clone(),
            origin: self.origin,
            rate: self.rate,
        }
    }
}

/// Returns the id in a key's text, if the text has the form of a key.
pub(super) fn id_in(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_at_checked(ID_CHARS)?;
    secret.starts_with('_').then_some(id)
}

pub(super) fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256::digest(text.as_bytes()).into()
}

fn write_hash<S: Serializer>(hash: &[u8; HASH_BYTES], to: S) -> Result<S::Ok, S::Error> {
    let hex = hash.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // Writing to a `String` cannot fail.
        hex
    });
    to.serialize_str(&hex)
}

fn read_hash<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; HASH_BYTES], D::Error> {
    let hex = String::deserialize(from)?;
    let refused = || D::Error::custom("a hash has 64 hexadecimal digits");
    if hex.len() != 2 * HASH_BYTES || !hex.is_ascii() {
        return Err(refused());
    }
    let mut hash = [0; HASH_BYTES];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).map_err(|_| refused())?;
    }
    Ok(hash)
}
