//! Text like people's: common English words in sentences, drawn with Zipf's frequencies by a seeded generator,
//! so that every run on every machine has the same text.

use super::Length;
use thermocline::NewTurn;

/// Steele, Lea and Flood's `SplitMix64`: small, fast, and good enough to pick words and sessions.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number from 0 to just under 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Words in the order of how common they are, roughly: those of grammar first, then those that mean something.
const WORDS: &str = "
the to and a of I you it in that is for my was on with but have be me we are this so at not they do what just
can your if she about all like he or from there one an get out up had as by when would some will her know more
them how our been then has could did time who no him his very were really into much also which think because
want good go see it's don't I'm that's make any than other now only over after too going even well got where
us new work people day back little need right something way things still should year great first take here
home love last week feel read lot try always never long find year help life next look friend most friends
school family start house days today best morning maybe night before food every play thing music keep
book dog water cook garden mother run better made another same thought move job kids plan place city brother
dinner trip learn weekend sister coffee write summer old small car happy weather train month bread paint
sunday evening team tree walk open change class office tea idea story talk listen guitar song winter light
room teacher doctor bike river beach mountain kitchen photo letter phone question answer week ticket price
money market train bus station airport hotel bridge street corner village harbour island forest field lake
storm rain snow wind sun cloud spring autumn birthday party gift cake chocolate cheese apple lemon tomato
onion garlic pepper rice pasta soup salad breakfast lunch recipe oven pan knife table chair window door floor
wall roof lamp clock mirror carpet blanket pillow bed sofa shelf box bag shoe coat shirt dress hat glove ring
watch colour red green blue yellow brown black white grey purple orange pink dark bright warm cold quiet loud
quick slow easy hard heavy early late cheap expensive clean dirty full empty strong weak young fresh strange
funny boring angry tired hungry thirsty nervous proud calm brave lonely curious careful lucky honest patient
computer keyboard screen program code server database index memory thread error test release version branch
network password account message email meeting project deadline budget report customer manager colleague
company contract salary interview holiday passport luggage museum gallery theatre cinema concert festival
library newspaper magazine novel poem chapter language grammar spelling lesson homework exam university degree
science history geography physics chemistry biology mathematics number count measure distance speed height
weight temperature degree minute second hour century decade childhood memory dream wish promise secret reason
problem solution mistake accident danger safety health illness medicine hospital nurse dentist allergy fever
headache exercise yoga swimming running football tennis chess puzzle game match winner loser score practice
piano violin drum choir dance painting drawing sculpture pottery knitting sewing carpentry camera picture
frame brush canvas pencil paper scissors glue string rope nail hammer screw drill ladder engine wheel brake
fuel battery cable plug switch button signal radio television speaker headphones microphone recording
neighbour landlord tenant apartment balcony basement attic staircase elevator garage fence gate path lawn
flower rose tulip daisy seed soil compost worm bee butterfly spider ant bird owl eagle sparrow duck goose
chicken horse cow sheep goat pig rabbit hedgehog squirrel fox wolf bear deer fish salmon trout whale dolphin
turtle frog snake lizard sailing rowing fishing hiking camping climbing cycling skiing skating surfing diving
tent backpack compass map torch campfire valley waterfall desert volcano glacier canyon cave cliff coast tide
lighthouse ferry captain sailor pilot driver engineer architect lawyer judge farmer baker butcher plumber
electrician carpenter painter singer actor dancer writer editor journalist photographer scientist astronomer";

/// Words of grammar stand before this place: a search leaves them out, so a query is made of later ones.
const FIRST_OF_MEANING: usize = 130;

/// Offset of Zipf-Mandelbrot's law that fits English (Mandelbrot 1953).
const OFFSET: f64 = 2.7;

/// Draws words and makes turns of them.
pub struct Writer {
    rng: Rng,
    words: Vec<&'static str>,
    /// Ascending sums of the words' frequencies.
    sums: Vec<f64>,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let mut sum = 0.0;
        let sums = (0..words.len())
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 1.0 + OFFSET);
                sum
            })
            .collect();
        Self { rng: Rng::new(seed), words, sums }
    }

    /// A turn of this length, to the character.
    pub fn turn(&mut self, length: Length) -> NewTurn {
        let (user, reply) = self.sides(length);
        NewTurn::new(user, reply)
    }

    /// The two sides of such a turn.
    pub fn sides(&mut self, length: Length) -> (String, String) {
        let user = length.user_characters();
        (self.text(user), self.text(length.characters() - user))
    }

    /// Three words to search for, as common as they come, none of them of grammar alone.
    pub fn common_words(&mut self) -> [String; 3] {
        [(); 3].map(|()| self.word_from(FIRST_OF_MEANING).to_owned())
    }

    /// Three names to search for: each stands in few turns, or in none.
    pub fn names(&mut self) -> [String; 3] {
        [(); 3].map(|()| {
            let mut name = String::new();
            self.name(&mut name);
            name
        })
    }

    fn word_from(&mut self, first: usize) -> &'static str {
        let below = if first == 0 { 0.0 } else { self.sums[first - 1] };
        let all = *self.sums.last().expect("there are words");
        let at = below + self.rng.unit() * (all - below);
        self.words[self.sums.partition_point(|&sum| sum <= at).min(self.words.len() - 1)]
    }

    /// Sentences, cut to exactly so many characters, all of them ASCII.
    fn text(&mut self, characters: usize) -> String {
        let mut text = String::with_capacity(characters + 100);
        while text.len() < characters {
            if !text.is_empty() {
                text.push(' ');
            }
            self.sentence(&mut text);
        }
        text.truncate(characters - 1);
        text.push('.');
        text
    }

    fn sentence(&mut self, text: &mut String) {
        let start = text.len();
        let words = 5 + self.rng.below(12);
        for n in 0..words {
            if n > 0 {
                text.push_str(if self.rng.below(9) == 0 { ", " } else { " " });
            }
            // One word in sixty is a name that hardly anything else has: what searches are made for.
            if self.rng.below(60) == 0 {
                self.name(text);
            } else {
                let word = self.word_from(0);
                text.push_str(word);
            }
        }
        text[start..=start].make_ascii_uppercase();
        text.push(if self.rng.below(6) == 0 { '?' } else { '.' });
    }

    fn name(&mut self, text: &mut String) {
        const FIRST: [&str; 12] =
            ["Mar", "Bel", "Tor", "Lin", "Kas", "Ren", "Dov", "Sel", "Hal", "Pet", "Orl", "Vin"];
        const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "an", "el", "or", "is"];
        const LAST: [&str; 10] = ["ta", "vel", "ston", "dor", "mi", "nek", "ria", "bo", "lund", "ga"];
        for syllables in [&FIRST[..], &MIDDLE[..], &LAST[..]] {
            let syllable = syllables[self.rng.below(syllables.len())];
            text.push_str(syllable);
        }
    }
}
