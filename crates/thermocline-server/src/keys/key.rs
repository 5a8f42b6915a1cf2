//! One key: how it is made, and what the file says of it.

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

/// Bytes of a hash.
pub(super) const HASH_BYTES: usize = 32;
/// What a key begins with, so that scanners of leaked secrets know one.
const PREFIX: &str = "thc_";
const ID_CHARS: usize = 8;
/// What ids are made of: nothing that looks like something else, 5 bits a character.
const ID_ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

/// A key, as the file has it: what it may, and the hash of its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its id, which is no secret: logs and the audit file name it.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// SHA-256 of its text.
    #[serde(rename = "sha256", serialize_with = "write_hash", deserialize_with = "read_hash")]
    pub hash: [u8; HASH_BYTES],
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// Whose memory it may ask for.
    pub users: Users,
    /// When it stops opening anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it may ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whose words its statements are; its holder's own only if the owner says so.
    #[serde(default = "assistant")]
    pub origin: Origin,
}

/// What a new key is to be.
#[derive(Clone, Debug)]
pub struct New {
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// Whose memory it may ask for.
    pub users: Users,
    /// When it stops opening anything.
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it may ask.
    pub rate: Option<Rate>,
    /// Whose words its statements are.
    pub origin: Origin,
}

fn assistant() -> Origin {
    Origin::Assistant
}

impl Key {
    /// Makes a key; the text is given this once, and kept nowhere.
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

    /// Whether it has stopped opening anything.
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

/// The id in a key's text, if it looks like one.
pub(super) fn id_in(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_at_checked(ID_CHARS)?;
    secret.starts_with('_').then_some(id)
}

pub(super) fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256::digest(text.as_bytes()).into()
}

fn write_hash<S: Serializer>(hash: &[u8; HASH_BYTES], to: S) -> Result<S::Ok, S::Error> {
    let hex = hash.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // To a String, which takes all.
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
