/**
 * Passwords and words that people choose most, in lower case and without what they put around them: `password` stands for
 * Password123! as well. Only what can have ten characters with digits and signs around it matters.
 */
export const commonPasswords = `
password passwort passw passwd motdepasse contrasena contraseña senha parola haslo heslo salasana wachtwoord losenord lozinka
passord adgangskode kodeord parol sifre mima
admin administrator administrador root superuser sysadmin webmaster operator manager master mastermind user username login
logon signin guest public demo test tester testing testtest sample example default changeme change letmein letmeinnow openup
opensesame welcome welcomeback bienvenue bienvenido willkommen benvenuto temp temporary temporal secret secrets secreto
geheim segreto topsecret private privat access accessgranted security secure server service system network computer internet
keyboard database backup office company business website account enter entry start begin
qwerty qwertz azerty qwertyui qwertyuiop qwertyqwerty asdf asdfasdf asdfgh asdfghjkl zxcv zxcvbn zxcvbnm qazwsx qazwsxedc
qweasd qweasdzxc qweqwe qwaszx wasd wsxedc poiuytrewq lkjhgfdsa mnbvcxz abcd abcdef abcdefg abcdefgh abcdefghi abcdefghij
abcabc abc aaaaaa trustno iloveyou iloveu iloveyousomuch ilovemyself ilovegod ilovejesus iloveme loveyou loveme lovelove
loveyoubaby lovely lover lovers loveisblind truelove mylove amore teamo tequiero jetaime ichliebedich princess prince queen
king angel angels angeleyes babygirl babyboy baby babydoll sweetheart sweetie sweety honey honeybee sugar darling cutie
cutiepie beautiful gorgeous pretty handsome sexy sexybitch hottie hotstuff playboy playgirl
dragon dragonfly dragonball monkey monkeys tiger tigers tigger lion lions panther panthers eagle eagles falcon falcons hawk
wolf wolves werewolf wolverine bear bears bulldog bulldogs dog dogs doggy puppy puppies kitty kitten kittycat cat cats
butterfly dolphin dolphins shark sharks turtle rabbit bunny horse horses pony unicorn phoenix snake spider spiderman spidey
chicken chickens turkey elephant penguin panda pandas koala
football footballer soccer baseball basketball volleyball softball hockey tennis golf golfer cricket rugby swimming skate
skateboard surfing racing runner running boxing wrestling fishing hunting hunter ranger rangers trooper yankees redsox
cowboys cowboy steelers packers patriots raiders broncos dolphinss giants lakers celtics bulls chicago dallas arsenal chelsea
liverpool manchester manutd barcelona realmadrid madrid juventus milan inter bayern ajax benfica porto flamengo corinthians
palmeiras boca bocajuniors riverplate america chivas galatasaray fenerbahce besiktas
superman batman batgirl robin joker ironman captain captainamerica avengers marvel thor hulk wonderwoman superstar superhero
hero heroes hobbit gandalf frodo legolas matrix neo morpheus starwars starwarsfan skywalker lukeskywalker darthvader vader
yoda chewbacca solo hansolo jedi stargate startrek spock kirk enterprise harrypotter harry potter hermione voldemort hogwarts
gryffindor slytherin pokemon pikachu charizard naruto sasuke sakura goku vegeta luffy onepiece bleach mario luigi zelda link
sonic minecraft fortnite roblox callofduty warcraft worldofwarcraft starcraft counterstrike halo masterchief doom quake
counter strike assassin assassins killer killers ninja samurai pirate pirates warrior warriors knight wizard magic magician
vampire zombie monster monsters demon demons devil satan lucifer hell heaven ghost shadow shadows darkness darkangel death
sunshine sunflower sunset sunrise sunday monday tuesday wednesday thursday friday saturday january february march april may
june july august september october november december spring summer autumn winter fall season christmas halloween birthday
easter holiday holidays vacation weekend
michael michelle jennifer jessica ashley amanda nicole daniel daniela andrew andrea anthony joshua matthew christopher
christian christina christine jonathan jordan justin brandon robert richard william thomas charles charlie george edward
alexander alexandra alexandre alexis alejandro alejandra elizabeth stephanie samantha victoria vanessa veronica barbara
patricia patrick carlos roberto fernando francisco francesco giuseppe giovanni alessandro antonio manuel miguel rafael gabriel
gabriela maria mariana marina martin martina margaret nathan nicholas nicolas natalie natasha oliver olivia peter phillip
rachel rebecca ronaldo ronaldinho messi beckham cristiano neymar sebastian sophie stefan steven stephen taylor tyler valentina
vincent xavier zachary hannah heather isabella jasmine jackson jacqueline joseph katherine kimberly laura lauren leonardo
lindsay madison melissa monica benjamin bradley cameron caroline catherine charlotte chelsea claudia courtney cynthia danielle
david dennis dominic douglas eduardo emily frances frank freddy garcia hernandez lopez martinez rodriguez gonzalez smith johnson
williams brown jones miller davis wilson anderson schmidt mueller schneider fischer weber meyer wagner becker hoffmann
mohammed muhammad ahmed abdullah fatima ibrahim khan singh kumar krishna ganesh jesus jesuschrist christ jehovah godisgood
godislove godbless blessed blessing faith hope grace heavenly church bible genesis exodus psalm allah bismillah inshallah
apple apples banana bananas orange oranges cherry cherries strawberry blueberry peaches peach mango lemon lemonade chocolate
cookie cookies cookiemonster candy candies cupcake cheese cheeseburger hamburger pizza spaghetti pasta pepper peppers ginger
coffee espresso cappuccino whiskey vodka tequila beer heineken budweiser cocacola coke pepsi mcdonalds starbucks nutella
purple yellow green greenday blue bluesky red redhead black blackbird blackjack white orangejuice pink pinkfloyd silver gold
golden goldfish rainbow rainbows diamond diamonds crystal emerald ruby pearl sapphire platinum
mustang ferrari porsche lamborghini mercedes mercedesbenz bmw audi toyota honda yamaha suzuki kawasaki ducati harley
harleydavidson corvette camaro chevrolet chevy ford subaru nissan mazda volkswagen volvo
london paris berlin vienna moscow istanbul newyork newyorkcity losangeles california texas florida boston chicagobulls
houston seattle denver phoenixsuns miami orlando atlanta canada mexico brazil brasil argentina colombia chile peru espana
france italia italy germany deutschland england scotland ireland poland polska romania russia ukraine turkiye turkey india
pakistan bangladesh indonesia malaysia philippines pilipinas vietnam thailand japan tokyo china beijing shanghai hongkong
taiwan korea australia sydney melbourne newzealand africa nigeria southafrica egypt
microsoft windows windowsxp apple macintosh macbook iphone ipad android samsung galaxy nokia motorola google gmail yahoo
hotmail facebook instagram twitter youtube tiktok snapchat whatsapp linkedin netflix amazon ebay paypal spotify adobe oracle
cisco intel linux ubuntu debian redhat docker kubernetes postgres postgresql mysql mongodb clickhouse nats jenkins gitlab
github raspberry raspberrypi arduino
scanlog qrcode qrcodes scan scanner scanning marketing
metallica slipknot nirvana linkinpark greenday blink eminem rihanna beyonce britney britneyspears michaeljackson madonna
shakira justinbieber onedirection blackpink bangtan bts exo beatles thebeatles rollingstones acdc ironmaiden rammstein
guitar guitarra drummer drums piano music musica musician dancer dancing dance hiphop rockstar rocknroll rockandroll
freedom liberty peace peaceful forever foreverlove friend friends friendship bestfriend family mother mommy father daddy
sister sisters brother brothers grandma grandpa children daughter son wife husband married single together alone
happy happiness happyday smile smiley smile lucky luckyday luckyone winner winning champion champions legend legends victory
success successful power powerful energy strong strength money moneymaker millionaire billionaire rich dollar dollars
whatever nothing something everything anything nobody somebody nevermind forget forgetit remember dontforget idontknow
idontcare fuckyou fuckoff fuckme fuck fucker motherfucker asshole bitch bastard shit bullshit dickhead pussy
abracadabra supercalifragilistic hello helloworld hellokitty helloo hola bonjour salut ciao namaste goodbye goodmorning
goodnight thankyou please sorry snoopy scooby scoobydoo garfield mickey mickeymouse minnie donald donaldduck goofy tweety
tinkerbell cinderella simpsons bartsimpson homer spongebob patrickstar barbie winniethepooh winnie pooh
number numberone numero first second third second mynameis myname mypassword mypass mysecret mylogin myaccount mycomputer
newpassword oldpassword thepassword nopassword password passwordpassword yourpassword passphrase password onetwothree
onetwothreefour four five seven eleven twelve thirteen hundred thousand million infinity zero
correcthorsebatterystaple correcthorse batterystaple
flower flowers rose roses tulip lily daisy orchid lavender jasmine forest mountain mountains river ocean beach island
water fire firefly fireman earth wind storm thunder lightning thunderbird hurricane tornado snow snowball snowman snowboard
ice icecream iceman frozen moon moonlight star stars starlight galaxy universe planet mercury venus mars jupiter saturn
uranus neptune pluto apollo zeus athena poseidon hercules spartan spartacus trojan titan titanic olympus atlantis
school student teacher college university doctor nurse police policeman fireman firefighter soldier army navy marine marines
airforce pilot captain general colonel sergeant lawyer engineer developer programmer hacker hackers hacking coder designer
artist writer singer actor actress model dream dreamer dreams dreaming fantasy mystery secretgarden adventure paradise
destiny future believe believer trust trustme honest loyalty respect justice revenge danger dangerous warning crazy crazygirl
lazy stupid idiot loser noob pimp gangster gangsta thug mafia godfather scarface tupac biggie
bubbles bubblegum peanut peanuts butterscotch buttercup marshmallow muffin pumpkin pancake waffle popcorn cinnamon vanilla
caramel sparkle sparkles sparky buster buddy rocky rusty max maximus maxwell duke prince shadow smokey bandit oreo coco
bailey bella molly sadie lucy daisy maggie sophie ginger princess tiger simba nala felix oscar milo jasper
letmeinplease openthedoor whatsup whatthehell whatthefuck whoami whoareyou areyouready letsgo goodluck bestofluck noproblem
takecare beautifulgirl prettygirl badgirl badboy goodgirl goodboy lonely lonewolf blackcat whitetiger redrose redbull
bluemoon greenapple yellowsubmarine purplerain goldfinger jamesbond bond agent rambo rocky terminator predator alien robocop
transformers optimusprime bumblebee godzilla kingkong jurassic jurassicpark titanic avatar inception gladiator braveheart
`;
