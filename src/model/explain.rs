//! Receipts in words: what was asked, how the results were ranked, what was found, and what happened to each item.

use std::fmt::Write as _;

use crate::model::{
    ids::MemoryId,
    memory::filter::MemoryFilter,
    profile::Profile,
    receipt::{ItemKind, ItemOutcome, PackedAs, Planned, Receipt, ReceiptItem, SameSource, Understood},
    tier::MemoryTier,
};

impl SameSource {
    fn name(&self) -> String {
        match self.kind {
            ItemKind::Memory => format!("memory {}", MemoryId::from(self.owner_id)),
            kind => format!("{} {}", kind.as_str(), self.seq),
        }
    }
}

impl Receipt {
    /// Explains the receipt in words: what was asked, how the results were ranked, what was found, what was left out, and
    /// why. Refers to turns by their place in the user's order of recording. Of what was said, it quotes only queries.
    pub fn explain(&self) -> String {
        let mut text = self.explain_asking();
        for item in &self.items {
            let _ = writeln!(text, "{:>3}. {}: {}", item.rank, item.name(), item.explain());
        }
        text
    }

    /// Explains everything except the items: what was asked, how the results were ranked, what was missing, and the totals.
    pub fn explain_asking(&self) -> String {
        let mut text = String::new();
        let asked_at = self.asked_at.format("%Y-%m-%d %H:%M:%S UTC");
        let what = if self.budget_tokens.is_some() { "A context for" } else { "A recall of" };
        let _ = writeln!(text, "{what} {:?}", self.query);
        let _ = writeln!(text, "Asked {asked_at}, as of {}.", self.now.format("%Y-%m-%d %H:%M UTC"));
        let _ = writeln!(text, "{}", self.understood.explain());
        for query in &self.understood.queries {
            let _ = writeln!(text, "Also searched for: {query:?}.");
        }
        if let Some(plan) = &self.understood.plan {
            let _ = writeln!(text, "{}", plan.explain());
        }
        let _ = writeln!(text, "{}", explain_profile(&self.profile));
        if let Some(reranker) = &self.understood.reranker {
            let read = self.items.iter().filter(|item| item.rerank_score.is_some()).count();
            let _ = writeln!(text, "Reranked: the best {read} by {reranker}.");
        }
        if !self.understood.filter.is_open() {
            let _ = writeln!(text, "Filtered: {}.", self.understood.filter.explain());
        }
        if let Some(of) = self.understood.explain_of() {
            let _ = writeln!(text, "{of}");
        }
        if !self.understood.without.is_empty() {
            let _ = writeln!(text, "Left out on request: {}.", self.understood.without.join(", "));
        }
        for missing in &self.missing {
            let _ = writeln!(text, "Done without: {missing}.");
        }
        if let (Some(tokens), Some(budget)) = (self.tokens, self.budget_tokens) {
            let packed = self.items.iter().filter(|item| item.packed_as.is_some()).count();
            let considered = self.items.len();
            let _ = writeln!(text, "Considered {considered}, showed {packed}: {tokens} of {budget} tokens.");
        }
        if let Some(confidence) = self.confidence {
            let _ = writeln!(text, "Confidence that something of it answers: {confidence:.2}.");
            if let Some(least) = self.understood.min_confidence.filter(|least| confidence < *least) {
                let _ = writeln!(text, "Nothing recalled is shown below {least:.2}: min_confidence.");
            }
        }
        let took_ms = self.took.as_secs_f64() * 1e3;
        let _ = write!(text, "Took {took_ms:.1} ms.");
        if let Some(at) = self.used_at {
            let _ = write!(
                text,
                " It was of use: the turn that it answered was recorded {}.",
                at.format("%Y-%m-%d %H:%M:%S UTC")
            );
        } else if self.budget_tokens.is_some() {
            text.push_str(" No turn was recorded as its answer.");
        }
        text.push('\n');
        text
    }
}

impl Understood {
    fn explain(&self) -> String {
        let mut said = vec![match &self.model {
            Some(model) => format!("looked for {} words, and for the meaning by {model}", self.words),
            None => format!("looked for {} words, not for the meaning", self.words),
        }];
        said.extend(self.times.iter().map(|time| format!("it names the time {time}")));
        let traits = [
            (self.is_only_time, "it asks for that time and nothing else"),
            (self.refers_to_self, "the user speaks of themself"),
            (self.refers_back, "it points back to what was said"),
            (self.is_follow_up, "it was understood from the turns before it"),
        ];
        said.extend(traits.iter().filter(|(is_so, _)| *is_so).map(|(_, what)| (*what).to_owned()));
        format!("Understood: {}.", said.join("; "))
    }
}

