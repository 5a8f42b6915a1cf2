//! The plain alternative to recall: FTS5 and sqlite-vec in a separate file. Each engine's scores are divided by its best
//! score, weighted and added, and the ten best turns are fetched.
//!
//! It uses the same turns, and the same vectors, which the crate made and which are read from its file.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Once,
};

use rusqlite::{Connection, Transaction, params};
use thermocline::{BuiltIn, Embedder, EmbeddingPurpose};

use super::{
    corpus::Corpus,
    plain,
    text::Writer,
    user::{OneUser, SEED},
};

/// The maximum number of turns by words, and of pieces of turns by meaning.
const CANDIDATES: usize = 100;
/// The number of turns that are fetched.
const FETCHED: usize = 10;
/// The key of a vector's row is the turn's id times this, plus the number of the turn's piece.
const PIECES: i64 = 256;
/// The number of bytes of a vector: one per dimension.
const DIMS: usize = 256;

/// The way in which sqlite-vec searches the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// By its virtual table, with the user as the partition.
    Table,
    /// By an ordinary table with an index on the user, and a function that computes the distance of each row.
    Function,
}

/// A connection to the file of the plain alternative.
pub struct PlainRecall {
    conn: Connection,
    path: PathBuf,
    user_no: i64,
}

impl PlainRecall {
    /// Opens the file next to `ours`; makes it from `ours` if it does not exist.
    pub fn of(ours: &OneUser) -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(bench_sqlite_vec::register);
        let path = ours.path.with_extension("plain.db");
        if !path.exists() {
            let half_made = path.with_extension("making");
            let _ = fs::remove_file(&half_made);
            make(&half_made, ours);
            fs::rename(&half_made, &path).unwrap();
        }
        let user_no = user_no(&Connection::open(&ours.path).unwrap());
        let plain = Self { conn: plain::reader(&path), path, user_no };
        plain.conn.execute_batch("PRAGMA cache_size = -16384").unwrap();
        plain
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a new connection, which has read nothing yet.
    pub fn reopened(&self) -> Self {
        let conn = plain::reader(&self.path);
        conn.execute_batch("PRAGMA cache_size = -16384").unwrap();
        Self { conn, path: self.path.clone(), user_no: self.user_no }
    }

    /// Returns both sides of the best turns for a vector and words, best first. The caller leaves out function words.
    pub fn recall(&self, words: &[String], vector: &[u8], how: Vectors) -> Vec<(String, String)> {
        let (by_words, by_meaning) = (self.by_words(words), self.by_meaning(vector, how));
        let mut scores: HashMap<i64, f64> = HashMap::new();
        for (found, weight) in [(by_words, 0.6), (by_meaning, 0.4)] {
            let best = found.iter().map(|(_, score)| *score).fold(f64::MIN_POSITIVE, f64::max);
            for (turn, score) in found {
                *scores.entry(turn).or_default() += weight * score / best;
            }
        }
        let mut ranked: Vec<(i64, f64)> = scores.into_iter().collect();
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let mut fetch =
            self.conn.prepare_cached("SELECT user_message, ai_response FROM turns WHERE id = ?1").unwrap();
        let turn = |id| fetch.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        ranked.into_iter().take(FETCHED).map(|(id, _)| id).map(turn).collect()
    }

    /// Returns the best turns by BM25.
    pub fn by_words(&self, words: &[String]) -> Vec<(i64, f64)> {
        let mut stmt = self
            .conn
            .prepare_cached("SELECT rowid, -rank FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2")
            .unwrap();
        let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let query = format!("user_no : u{} AND text : ({})", self.user_no, any.join(" OR "));
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        stmt.query_map(params![query, CANDIDATES], read).unwrap().map(Result::unwrap).collect()
    }

    /// Returns the best turns by the cosine of their best piece.
    pub fn by_meaning(&self, vector: &[u8], how: Vectors) -> Vec<(i64, f64)> {
        let mut stmt = self
            .conn
            .prepare_cached(match how {
                Vectors::Table => {
                    "SELECT rowid, 1 - distance FROM vectors
                     WHERE embedding MATCH vec_int8(?1) AND k = ?2 AND user_no = ?3"
                }
                Vectors::Function => {
                    "SELECT id, 1 - vec_distance_cosine(vec_int8(embedding), vec_int8(?1)) AS cosine
                     FROM vector_rows WHERE user_no = ?3 ORDER BY cosine DESC LIMIT ?2"
                }
            })
            .unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? / PIECES, row.get::<_, f64>(1)?));
        let pieces = stmt.query_map(params![vector, CANDIDATES, self.user_no], read).unwrap();
        let mut best: HashMap<i64, f64> = HashMap::new();
        for (turn, cosine) in pieces.map(Result::unwrap) {
            let of_turn = best.entry(turn).or_insert(cosine);
            *of_turn = of_turn.max(cosine);
        }
        best.into_iter().collect()
    }
}

