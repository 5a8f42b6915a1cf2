//! A vocabulary with as many word forms as real conversations have. The commonest words of English come first, then
//! generated forms, so that no long list has to be shipped.
//!
//! A vocabulary of a few hundred words would make the index, and anything that caches words, look better than in real
//! use. The generated forms are inflections and compounds of common words, roots with prefixes and suffixes, words made
//! of syllables, names, and numbers; rarer forms tend to be longer. The forms are the same on every machine.

use std::{collections::HashSet, ops::Range, sync::OnceLock};

use super::{Length, text::Rng, words::WORDS};

/// Zipf-Mandelbrot's law, in two regimes as in large corpora (Ferrer i Cancho and Solé 2001): after a kernel of words
/// that everybody uses, frequencies fall faster. It is fitted to the number of different words in 1,000 turns of real
/// conversations, and to the share of all words that the 130 and the 800 commonest make up. Part `text` of the benchmark
/// `backend` shows the number of different words.
struct Law {
    /// The number of forms.
    forms: usize,
    offset: f64,
    kernel: usize,
    exponent_behind: f64,
}

const SHORT: Law = Law { forms: 8_500, offset: 2.7, kernel: 500, exponent_behind: 2.4 };
const LONG: Law = Law { forms: 49_000, offset: 5.0, kernel: 2_000, exponent_behind: 2.5 };

impl Law {
    /// Returns the cumulative sums of the frequencies.
    fn sums(&self) -> Vec<f64> {
        let edge = self.kernel as f64 + self.offset;
        let frequency = |rank: usize| {
            let place = rank as f64 + 1.0 + self.offset;
            if rank < self.kernel { 1.0 / place } else { (place / edge).powf(-self.exponent_behind) / edge }
        };
        let sum = |sum: &mut f64, rank| {
            *sum += frequency(rank);
            Some(*sum)
        };
        (0..self.forms).scan(0.0, sum).collect()
    }
}

/// The forms, the commonest first.
pub struct Vocabulary {
    /// All forms concatenated: 49,000 strings would take four times the memory, which a benchmark measures.
    letters: String,
    /// The end of each form in `letters`.
    ends: Vec<u32>,
    /// The cumulative sums of the frequencies, in short turns and in long ones.
    sums: [Vec<f64>; 2],
    /// The number of real words at the beginning.
    common: usize,
}

/// Returns the only vocabulary; short turns use its first forms.
pub fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| Vocabulary::of(LONG.forms))
}

impl Vocabulary {
    fn of(forms: usize) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for word in WORDS.split_whitespace() {
            known.insert(word.to_owned());
            words.push(word.to_owned());
        }
        let mut maker = Maker { rng: Rng::new(2_718), stems: words[FIRST_STEM..].to_vec() };
        let common = words.len();
        while words.len() < forms {
            let word = maker.form(words.len());
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let (mut letters, mut ends) = (String::new(), Vec::new());
        for word in &words {
            letters.push_str(word);
            ends.push(letters.len() as u32);
        }
        Self { letters, ends, sums: [SHORT.sums(), LONG.sums()], common }
    }

    /// Returns the number of forms that are in the list of common words.
    pub fn common(&self) -> usize {
        self.common
    }

    /// Returns a form, drawn with the frequency that it has in turns of this length; `at` is from 0 to under 1.
    pub fn drawn(&self, length: Length, at: f64) -> &str {
        self.among(length, 0..self.sums(length).len(), at)
    }

    /// Returns a form from these ranks.
    pub fn among(&self, length: Length, ranks: Range<usize>, at: f64) -> &str {
        let sums = self.sums(length);
        let below = if ranks.start == 0 { 0.0 } else { sums[ranks.start - 1] };
        let at = below + at * (sums[ranks.end - 1] - below);
        let rank = sums.partition_point(|&sum| sum <= at).min(ranks.end - 1);
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.letters[start as usize..self.ends[rank] as usize]
    }

    fn sums(&self, length: Length) -> &[f64] {
        &self.sums[usize::from(length == Length::Long)]
    }
}

/// The rank of the first common word that has regular inflections: those before it are function words, or irregular.
const FIRST_STEM: usize = 200;

struct Maker {
    rng: Rng,
    stems: Vec<String>,
}

