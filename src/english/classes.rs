//! Classes of words that patterns name: kin, animals, professions, days ...

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::english::cues::Class;

/// Words for people of one's own household: who names one tells of themself.
const CLOSE: &str = "wife husband spouse fiancé fiancée fiance fiancee girlfriend boyfriend gf bf hubby son daughter sons \
    daughters kid kids child children twins toddler stepson stepdaughter granddaughter grandson grandkids granddaughters \
    grandsons grandchildren partner eldest oldest youngest firstborn";
/// Words for all others of one's family: they tell something where a name stands with them.
const KIN: &str = "mother mom mum mam mama mummy ma dad father papa parents brother sister brothers sisters sibling siblings \
    grandmother grandma granny nana grandfather grandpa granddad aunt auntie uncle cousin cousins niece nephew nieces nephews \
    stepmother stepfather stepbrother stepsister mother-in-law father-in-law brother-in-law sister-in-law ex-wife ex-husband";
/// Animals that people live with.
const PETS: &str = "dog dogs cat cats puppy puppies kitten kittens pup pups doggo doggos pooch pooches mutt horse pony rabbit \
    rabbits bunny hamster hamsters parrot parrots turtle turtles tortoise snake snakes lizard gecko goldfish budgie budgies ferret ferrets chicken \
    chickens hens pet pets canary corgi beagle labrador poodle dachshund terrier retriever";
const LANGUAGES: &str = "english german french spanish italian portuguese dutch polish russian ukrainian turkish arabic hebrew hindi urdu \
    bengali tamil telugu mandarin cantonese chinese japanese korean vietnamese thai indonesian malay tagalog swahili yoruba igbo twi \
    zulu afrikaans greek swedish norwegian danish finnish icelandic czech slovak hungarian romanian bulgarian serbian croatian \
    slovenian albanian latvian lithuanian estonian irish gaelic welsh catalan basque galician persian farsi punjabi latin kashubian esperanto frisian breton luxembourgish maltese georgian armenian azeri kazakh mongolian nepali sinhala malayalam kannada \
    marathi gujarati pashto kurdish amharic somali hausa xhosa shona lingala wolof quechua guarani maori samoan hawaiian tibetan burmese \
    khmer lao hokkien hakka taiwanese navajo yiddish romani sami faroese occitan corsican sicilian bsl asl \
    deutsch englisch französisch spanisch italienisch español inglés alemán francés français anglais allemand italiano inglese";
const CONDITIONS: &str = "diabetes asthma epilepsy arthritis migraines migraine depression anxiety adhd autism autistic dyslexia dyslexic eczema psoriasis \
    coeliac celiac crohn cancer lupus fibromyalgia endometriosis hypertension tinnitus insomnia anemia anaemia scoliosis sciatica ms parkinson \
    alzheimer dementia ptsd ocd bipolar pcos osteoporosis gout glaucoma vertigo ibs epileptic diabetic asthmatic hypothyroidism leukemia narcolepsy \
    pneumonia gastritis allergies heartburn colitis";
const DIETS: &str = "vegan vegetarian pescatarian veggie gluten-free dairy-free keto halal kosher teetotal sober flexitarian vegano vegana vegetariano \
    vegetariana veganer veganerin vegetarier vegetarierin végétarien végétarienne végane vegetarisch";
const JOBS: &str = "teacher nurse doctor engineer developer programmer designer writer author artist musician singer actor actress \
    lawyer attorney paralegal accountant architect carpenter plumber electrician mechanic chef cook baker barber hairdresser farmer gardener \
    florist journalist editor photographer producer director filmmaker manager consultant analyst scientist researcher professor lecturer tutor \
    librarian pharmacist dentist surgeon physician veterinarian vet paramedic midwife therapist psychologist psychiatrist counselor counsellor \
    physiotherapist dietitian nutritionist trainer coach firefighter policeman policewoman officer soldier pilot driver sailor captain courier \
    postman cashier waiter waitress barista bartender receptionist secretary assistant clerk banker broker economist actuary statistician \
    mathematician physicist chemist biologist geologist historian linguist translator interpreter student intern apprentice freelancer \
    entrepreneur founder ceo cto cfo contractor builder welder machinist technician operator tester admin administrator bookkeeper auditor \
    recruiter salesman saleswoman salesperson realtor marketer strategist planner surveyor tailor seamstress potter luthier sculptor painter \
    illustrator animator composer conductor dancer choreographer comedian presenter broadcaster priest pastor imam rabbi monk nun judge \
    magistrate notary detective investigator guard warden caretaker janitor cleaner housekeeper nanny babysitter carer caregiver social-worker \
    lumberjack fisherman fisherwoman butcher brewer winemaker sommelier beekeeper zookeeper ranger guide steward stewardess astronaut \
    blogger youtuber streamer influencer podcaster copywriter novelist poet screenwriter playwright retired pensioner unemployed \
    lehrer lehrerin ingenieur ingenieurin krankenschwester arzt ärztin entwickler entwicklerin profesor profesora ingeniero ingeniera enfermera médico \
    abogado abogada professeur ingénieur infirmière médecin avocat avocate insegnante ingegnere infermiera medico avvocato professora engenheiro enfermeira";
