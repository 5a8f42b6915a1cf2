//! Whether an anchor's value answers its attribute: a name looks like a name, an age like an age. Closed, small rules;
//! what they are unsure of is refused.
//!
//! The words around a value are those of English and some of each larger language, folded.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    compress::verify::{language, numbers},
    english::{classes::is_of, dull_words::is_dull, numerals, stop_words::is_stop_word},
    model::anchor::{Attribute, Cardinality, FoundAnchor, Stance},
    text::words,
};

/// What a value looks like.
#[derive(Clone, Copy)]
enum Form {
    /// Written with capitals where its script has them, and by the speaker too; no common word; right behind a cue.
    Name,
    /// Each of its words but small ones written with a capital by the speaker.
    Proper,
    /// One number of years, from 1 to 130.
    Age,
    /// With a month or a number in it.
    Day,
    /// Nothing but pronouns.
    Pronouns,
    /// A phrase, no sentence.
    Phrase,
}

struct Rule {
    form: Form,
    most_words: usize,
    /// The quote has one of these; none: whatever it says.
    cues: &'static str,
}

const fn rule(form: Form, most_words: usize, cues: &'static str) -> Rule {
    Rule { form, most_words, cues }
}

/// What any attribute asks of what holds no longer.
const IS_ENDED: Rule = rule(Form::Phrase, usize::MAX, ENDED);

/// The table. For `sister Anna` or `type 2 diabetes` eight words are many; a note is what fits nowhere else.
const fn rule_of(attribute: Attribute) -> Rule {
    match attribute {
        Attribute::Name => rule(Form::Name, 4, NAMED),
        Attribute::Pronouns => rule(Form::Pronouns, 6, ""),
        Attribute::Birthday => rule(Form::Day, 5, BORN),
        Attribute::Age => rule(Form::Age, 4, AGED),
        Attribute::Home => rule(Form::Proper, 6, LIVES),
        Attribute::Hometown => rule(Form::Proper, 6, COMES),
        Attribute::Employer => rule(Form::Proper, 6, WORKS),
        Attribute::Note => rule(Form::Phrase, 16, ""),
        Attribute::Job
        | Attribute::Field
        | Attribute::School
        | Attribute::Relationship
        | Attribute::Family
        | Attribute::Pets
        | Attribute::Likes
        | Attribute::Dislikes
        | Attribute::Hobbies
        | Attribute::Languages
        | Attribute::Health
        | Attribute::Diet
        | Attribute::Goals => rule(Form::Phrase, 8, ""),
    }
}

/// `called Petrel` and `this is Petrel` may be a boat.
const NAMED: &str = "my name is|the name is|my name's|call me|known as|go by|i am|i'm|im|me llamo|mi nombre es|soy|ich bin|\
    ich heisse|ich heiße|mein name ist|nennt mich|nenn mich|je m'appelle|je suis|mon nom est|mi chiamo|sono|me chamo|\
    meu nome e|sou|ik ben|ik heet|mijn naam is|меня зовут|мое имя|я|我叫|我是|我的名字是|我的名字叫|私の名前は|私は|名前は|\
    제 이름은|저는";
const BORN: &str = "born|birthday|birth|bday|turn|turned|geboren|geburtstag|cumpleanos|naci|ne le|nee le|anniversaire|\
    compleanno|nato|nata|aniversario|nasci|verjaardag|родился|родилась|рождения|生日|出生|誕生日|생일";
const AGED: &str = "old|age|aged|year|years|turn|turned|turning|birthday|i'm|i am|im|jahre|alt|anos|tengo|cumpli|ans|j'ai|\
    anni|tenho|jaar|лет|год|года|岁|歲|歳|才|살";
const LIVES: &str = "live|lives|living|lived|home|house|flat|apartment|place|move|moved|moving|based|reside|settled|stay|\
    staying|back in|back to|here in|relocated|from|wohne|wohnen|lebe|zuhause|gezogen|vivo|vivimos|casa|mude|habite|vis|\
    abito|viviamo|moro|moramos|woon|wonen|живу|живем|переехал|переехала|住|搬到|暮らし|살";
const COMES: &str = "from|born|grew up|raised|hometown|home town|native|komme aus|aufgewachsen|stamme|geboren|soy de|vengo de|\
    naci|creci|viens de|ne a|grandi|vengo da|nato|nata|cresciuto|cresciuta|sou de|nasci|cresci|kom uit|geboren|из|родом|\
    родился|родилась|来自|老家|出身|고향";
const WORKS: &str = "work|works|working|worked|job|join|joined|joining|hired|employed|employer|company|boss|office|at|for|\
    with|started|arbeite|firma|bei|trabajo|empresa|travaille|chez|entreprise|lavoro|azienda|trabalho|werk|bij|работаю|\
    компании|工作|上班|公司|勤め|働|会社|회사";

/// What a quote has that says that something is so no longer, or never was.
const ENDED: &str = "no longer|not|no|never|none|don't|doesn't|didn't|isn't|aren't|wasn't|won't|can't|haven't|hasn't|anymore|any more|\
    any longer|used to|left|leave|leaving|quit|moved|moving|stopped|stop|gave up|given up|lost|broke up|divorced|died|\
    passed away|sold|retired|changed|former|formerly|previously|ex|was|were|until|nicht|kein|keine|keinen|fruher|war|\
    ya no|antes|era|deje|ne|n'|plus|avant|etait|ancien|non|prima|nao|niet|geen|vroeger|не|нет|раньше|был|была|不|没|沒|以前|\
    もう|ない|ません|않|안";

