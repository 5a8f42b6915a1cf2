//! Reads that look at many of a user's memories: the core, the reflection page, similar memories, and the mean direction of
//! each memory's vectors.

use std::collections::HashMap;

use crate::{
    embed::{BuiltIn, EmbeddingSpace, pieces::pieces, quantize::Vector},
    error::{Result, sound},
    memory::{
        core::{ACTIVE, CoreEntry, CoreHead, CoreSection, fitted},
        page::LineNames,
        reflection::{INSIGHTS, MOST_USED, ReflectionPage, spanning, themes},
        similar::{Alike, ComparableMemory, alike},
        terms::folded,
    },
    model::{
        ids::MemoryId,
        memory::{
            core::{Core, CoreOptions},
            known::Memory,
            words::MemoryKind,
        },
        place::{MemoryNo, Seq},
        stored_time::StoredTime,
    },
    store::{
        rows::memories::{
            find, known,
            looked::{self, ScoredMemory},
            pages::{self, CountedMemory},
        },
        scope::Scope,
        snapshot::Snapshot,
        sql::Sql,
    },
    text::{memory::MemoryText, tokens::Tokenizer},
};

/// How many of the newest memories are compared with each other, pair by pair.
const COMPARED: u32 = 2_000;

impl Snapshot<'_> {
    /// Builds the user's core: the memories that matter most, as a text.
    pub(crate) fn core(&self, scope: &Scope, options: &CoreOptions, tokenizer: Tokenizer) -> Result<Core> {
        let now = StoredTime::stated("at", options.at)?.unwrap_or(self.now());
        let (head, sections) = self.ask(|sql| candidates(sql, scope, options, now))?;
        let per_section = options.per_section as usize;
        let mut entries = Vec::new();
        for (section, scored) in sections {
            entries.extend(self.ask(|sql| best(sql, scope, (section, &scored), (per_section, now)))?);
        }
        let (text, entries) = fitted(head, entries, options.max_tokens, |text| tokenizer.count(text));
        let tokens = tokenizer.count(&text);
        Ok(Core { text, tokens, memories: entries.into_iter().map(|entry| entry.named.id).collect() })
    }

    /// Builds the reflection page of the user: themes, most used memories, insights and the number of merges, as a text.
    pub(crate) fn reflection(&self, scope: &Scope) -> Result<String> {
        let now = self.now();
        self.ask(|sql| reflection(sql, scope, now)).map(|page| page.text())
    }

    /// Finds memories that are alike among the user's newest ones, by their vectors in a space. Computes missing vectors if
    /// the space is the built-in embedder's.
    pub(crate) fn likes(&self, scope: &Scope, space: &EmbeddingSpace) -> Result<Likes> {
        let now = self.now();
        let memories = self.ask(|sql| {
            let newest = pages::newest(sql, scope, COMPARED)?;
            let mut found = Vec::with_capacity(newest.len());
            for memory_no in newest {
                found.extend(
                    seen(sql, scope, memory_no, now)?.filter(|(memory, _)| is_to_be_compared(memory)),
                );
            }
            Ok(found)
        })?;
        let mut vectors = self.vectors_of(scope, space, memories.iter().map(|(_, place)| place.seq))?;
        let built_in = (space.model == BuiltIn::MODEL).then(BuiltIn::default);
        let mut compared = Vec::with_capacity(memories.len());
        for (memory, place) in &memories {
            let mut own = vectors.remove(&place.seq.0).unwrap_or_default();
            if let Some(built_in) = built_in.filter(|_| own.is_empty()) {
                own = embedded(memory, built_in);
            }
            let terms = memory.tags.iter().chain(&memory.entities).map(|term| folded(term)).collect();
            compared.push(ComparableMemory { kind: memory.kind, terms, vectors: own });
        }
        let without_vectors = compared.iter().filter(|one| one.vectors.is_empty()).count() as u64;
        let (edges, merges) = alike(&compared);
        let like = |Alike { places: (one, other), cosine, shared_terms }: &Alike| Like {
            numbers: [memories[*one].1.memory_no, memories[*other].1.memory_no],
            ids: [memories[*one].0.id, memories[*other].0.id],
            seqs: [memories[*one].1.seq, memories[*other].1.seq],
            cosine: *cosine,
            shared_terms: *shared_terms,
        };
        Ok(Likes {
            memories: memories.len() as u64,
            without_vectors,
            edges: edges.iter().map(like).collect(),
            merges: merges.iter().map(like).collect(),
        })
    }

    /// Returns a vector of length 1 for each memory that has vectors in the space: the mean direction of its pieces.
    /// Computes missing vectors if the space is the built-in embedder's.
    #[cfg(feature = "files")]
    pub(crate) fn directions(
        &self,
        scope: &Scope,
        space: &EmbeddingSpace,
        memories: &[Memory],
    ) -> Result<Vec<(MemoryId, Vec<f64>)>> {
        let seqs = self.ask(|sql| {
            let seq_of = |memory: &Memory| {
                let row = find::no_of(sql, scope, memory.id)?.map(|no| find::by_no(sql, scope, no));
                Ok(row.transpose()?.flatten().and_then(|row| row.seq).unwrap_or_default())
            };
            memories.iter().map(seq_of).collect::<Result<Vec<Seq>>>()
        })?;
        let mut vectors = self.vectors_of(scope, space, seqs.iter().copied())?;
        let built_in = (space.model == BuiltIn::MODEL).then(BuiltIn::default);
        let of_one = |(memory, seq): (&Memory, &Seq)| {
            let mut own = vectors.remove(&seq.0).unwrap_or_default();
            if let Some(built_in) = built_in.filter(|_| own.is_empty()) {
                own = embedded(memory, built_in);
            }
            Some((memory.id, mean(&own)?))
        };
        Ok(memories.iter().zip(&seqs).filter_map(of_one).collect())
    }

    /// Reads the vectors of these units, by unit. The list of a unit without vectors is empty.
    fn vectors_of(
        &self,
        scope: &Scope,
        space: &EmbeddingSpace,
        seqs: impl Iterator<Item = Seq>,
    ) -> Result<HashMap<u32, Vec<Vector>>> {
        let mut found: HashMap<u32, Vec<Vector>> = seqs.map(|seq| (seq.0, Vec::new())).collect();
        let Some(space) = self.space(space)? else { return Ok(found) };
        self.vector_blocks(scope, space, 0, |block| {
            for ((seq, _), bytes) in block.owners().zip(block.vectors.chunks_exact(space.dims)) {
                if let Some(own) = found.get_mut(&seq) {
                    own.extend(Vector::from_bytes(bytes));
                }
            }
        })?;
        Ok(found)
    }
}

