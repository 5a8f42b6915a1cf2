//! Pages about all memories: what matters most within a token limit, recurring subjects, duplicates.

use chrono::TimeDelta;
use thermocline::{
    CoreOptions, EdgeStatus, EdgeType, Edit, EpisodeFilter, ErrorKind, MemoryId, MemoryKind, NewEdge,
    NewMemory, Origin, QuarantineSource, Tokenizer, Volatility,
};

use crate::{
    dump::ask,
    memories::{Known, fix, port},
};

fn memory(kind: MemoryKind, title: &str) -> NewMemory {
    NewMemory::new(kind, title, format!("{title}, as it was.")).importance(0.9)
}

fn path_end(id: MemoryId) -> String {
    let id = id.to_string();
    id[id.len() - 6..].to_owned()
}

#[test]
fn core_has_what_matters_most_by_sections_and_nothing_of_little_trust() {
    let known = Known::new();
    let redis = known.save(
        memory(MemoryKind::Solution, "Fixed Redis [connection] `timeouts`\nfor good")
            .tags(["redis", "home lab"]),
    );
    let stale = known.save(memory(MemoryKind::Decision, "Chose websocket").volatility(Volatility::Medium));
    let pinned = known.save(memory(MemoryKind::Error, "Disk full").importance(0.1).pinned());
    known.save(memory(MemoryKind::Error, "Not pinned"));
    known.memories.save(memory(MemoryKind::Fix, "As a page says").origin(Origin::Document)).unwrap();
    known.save(memory(MemoryKind::Fix, "Faint").importance(0.1));
    let hidden = known.save(memory(MemoryKind::Fix, "Hidden"));
    known.memories.quarantine(QuarantineSource::Memory(hidden.id), "").unwrap();
    known.save(port(1).importance(0.9));
    let other = NewMemory::new(MemoryKind::Configuration, "The port", "It is 7.").goal_signature("api:port");
    known.memories.save(other.origin(Origin::Assistant)).unwrap();
    let ends = [redis.id, stale.id, pinned.id].map(path_end);
    let core = known.memories.core(CoreOptions::default()).unwrap();
    assert_eq!(
        core.text,
        format!(
            "# Memory Core (auto-generated)\n\
             > Last updated: 2026-03-01 | Active memories: 6/7 | Next refresh: daily\n\
             ## Critical Solutions\n\
             - [Fixed Redis connection timeouts for good](graph/solutions/\
             fixed-redis-connection-timeouts-for-good-{}.md) (redis, home lab)\n\
             ## Active Decisions\n\
             - [Chose websocket](graph/decisions/chose-websocket-{}.md)\n\
             ## Patterns & Workflows\n\
             - [Disk full](vault/disk-full-{}.md)\n",
            ends[0], ends[1], ends[2]
        )
    );
    assert_eq!(core.memories, [redis.id, stale.id, pinned.id]);
    assert_eq!(core.tokens, Tokenizer::O200kBase.count(&core.text));
    let later = known.fixture.clock.clone();
    later.advance(TimeDelta::days(8));
    let core = known.memories.core(CoreOptions::default()).unwrap();
    assert!(
        core.text.contains(&format!("](graph/decisions/chose-websocket-{}.md) (stale)\n", ends[1])),
        "{}",
        core.text
    );
    later.advance(TimeDelta::days(2));
    let core = known.memories.core(CoreOptions::default()).unwrap();
    assert!(!core.text.contains("Chose websocket"), "it faded four times as fast:\n{}", core.text);
    known.memories.pin(stale.id).unwrap();
    let core = known.memories.core(CoreOptions::default()).unwrap();
    assert!(
        core.text.contains(&format!("](vault/chose-websocket-{}.md) (stale)\n", ends[1])),
        "{}",
        core.text
    );
}

