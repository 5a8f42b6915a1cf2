//! Counts the words of a query in the turns of one session. The counts come from the turns' rows. For archived turns they
//! come from the index or, if the index lacks them or is damaged, from their texts. Turns whose originals were deleted are
//! left out.

use crate::{
    error::{ErrorKind, Result},
    index::block_of,
    model::place::{Seq, SessionNo},
    store::{
        rows::{originals, postings, turns, unit_blocks, unit_texts, units},
        scope::Scope,
        sql::Sql,
    },
    text::words::{EncodedWords, Word},
};

/// Passes the turns of a session before `before` to `each`: a turn's number, how many words it has, and how often it
/// contains each word of the query, at most 255. Turns that contain none of them may be passed too. A damaged turn has no
/// words.
pub(crate) fn for_each(
    sql: &dyn Sql,
    scope: &Scope,
    (session_no, before): (SessionNo, u32),
    query: &[Word],
    mut each: impl FnMut(u32, u32, &[u8]),
) -> Result<()> {
    let mut counts = Vec::with_capacity(query.len());
    let mut show = |turn_number: u32, words: EncodedWords<'_>| {
        counts.clear();
        counts.extend(query.iter().map(|word| clamped(words.count(*word))));
        each(turn_number, words.len(), &counts);
    };
    turns::for_each_words(sql, scope, session_no, before, &mut show)?;

    let mut indexed = originals::archived_in(sql, scope, session_no, before)?;
    let indexed_seq = units::extent(sql, scope)?.indexed_seq;
    let mut by_text = indexed.split_off(indexed.partition_point(|(seq, _)| *seq <= indexed_seq));
    let mut counts = vec![0; indexed.len() * query.len()];
    for (at, word) in query.iter().enumerate().filter(|_| !indexed.is_empty()) {
        let shown = postings::for_each(sql, scope, *word, |seq, often| {
            if let Ok(unit) = indexed.binary_search_by_key(&seq, |(seq, _)| seq.0) {
                counts[unit * query.len() + at] = clamped(often.total());
            }
        })?;
        if shown.is_damaged {
            by_text.splice(0..0, std::mem::take(&mut indexed));
            break;
        }
    }
    let mut texts = unit_texts::UnitReader::new(sql, scope);
    for (seq, place) in by_text {
        texts.for_each((Seq(seq.0 - 1), seq), |unit| {
            if let Some(words) = EncodedWords::parse(&unit.words) {
                show(place.turn_number, words);
            }
            Ok(())
        })?;
    }
    let mut counts = counts.chunks_exact(query.len().max(1));
    for block in indexed.chunk_by(|(a, _), (b, _)| block_of(a.0) == block_of(b.0)) {
        let facts = match unit_blocks::of_block(sql, scope, block_of(block[0].0.0)) {
            Err(error) if error.kind() == ErrorKind::Corrupt => None,
            facts => facts?,
        };
        let facts = facts.unwrap_or_default();
        for ((seq, place), counts) in block.iter().zip(&mut counts) {
            let unit = facts.binary_search_by_key(&seq.0, |unit| unit.seq);
            let len = unit.map_or(0, |at| u32::from(facts[at].head_len) + u32::from(facts[at].rest_len));
            each(place.turn_number, len, counts);
        }
    }
    Ok(())
}

fn clamped(often: u32) -> u8 {
    u8::try_from(often).unwrap_or(u8::MAX)
}