/// The onsets of syllables, roughly as frequent as in English: frequent ones are repeated.
const ONSETS: &[&str] = &[
    "b", "c", "c", "d", "d", "f", "g", "h", "l", "l", "m", "m", "n", "p", "p", "r", "r", "s", "s", "s", "t",
    "t", "v", "w", "br", "ch", "cl", "cr", "dr", "fl", "fr", "gl", "gr", "pl", "pr", "sc", "sh", "sl", "sp",
    "st", "str", "th", "tr", "qu", "j", "k", "", "", "",
];
const VOWELS: &[&str] = &[
    "a", "a", "a", "e", "e", "e", "e", "i", "i", "i", "o", "o", "o", "u", "ai", "ea", "ee", "ou", "oo", "ie",
];
const CODAS: &[&str] = &[
    "", "", "", "", "n", "n", "r", "r", "l", "s", "t", "d", "m", "c", "p", "g", "nd", "nt", "st", "rt", "ck",
    "ll", "ng", "rm", "ct", "x", "ss", "sh",
];
const PREFIXES: &[&str] = &[
    "re", "un", "in", "de", "pre", "dis", "con", "over", "inter", "sub", "out", "under", "trans", "micro",
    "multi", "anti", "auto", "semi", "counter", "hyper",
];
const ROOTS: &[&str] = &[
    "port", "form", "struct", "graph", "press", "dict", "spect", "scrib", "tract", "vers", "vent", "mit",
    "cept", "duct", "fer", "ject", "log", "mort", "nat", "pend", "pos", "rupt", "sens", "serv", "sign",
    "sist", "solv", "stanc", "tain", "tend", "test", "therm", "vis", "voc", "act", "cap", "cred", "cycl",
    "fin", "flect", "fract", "gen", "grad", "labor", "liter", "loc", "man", "mechan", "medic", "mem", "migr",
    "mod", "mot", "norm", "organ", "part", "path", "phon", "photo", "plic", "popul", "prim", "quest", "rad",
    "regul", "sect", "simil", "soci", "spir", "stat", "techn", "tempor", "termin", "tox", "urban", "val",
    "vari", "vol", "author", "cal", "chron", "commun", "cultur", "domin", "econom", "electr", "equ",
    "fabric", "fortun", "friend", "glob", "hand", "immun", "journ", "kind", "light", "market", "nav",
    "object", "passion", "quant", "reason", "season", "strateg", "system", "vision", "work", "child",
    "water", "school", "market", "account", "secur", "data", "web", "valid", "configur",
];
const SUFFIXES: &[&str] = &[
    "s", "s", "ed", "ed", "ing", "ing", "er", "ers", "or", "ion", "ions", "ation", "ations", "ment", "ments",
    "able", "al", "ally", "ive", "ness", "ity", "ic", "ical", "ist", "ism", "ize", "izing", "ized", "ful",
    "less", "ly", "ant", "ance", "ary", "ator", "ability", "ology",
];
const INFLECTIONS: &[&str] = &[
    "s", "s", "s", "ing", "ing", "ed", "er", "ers", "'s", "ly", "ness", "y", "less", "ful", "like", "-free",
];

impl Maker {
    /// Makes a form of this rank.
    fn form(&mut self, rank: usize) -> String {
        // The position in thousands: rare forms are long, and seldom inflections of common words.
        let depth = rank / 1_000;
        match self.rng.below(100) {
            0..5 => self.number(rank),
            5..14 => self.name(),
            14..24 => self.compound(),
            n if n < 24 + 44_usize.saturating_sub(depth) => self.inflected(),
            n if n < 90 => self.derived(depth),
            _ => self.syllables(2 + depth / 20),
        }
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.rng.below(of.len())]
    }

    fn stem(&mut self) -> String {
        let at = self.rng.below(self.stems.len());
        self.stems[at].clone()
    }

    fn inflected(&mut self) -> String {
        let (stem, ending) = (self.stem(), self.one_of(INFLECTIONS));
        let drops_e = stem.ends_with('e') && ending.starts_with(['e', 'i', 'y']);
        format!("{}{ending}", if drops_e { &stem[..stem.len() - 1] } else { &stem })
    }

    fn derived(&mut self, depth: usize) -> String {
        let prefix = if self.rng.below(60) < 25 + depth / 2 { self.one_of(PREFIXES) } else { "" };
        let suffix = self.one_of(SUFFIXES);
        format!("{prefix}{}{suffix}", self.one_of(ROOTS))
    }

    fn compound(&mut self) -> String {
        let hyphen = if self.rng.below(3) == 0 { "-" } else { "" };
        format!("{}{hyphen}{}", self.stem(), self.stem())
    }

    fn syllables(&mut self, count: usize) -> String {
        let mut word = String::new();
        for _ in 0..count {
            for part in [ONSETS, VOWELS, CODAS] {
                word.push_str(self.one_of(part));
            }
        }
        word
    }

    fn name(&mut self) -> String {
        let count = 2 + self.rng.below(2);
        let mut name = self.syllables(count);
        name[..1].make_ascii_uppercase();
        name
    }

    fn number(&mut self, rank: usize) -> String {
        match self.rng.below(3) {
            0 => (1_900 + self.rng.below(140)).to_string(),
            1 => self.rng.below(100 + rank).to_string(),
            _ => format!("{}.{}", self.rng.below(100), self.rng.below(10)),
        }
    }
}
