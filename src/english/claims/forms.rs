//! The closed list of forms in which people tell who they are: words, and what the value behind them says.
//!
//! A form begins its clause. `+` goes on behind another claim: `a nurse` + `from Porto`.

use crate::model::anchor::{
    Attribute::{
        self, Age, Birthday, Diet, Employer, Family, Field, Health, Home, Hometown, Job, Languages, Name,
        Pets, Pronouns,
    },
    Stance::{self, Ends, Holds},
};

/// One form: the words before a value, and what the value is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) pattern: &'static str,
    pub(super) attribute: Attribute,
    pub(super) value: Value,
    pub(super) stance: Stance,
}

/// What stands behind the words of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A name, as told: `my name is anna`.
    Told,
    /// A name that people call one by, and nothing behind it.
    Called,
    /// A name by itself (`I'm Anna`): believed only where more of an introduction stands around it.
    Bare,
    /// A corrected spelling: `Anne, not Anna`.
    Spelling,
    /// `they/them`
    PronounList,
    /// A day and a month.
    Day,
    /// Years of life.
    Age,
    /// `34-year-old`
    YearsOld,
    /// A place; in passing, where only a place that is known is one.
    Place,
    KnownPlace,
    /// `moved to`: it may be over.
    PastPlace,
    /// `have lived in`: only with `since` or `for` is it so still.
    PlaceSince,
    /// `Bonn to Ulm`: one home ends, the other begins.
    FromTo,
    /// Someone's employer; a tool is none where one joins or leaves.
    Employer,
    Joined,
    EmployerSince,
    /// A title, with or without an article; one with `the` may be a role of the moment.
    Job,
    JobSince,
    TheJob,
    Retired,
    Teaches,
    /// `drive trucks` of `I drive trucks for a living`.
    Living,
    /// A field of work or study.
    Field,
    /// A relation or an animal, then names.
    Kin,
    KinLost,
    Children,
    Pet,
    PetLost,
    Allergens,
    Allergy,
    Intolerant,
    Languages,
    Native,
    Diet,
    /// What is not eaten.
    Food,
}

const fn holds(attribute: Attribute, value: Value, pattern: &'static str) -> Form {
    Form { pattern, attribute, value, stance: Holds }
}

const fn ends(attribute: Attribute, value: Value, pattern: &'static str) -> Form {
    Form { pattern, attribute, value, stance: Ends }
}