/// The result of a search for memories that are alike.
#[derive(Debug)]
pub(crate) struct Likes {
    /// How many memories were compared.
    pub(crate) memories: u64,
    /// How many of the compared memories have no vectors.
    pub(crate) without_vectors: u64,
    /// Pairs to relate by an edge, the most similar first.
    pub(crate) edges: Vec<Like>,
    /// Pairs to merge.
    pub(crate) merges: Vec<Like>,
}

/// Two memories that are alike, the newer one first.
#[derive(Debug)]
pub(crate) struct Like {
    pub(crate) numbers: [MemoryNo; 2],
    pub(crate) ids: [MemoryId; 2],
    pub(crate) seqs: [Seq; 2],
    pub(crate) cosine: f64,
    pub(crate) shared_terms: usize,
}

/// A memory's number and its current unit.
#[derive(Clone, Copy, Debug)]
struct MemoryPosition {
    memory_no: MemoryNo,
    seq: Seq,
}

/// Reads a whole memory. `None` if it is gone or damaged; doctor reports damage.
fn seen(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: StoredTime,
) -> Result<Option<(Memory, MemoryPosition)>> {
    let read = || -> Result<Option<(Memory, MemoryPosition)>> {
        let Some(row) = find::by_no(sql, scope, memory_no)? else { return Ok(None) };
        let stands = MemoryPosition { memory_no, seq: row.seq.unwrap_or_default() };
        Ok(Some((known::one(sql, scope, row, now)?, stands)))
    };
    sound(read())
}

/// Computes the built-in embedder's vectors of a memory.
fn embedded(memory: &Memory, built_in: BuiltIn) -> Vec<Vector> {
    let texts = pieces(&text_of(memory).said());
    texts.iter().filter_map(|piece| built_in.embed_text(&piece.text)).collect()
}

/// Returns the mean direction of vectors, with length 1. `None` if there are no vectors or they cancel out.
#[cfg(feature = "files")]
fn mean(vectors: &[Vector]) -> Option<Vec<f64>> {
    let mut sum = vec![0.0; vectors.first()?.dims()];
    for vector in vectors {
        for (sum, number) in sum.iter_mut().zip(vector.numbers()) {
            *sum += f64::from(*number) / vector.length();
        }
    }
    let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
    (length > 0.0).then(|| sum.into_iter().map(|number| number / length).collect())
}

