//! Words that are too common in chats to name a topic, beside the stop words.

use std::{collections::HashSet, sync::LazyLock};

use crate::english::stop_words::is_stop_word;

/// English words of talk rather than of topics, folded, without apostrophes. `is_stop_word` is not extended with
/// them: files hold lists of words that were made with it.
const TALK: &str = "\
    able absolutely actually add added adding additional additionally address aim ago agree allow allows almost \
    already also although always amazing another answer any anyone anything anyway apart appreciate approach \
    approaches appropriate area areas arent around ask asked asking aspect aspects available awesome away back bad \
    based basic beautiful become becomes been begin believe best better big bit bring broad bye call called came cant case \
    catch certain certainly change changes check choose clear clearly come comes coming common complete consider considering \
    contain contains cool could couldnt couple create created creating cute crucial current currently day days deal \
    decide definitely depending describe despite detail detailed details didnt different directly doesnt doing \
    done dont due earlier early easier easily easy effective effectively either else end enjoy enjoyed enjoying \
    enough ensure ensures ensuring especially essential etc even ever every everyone everything exact exactly example \
    examples excellent excited exciting experience explain fact fantastic far feel feeling feels felt few figure \
    final finally find finding fine first focus follow following follows forget forward found fun further general \
    generally get gets getting give given gives giving glad go goes going gonna good got gotta great guess guide had \
    haha half handle happen happened happens happy hard hear heard hello help helped helpful helping helps hey hi high \
    highly hmm hold honestly hope hopefully hoping huge idea ideas identify image images imagine implement implementing \
    implementation important improve improved improving include included includes including incredible incredibly \
    information initial inside instead interested interesting issue issues ive join keep keeping key kind kinda kinds knew know \
    known large last lastly lately later learn least leave left less let lets level like likely list little ll lol long \
    longer look looking looks lot lots love loved lovely loving low made main mainly make makes making many matter may maybe mean \
    meaning means meant mention mentioned method might mind minute moment month months morning move much must name nah \
    near need needed needs never new next nice night nope note nothing now number numbers often oh ok okay old one \
    ones onto open opinion option options original others otherwise overall page part particular particularly parts pass \
    past per perfect perhaps person photo photograph photography pic pick picture pictures place places plan please \
    plus point points positive possible post potential potentially pretty prepare previous probably problem process \
    properly provide provided provides providing put question questions quick quickly quite rather re reach read ready \
    real really reason recent recently recommend refer regarding regularly related remember require required requires \
    respond response result results review right room said saw say saying says second section see seeing seem seemed seems \
    seen sense set several share shared sharing short show showed showing shows similar simple simply since small \
    something sometimes somewhere son soon sooner sorry sort sound sounded sounds special specific specifically start \
    started starting stay step steps still stop strategies strategy strong structure stuff such sucks suggest suggestion \
    suggestions suggests super suppose sure surely tackle take taken takes taking talk talked talking tell telling \
    terms thank thankful thanks thats thing things think thinking third though thought thoughts three till time times \
    tip tips to today together told tomorrow tonight total totally touch towards tried true truly try trying turn turned two \
    type types typically unless until upcoming update updated upon usage use used useful uses using usually value various \
    ve via view wait walk walking wanna want wanted wants watch way ways wed week weekend weeks welcome well went werent whatever \
    whenever whether whole will wish within without wonder wonderful wondering word work worked working works worry \
    worth would wow write yay yea yeah year years yep yes yesterday yet youd youll youre youve yup \
    four five six seven eight nine ten hundred thousand hi hiya whats guys guy bro dude omg btw idk tho \
    absolute ahead along alright amount anymore appears apply applying bunch choice close concerned confident context \
    continue correct cover currently curious define definition determine develop difference difficult drop element elements \
    eager endless enhance entire everybody everywhere exist existing expect extra face fast feature features feedback form format \
    fresh full gain gave getting glance goal goals greatly grateful guidance happening having heres hit id ill im incorporate individual \
    insight insights inspiring involve involves isnt keeps kept lastly latest lead leading line looked looked made major \
    manage managing marks mine minor multiple necessary nearly non normal obviously occur offer onto order out overview \
    paragraph perfectly plenty powerful present prior private progress proud purpose quality range reading reflect refine relevant remain rest role run \
    running sample scenario select side people spot brought spent receive received date miss missed forgot bother chance catching ouch gad blast sharing appreciated letting significant single situation slightly solution solutions someone specify state statement \
    stand suitable summary support supporting system task tasks text theres thorough took top track tricky trouble understand \
    understanding unique useful valuable version vibe vibes wasnt willing wouldnt yall \
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august \
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec noon pm evening afternoon \
    hour hours";