/// Pronouns, and what stands between them.
const PRONOUNS: &str = "he him his himself she her hers herself they them their theirs themselves it its xe xem xyr ze zir hir \
    ey em fae faer ve ver any all pronouns and or er ihn ihm sie ihr el lo ella la elle elles iel il lui lei loro ele ela \
    elu hij hem zij haar hen hun он его она ее они их";
/// Small words within names of persons, places and firms.
const SMALL: &str = "of de la le les da do dos das del di du der den die van von zu bin ibn al el san the and y e et und i & in on upon am";

static PRONOUN_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| PRONOUNS.split(' ').collect());
static SMALL_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| SMALL.split(' ').collect());

/// Whether this value, said in this quote, is an answer to the attribute; and, if it is to be so no longer, whether the
/// quote says anything of the kind.
pub(super) fn answers(found: &FoundAnchor, value: &str, quote: &str) -> bool {
    let attribute = found.attribute;
    let rule = rule_of(attribute);
    let parts: Vec<&str> = value.split_whitespace().collect();
    let is_of_form = match rule.form {
        Form::Name => is_proper(&parts, quote) && parts.iter().all(|part| is_no_common_word(part)),
        Form::Proper => is_proper(&parts, quote),
        Form::Age => is_age(value),
        Form::Day => is_day(value),
        Form::Pronouns => is_pronouns(value),
        Form::Phrase => is_phrase(value),
    };
    parts.len() <= rule.most_words
        && is_of_form
        && has_cue(&rule, value, quote)
        && (found.stance == Stance::Holds || has_cue(&IS_ENDED, value, quote))
        && (attribute.cardinality() == Cardinality::Many || stands_in(value, quote))
}

/// All words of the value stand in the quote.
fn stands_in(value: &str, quote: &str) -> bool {
    let quoted = words::query_words(quote);
    words::query_words(value).iter().all(|word| quoted.contains(word))
}

/// Where a script has capitals, the speaker writes each word with one; who writes none stays unsure.
fn is_proper(parts: &[&str], quote: &str) -> bool {
    let is_written = |part: &str| {
        let bare = bare(part);
        let Some(first) = bare.chars().next() else { return true };
        let has_case = first.is_lowercase() || first.is_uppercase();
        let is_capital = |word: &str| word.chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
        let lower = bare.to_lowercase();
        !has_case
            || SMALL_SET.contains(&*lower)
            || quote
                .split(|c: char| c.is_whitespace() || matches!(c, '-' | '/' | '\u{2014}'))
                .map(self::bare)
                .any(|word| is_capital(word) && word.to_lowercase() == lower)
    };
    let is_small = |part: &&str| SMALL_SET.contains(&*part.to_lowercase());
    !parts.iter().all(is_small)
        && parts
            .iter()
            .flat_map(|part| part.split(['-', '/']))
            .all(|part| part.is_empty() || is_written(part))
}

/// Without signs around it, and without the `'s` of a possessive.
fn bare(word: &str) -> &str {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    bare.strip_suffix("'s").or_else(|| bare.strip_suffix("\u{2019}s")).unwrap_or(bare)
}

fn is_no_common_word(part: &str) -> bool {
    let lower = bare(part).to_lowercase();
    SMALL_SET.contains(&*lower)
        || !(is_stop_word(&lower) || is_dull(&lower) || is_of("day", &lower) || is_of("language", &lower))
}

fn is_age(value: &str) -> bool {
    let folded = words::fold(value);
    let named = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_only_one = numbers::claimed(&folded).len() == 1;
    let digits: Vec<u32> =
        folded.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse().ok()).collect();
    match *digits {
        [years] => {
            (1..=130).contains(&years) && !folded.contains(['-', '+', '.', ',', '/', '$', '%', '\u{20ac}'])
        }
        [] => has_only_one || named.into_iter().any(|word| numerals::small(word).is_some()),
        _ => false,
    }
}

fn is_day(value: &str) -> bool {
    let folded = words::fold(value);
    let mut parts = folded.split(|c: char| !c.is_alphanumeric());
    folded.contains(|c: char| c.is_ascii_digit()) || parts.any(|word| is_of("month", word))
}

fn is_pronouns(value: &str) -> bool {
    let folded = words::fold(value);
    let mut parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some()
        && parts.all(|part| PRONOUN_SET.contains(part) || part.chars().all(language::is_unspaced_char))
}

/// No end of a sentence with more behind it.
fn is_phrase(value: &str) -> bool {
    let inside = value.trim_end_matches(['.', '!', '?', '\u{3002}']);
    !inside.contains([';', '\u{3002}']) && !["! ", "? ", ": "].iter().any(|end| inside.contains(end))
}

fn has_cue(rule: &Rule, value: &str, quote: &str) -> bool {
    if rule.cues.is_empty() {
        return true;
    }
    let folded = |text: &str| words::fold(text).replace('\u{2019}', "'");
    let (quote, value) = (folded(quote), folded(value));
    let is_word = |c: char| c.is_alphanumeric() && !language::is_unspaced_char(c);
    let mut found = rule
        .cues
        .split('|')
        .flat_map(|cue| quote.match_indices(cue).map(move |(at, cue)| (at, at + cue.len())));
    found.any(|(start, end)| {
        let is_whole = !quote[..start].ends_with(is_word) && !quote[end..].starts_with(is_word);
        let is_unspaced = quote[start..end].ends_with(language::is_unspaced_char);
        let is_before_name = || {
            // Right behind the cue: "I'm in Lisbon" is no name.
            quote[end..].trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(&value)
        };
        (is_whole || is_unspaced) && (!matches!(rule.form, Form::Name) || is_before_name())
    })
}