impl Understood {
    /// Describes which turns and memories could answer, and whether memories lent score to their neighbours; `None` for
    /// the defaults.
    fn explain_of(&self) -> Option<String> {
        let mut said = Vec::new();
        if !self.of.is_all() {
            said.push(format!("only {}", self.of.as_str()));
        }
        let memories = self.memories.as_ref().map(MemoryFilter::explain).filter(|filter| !filter.is_empty());
        said.extend(memories.map(|filter| format!("of memories those {filter}")));
        if self.graph {
            said.push("memories lent to their neighbours".to_owned());
        }
        (!said.is_empty()).then(|| format!("Recalled: {}.", said.join("; ")))
    }
}

impl Planned {
    fn explain(&self) -> String {
        let mut said: Vec<String> =
            self.queries.iter().map(|query| format!("also searched for: {query:?}")).collect();
        said.extend(self.time.iter().map(|time| format!("it is about the time {time}")));
        if self.only_if_sure {
            said.push("nothing older is needed, so only what is sure is shown".to_owned());
        }
        said.extend(self.wishes.map(|count| format!("{count} of the standing wishes apply")));
        if said.is_empty() {
            said.push("nothing besides the message is needed".to_owned());
        }
        let when = if self.is_cached { "before".to_owned() } else { format!("in {} ms", self.took_ms) };
        format!("Planned by {} {when}: {}.", self.model, said.join("; "))
    }
}

fn explain_profile(profile: &Profile) -> String {
    match profile.weights() {
        Some(weights) => {
            let named = weights.named().map(|(name, value)| format!("{name} {value}"));
            format!("Ranked by the profile {}: {}.", profile.as_str(), named.join(", "))
        }
        None => format!("Ranked by the profile {}.", profile.as_str()),
    }
}

impl ReceiptItem {
    /// Explains what happened to the item and why it was found: `shown whole, 42 tokens; 0.912 by words 1.00, meaning 0.60`.
    /// A reranker's score, `reranked 4.213`, comes after the semicolon.
    pub fn explain(&self) -> String {
        let parts = self.parts.explain();
        let found = if self.is_anchor() {
            format!("{:.3}: how strongly it is called for", self.score)
        } else if self.kind == ItemKind::Wish {
            format!("{:.3}: how well its topic fits", self.score)
        } else if self.outcome == ItemOutcome::Promoted {
            "it was of use earlier in this session".to_owned()
        } else if !parts.is_empty() {
            let sure = self.confidence.map_or_else(String::new, |sure| {
                format!("; {sure:.2} sure by {}", self.parts.explain_confidence())
            });
            format!("{:.3} by {parts}{sure}", self.score)
        } else if self.score == 0.0 {
            "it is there for its place in the session".to_owned()
        } else {
            format!("{:.3}", self.score)
        };
        let reranked = self.rerank_score.map_or_else(String::new, |score| format!(" reranked {score:.3};"));
        let newer = self.newer.map_or_else(String::new, |newer| {
            format!("; more of it was said on {} (number {})", newer.said_at.date_naive(), newer.seq)
        });
        let flags = match &self.flags.words()[..] {
            [] => String::new(),
            words => format!("; mind: {}", words.join(", ")),
        };
        let others: Vec<String> = self.same_source.iter().map(SameSource::name).collect();
        let same_source = match &others[..] {
            [] => String::new(),
            others => format!("; from the same source as {}", others.join(", ")),
        };
        format!("{};{reranked} {found}{newer}{flags}{same_source}", self.fate())
    }

    fn name(&self) -> String {
        match self.seq {
            Some(_) if self.kind == ItemKind::Memory => format!("memory {}", MemoryId::from(self.owner_id)),
            Some(seq) => {
                let tier = self.memory_tier.map_or("nowhere", MemoryTier::as_str);
                format!("{} {seq} ({tier})", self.kind.as_str())
            }
            None => format!("{} {}", self.kind.as_str(), self.owner_id),
        }
    }

    fn is_anchor(&self) -> bool {
        self.kind == ItemKind::Anchor
    }

    fn fate(&self) -> String {
        if let Some(packed_as) = self.packed_as {
            let how = match packed_as {
                PackedAs::Whole => "whole",
                PackedAs::UserHalf => "without the reply",
                PackedAs::Extract => "in part",
                PackedAs::Summary => "as its summary",
            };
            return format!("shown {how}, {} tokens", self.tokens);
        }
        let fate = match self.outcome {
            ItemOutcome::Recalled => "found",
            ItemOutcome::AlreadyShown => "left out: it is already shown",
            ItemOutcome::NoRoom => "left out: there was no room",
            ItemOutcome::BelowFloor if self.parts.words == 0.0 && !self.is_anchor() => {
                "left out: it has no word of the question, and its meaning is not close"
            }
            ItemOutcome::BelowFloor => "left out: it fits too poorly",
            ItemOutcome::Packed | ItemOutcome::Promoted => self.outcome.as_str(),
        };
        fate.to_owned()
    }
}
