//! The commonest words of English, with which the vocabulary begins.

/// Words roughly in order of frequency: function words first, then content words.
pub const WORDS: &str = "
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