#[test]
fn core_of_five_thousand_long_titles_has_at_most_3000_tokens_and_the_same_bytes_twice() {
    let known = Known::new();
    known.save(memory(MemoryKind::Fix, "One"));
    let known = known.rewritten(
        "INSERT INTO user_memories (id, user_no, kind, frequency, frequency_since, importance, confidence, origin, trust,
           learning_source, made_by, content_hash, said_at, created_at, updated_at, title, summary, content)
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
         SELECT randomblob(16), m.user_no,
                CASE n.n % 4 WHEN 0 THEN 'fix' WHEN 1 THEN 'solution' WHEN 2 THEN 'decision' ELSE 'procedure' END,
                'mid', m.frequency_since, 0.5 + (n.n * 37 % 500) / 1000.0, 0.8, 'user', 3, 'manual', 'caller',
                randomblob(16), m.said_at, m.created_at, m.updated_at,
                'The ' || n.n || 'th of many titles, each of which is as long as a title may be: '
                  || replace(hex(zeroblob(30)), '00', 'word '), '', 'text'
         FROM user_memories AS m, n;
         INSERT INTO memory_state (user_no, memory_no)
         SELECT user_no, memory_no FROM user_memories WHERE memory_no > 1;
         UPDATE user_memories SET seq = NULL, status = 'forgotten' WHERE memory_no = 1;",
    );
    let core = known.memories.core(CoreOptions::default()).unwrap();
    assert!(core.tokens <= 3_000, "{}", core.tokens);
    assert!(core.tokens > 2_800, "there is no room for another: {}", core.tokens);
    assert_eq!(core.tokens, Tokenizer::O200kBase.count(&core.text));
    assert_eq!(known.memories.core(CoreOptions::default()).unwrap(), core);
    let all = known.memories.core(CoreOptions::default().max_tokens(100_000)).unwrap();
    let sections: Vec<usize> = all.text.split("\n## ").skip(1).map(|it| it.matches("\n- ").count()).collect();
    assert_eq!(sections, [15; 4]);
    assert!(all.text.starts_with(&core.text[..100]));
    let few = known.memories.core(CoreOptions::default().per_section(1)).unwrap();
    assert_eq!(few.memories.len(), 4);
    for options in [
        CoreOptions::default().max_tokens(1),
        CoreOptions::default().per_section(0),
        CoreOptions::default().min_trust(thermocline::Trust::Foreign),
    ] {
        assert_eq!(known.memories.core(options).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn reflection_tells_themes_projects_uses_insights_and_merges() {
    let known = Known::new();
    let empty = known.memories.reflection().unwrap();
    assert!(empty.ends_with("## Consolidation History\n- Total merges performed: 0\n"), "{empty}");
    let a = known.save(fix("Fix S3 upload").tags(["fix", "python"]).project("cards")).id;
    let b = known
        .save(fix("Fix card positions of the printed sheets").tags(["python", "fix"]).project("dice"))
        .id;
    let insight = known.save(NewMemory::new(MemoryKind::Insight, "Caches", "They are stale.")).id;
    known.memories.save(fix("By a page").tags(["python", "fix"]).origin(Origin::Document)).unwrap();
    let ids = ["x", "y"].map(|title| known.save(fix(title)).id).to_vec();
    known.memories.merge(ids, fix("z").origin(Origin::User)).unwrap();
    let known = known.rewritten("UPDATE memory_state SET access_count = 3 WHERE memory_no = 1");
    let [a, b, insight] = [a, b, insight].map(path_end);
    let _ = b;
    assert_eq!(
        known.memories.reflection().unwrap(),
        format!(
            "# Reflection Summary (auto-generated)\n\
             > Last updated: 2026-03-01 | Last reflection: never | Total reflections: 0\n\
             ## Themes\n\
             Top tag co-occurrences revealing recurring themes:\n\
             - **fix + python**: 2 memories (\"Fix card positions of the printed sheets\", \"Fix S3 upload\")\n\
             ## Cross-Project Patterns\n\
             Tags that span multiple projects:\n\
             - **fix**: appears in cards (1), dice (1)\n\
             - **python**: appears in cards (1), dice (1)\n\
             ## Most Accessed\n\
             Top 10 memories by access count:\n\
             1. [Fix S3 upload](graph/fixes/fix-s3-upload-{a}.md) - 3 accesses\n\
             ## Recent Insights\n\
             Insight-type memories:\n\
             - [Caches](graph/insights/caches-{insight}.md) - They are stale.\n\
             ## Consolidation History\n\
             - Total merges performed: 1\n"
        )
    );
}

#[test]
fn reflect_proposes_edges_and_merges_once_and_writes_no_text() {
    let known = Known::new();
    let text = "Redis drops idle connections behind the firewall after five minutes without traffic.";
    let a = known.save(NewMemory::new(MemoryKind::Fix, "Redis drops", text).tags(["redis", "firewall"])).id;
    let b =
        known.save(NewMemory::new(MemoryKind::Fix, "Redis drops", format!("{text} Yes.")).tags(["redis"])).id;
    let c =
        known.save(NewMemory::new(MemoryKind::Problem, "Redis drops", text).tags(["firewall", "redis"])).id;
    let page = NewMemory::new(MemoryKind::Fix, "Redis drops", format!("{text} So.")).origin(Origin::Document);
    known.memories.save(page).unwrap();
    known.save(
        NewMemory::new(MemoryKind::Fix, "Beans", "They are planted in rows.").tags(["redis", "firewall"]),
    );
    let revisions = "SELECT sum(revision) FROM user_memories";
    let before = ask::<u32>(&known.fixture.path(), revisions);
    let reflected = known.memories.reflect().unwrap();
    assert_eq!((reflected.memories, reflected.without_vectors), (4, 0));
    let merges: Vec<_> = reflected.merges.iter().map(|merge| (merge.memory_id, merge.other_id)).collect();
    assert_eq!(merges, [(a, b)]);
    let edges: Vec<_> = reflected.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    assert!(edges.contains(&(c, a)), "{edges:?}");
    for edge in &reflected.edges {
        assert_eq!((edge.edge_type, edge.status), (EdgeType::SimilarTo, EdgeStatus::Proposed));
        assert!(edge.context.starts_with("cosine "), "{edge:?}");
    }
    assert_eq!(ask::<u32>(&known.fixture.path(), revisions), before);
    let again = known.memories.reflect().unwrap();
    assert_eq!((again.edges.len(), again.merges.len()), (0, 0), "what is asked is not asked twice");
    let page = known.memories.reflection().unwrap();
    assert!(page.contains("Last reflection: 2026-03-01 | Total reflections: 2\n"), "{page}");
    assert_eq!(known.memories.episodes(EpisodeFilter::default(), None, 100).unwrap().len(), 7);
    known.memories.edit(a, Edit::default().content("Otherwise.")).unwrap();
    known.check_sound();
}

#[test]
fn an_edge_that_is_proposed_holds_once_the_user_states_it() {
    let known = Known::new();
    let text = "Redis drops idle connections behind the firewall after five minutes without traffic.";
    let save = |kind| known.save(NewMemory::new(kind, "Redis drops", text).tags(["redis", "firewall"])).id;
    let (a, b) = (save(MemoryKind::Fix), save(MemoryKind::Problem));
    let proposed = known.memories.reflect().unwrap().edges.remove(0);
    let state = |origin| known.memories.relate(a, NewEdge::new(EdgeType::SimilarTo).origin(origin), b);
    for origin in [Origin::Tool, Origin::Document, Origin::Assistant] {
        assert_eq!(state(origin).unwrap_err().kind(), ErrorKind::Conflict, "{origin:?}");
    }
    assert_eq!(known.memories.edge(proposed.id).unwrap(), proposed);
    let stated = state(Origin::User).unwrap();
    assert_eq!((stated.id, stated.status), (proposed.id, EdgeStatus::Accepted));
    known.check_sound();
}