/// The commonest function words of German, French, Spanish, Italian, Portuguese and Dutch, three letters or more:
/// shorter words name no topic in any language. Left out where one is an English word with a meaning.
const FOREIGN: &str = "\
    aber als alle alles also auch auf aus bei bin bis bist das dass dein deine dem den denn der des dich die dies diese \
    dieser dir doch dort durch ein eine einem einen einer eines für gegen habe haben hast hat hatte hier ich ihm ihn \
    ihr ihre immer ist jetzt kann kein keine können machen man mein meine gestern neue neuen mehr mich mir mit nach nicht nichts noch nur ob oder ohne \
    schon sehr sein seine sich sie sind soll über und uns unser vom von vor war waren warum was weil wenn wer werden wie wieder \
    wir wird wurde zum zur zwischen gibt gut heute möchte würde \
    aussi avec avoir bien ce cela ces cette comme dans des donc elle elles est être fait faire ils je leur les lui \
    mais mes moi mon même nous notre par pas plus pour pourquoi que quel quelle qui quoi sans ses son sont suis sur très tout toute \
    tous une vos votre vous était été ça avez suis \
    algo ante aqui aquí así aunque bien como con contra cual cuando del desde donde dos ella ellos entre era eres \
    eso esta estaba están estar este esto estoy fue gusta había hace hacer hasta hay los las más mas menos mi mis mucho muy nada para \
    pero poco por porque puede puedo que qué quiero sea ser sin sobre solo son soy su sus también tan tengo tiene todo \
    todos tras tus una uno unos usted vez \
    anche alla alle anch avere che chi come con cosa dal dalla degli dei del della delle dello dove fare gli hai hanno \
    ho il lei loro lui ma mia mio molto nei nel nella noi non ogni per perché però più poi quando quello questa questo \
    sei sempre senza sono stato sua suo sul sulla tra tutto una voglio vorrei \
    ainda além até com das dela dele depois dos ela elas ele eles em então esse essa estou eu foi isso isto já meu \
    minha muito na nas nem nos não num numa onde ou para pela pelo pode qual quem são seu sua também tem tenho uma \
    umas uns você vocês quero \
    aan als bij daar dan dat deze die dit een eens geen gaan haar heb hebben heeft hem het hier hij hoe hun ik jij jullie \
    kan maar meer met mij mijn naar niet nog nu ons onze ook op over toen uit van veel voor waar want wat wel werd wie \
    wil worden zal zich zij zijn zo zou";

static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| TALK.split(' ').chain(FOREIGN.split(' ')).collect());

/// Whether this word, in lower case and without apostrophes, can be no topic by itself. Stop words are dull.
pub(crate) fn is_dull(lower: &str) -> bool {
    is_stop_word(lower) || SET.contains(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_talk_are_dull_and_words_of_topics_are_not() {
        for word in ["the", "really", "certainly", "trying", "und", "für", "très", "porque", "você", "niet"]
        {
            assert!(is_dull(word), "{word}");
        }
        for word in ["budget", "guitar", "adoption", "python", "schule", "trabajo", "maison", ""] {
            assert!(!is_dull(word), "{word}");
        }
    }
}
