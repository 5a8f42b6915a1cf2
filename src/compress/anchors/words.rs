//! The tokens of a statement as the values of claims look at them, and the lists that say where a value stops.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::english::{
    classes::set,
    statements::{Statement, Token},
};

/// A value and the token behind its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extracted {
    pub(crate) value: String,
    pub(crate) end: usize,
}

/// The tokens of a statement, by their places; beyond its end stands nothing.
pub(crate) struct Words<'s, 'a> {
    pub(crate) statement: &'s Statement<'a>,
}

impl Words<'_, '_> {
    pub(crate) fn token(&self, at: usize) -> Option<&Token<'_>> {
        self.statement.tokens.get(at)
    }

    pub(crate) fn lower(&self, at: usize) -> &str {
        self.token(at).map_or("", |token| &token.lower)
    }

    /// Whether a mark stands here, or nothing.
    pub(crate) fn is_end(&self, at: usize) -> bool {
        self.token(at).is_none_or(Token::is_mark)
    }

    /// The text from one token to the end of the one before another.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Extracted {
        let tokens = &self.statement.tokens;
        let from = tokens[start].start;
        let last = &tokens[end - 1];
        // Of a contraction at the end only the first half belongs to it: `Anna's here`.
        let is_half = last.lower.len() < last.text.len() && last.text.to_lowercase().starts_with(&last.lower);
        let to = if is_half { last.start + last.lower.len() } else { last.end() };
        let value = self.statement.text.get(from..to).unwrap_or(last.text);
        Extracted { value: value.split_whitespace().collect::<Vec<_>>().join(" "), end }
    }
}

/// What is said of how well somebody does something is no part of what they are.
pub(crate) const JUDGING: &str = "\
    big good great terrible bad horrible huge decent lousy slow fast worst best better only first kind \
    proud lucky total real little mean natural such night";
/// Between `my` and the relation: `my friend's son` is no son of mine.
pub(crate) const OTHERS: &str = "\
    's friend friends neighbor neighbour boss colleague coworker client teacher roommate late fur study business gym lab dance training running sparring";
/// Behind an animal: `dog food` is no dog.
pub(crate) const COMPOUNDS: &str = "\
    food park sitter lover person owner breeds show shelter toys";
/// What no phrase of things in general begins with: `it`, `your idea`, `how you ...`.
pub(crate) const NO_START: &str = "\
    it this that these those you your yours him her his them their how when what where why who which if \
    my our me us i we he she they there a an one some any being seeing hearing having not no and but or \
    so as at on in for from by with about the every each everything something anything nothing is are \
    was knowing getting watching making doing going more most less much many lots both all such like \
    than over up down talking spending taking helping";
/// What a phrase ends before.
pub(crate) const ENDS: &str = "\
    and but because so since when while as that which who where if or for on at with from by after \
    before during though is are was were am it i you we they he she too very more most than to not will \
    can right lately now again anymore any especially always then there here just even over until these \
    this last how what do did does have has und aber y pero et mais e ma mas mucho beaucoup sehr 's also \
    sometimes like together itself every all a them my your his her their our me";
/// Infinitives that say nothing by themselves: `I love to see that`.
pub(crate) const VAGUE_VERBS: &str = "\
    be see hear know get have do say make help think go join meet ask admit take talk share come try";
/// Articles of other languages.
pub(crate) const ARTICLES: &str = "\
    die der das el la los las le les il lo gli o os as";
/// What follows a verb whose half it is: `listening to`.
pub(crate) const HALVES: &str = "\
    to on in at with up down out about for as that how when what my your our them it you around";
/// What may follow a profession; `a student loan` is no student.
pub(crate) const BEHIND_JOB: &str = "\
    working specializing since who now nowadays living anymore any";
/// What a described profession or condition begins behind.
pub(crate) const BEFORE_PHRASE: &str = "\
    got diagnosed suffer job career work worked working became become arbeite bin ich";
/// Words for a person.
pub(crate) const PRONOUNS: &str = "\
    he she they him her them his hers theirs ze zir xe xem it its";

/// What no aim begins with.
pub(crate) const VAGUE_AIMS: &str = "it this that able there part more like as with sure your in";
/// What an aim ends before.
pub(crate) const AIM_ENDS: &str =
    "and but because so when if which that who where as while by after before i";
/// Words that count or own what follows them.
pub(crate) const COUNTS: &str = "my our a an one two three four five six 1 2 3 4 5 6 mi mein meine unser unsere nuestra nuestro mon ma notre";

static SETS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let lists = [
        JUDGING,
        OTHERS,
        COMPOUNDS,
        NO_START,
        ENDS,
        VAGUE_VERBS,
        ARTICLES,
        HALVES,
        BEHIND_JOB,
        BEFORE_PHRASE,
        PRONOUNS,
        VAGUE_AIMS,
        AIM_ENDS,
        COUNTS,
    ];
    lists.into_iter().map(|list| (list, set(list))).collect()
});

/// Whether `word` is in one of the lists above.
pub(crate) fn is_in(list: &'static str, word: &str) -> bool {
    SETS.get(list).is_some_and(|words| words.contains(word))
}