pub(super) const FORMS: &[Form] = &[
    holds(Name, Value::Told, "my full|first|given|new? name is|'s"),
    ends(Name, Value::Told, "my name is not"),
    holds(Name, Value::Called, "i go by"),
    holds(Name, Value::Called, "i answer to"),
    holds(Name, Value::Called, "name is|'s"),
    holds(Name, Value::Called, "i changed my name to"),
    holds(Name, Value::Called, "i am called|named"),
    holds(Name, Value::Called, "you|please can|may|should|could? call me"),
    holds(Name, Value::Called, "call me"),
    holds(Name, Value::Called, "they|people|everyone|everybody|friends call|calls me"),
    holds(Name, Value::Called, "my friends|family call|calls me"),
    holds(Name, Value::Bare, "i am"),
    holds(Name, Value::Spelling, "it|that is|'s"),
    holds(Name, Value::Spelling, "its"),
    ends(Name, Value::Called, "not"),
    ends(Name, Value::Called, "do not call me"),
    ends(Name, Value::Called, "i do not go by"),
    holds(Pronouns, Value::PronounList, "my pronouns are|:"),
    holds(Pronouns, Value::PronounList, "i use|prefer|go by?"),
    holds(Birthday, Value::Day, "my birthday|bday|birthdate is|'s on?"),
    holds(Birthday, Value::Day, "i was|am born on?"),
    holds(Age, Value::Age, "i am|turned aged?"),
    holds(Age, Value::YearsOld, "i am a|an"),
    holds(Home, Value::Place, "@i live|reside in|near|outside"),
    holds(Home, Value::Place, "@i am|are living|settled in|near|outside"),
    holds(Home, Value::Place, "i am based|stationed in|near|outside|at|on"),
    holds(Home, Value::Place, "@i rent *3 in"),
    holds(Home, Value::Place, "@i live with|alone|and *4 in|near"),
    holds(Home, Value::Place, "@i live in a|an|the *4 in|near|outside|called"),
    holds(Home, Value::Place, "my|our home|house|flat|apartment|place is in"),
    holds(Home, Value::Place, "+ based|living|settled in|near|outside"),
    holds(Home, Value::Place, "+ who lives|live in|near|outside"),
    holds(Home, Value::Place, "+ in"),
    holds(Home, Value::KnownPlace, "+ on"),
    holds(Home, Value::PastPlace, "@i moved|relocated *1 to"),
    holds(Home, Value::PlaceSince, "@i have lived|been living|based? in|near"),
    holds(Home, Value::FromTo, "@i moved|relocated from"),
    ends(Home, Value::Place, "@i do not live in"),
    ends(Home, Value::Place, "@i no longer live in"),
    ends(Home, Value::KnownPlace, "@i am|are no longer based|living? in"),
    ends(Home, Value::Place, "@i moved away|out from|of"),
    ends(Home, Value::KnownPlace, "@i left"),
    holds(Hometown, Value::Place, "i am|come|came from"),
    holds(Hometown, Value::Place, "i grew up in"),
    holds(Hometown, Value::Place, "i was|am born|raised in"),
    holds(Hometown, Value::Place, "i was|am born and raised|bred in"),
    holds(Hometown, Value::KnownPlace, "+ from"),
    holds(Hometown, Value::Place, "+ born? in"),
    holds(Job, Value::Job, "+ as"),
    holds(Employer, Value::Employer, "i work part-time|full-time|remotely|nights? at|for"),
    holds(Employer, Value::Employer, "i am working|employed at|for|by"),
    holds(Employer, Value::Employer, "i do|fix|teach|drive|cook|nurse|code|run|sell|lead|manage *5 at|for"),
    holds(Employer, Value::EmployerSince, "i have worked|been working? at|for"),
    holds(Employer, Value::Joined, "i joined *5 called"),
    holds(Employer, Value::Joined, "i joined"),
    holds(Employer, Value::Joined, "i started working? at|with"),
    holds(Employer, Value::Joined, "i was|got|am hired by"),
    holds(Employer, Value::Joined, "i got|started *2 job|position|role at|with"),
    holds(Employer, Value::Employer, "my new|current? employer is"),
    holds(Employer, Value::Employer, "+ working? at|for|with"),
    ends(Employer, Value::Employer, "i no longer work at|for"),
    ends(Employer, Value::Employer, "i do not work at|for"),
    ends(Employer, Value::Joined, "i am no|not longer? with|at"),
    ends(Employer, Value::Joined, "i left|quit my? old? job|position|role|post? at|with?"),
    ends(Employer, Value::Joined, "i lost my job|position|role|post at|with"),
    ends(Employer, Value::Joined, "i resigned|retired from"),
    ends(Employer, Value::Joined, "i was|got fired|sacked|laid|let|made redundant|off|go? by|from|at"),
    holds(Job, Value::Job, "i am"),
    holds(Job, Value::TheJob, "i am the"),
    holds(Job, Value::Job, "i work|am working|employed? *5 as"),
    holds(Job, Value::JobSince, "i have been"),
    holds(Job, Value::JobSince, "i became"),
    holds(Job, Value::JobSince, "i was|got|am promoted to"),
    holds(Job, Value::JobSince, "they made|promoted me to?"),
    holds(Job, Value::Retired, "i am retired"),
    holds(Job, Value::Retired, "i retired $|from|last|in|this|after|at|and|two|three|four|five|years|a"),
    holds(Job, Value::Teaches, "i teach"),
    holds(Job, Value::Living, "i *4 for a living"),
    ends(Job, Value::Job, "i am no|not longer?"),
    ends(Job, Value::Job, "i quit|stopped being|working as?"),
    holds(Field, Value::Field, "i study|major in?"),
    holds(
        Field,
        Value::Field,
        "i am|have a? *3 phd|doctorate|degree|master|masters|bachelor|msc|bsc|mba 's? in",
    ),
    holds(Field, Value::Field, "i am studying|majoring in?"),
    holds(Field, Value::Field, "i work in"),
    holds(Field, Value::Field, "+ studying|in"),
    holds(Family, Value::Kin, "@my *2 @kin|@close"),
    holds(
        Family,
        Value::Kin,
        "@i have|had|'ve got? a|an|our|two|three|four|five|2|3|4 *1 @close|@kin|boys|girls",
    ),
    ends(Family, Value::KinLost, "@i lost|buried|divorced *1 @my *1 @kin|@close"),
    holds(Family, Value::Children, "i am a|an? *2 mum|mom|mam|mother|dad|father|parent to|of"),
    holds(Pets, Value::Pet, "@my *2 @pet"),
    holds(Pets, Value::Pet, "@i have|adopted|got|own|rescued a|an|another|two|three|four|2|3|4|our *3 @pet"),
    ends(Pets, Value::PetLost, "@i lost|buried|rehomed @my *1 @pet"),
    holds(
        Health,
        Value::Allergens,
        "i am severely|mildly|highly|deathly|seriously|badly|slightly|terribly? allergic|intolerant to",
    ),
    holds(Health, Value::Allergens, "i have a|an severe|bad|mild|serious? allergy|intolerance to"),
    holds(Health, Value::Allergy, "i have a|an severe|bad|mild|serious?"),
    holds(Health, Value::Intolerant, "i am"),
    ends(Health, Value::Allergens, "i am no|not longer? allergic|intolerant to"),
    holds(Health, Value::Intolerant, "i have"),
    ends(Health, Value::Intolerant, "i am no|not longer?"),
    holds(Diet, Value::Diet, "@i am|are|went|became|turned a|an|strictly|strict?"),
    holds(Diet, Value::Diet, "i have been|gone a|an|strictly?"),
    holds(Diet, Value::Diet, "@i keep|eat|follow a|an?"),
    holds(Diet, Value::Food, "@i do not eat|drink any?"),
    holds(Diet, Value::Food, "@i never eat|drink"),
    holds(Diet, Value::Food, "@i can not eat|have"),
    ends(Diet, Value::Diet, "i am no|not longer? a|an?"),
    ends(Diet, Value::Diet, "i stopped|quit being a|an?"),
    holds(Languages, Value::Languages, "@i speak"),
    holds(Languages, Value::Languages, "i grew up speaking"),
    holds(Languages, Value::Languages, "@i can speak"),
    holds(Languages, Value::Languages, "i am fluent|bilingual|trilingual in"),
    holds(Languages, Value::Languages, "i am a native"),
    holds(Languages, Value::Languages, "my native|first|second|third|mother language|tongue is"),
    holds(Languages, Value::Native, "@language is my"),
];