fn text_of(memory: &Memory) -> MemoryText<'_> {
    let Memory { kind, title, content, procedure, .. } = memory;
    MemoryText { kind: *kind, title, content, procedure: procedure.as_ref() }
}

/// Returns whether a memory is neither contested nor stale.
fn is_to_be_compared(memory: &Memory) -> bool {
    !memory.contested && !memory.standing.is_stale()
}

fn named(memory: &Memory) -> LineNames {
    LineNames { id: memory.id, kind: memory.kind, pinned: memory.pinned, title: memory.title.clone() }
}

/// Candidates for a section, best first.
type Candidates = (CoreSection, Vec<ScoredMemory>);

/// Counts the memories, and collects the candidates for each section, best first.
fn candidates(
    sql: &dyn Sql,
    scope: &Scope,
    options: &CoreOptions,
    now: StoredTime,
) -> Result<(CoreHead, Vec<Candidates>)> {
    let mut head = CoreHead { on: now.date_naive(), active: 0, all: 0 };
    let mut sections = CoreSection::EVERY.map(|section| (section, Vec::new()));
    looked::for_each_score(sql, scope, now, |scored| {
        head.all += 1;
        if scored.score < ACTIVE {
            return;
        }
        head.active += 1;
        if let Some(section) = CoreSection::of(scored.kind, scored.pinned)
            && scored.trust >= options.min_trust
        {
            sections[section as usize].1.push(scored);
        }
    })?;
    for (_, scored) in &mut sections {
        scored.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.memory_no.cmp(&a.memory_no)));
    }
    Ok((head, sections.into()))
}

/// Reads at most `most` memories of a section, best first, and skips contested ones.
fn best(
    sql: &dyn Sql,
    scope: &Scope,
    (section, scored): (CoreSection, &[ScoredMemory]),
    (most, now): (usize, StoredTime),
) -> Result<Vec<CoreEntry>> {
    let mut entries = Vec::new();
    for ScoredMemory { memory_no, score, .. } in scored {
        if entries.len() == most {
            break;
        }
        let memory = seen(sql, scope, *memory_no, now)?;
        entries.extend(memory.filter(|(memory, _)| !memory.contested).map(|(memory, _)| CoreEntry {
            section,
            score: *score,
            number: memory_no.0,
            named: named(&memory),
            is_stale: memory.standing.is_stale(),
            tags: memory.tags,
        }));
    }
    Ok(entries)
}

fn reflection(sql: &dyn Sql, scope: &Scope, now: StoredTime) -> Result<ReflectionPage> {
    let memories = pages::counted(sql, scope)?;
    let mut tags: HashMap<MemoryNo, Vec<String>> = HashMap::new();
    for (memory_no, tag) in pages::tags(sql, scope)? {
        tags.entry(memory_no).or_default().push(tag);
    }
    let tags: Vec<Vec<String>> =
        memories.iter().map(|memory| tags.remove(&memory.memory_no).unwrap_or_default()).collect();
    let show = |counted: &CountedMemory| seen(sql, scope, counted.memory_no, now);
    let mut shown_themes = Vec::new();
    for theme in themes(&tags) {
        let mut titles = Vec::new();
        for at in theme.first {
            titles.extend(show(&memories[at])?.map(|(memory, _)| memory.title));
        }
        shown_themes.push((theme.tags, theme.memories, titles));
    }
    let of_projects = memories.iter().zip(&tags);
    let of_projects =
        of_projects.filter_map(|(memory, tags)| Some((memory.project.as_deref()?, tags.as_slice())));
    let spanning = spanning(of_projects);
    let mut by_use: Vec<&CountedMemory> = memories.iter().filter(|memory| memory.access_count > 0).collect();
    by_use.sort_by_key(|memory| std::cmp::Reverse(memory.access_count)); // Stable: among equals, the newer comes first.
    let mut most_used = Vec::new();
    for memory in by_use.into_iter().take(MOST_USED) {
        most_used.extend(show(memory)?.map(|(shown, _)| (named(&shown), memory.access_count)));
    }
    let mut insights = Vec::new();
    for memory in memories.iter().filter(|memory| memory.kind == MemoryKind::Insight).take(INSIGHTS) {
        insights.extend(show(memory)?.map(|(shown, _)| (named(&shown), shown.content)));
    }
    let (reflections, last) = pages::reflections(sql, scope)?;
    Ok(ReflectionPage {
        on: now.date_naive(),
        last: last.map(|at| at.date_naive()),
        reflections,
        themes: shown_themes,
        spanning,
        most_used,
        insights,
        merges: pages::merges(sql, scope)?,
    })
}
