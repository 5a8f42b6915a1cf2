//! Shows whether generated text costs as much as real text.

use std::{
    collections::{BTreeMap, HashSet},
    time::Instant,
};

use thermocline::Tokenizer;

use crate::{
    chat::{Said, said},
    support::{
        lengths, operations,
        rounds::median_of,
        table::{Report, thousands},
        transcripts,
    },
};

/// Compares generated text with each set of transcripts.
pub fn compare(report: &mut Report) {
    let mut sources: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    for (name, said) in transcripts::said() {
        let set = name.split('-').next().unwrap_or_default().to_owned();
        sources.entry(set).or_default().extend(said);
    }
    for length in lengths() {
        sources.insert(format!("generated, {length}"), said(length, operations(1_000)));
    }
    for (name, said) in &sources {
        line(name, &said[..said.len().min(1_000)], report);
    }
}

fn line(name: &str, said: &[Said], report: &mut Report) {
    let texts: Vec<&str> = said.iter().flat_map(|(message, reply)| [&**message, &**reply]).collect();
    let characters: usize = texts.iter().map(|text| text.len()).sum();
    let mut forms = HashSet::new();
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '\''));
    let count = words.filter(|word| !word.is_empty()).map(|word| forms.insert(word.to_lowercase())).count();
    let mut tokens = 0;
    let times = (0..5).map(|_| {
        let start = Instant::now();
        tokens = texts.iter().map(|text| Tokenizer::O200kBase.count(text)).sum::<u32>();
        start.elapsed().as_nanos() as f64 / characters as f64
    });
    let nanos = median_of(times.collect());
    report.line(&[
        name.to_owned(),
        thousands(said.len()),
        thousands(characters / said.len()),
        thousands(forms.len()),
        format!("{:.2}", characters as f64 / count as f64),
        format!("{:.2}", characters as f64 / f64::from(tokens)),
        format!("{nanos:.1} ns"),
    ]);
}
