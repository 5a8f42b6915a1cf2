//! What counts how much when units are ranked.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How recalled units are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Profile {
    /// Relevance finds; neighbours, sessions, recency, anchors and times in the query reorder. See [`Weights`].
    #[default]
    Default,
    /// To the letter of the paper: `0.5 * e^(-0.1 * days) + 0.3 * cosine + 0.2 * strength of the anchors that the turn is
    /// evidence for`. Over a long history it finds little but the newest turns.
    Paper,
    /// The newest first, whatever is asked.
    Recency,
    /// The formula of [`Profile::Default`] with weights of the caller's own.
    Custom(Weights),
}

impl Profile {
    /// Its name: `default`, `paper`, `recency` or `custom`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
            Self::Recency => "recency",
            Self::Custom(_) => "custom",
        }
    }

    /// The weights of the default formula; none: the profile has its own.
    pub(crate) fn weights(&self) -> Option<Weights> {
        match self {
            Self::Default => Some(Weights::default()),
            Self::Custom(weights) => Some(*weights),
            Self::Paper | Self::Recency => None,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let Self::Custom(weights) = self else { return Ok(()) };
        for (name, value) in weights.named() {
            if !(0.0..=10.0).contains(&value) {
                return Err(Error::invalid(format!("the weight {name} is {value}; it must be from 0 to 10")));
            }
        }
        Ok(())
    }
}

/// What counts how much in the default formula. With each leg divided by its best score over the user's units:
///
/// ```text
/// relevance = words * W + meaning * C
/// near      = relevance + open * (neighbours * (relevance of the turn before + of the turn after)
///                                 + answer * relevance of the turn before, if that asks)
/// lent      = near + open * session * (best of its session / best of all) * best of all
/// score     = lent * (1 + time * t) * (1 + speaker * s) * (1 + quote * q) * (1 + wish * w)
///                  * (1 + anchors * a) * (1 + recency * e^(-0.1 * days))
/// ```
///
/// `open` is `200 / (200 + words of the turn)`: a short turn is understood by what stands around it, a long one stands by
/// itself. `t` is 1 if the turn was said in a time that the query names or within a week after it, `s` if it was said by the
/// one of several speakers whom the query names, `q` if it has every word of a query of at least five, `w` if the user says
/// in it how things are to be from now on, `a` the strength of the best anchor that the query calls for and the turn is
/// evidence of. Tuned on two public sets of long talks together (README).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Weights {
    /// Of words. Default 0.6.
    pub words: f64,
    /// Of meaning. Default 0.4.
    pub meaning: f64,
    /// What a turn lends each of its neighbours. Default 0.15.
    pub neighbours: f64,
    /// What a question lends the turn after it, besides. Default 0.2.
    pub answer: f64,
    /// What a session's best turn lends the others. Default 0.4.
    pub session: f64,
    /// For turns of a time that the query names. Default 0.2.
    pub time: f64,
    /// For turns of the speaker whom the query names. Default 0.15.
    pub speaker: f64,
    /// For turns that the query quotes. Default 0.2.
    pub quote: f64,
    /// For turns that say how things are to be from now on. Default 0.1.
    pub wish: f64,
    /// For turns that prove an anchor which the query calls for. Default 0.1.
    pub anchors: f64,
    /// For new turns; 0.1 a day, the paper's rate. Default 0.02.
    pub recency: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            words: 0.6,
            meaning: 0.4,
            neighbours: 0.15,
            answer: 0.2,
            session: 0.4,
            time: 0.2,
            speaker: 0.15,
            quote: 0.2,
            wish: 0.1,
            anchors: 0.1,
            recency: 0.02,
        }
    }
}

impl Weights {
    pub(crate) fn named(&self) -> [(&'static str, f64); 11] {
        [
            ("words", self.words),
            ("meaning", self.meaning),
            ("neighbours", self.neighbours),
            ("answer", self.answer),
            ("session", self.session),
            ("time", self.time),
            ("speaker", self.speaker),
            ("quote", self.quote),
            ("wish", self.wish),
            ("anchors", self.anchors),
            ("recency", self.recency),
        ]
    }

    /// Sets the weight of this name.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let slot = match name {
            "words" => &mut self.words,
            "meaning" => &mut self.meaning,
            "neighbours" => &mut self.neighbours,
            "answer" => &mut self.answer,
            "session" => &mut self.session,
            "time" => &mut self.time,
            "speaker" => &mut self.speaker,
            "quote" => &mut self.quote,
            "wish" => &mut self.wish,
            "anchors" => &mut self.anchors,
            "recency" => &mut self.recency,
            _ => {
                let names = self.named().map(|(name, _)| name).join(", ");
                return Err(Error::invalid(format!("there is no such weight; there are {names}")));
            }
        };
        *slot = value;
        Ok(())
    }
}

/// What a score was made of; each part is 0 where it has no share in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Parts {
    /// Words, from 0 to 1: 1 is the best of the user's turns.
    pub words: f64,
    /// Meaning, from 0 to 1 likewise; in the paper's formula the cosine itself.
    pub meaning: f64,
    /// What the turns before and after lent, weight included.
    pub neighbours: f64,
    /// What the session lent, weight included.
    pub session: f64,
    /// 1: it was said in a time that the query names, or within the week after it.
    pub time: f64,
    /// 1: it was said by the one of several speakers whom the query names.
    pub speaker: f64,
    /// 1: the query has at least five words, and it has them all.
    pub quote: f64,
    /// 1: the user says in it how things are to be from now on.
    pub wish: f64,
    /// The strength of the best anchor that the query calls for and that it is evidence of, from 0 to 1; in the paper's
    /// formula of any anchor that it is evidence of.
    pub anchors: f64,
    /// e^(-0.1 * days), from 0 to 1.
    pub recency: f64,
    /// 1: the query names a time and nothing else, and it was said then. Added to the score.
    pub only_time: f64,
}

impl Parts {
    /// Its parts by name.
    pub fn named(&self) -> [(&'static str, f64); 11] {
        [
            ("words", self.words),
            ("meaning", self.meaning),
            ("neighbours", self.neighbours),
            ("session", self.session),
            ("time", self.time),
            ("speaker", self.speaker),
            ("quote", self.quote),
            ("wish", self.wish),
            ("anchors", self.anchors),
            ("recency", self.recency),
            ("only_time", self.only_time),
        ]
    }

    /// Those that counted, in words: `words 0.91, meaning 0.60`.
    pub fn explain(&self) -> String {
        let counted = self.named().into_iter().filter(|(_, value)| *value >= 0.005);
        counted.map(|(name, value)| format!("{name} {value:.2}")).collect::<Vec<_>>().join(", ")
    }

    /// The score that these parts give: what a receipt can be checked by.
    pub fn score(&self, profile: &Profile) -> f64 {
        rounded(
            self.only_time
                + match (profile, profile.weights()) {
                    (_, Some(weights)) => {
                        let lent = weights.words * self.words
                            + weights.meaning * self.meaning
                            + self.neighbours
                            + self.session;
                        lent * (1.0 + weights.time * self.time)
                            * (1.0 + weights.speaker * self.speaker)
                            * (1.0 + weights.quote * self.quote)
                            * (1.0 + weights.wish * self.wish)
                            * (1.0 + weights.anchors * self.anchors)
                            * (1.0 + weights.recency * self.recency)
                    }
                    (Profile::Recency, _) => self.recency,
                    _ => 0.5 * self.recency + 0.3 * self.meaning + 0.2 * self.anchors,
                },
        )
    }
}

/// Scores are cut to 1e-6, so that the last bits of a sum decide nothing.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