const ACTIVITIES: &str = "painting drawing knitting crocheting sewing bouldering climbing hiking running jogging cycling biking swimming rowing sailing \
    surfing skiing snowboarding skating skateboarding dancing singing gardening baking cooking reading writing gaming fishing hunting camping \
    birdwatching photography pottery woodworking carpentry journaling meditation yoga pilates chess kayaking canoeing diving scuba snorkeling boxing \
    karate judo fencing archery golf tennis football soccer basketball volleyball badminton squash rugby cricket hockey baseball softball \
    guitar piano violin cello drums flute saxophone clarinet trumpet ukulele harp accordion banjo keyboard bass calligraphy origami \
    embroidery quilting weaving beekeeping stargazing foraging geocaching genealogy blogging travelling traveling volunteering kickboxing lego \
    puzzles crosswords backpacking bodybuilding weightlifting crossfit zumba ballet tango salsa choir band orchestra";
const MONTHS: &str = "january february march april may june july august september october november december jan feb mar apr jun jul aug sep \
    sept oct nov dec januar februar märz mai juni juli oktober dezember enero febrero marzo abril mayo junio julio agosto septiembre \
    octubre noviembre diciembre janvier février mars avril juin juillet août septembre octobre novembre décembre gennaio febbraio aprile \
    maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro";
const DAYS: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun tomorrow tonight today weekend \
    montag dienstag mittwoch donnerstag freitag samstag sonntag morgen heute lunes martes miércoles jueves viernes sábado domingo mañana hoy \
    lundi mardi mercredi jeudi vendredi samedi dimanche demain domani amanhã";

const TENS: &str = "eighteen nineteen twenty twenty-one twenty-five thirty forty fifty sixty seventy eighty ninety thirty-five forty-five fifty-five";
const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth \
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth \
    twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first";
const FOODS: &str = "meat pork beef chicken fish seafood dairy gluten eggs sugar alcohol coffee wheat nuts bread milk cheese animal animals";
/// What somebody keeps a date for.
const EVENTS: &str = "appointment interview exam surgery flight hearing wedding viva checkup check-up dentist physio operation scan \
    audition deadline presentation marathon race tournament recital ceremony funeral graduation test defense defence biopsy mri concert";
/// What somebody does for others when they said they would.
const DEEDS: &str = "bring pick drive come meet send call ring phone email text book pay finish deliver submit return cook host \
    cover water feed fix repair build drop collect fetch attend visit stay sign mail ship hand cancel bake lend carry babysit";

/// The classes by the names that patterns use.
pub(crate) const CLASSES: &[Class] = &[
    ("close", CLOSE),
    ("kin", KIN),
    ("pet", PETS),
    ("language", LANGUAGES),
    ("condition", CONDITIONS),
    ("diet", DIETS),
    ("job", JOBS),
    ("activity", ACTIVITIES),
    ("month", MONTHS),
    ("day", DAYS),
    ("ordinal", ORDINALS),
    ("ten", TENS),
    ("food", FOODS),
    ("event", EVENTS),
    ("deed", DEEDS),
    ("i", "i we"),
    ("my", "my our"),
    ("be", "am are is was were 's"),
    ("love", "love adore enjoy like loved liked"),
    ("hate", "hate loathe detest despise dislike"),
];

static SETS: LazyLock<HashMap<&str, HashSet<&str>>> =
    LazyLock::new(|| CLASSES.iter().map(|(name, words)| (*name, set(words))).collect());

/// Whether `word` is of the class with this name.
pub(crate) fn is_of(class: &str, word: &str) -> bool {
    SETS.get(class).is_some_and(|words| words.contains(word))
}

/// The words of a list.
pub(crate) fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::{
        dull_words::is_dull,
        times::{MONTHS, WEEKDAYS},
    };

    #[test]
    fn days_and_months_are_known_as_such_and_name_no_topic() {
        for day in WEEKDAYS {
            assert!(is_of("day", day) && is_dull(day), "{day}");
        }
        for month in MONTHS {
            assert!(is_of("month", month) && is_dull(month), "{month}");
        }
    }
}
