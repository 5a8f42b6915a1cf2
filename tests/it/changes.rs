//! If a message asks how things are, a context shows the latest statement and marks earlier ones, also in long histories in
//! which the same things are said about other people.

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{Context, ContextOptions, Filter, NewTurn, RecallOptions, RunJobs, blocking::User};

use crate::{
    recall::{start, story},
    support::Fixture,
};

/// A question, the first statement and its value, the later statement and its value, and somebody else's statement.
type Change = [&'static str; 6];

#[rustfmt::skip]
const CHANGES: &[Change] = &[
    ["Where is my violin?", "I keep my violin in the attic.", "attic", "I moved the violin from the attic to the cellar.", "cellar", "My cousin keeps a violin in the garage."],
    ["What colour is our kitchen?", "We painted the kitchen yellow.", "yellow", "The kitchen is green now, the old colour was too loud.", "green", "The neighbour has a purple kitchen."],
    ["Which database does our billing service use?", "Our billing service runs on MySQL.", "MySQL", "We switched the billing service from MySQL to Postgres.", "Postgres", "My friend's billing service runs on Oracle."],
    ["Where do I keep the spare key?", "The spare key is under the flower pot.", "flower pot", "I put the spare key into the mailbox, the flower pot was too obvious.", "mailbox", "Grandfather hides a spare key in the barn."],
    ["What is the deadline of my thesis?", "The deadline of my thesis is the third of May.", "third of May", "The deadline of my thesis was pushed to the ninth of June.", "ninth of June", "Olga has a thesis deadline in August."],
    ["How much rent do I pay?", "My rent is 900 euros.", "900", "They raised my rent to 980 euros.", "980", "My brother pays 700 euros of rent."],
    ["Who is my dentist?", "My dentist is Doctor Brandt.", "Brandt", "I have a new dentist, Doctor Okafor.", "Okafor", "The dentist of my aunt is Doctor Lund."],
    ["On which day is my choir practice?", "Choir practice is on Tuesday.", "Tuesday", "From now on choir practice is on Thursday.", "Thursday", "The choir practice of the school is on Friday."],
    ["Which car do I drive?", "I drive a blue Skoda.", "Skoda", "I sold the Skoda and drive a Volvo now.", "Volvo", "My boss drives a Tesla."],
    ["What is the password hint of my router?", "The hint for my router is the name of our first boat.", "boat", "I changed the hint for my router to the street of my school.", "street", "The hint for the router at work is a bird."],
    ["Which bakery do I buy my bread from?", "I buy my bread at the bakery by the church.", "church", "I buy my bread at the new bakery at the harbour instead.", "harbour", "My sister buys bread at the bakery in the mall."],
    ["How many hens do we have?", "We have four hens.", "four", "A fox came, so that we have two hens left.", "two", "The farmer has ninety hens."],
    ["What is the name of our boat?", "Our boat is called Petrel.", "Petrel", "We renamed the boat, it is called Kittiwake now.", "Kittiwake", "The boat of the ferryman is called Heron."],
    ["Which bus takes me to the office?", "I take bus 14 to the office.", "14", "Bus 14 was cancelled, I take bus 22 to the office.", "22", "The intern takes bus 31 to the office."],
    ["What do I drink in the morning?", "In the morning I drink black coffee.", "coffee", "I stopped drinking coffee, in the morning I drink mint tea.", "mint", "My husband drinks cocoa in the morning."],
    ["Where is my telescope?", "My telescope stands on the balcony.", "balcony", "I lent the telescope to the school observatory.", "observatory", "The club has a telescope on the roof."],
    ["Which size are my shoes?", "My shoes are size 42.", "42", "It turns out that my shoes are size 43.", "43", "My son has shoes of size 31."],
    ["Who waters my plants?", "Wilma waters my plants while I travel.", "Wilma", "Henrik waters my plants these days, Wilma has moved away.", "Henrik", "The plants in the office are watered by Petra."],
    ["What is our wifi called?", "Our wifi is called Nordwind.", "Nordwind", "I renamed our wifi, it is called Suedsee.", "Suedsee", "The wifi of the cafe is called Westend."],
    ["What is the price of the ticket to Tallinn?", "The ticket to Tallinn costs 60 euros.", "60", "The ticket to Tallinn costs 75 euros by now.", "75", "The ticket to Riga costs 40 euros."],
    ["Which version of the parser do we ship?", "We ship version 2.3 of the parser.", "2.3", "We upgraded the parser to version 3.1 and ship that.", "3.1", "The other team ships version 1.9 of the lexer."],
    ["What time is the standup meeting?", "The standup meeting is at nine.", "nine", "The standup meeting moved to half past ten.", "half past ten", "The standup meeting of marketing is at eight."],
    ["Where does Ida live?", "Ida lives in Bergen.", "Bergen", "Ida has moved, she lives in Oslo.", "Oslo", "Jon lives in Trondheim."],
    ["What does Ida study?", "Ida studies chemistry.", "chemistry", "Ida changed her mind and studies law.", "law", "Jon studies botany."],
    ["Which medicine does my cat take?", "My cat takes the white pills.", "white", "The vet put my cat on drops, no pills any more.", "drops", "The dog of my aunt takes a brown powder."],
    ["How often do I see my physiotherapist?", "I see my physiotherapist twice a week.", "twice a week", "I see my physiotherapist once a month now.", "once a month", "My father sees his physiotherapist daily."],
    ["Where do we spend the summer holidays?", "We spend the summer holidays in Brittany.", "Brittany", "We cancelled Brittany, the summer holidays are in Wales.", "Wales", "My colleagues spend the summer holidays in Crete."],
    ["Who is the landlord of my flat?", "The landlord of my flat is Mister Falk.", "Falk", "My flat was sold, the landlord is Missis Arslan.", "Arslan", "The landlord of the bakery is Mister Voss."],
    ["What am I allergic to?", "I am allergic to strawberries.", "strawberries", "The test says that I am allergic to birch, not to strawberries.", "birch", "My niece is allergic to wasps."],
    ["Which room is the workshop in?", "The workshop is in room 204.", "204", "The workshop was moved to room 118.", "118", "The lecture is in room 300."],
    ["Who leads our project?", "Our project is led by Samira.", "Samira", "Samira left, our project is led by Tobias.", "Tobias", "The project next door is led by Nadia."],
    ["Which bank is my account at?", "My account is at the Seebank.", "Seebank", "I closed my account at the Seebank and opened one at the Bergbank.", "Bergbank", "My mother has an account at the Talbank."],
    ["How long is my commute?", "My commute takes forty minutes.", "forty", "Since the bridge closed my commute takes an hour.", "hour", "The commute of my boss takes five minutes."],
    ["What is the code of our garage?", "The code of our garage is 5512.", "5512", "We changed the code of our garage to 8071.", "8071", "The code of the bike cellar is 3340."],
    ["Which instrument do I practise?", "I practise the clarinet.", "clarinet", "I gave up the clarinet and practise the cello.", "cello", "My nephew practises the drums."],
    // The cases from here on were written after the rules.
    ["Where is my passport?", "My passport lies in the top drawer.", "top drawer", "I put my passport into the safe.", "safe", "The passport of my wife is at the embassy."],
    ["Which gym do I go to?", "I go to the gym by the station.", "station", "I left that gym and go to the one in the old brewery.", "brewery", "My brother goes to the gym in the tower."],
    ["What is my favourite tea?", "My favourite tea is Assam.", "Assam", "My favourite tea is Sencha these days.", "Sencha", "Her favourite tea is camomile."],
    ["Who is our treasurer?", "Our treasurer is Malte.", "Malte", "Since the election our treasurer is Yasmin.", "Yasmin", "The treasurer of the rowing club is Kurt."],
    ["How many pupils are in my class?", "My class has 24 pupils.", "24", "Two pupils left, my class has 22 of them.", "22", "The class of my colleague has 30 pupils."],
    ["What is the name of my horse?", "My horse is called Bruno.", "Bruno", "I sold Bruno, my new horse is called Stella.", "Stella", "The horse of my niece is called Max."],
    ["Where does the archive server stand?", "The archive server stands in Frankfurt.", "Frankfurt", "We moved the archive server to Helsinki.", "Helsinki", "The mail server stands in Dublin."],
    ["Which insurance do I have?", "I have an insurance at Polaris.", "Polaris", "I changed my insurance from Polaris to Meridian.", "Meridian", "My parents have an insurance at Solaris."],
    ["What does a haircut cost at my barber?", "A haircut costs 25 euros at my barber.", "25", "My barber charges 32 euros for a haircut now.", "32", "The barber of my son charges 12 euros."],
    ["Who feeds my rabbit?", "My rabbit is fed by Clara.", "Clara", "My rabbit is fed by Emil from now on.", "Emil", "The rabbit of my cousin is fed by Ingo."],
    ["How tall is my daughter?", "My daughter is 120 centimetres tall.", "120", "My daughter is 128 centimetres tall by now.", "128", "My nephew is 140 centimetres tall."],
    ["Which glue do I use for the model planes?", "I use wood glue for the model planes.", "wood", "I use epoxy glue for the model planes, it holds better.", "epoxy", "My friend uses hot glue for his model ships."],
    ["Where is my winter coat?", "My winter coat hangs in the hall.", "hall", "I took my winter coat to the dry cleaner.", "cleaner", "My husband has his winter coat in the car."],
    ["What is the number of my locker?", "The number of my locker is 77.", "77", "They gave me another locker, the number is 91.", "91", "The number of the locker of my colleague is 12."],
    ["Which newspaper do I read?", "I read the Morning Post.", "Morning Post", "I cancelled the Morning Post and read the Daily Herald.", "Daily Herald", "My uncle reads the Evening Star."],
    ["Who plays the bass in our band?", "Lukas plays the bass in our band.", "Lukas", "Lukas quit, Mira plays the bass in our band.", "Mira", "In the band of my sister Otto plays the bass."],
    ["What is my seat in the theatre?", "My seat in the theatre is 8F.", "8F", "I swapped my seat in the theatre for 3C.", "3C", "My boss has seat 1A in the opera."],
    ["How far do I run on Sundays?", "On Sundays I run five kilometres.", "five", "On Sundays I run eight kilometres since the spring.", "eight", "My brother runs twenty kilometres on Sundays."],
    ["Where do we store the old files?", "We store the old files on tape.", "tape", "We store the old files in the cloud, the tape drive broke.", "cloud", "The bank stores old files in a bunker."],
    ["What does my tattoo show?", "My tattoo shows an anchor.", "anchor", "I had my tattoo covered, it shows a raven.", "raven", "The tattoo of my boss shows a rose."],
    ["Which doctor treats my knee?", "My knee is treated by Doctor Haas.", "Haas", "Doctor Haas retired, my knee is treated by Doctor Lindqvist.", "Lindqvist", "The knee of my father is treated by Doctor Stein."],
    ["How much does my dog weigh?", "My dog weighs 14 kilos.", "14", "My dog weighs 17 kilos, he is too fat.", "17", "The dog of my neighbour weighs 40 kilos."],
    ["What is the theme of the conference?", "The theme of the conference is water.", "water", "They changed the theme of the conference to soil.", "soil", "The theme of the fair is wind."],
    ["Where do I park my bike?", "I park my bike in the yard.", "yard", "I park my bike in the hallway since one was stolen.", "hallway", "My flatmate parks her bike in the street."],
    ["Which font does our website use?", "Our website uses the font Garamond.", "Garamond", "We redesigned our website, it uses the font Futura.", "Futura", "The website of the museum uses the font Times."],
    ["Who mows our lawn?", "Our lawn is mowed by Pavel.", "Pavel", "Our lawn is mowed by a robot now.", "robot", "The lawn of my aunt is mowed by sheep."],
    ["What is the limit of my credit card?", "The limit of my credit card is 2000 euros.", "2000", "The bank raised the limit of my credit card to 3500 euros.", "3500", "The limit of my mother's credit card is 500 euros."],
    ["Which island do we sail to?", "We sail to the island of Saaremaa.", "Saaremaa", "We changed the plan and sail to the island of Gotland.", "Gotland", "My colleagues sail to the island of Corfu."],
    ["What is the topic of my lecture?", "The topic of my lecture is glaciers.", "glaciers", "I changed the topic of my lecture to volcanoes.", "volcanoes", "The topic of my colleague's lecture is deserts."],
    ["How many tomatoes plants do I grow?", "I grow six tomato plants.", "six", "Hail killed some, I grow three tomato plants now.", "three", "My grandmother grows fifty tomato plants."],
    ["Where does my sister live?", "My sister lives in Ghent.", "Ghent", "My sister moved, she lives in Basel.", "Basel", "My cousin lives in Turin."],
    ["What is my brother's job?", "My brother works as a baker.", "baker", "My brother quit and works as a diver.", "diver", "My uncle works as a judge."],
    ["Which channel do we use for alerts?", "We use the channel red-phone for alerts.", "red-phone", "We use the channel night-watch for alerts, red-phone is closed.", "night-watch", "The sales people use the channel gong for alerts."],
    ["What is the title of my novel?", "The title of my novel is Saltwater.", "Saltwater", "I renamed it, the title of my novel is Driftwood.", "Driftwood", "The title of my friend's novel is Bonfire."],
    ["How hot is our oven for the bread?", "Our oven is set to 220 degrees for the bread.", "220", "We set our oven to 240 degrees for the bread, that is crisper.", "240", "The bakery sets its oven to 280 degrees."],
    ["Who takes the minutes of our meetings?", "Hanna takes the minutes of our meetings.", "Hanna", "Jorge takes the minutes of our meetings, Hanna is on leave.", "Jorge", "Berit takes the minutes of the board."],
    ["Where do I get my glasses?", "I get my glasses from the optician in the arcade.", "arcade", "I get my glasses from an online shop these days.", "online", "My mother gets her glasses from the market."],
    ["What lens is on my camera?", "There is a 50 mm lens on my camera.", "50", "I put a 35 mm lens on my camera.", "35", "There is a 200 mm lens on the camera of my friend."],
    ["Which wax do I use on my skis?", "I use blue wax on my skis.", "blue", "I use red wax on my skis since it got warmer.", "red", "The trainer uses green wax on his skis."],
    ["What do we call the baby?", "We call the baby Frida.", "Frida", "We decided to call the baby Johanna.", "Johanna", "My cousins call their baby Anton."],
    ["How strong are my reading glasses?", "My reading glasses have 1.5 dioptres.", "1.5", "My new reading glasses have 2.0 dioptres.", "2.0", "The reading glasses of my father have 3.5 dioptres."],
    ["Which lawyer do we have?", "Our lawyer is Missis Kaya.", "Kaya", "We changed our lawyer, it is Mister Brun.", "Brun", "The lawyer of the neighbour is Mister Hoff."],
    ["What is the interval of our backups?", "The interval of our backups is six hours.", "six", "We shortened the interval of our backups to one hour.", "one hour", "The interval of the museum's backups is a week."],
    ["Where is the key of the cellar?", "The key of the cellar hangs by the door.", "by the door", "I took the key of the cellar to my desk.", "desk", "The key of the church hangs in the vestry."],
    ["How many keys has my piano?", "My piano has 76 keys.", "76", "I bought another one, my piano has 88 keys.", "88", "The piano of the school has 61 keys."],
    ["Who drives the children to school?", "Marek drives the children to school.", "Marek", "I drive the children to school now, Marek works early.", "I drive", "The mayor is driven to work by Arne."],
    ["What is the mascot of our team?", "The mascot of our team is a badger.", "badger", "We voted, the mascot of our team is an otter.", "otter", "The mascot of the rivals is a goat."],
    ["Which soap can I use?", "I can use the almond soap.", "almond", "The almond soap gives me a rash, I use the olive soap.", "olive", "My sister uses the lavender soap."],
    ["What is our target for the sales?", "Our target for the sales is 400 units.", "400", "Our target for the sales was lowered to 350 units.", "350", "The target of the other branch is 900 units."],
    ["Where do we meet for chess?", "We meet in the library for chess.", "library", "The library closes early, we meet in the tea house for chess.", "tea house", "The seniors meet in the park for chess."],
    ["Which seeds are in the north bed?", "There are carrots in the north bed.", "carrots", "I dug the carrots up, there are leeks in the north bed.", "leeks", "There are pumpkins in the bed of my neighbour."],
    ["How old is the roof of our house?", "The roof of our house is thirty years old.", "thirty", "The roof of our house is new, it was laid in May.", "new", "The roof of the barn is ninety years old."],
    ["Which airline do I fly with?", "I fly with Aurora Air.", "Aurora", "Aurora Air went bankrupt, I fly with Zephyr.", "Zephyr", "My boss flies with Boreas."],
    ["What is the rank of my chess rating?", "My chess rating is 1450.", "1450", "My chess rating went up to 1520.", "1520", "The chess rating of my son is 900."],
    ["Who cleans our windows?", "Our windows are cleaned by Stefan.", "Stefan", "Our windows are cleaned by a company called Klarsicht.", "Klarsicht", "The windows of the tower are cleaned by climbers."],
    ["What is my role in the play?", "My role in the play is the ghost.", "ghost", "They gave me another role in the play, the king.", "king", "The role of my friend in the play is the fool."],
    ["Which stove do we cook on?", "We cook on a gas stove.", "gas", "We cook on an induction stove since the renovation.", "induction", "My grandparents cook on a wood stove."],
    ["How much sugar goes into my jam?", "There are 500 grams of sugar in my jam.", "500", "I reduced it, there are 350 grams of sugar in my jam.", "350", "There are 900 grams of sugar in the jam of my aunt."],
    ["What is the address of our shop?", "The address of our shop is Lindenweg 4.", "Lindenweg", "Our shop has moved, the address is Hafenstrasse 9.", "Hafenstrasse", "The address of the bookshop is Domplatz 1."],
    ["Which vaccine does my horse need?", "My horse needs the vaccine against flu.", "flu", "The vet says that my horse needs the vaccine against tetanus.", "tetanus", "The cattle need the vaccine against bluetongue."],
    ["When is the train of my mother?", "The train of my mother leaves at 9:40.", "9:40", "The train of my mother was changed, it leaves at 11:15.", "11:15", "The train of the class leaves at 7:05."],
    ["What does Olga paint?", "Olga paints portraits.", "portraits", "Olga paints landscapes, she is tired of portraits.", "landscapes", "Piotr paints houses."],
    ["Where does Piotr work?", "Piotr works at the harbour office.", "harbour office", "Piotr works at the customs now.", "customs", "Olga works at the zoo."],
    ["Which language does Olga learn?", "Olga learns Finnish.", "Finnish", "Olga gave Finnish up and learns Korean.", "Korean", "Piotr learns Greek."],
    ["What is the colour of our front door?", "Our front door is red.", "red", "We painted our front door black.", "black", "The front door of the parsonage is white."],
];

/// A question, the first statement, and a later one that says it is different.
#[rustfmt::skip]
const NEWS: &[[&str; 3]] = &[
    ["Where is my drill?", "My drill is in the shed.", "I put the drill in the basement."],
    ["What is the PIN of my tablet?", "The PIN of my tablet is 4410.", "The PIN of my tablet is 9027."],
    ["Who is my tax adviser?", "My tax adviser is Ms. Keller.", "My tax adviser is Mr. Odum."],
    ["What time is my yoga class?", "My yoga class is at six.", "My yoga class was moved to seven."],
    ["Where do I keep my medals?", "I keep my medals in the study.", "I gave my medals to my grandson."],
    ["Which shampoo do I use?", "I use an almond shampoo.", "I switched my shampoo, it is with aloe."],
    ["How many chapters has my book?", "My book has 11 chapters.", "I cut two, my book has 9 chapters."],
    ["What colour is my car?", "My car is silver.", "I had my car repainted, it is orange."],
    ["Which school does my daughter go to?", "My daughter goes to the Linden school.", "My daughter goes to the Bergman school."],
    ["Who is our plumber?", "Our plumber is Ferro.", "Ferro stopped taking jobs, Ibsen does it for us."],
    ["What is my blood pressure?", "My blood pressure is 150 over 95.", "My blood pressure went down to 130 over 85."],
    ["When is our team lunch?", "Our team lunch is on Monday.", "Our team lunch is on Wednesday."],
    ["Which operating system is on my laptop?", "My laptop runs Fedora.", "I replaced Fedora on my laptop with Debian."],
    ["Where is the meeting room?", "The meeting room is on the second floor.", "The meeting room is on the fifth floor."],
    ["How many cats do I have?", "I have two cats.", "Adopted another one, three cats now!"],
    ["Who is my GP?", "My GP is Dr. Halloran.", "Halloran retired so I'm with Dr. Mbeki now."],
    ["How much insulin do I take?", "I take 12 units of insulin in the morning.", "My doctor lowered my insulin to 9 units."],
];

/// A question, the first statement, and a later one: about the same thing, about the past or a possibility, or about others.
#[rustfmt::skip]
const MENTIONS: &[[&str; 3]] = &[
    ["Where is my drill?", "My drill is in the shed.", "My drill is very loud."],
    ["How many chapters has my book?", "My book has 11 chapters.", "I read my book to my mother."],
    ["Who is my tax adviser?", "My tax adviser is Ms. Keller.", "I had coffee with my tax adviser."],
    ["What is the PIN of my tablet?", "The PIN of my tablet is 4410.", "My tablet fell off the table."],
    ["What time is my yoga class?", "My yoga class is at six.", "My yoga class was fun today."],
    ["Where do I live?", "I live in Graz.", "When I was a child I lived in Linz."],
    ["How much do I earn?", "I earn 3100 euros a month.", "I would earn 4000 euros in Zurich."],
    ["Which car do I drive?", "I drive a Fiat.", "The car of the teacher is a Saab."],
    ["What is my dog called?", "My dog is called Ringo.", "I bought a new lead for my dog."],
    ["Which medicine do I take?", "I take ibuprofen for my knee.", "I used to take aspirin for my knee."],
    ["Where do I work?", "I work at the town library.", "My neighbour works at the town hall."],
    ["When is my exam?", "My exam is on the fifth of June.", "I studied three hours for my exam."],
    ["Which instrument do I play?", "I play the oboe.", "I wish I could play the harp."],
    ["What is the name of my boat?", "The name of my boat is Tern.", "I cleaned my boat with two friends."],
    ["What am I allergic to?", "I am allergic to cashews.", "A lot of children are allergic to milk."],
    ["What's our wedding venue?", "The wedding will be at Rosewood Barn.", "The wedding invitations are printed."],
    ["What is my dog's name?", "My dog is called Rocket.", "My dog ate a sock."],
    ["How much rent do I pay?", "My rent is 900 euros.", "I paid the rent today."],
    ["What is the code of our garage?", "The code of our garage is 5512.", "I cleaned our garage."],
    ["What color is my hair?", "I dyed my hair back to brown.", "My hair is a mess today."],
    ["Where do I live?", "I live in Berlin.", "Back when I lived in Rome I ate pasta daily."],
    ["Where do I live?", "I live in Berlin.", "I wish I lived in Oslo."],
    ["How much rent do I pay?", "My rent is 900 euros.", "I used to pay 700 euros of rent as a student."],
    ["How much rent do I pay?", "My rent is 900 euros.", "My rent would be 1200 euros in the city centre."],
    ["How much rent do I pay?", "My rent is 900 euros.", "I am not going to pay more rent, I told them."],
    ["Where do I work?", "I work at Siemens.", "I worked at Bosch before Siemens."],
    ["What's my phone number?", "I got a new phone number: 555-0199.", "I dropped my phone in the sink but it still works."],
    ["What is my favorite band?", "My favorite band is Wilco.", "The band at the wedding was terrible."],
    ["Who is my therapist?", "I'm seeing a therapist called Marcus.", "My therapist says I should journal."],
    ["Where is my passport?", "My passport is in the safe.", "My passport photo looks terrible."],
    ["Where is my passport?", "My passport is in the safe.", "I need my passport for the trip."],
    ["What's my mother's name?", "My mother's name is Edith.", "My mother called yesterday."],
    ["Which dose of insulin do I take?", "I take a dose of 12 units of insulin.", "I forgot my insulin dose yesterday."],
    ["When is my mother's birthday?", "My mother's birthday is on June 4.", "I forgot my mother's birthday once."],
    ["Do I have a car?", "I drive a Skoda, it is my only car.", "My car is dirty."],
    ["How many cats do I have?", "I have two cats.", "One of the cats caught a mouse."],
    ["Which apartment do we live in?", "We live in apartment 4B.", "Jess lives in apartment 2C."],
    ["How much rent do I pay?", "My rent is 900 euros.", "Jess pays 700 euros rent."],
    ["Which car do I drive?", "I drive a blue Skoda car.", "Tom drives a Volvo car."],
    ["Who is my dentist?", "My dentist is Doctor Brandt.", "Anna's dentist is Doctor Lund."],
    ["Who is my dentist?", "My dentist is Doctor Brandt.", "A dentist in the news was called Doctor Evil."],
    ["Who is my dentist?", "My dentist is Doctor Brandt.", "He said his dentist is Doctor Lund."],
    ["Who is my dentist?", "My dentist is Doctor Brandt.", "The dentist down the road is Doctor Lund."],
    ["Which gym do I go to?", "I go to the gym by the station.", "The gym was closed today."],
    ["What's my salary?", "My salary is 62k.", "Dan has a salary of 90k."],
    ["What is the deadline of my thesis?", "The deadline of my thesis is the third of May.", "I am nervous about my thesis deadline."],
    ["What is the deadline of my thesis?", "The deadline of my thesis is the third of May.", "Thesis writing is hard."],
    ["Where is my violin?", "I keep my violin in the attic.", "I played the violin for an hour."],
    ["Where does Ida live?", "Ida lives in Bergen.", "Ida called me yesterday."],
    ["Where does Ida live?", "Ida lives in Bergen.", "Ida wants to live on a farm one day."],
    ["What is our wifi called?", "Our wifi is called Nordwind.", "The wifi was down this morning."],
    ["When is my flight?", "My flight is on May 3 at 9:40.", "My flight to Rome last year was awful."],
    ["Am I allergic to anything?", "I am allergic to penicillin.", "I read that many people are allergic to cats."],
    ["What am I allergic to?", "I am allergic to penicillin.", "I am allergic to meetings, haha."],
];

/// Returns the cases in which a context marks the first of two statements as outdated.
fn marked(said: &[[&str; 3]]) -> Vec<String> {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let mut marked = Vec::new();
    for (n, [question, first, later]) in said.iter().enumerate() {
        let alex = memory.user(&format!("alex {n}")).unwrap();
        for (day, text) in [first, later].into_iter().enumerate() {
            let session = alex.session().unwrap();
            let said_at = start() + TimeDelta::days(i64::try_from(day).unwrap());
            session.record(NewTurn::new(*text, "I see.").said_at(said_at)).unwrap();
            session.end().unwrap();
        }
        let now = alex.session_named("now").unwrap();
        let context = now.context(question, ContextOptions::default()).unwrap();
        let mark = format!("<outdated? see 2025-09-02>\nUser: {first}");
        if context.text.contains(&mark) {
            marked.push(format!("{first} {later}"));
        }
    }
    marked
}

#[test]
fn what_changes_a_thing_marks_what_was_before() {
    let marked = marked(NEWS);
    let missed: Vec<_> =
        NEWS.iter().filter(|[_, first, later]| !marked.contains(&format!("{first} {later}"))).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn what_only_mentions_a_thing_marks_nothing() {
    assert_eq!(marked(MENTIONS), [""; 0]);
}

#[test]
fn the_older_is_not_shown_without_the_newest() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let rents = ["My rent is 900 euros.", "They raised my rent to 980 euros."];
    for n in 0..40 {
        let session = alex.session().unwrap();
        let text = match n {
            0 => rents[0].to_owned(),
            20 => format!("{} {}", rents[1], "The weather in the valley was fine. ".repeat(20)),
            _ => format!("How much rent do I pay, asks law number {n}?"),
        };
        session.record(NewTurn::new(text, "I see.").said_at(start() + TimeDelta::days(n))).unwrap();
        session.end().unwrap();
    }
    let now = alex.session_named("now").unwrap();
    for tokens in [120, 150, 200, 300, 400, 600, 900] {
        let options = ContextOptions::default().budget_tokens(tokens);
        let text = now.context("How much rent do I pay?", options).unwrap().text;
        assert!(!text.contains(rents[0]) || text.contains(rents[1]), "{tokens}: {text}");
    }
}

/// A linear congruential generator (Knuth's MMIX).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// Records 300 stories, and among them these things as they are told and change: in twelve ended sessions, or in one open
/// session. Returns a time after the last turn.
fn talks(alex: &User, changes: &[Change], are_ended: bool) -> DateTime<Utc> {
    let (count, mut chance) = (300, Chance(7));
    let mut said: Vec<(usize, &str)> = Vec::new();
    for [_, first, _, second, _, other] in changes {
        said.push((chance.below(100), first));
        said.push((150 + chance.below(100), second));
        said.push((120 + chance.below(170), other));
    }
    let mut session = alex.session_named("talk 0").unwrap();
    for n in 0..count {
        if n > 0 && n % 25 == 0 && are_ended {
            session.end().unwrap();
            session = alex.session_named(&format!("talk {n}")).unwrap();
        }
        session.record(story(n)).unwrap();
        for (_, text) in said.iter().filter(|(at, _)| *at == n) {
            let said_at = start() + TimeDelta::hours(8 * i64::try_from(n).unwrap() + 1);
            session.record(NewTurn::new(*text, "I see.").said_at(said_at)).unwrap();
        }
    }
    if are_ended {
        session.end().unwrap();
    }
    start() + TimeDelta::days(101)
}

/// Returns what is wrong with a context that answers a question about a change; `None` if nothing is.
fn flaw(context: &Context, [question, first, _, second, ..]: &Change) -> Option<String> {
    let at = |said: &str| context.text.find(said);
    let is_marked = |at: usize| {
        let above = &context.text[..context.text[..at].rfind('\n').map_or(0, |end| end + 1)];
        above.lines().next_back().is_some_and(|line| line.starts_with("<outdated? see "))
    };
    match (at(first), at(second)) {
        (_, None) => Some(format!("{question}: the newest is not shown")),
        (_, Some(second)) if is_marked(second) => Some(format!("{question}: the newest is marked")),
        (Some(first), _) if !is_marked(first) => Some(format!("{question}: the old one is not marked")),
        _ => None,
    }
}

fn flaws(changes: &[Change], are_ended: bool) -> Vec<String> {
    let mut flaws = Vec::new();
    for changes in changes.chunks(12) {
        let fixture = Fixture::new();
        let memory = fixture.open();
        let alex = memory.user("alex").unwrap();
        let now = talks(&alex, changes, are_ended);
        memory.run_jobs(RunJobs::default()).unwrap();
        let session = alex.session_named(if are_ended { "now" } else { "talk 0" }).unwrap();
        for change in changes {
            let options = ContextOptions::default().now(now);
            let context = session.context(change[0], options).unwrap();
            flaws.extend(flaw(&context, change));
        }
    }
    flaws
}

/// A known failure: the chess rating was said later, and is about chess, too.
const KNOWN: &str = "Where do we meet for chess?: the newest is marked";

#[test]
fn of_what_has_changed_the_newest_is_shown_and_what_was_before_is_marked() {
    assert_eq!(CHANGES.len(), 100);
    assert_eq!(flaws(CHANGES, true), [KNOWN]);
}

#[test]
fn in_one_open_session_too() {
    let flaws = flaws(CHANGES, false);
    assert!(flaws.len() <= 10, "{flaws:?}");
}

#[test]
fn a_turn_that_proves_what_holds_no_longer_is_marked_and_its_anchor_shown_with_its_dates() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    for (n, said) in ["I live in Porto.", "We have moved to Lisbon."].iter().enumerate() {
        let session = alex.session().unwrap();
        let said_at = start() + TimeDelta::days(i64::try_from(n).unwrap());
        session.record(NewTurn::new(*said, "I see.").said_at(said_at)).unwrap();
        session.end().unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    let now = alex.session_named("now").unwrap();
    let context = now.context("Where do I live?", ContextOptions::default()).unwrap();
    assert!(context.text.contains("User home until 2025-09-02: Porto\n"), "{}", context.text);
    assert!(context.text.contains("<outdated? see 2025-09-02>\nUser: I live in Porto."), "{}", context.text);
    let other = now.context("Where do I work?", ContextOptions::default()).unwrap();
    assert!(!other.text.contains("until"), "{}", other.text);
}

#[test]
fn an_item_names_what_is_newer_wherever_the_text_marks_it_also_in_the_open_session() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    let rain = ["It rained."; 6];
    let said = ["My rent is 900 euros.", "They raised my rent to 980 euros."].iter().chain(&rain);
    for (n, said) in said.enumerate() {
        let said_at = start() + TimeDelta::days(i64::try_from(n).unwrap());
        session.record(NewTurn::new(*said, "I see.").said_at(said_at)).unwrap();
    }
    let context = session.context("How much rent do I pay?", ContextOptions::default()).unwrap();
    assert_eq!(context.text.matches("<outdated? see 2025-09-02>").count(), 1, "{}", context.text);
    let marked = context.items.iter().filter_map(|item| Some((item.turn_number?, item.newer?.seq)));
    assert_eq!(marked.collect::<Vec<_>>(), [(1, 2)]);
}