/// Returns the vector of a text, one byte per number.
pub async fn embedded(text: &str) -> Vec<u8> {
    let vectors = BuiltIn::default().embed(&[text.to_owned()], EmbeddingPurpose::Document).await.unwrap();
    let largest = vectors[0].iter().fold(f32::MIN_POSITIVE, |largest, number| largest.max(number.abs()));
    vectors[0].iter().map(|number| ((number / largest * 127.0).round() as i8).cast_unsigned()).collect()
}

/// Returns the number of the measured user, who was created last.
fn user_no(ours: &Connection) -> i64 {
    ours.query_row("SELECT max(user_no) FROM user_scopes", [], |row| row.get(0)).unwrap()
}

fn make(path: &Path, ours: &OneUser) {
    let mut conn = Connection::open(path).unwrap();
    conn.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;
         CREATE TABLE turns (id INTEGER PRIMARY KEY, user_message TEXT NOT NULL, ai_response TEXT NOT NULL);
         CREATE VIRTUAL TABLE words USING fts5(user_no, text, content = '', tokenize = 'porter unicode61');
         CREATE VIRTUAL TABLE vectors USING vec0(
           user_no INTEGER PARTITION KEY, embedding int8[256] distance_metric=cosine);
         CREATE TABLE vector_rows (id INTEGER PRIMARY KEY, user_no INTEGER NOT NULL, embedding BLOB NOT NULL);
         CREATE INDEX idx_vector_rows_user ON vector_rows(user_no);",
    )
    .unwrap();
    let source = Connection::open(&ours.path).unwrap();
    let measured = user_no(&source);
    let tx = conn.transaction().unwrap();
    // Ids contain the user and the place, so that a turn and its vectors can be matched.
    let id = |user_no: i64, seq: i64| user_no << 20 | seq;
    let mut writer = Writer::new(SEED);
    if ours.strangers > 0 {
        let corpus = Corpus::of(ours.strangers, ours.length);
        let strangers = Connection::open(&corpus.path).unwrap();
        let mut stmt = strangers
            .prepare(
                "SELECT u.user_no, t.seq, t.user_message, t.ai_response FROM conversation_turns AS t
                 JOIN user_scopes AS u ON u.user_id = t.user_id",
            )
            .unwrap();
        let mut rows = stmt.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let user_no: i64 = row.get(0).unwrap();
            let texts = [row.get::<_, String>(2).unwrap(), row.get(3).unwrap()];
            add_turn(&tx, (user_no, id(user_no, row.get(1).unwrap())), &texts);
        }
    }
    for seq in 1..=ours.turns as i64 {
        let (user_message, ai_response) = writer.sides(ours.length);
        add_turn(&tx, (measured, id(measured, seq)), &[user_message, ai_response]);
    }
    let mut stmt = source
        .prepare("SELECT user_no, block_no, body FROM vector_blocks ORDER BY user_no, block_no")
        .unwrap();
    let mut rows = stmt.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (user_no, block_no): (i64, i64) = (row.get(0).unwrap(), row.get(1).unwrap());
        // The format of src/store/rows/vectors.rs: the number of vectors, the place and piece of each, and the vectors.
        let body: Vec<u8> = row.get(2).unwrap();
        let (count, rest) = body.split_first_chunk::<2>().unwrap();
        let (places, vectors) = rest.split_at(2 * usize::from(u16::from_le_bytes(*count)));
        for (place, vector) in places.as_chunks::<2>().0.iter().zip(vectors.chunks_exact(DIMS)) {
            let turn = id(user_no, 64 * block_no + i64::from(place[0]) + 1);
            add_vector(&tx, (user_no, turn * PIECES + i64::from(place[1])), vector);
        }
    }
    tx.execute("INSERT INTO words (words) VALUES ('optimize')", []).unwrap();
    tx.commit().unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL").unwrap();
}

fn add_turn(tx: &Transaction<'_>, (user_no, id): (i64, i64), texts: &[String; 2]) {
    tx.prepare_cached("INSERT INTO turns (id, user_message, ai_response) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute(params![id, texts[0], texts[1]])
        .unwrap();
    tx.prepare_cached("INSERT INTO words (rowid, user_no, text) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute(params![id, format!("u{user_no}"), texts.join("\n")])
        .unwrap();
}

fn add_vector(tx: &Transaction<'_>, (user_no, id): (i64, i64), vector: &[u8]) {
    tx.prepare_cached("INSERT INTO vectors (rowid, user_no, embedding) VALUES (?1, ?2, vec_int8(?3))")
        .unwrap()
        .execute(params![id, user_no, vector])
        .unwrap();
    tx.prepare_cached("INSERT INTO vector_rows (id, user_no, embedding) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute(params![id, user_no, vector])
        .unwrap();
}