#[test]
fn in_a_short_talk_too_and_why_and_receipts_say_so() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    for (n, said) in
        ["My rent is 900 euros.", "It rained.", "They raised my rent to 980 euros."].iter().enumerate()
    {
        let said_at = start() + TimeDelta::days(i64::try_from(n).unwrap());
        session.record(NewTurn::new(*said, "I see.").said_at(said_at)).unwrap();
    }
    session.end().unwrap();
    let now = alex.session_named("now").unwrap();
    let context = now.context("How much rent do I pay?", ContextOptions::default()).unwrap();
    assert!(
        context.text.contains("<outdated? see 2025-09-03>\nUser: My rent is 900 euros."),
        "{}",
        context.text
    );
    let old = context.items.iter().find(|item| item.newer.is_some()).unwrap();
    assert_eq!(old.newer.unwrap().seq, 3);
    let receipt = alex.receipt(context.receipt).unwrap();
    assert!(
        receipt.explain().contains("more of it was said on 2025-09-03 (number 3)"),
        "{}",
        receipt.explain()
    );

    let recalled = alex.recall("How much rent do I pay?", RecallOptions::default()).unwrap();
    assert_eq!(recalled.items.iter().filter(|item| item.newer.is_some()).count(), 1);
    // If a question is about the past, nothing is marked as outdated; and what a filter leaves out is not named.
    let past = alex.recall("How much rent did I pay?", RecallOptions::default()).unwrap();
    assert!(past.items.iter().all(|item| item.newer.is_none()));
    let filter = Filter::default().until(start() + TimeDelta::days(2));
    let before = RecallOptions::default().filter(filter);
    let before = alex.recall("How much rent do I pay?", before).unwrap();
    assert!(before.items.iter().all(|item| item.newer.is_none()) && !before.items.is_empty());
}
