"""Acknowledgements and answers yes or no."""

# ruff: noqa: RUF001 (the tables are in many scripts)
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ordain.rules.lexicon_signs import Sign

_THANKS = """
thanks | thank you | thankyou | thx | thnx | thanx | thks | tnx | tysm | tyvm | ty | ta | cheers | thank u | thanks a lot | thanks a bunch
thanks a million | many thanks | thank you so much | thank you very much | thanks so much | much appreciated | appreciate it | i appreciate it
appreciated | i appreciate that | thanks for that | thanks for the help | thanks for your help | thanks for the info | thanks for letting me know
thank you for your help | thank you for the help | great | awesome | nice | nice one | cool | sweet | excellent | wonderful | amazing | brilliant
fantastic | perfect | lovely | neat | superb | super | love it | i love it | well done | good job | great job | nice work | good work | great work
good bot | bravo | wow | yay | woohoo | woot | hooray | good to know | makes sense | that makes sense | i see | isee | i understand | understood
noted | got it | gotcha | roger | copy that | ic | oh | ah | aha | ahh | oh ok | ooh | oh wow | oh nice | oh i see | hm | hmm | mm | mhm | uh | um
lol | lool | lmao | rofl | haha | hehe | hihi | xd | heh | funny | thats funny | so funny | thats hilarious | hilarious | damn | wtf | meh
interesting | very interesting | fair | fair enough | you rock | youre the best | you are the best | youre awesome | you are awesome | youre great
legend | same | true | indeed | exactly | bye | goodbye | see you | see ya | cya | later alligator | good night | goodnight | gn | have a nice day
have a good one | have a great day | thats all | that is all | thats it | that will be all | thatll be all | nothing else | im good | all good
not bad | impressive | phew | never knew that | whatever | no rush | take your time | take ur time | no hurry | ill wait | i ll wait | i will wait
i can wait | ok ill wait | brb | ttyl | back in a sec | glad to hear | good to hear | glad to hear it | happy to hear | sounds great | you too
same here | welcome | youre welcome | test | testing | asdf | asdfgh | blah | idk
danke | danke dir | danke schön | dankeschön | dankschön | vielen dank | besten dank | herzlichen dank | tausend dank | danke sehr | dank dir
ich danke dir | ich danke ihnen | merci vielmals | danke vielmals | danke für die hilfe | danke für deine hilfe | danke für die info | thx dir | dankö
toll | klasse | prima | spitze | spitzenmäßig | genial | wunderbar | großartig | fein | cool danke | geil | mega | hammer | stark | schön | sehr schön
sehr gut | hervorragend | ausgezeichnet | perfekt | bestens | läuft bei dir | verstanden | verstehe | ich verstehe | ach so | achso | ah ja | ach ja
aso | ahso | na gut | naja | tja | keine ursache | kein stress | keine eile | lass dir zeit | lustig | witzig | tschüss | tschuess | tschau
ciao ciao | bis bald | bis später | bis dann | bis morgen dann | gute nacht | schönen tag | schönen tag noch | schönen abend | schönen abend noch
das wars | das war alles | das wäre alles | sonst nichts | wird schon | gut gemacht | super gemacht | gute arbeit | ich warte dann | interessant
krass | wahnsinn | nicht schlecht | gut zu wissen | freut mich | ok cool
gracias | muchas gracias | mil gracias | muchísimas gracias | grax | grcs | grasias | te agradezco | se agradece | gracias por la ayuda
gracias por tu ayuda | gracias por todo | qué bien | que bien | muy bien | estupendo | fantástico | excelente | increíble | buenísimo | buenisimo
perfecto | qué bueno | que bueno | guay | chévere | chido | bárbaro | joya | maravilloso | entendido | ya veo | comprendo | ah ok | ajá | jaja
jajaja | jeje | qué risa | qué gracioso | de nada | sin prisa | tómate tu tiempo | adiós | chao | chau | hasta luego | hasta mañana | buenas noches
eso es todo | nada más | interesante | buen trabajo | bien hecho | no pasa nada | me alegro | te quiero
merci | merci beaucoup | mille mercis | un grand merci | merci bien | merci infiniment | merci pour tout | merci pour ton aide | merci pour votre aide
merci pour l aide | merci à toi | génial | parfait | formidable | magnifique | impeccable | nickel | top | chouette | trop bien | trop cool
bien joué | très bien | tres bien | c est parfait | c est super | c est génial | c est top | c est noté | noté | compris | j ai compris | je vois
je comprends | ah d accord | ah bon | mdr | ptdr | de rien | pas grave | prends ton temps | pas pressé | au revoir | à plus | à bientôt | a plus
bonne nuit | bonne journée | bonne soirée | c est tout | rien d autre | intéressant | pas mal | cool merci | ouf | j adore
grazie | grazie mille | mille grazie | tante grazie | molte grazie | grazie tante | ti ringrazio | ottimo | perfetto | fantastico | stupendo
meraviglioso | bene | benissimo | molto bene | bellissimo | che bello | capito | ho capito | ah capito | prego | figurati | con calma | arrivederci
buonanotte | a presto | è tutto | ahah | ahaha | interessante | bravissimo | complimenti | evviva
obrigado | obrigada | muito obrigado | muito obrigada | obg | brigado | brigada | brigadão | valeu | vlw | agradecido | agradeço | ótimo | perfeito
maravilha | legal | que legal | massa | bacana | show de bola | fixe | que fixe | muito bom | muito bem | que bom | entendi | percebi | imagina
sem pressa | tchau | até logo | até mais | até amanhã | boa noite | só isso | é tudo | rsrs | kkk | boa | jóia | nossa
bedankt | dank je | dank je wel | dankjewel | dankje | dank u | dank u wel | dankuwel | heel erg bedankt | hartelijk dank | hartstikke bedankt | mooi
geweldig | fijn | lekker | prachtig | fantastisch | leuk | gaaf | tof | begrepen | snap ik | ik snap het | ik begrijp het | graag gedaan | geen haast
doei | tot ziens | welterusten | dat was het | dat is alles | grappig | goed gedaan | goed zo | heel goed
dzięki | dzieki | dziękuję | dziekuje | dziękuję bardzo | wielkie dzięki | dzięki wielkie | dzięki za pomoc | dziękuję za pomoc | świetnie | ekstra
rewelacja | bomba | doskonale | wspaniale | fajnie | rozumiem | jasne rozumiem | do widzenia | pa | na razie | dobranoc | to wszystko | ciekawe
teşekkürler | tesekkurler | teşekkür ederim | tesekkur ederim | çok teşekkürler | çok teşekkür ederim | sağol | sagol | sağ ol | sağolun | eyvallah
eyv | tşk | tşkler | harika | süper | mükemmel | güzel | çok güzel | çok iyi | iyi | anladım | anladim | rica ederim | görüşürüz | iyi geceler
hepsi bu | ahahah | aferin | helal
спасибо | спс | спасибки | большое спасибо | спасибо большое | спасибо огромное | огромное спасибо | благодарю | пасиб | спасиб | отлично | супер
класс | классно | круто | здорово | прекрасно | замечательно | идеально | молодец | понял | поняла | понятно | ясно | вижу | ага понял | ого | вау
лол | хах | прикольно | пожалуйста не за что | не за что | не спеши | не торопись | пока | до свидания | спокойной ночи | это все | интересно
неплохо | ура
дякую | дуже дякую | щиро дякую | чудово | клас | класно | зрозуміло | зрозумів | зрозуміла | молодець | до побачення | немає за що | tack
tack så mycket | tusen tack | tackar | stort tack | tack för hjälpen | toppen | jättebra | kanon | underbart | vad bra | va bra | bra | grymt | kul
förstår | jag förstår | uppfattat | ingen brådska | hejdå | hej då | god natt | det var allt | intressant
ありがとう | ありがとうございます | ありがとうございました | ありがと | あざす | あざっす | どうも | どうもありがとう | サンキュー | 感謝 | 助かります | 助かりました | 助かる | 助かった | すごい | すごいね | 素晴らしい | すばらしい | 完璧
いいね | いいですね | よかった | 良かった | やった | なるほど | なるほどね | そうなんだ | そうですか | そっか | わかった | 分かった | わかりました | 分かりました | 了解 | 了解です | 了解しました | りょうかい | りょ | 承知しました
かしこまりました | おやすみ | またね | さようなら | へえ | へー | うける | おつかれ | お疲れ様 | お疲れさま | 面白い | さすが
谢谢 | 谢谢你 | 谢谢您 | 谢谢了 | 多谢 | 感谢 | 非常感谢 | 十分感谢 | 谢啦 | 谢了 | 谢 | 3q | 太好了 | 太棒了 | 棒 | 真棒 | 很棒 | 很好 | 非常好 | 厉害 | 牛 | 赞 | 完美 | 不错 | 不错哦 | 辛苦了 | 明白 | 明白了
知道了 | 懂了 | 我知道了 | 我明白了 | 收到 | 原来如此 | 嗯嗯 | 哦 | 噢 | 喔 | 呵呵 | 嘿嘿 | 嘻嘻 | 没事 | 没关系 | 不客气 | 不急 | 慢慢来 | 再见 | 拜拜 | 晚安 | 就这些 | 有意思 | 謝謝 | 太讚了 | 讚
고마워 | 고마워요 | 고맙습니다 | 감사 | 감사해요 | 감사합니다 | 감사해 | ㄱㅅ | 땡큐 | 최고 | 최고야 | 최고예요 | 대박 | 좋네 | 좋네요 | 멋져 | 멋지다 | 굿 | 완벽해 | 훌륭해 | 잘했어 | 알겠어 | 알겠어요 | 알겠습니다 | 알았어
알았어요 | 그렇구나 | 아하 | 이해했어 | 천천히 해 | 수고했어 | 수고하셨습니다 | 잘 자 | 안녕히 계세요 | 재밌네
شكرا | شكرا لك | شكرا جزيلا | شكرا كثيرا | شكرًا | مشكور | تسلم | يعطيك العافية | ممتاز | رائع | جميل | عظيم | فهمت | مفهوم | عفوا | مع السلامة
تصبح على خير | هههه | ههه | धन्यवाद | शुक्रिया | बहुत धन्यवाद | बहुत बहुत धन्यवाद | थैंक्यू | थैंक्स | बढ़िया | बहुत बढ़िया | शानदार | बहुत अच्छा
अच्छा | वाह | समझ गया | समझ गई | कोई बात नहीं | अलविदा | dhanyavaad | dhanyawad | shukriya | bahut badhiya
❤ | 💕 | 💖 | 😍 | 🎉 | 🙌 | 🙏 | 👏 | 😂 | 🤣 | 😄 | 😃 | 😀 | 😊 | 🙂 | 😅 | 🥰 | 💪 | 🔥 | ☺ | 😁 | 😆 | 😎 | 🤩 | 💯 | ♥ | 🫶 | 😘 | 🥳
merci quand même | merci bcp | bcp | listo gracias | will wait | ill be waiting | supi | spitzenklasse
"""

_OKAY = """
no worries | no problem | np | kein problem | kein ding | no hay problema | sin problema | pas de souci | pas de soucis | pas de problème
nessun problema | sem problema | geen probleem | nie ma sprawy | nie ma problemu | sorun değil | без проблем | inga problem | ok | okay | okey | oki
okie | okidoki | okey dokey | okie dokie | k | kk | okk | okok | alright | alrighty | aight | all right | right | fine | thats fine | that is fine
fine by me | fine with me | good | very good | all good then | sounds good | sounds fine | sounds good to me | works for me | that works
that works for me | works | deal | agreed | thats ok | thats okay | its ok | its okay | im ok with that | ok fine | ok then | ok cool | that is ok
thats good | looks good | looks great | lgtm | good idea | great idea | correct | thats correct | thats right | you got it | word
alles klar | klar | alles gut | in ordnung | ist in ordnung | geht in ordnung | ok gut | gut | ist gut | is gut | schon gut | schon ok | schon okay
geht klar | passt | passt so | passt schon | das passt | einverstanden | meinetwegen | von mir aus | soweit ok | klingt gut | hört sich gut an
gute idee | machen wir so | richtig | stimmt | das stimmt | genau | abgemacht | bon | gebongt | okay gut | na dann | jut
vale | bueno | bien | está bien | esta bien | ta bien | de acuerdo | oki doki | va | sale | dale | listo gracias | correcto | perfecto entonces
suena bien | me parece bien | buena idea | conforme | venga | así está bien | me vale | ya
d accord | daccord | dac | d ac | ok d accord | ça va | ca va | ça me va | ca me va | très bien ok | entendu | c est d accord | ça marche pour moi
c est ok | bonne idée | exact | exactement | ok ça marche | ça roule ma poule | c est bon pour moi | va pour ça | okej
va bene | vabbè | vabene | d accordo | daccordo | ok va bene | buona idea | giusto | esatto | per me va bene | tudo bem | tá bom | ta bom | está bom
tá | ta bem | está bem | tá bem | tudo certo | beleza | blz | fechado | combinado | certo | pode ser | boa ideia | por mim tudo bem | goed | prima
is goed | dat is goed | oké | oke | akkoord | in orde | komt goed | goed idee | klopt | dat klopt | vooruit | w porządku | dobra | dobrze | spoko
zgoda | niech będzie tak | git | pasuje | może być | tamam | tamamdır | tmm | peki | olur | uygun | anlaştık | doğru
ладно | ок | окей | оке | окэй | хорошо | хор | добро | договорились | годится | подходит | пойдет | норм | нормально | верно | правильно | точно
ну ладно | гаразд | добре | згода | підходить | visst | det går bra | det är bra | det är ok | överens | stämmer | låter bra | オーケー | オッケー | おっけー
オーケーです | 大丈夫です | いいよ | いいです | いいですよ | それでいい | それでいいです | それで | それでお願いします | 好 | 好的 | 好吧 | 好啊 | 好呀 | 好哒 | 好滴 | 行 | 行吧 | 行啊 | 可以 | 可以的 | 没问题 | 没问题的 | 嗯
恩 | 那好 | 成 | 좋아 | 좋아요 | 좋습니다 | 좋지 | 그래 | 그래요 | 오케이 | ㅇㅋ | 오키 | 괜찮아 | 괜찮아요 | 그렇게 해 | 그렇게 해줘 | حسنا | حسنًا | تمام | اوكي | أوكي | طيب | موافق | ماشي
ठीक है | ठीक | ओके | अच्छा ठीक है | theek hai | thik hai | accha | 👍 | 👌 | ✅ | ✔ | 🆗 | 🤙
"""

_YES = """
yes | yea | yeah | yeh | yah | yep | yepp | yup | ye | yass | yas | yes please | yes pls | yesss | yessir | sure | sure thing | for sure | of course
ofc | certainly | definitely | absolutely | totally | by all means | go ahead | go for it | please do | do so | do it please | yes do it | yes do
i agree | id love to | id like that | id love that | i would like that | i would love that | i guess so | i think so | i suppose | i guess
probably yes | affirmative | aye | uh huh | mhmm | why not | sounds like a plan | lets do it | lets do that | lets go | do it then | confirm
confirmed | i confirm | approve | approved | yes sir | yes maam | yesh | thatd be great | that would be great | that would be nice
that would be good | that would be perfect | thatd be nice | thatd be good | would be great | would be nice | please yes | send it | book it
make it so | ship it | proceed please | you may | you can | make that yes | heck yes | hell yes | hell yeah | heck yeah | yes indeed | yes it is
yes they are | if possible
ja | jap | jo | joa | jaa | jawohl | jawoll | jep | jup | jepp | joo | jou | ja gerne | ja bitte | ja klar | ja gern | ja genau | gerne | gern
sehr gerne | sehr gern | klaro | na klar | aber klar | klar doch | klar gerne | natürlich | selbstverständlich | sicher | aber sicher | auf jeden fall
auf jedenfall | unbedingt | mach das | mach das bitte | mach mal | mach ruhig | tu das | nur zu | bitte ja | bitte gern | doch ja | logo | logisch
warum nicht | freilich | allerdings | bestätigt | ich bestätige | das wäre super | das wäre toll | das wäre nett | wäre super | wäre toll | wäre gut
wäre nett | ich glaube ja | ich denke schon | jo mach | jo mach das | los | leg los | los gehts | aber gerne
sí | sip | sipi | sí por favor | si por favor | sí claro | si claro | sí gracias | claro | claro que sí | claro que si | por supuesto | desde luego
seguro | cómo no | como no | obvio | obviamente | afirmativo | efectivamente | así es | adelante | hazlo por favor | sí hazlo | si hazlo | hágalo
dale sí | dale si | me encantaría | me gustaría | encantado | encantada | confirmo | confirmado | eso es | por qué no | sería genial | seria genial
sería perfecto | estaría bien | creo que sí | creo que si | vale sí | vale si | sí vale
oui | ouais | ouai | ouep | ouip | oui oui | oui merci | oui s il te plaît | oui s il vous plaît | oui stp | oui svp | oui bien sûr | oui volontiers
bien sûr | bien sur | bien entendu | évidemment | certainement | volontiers | avec plaisir | carrément | absolument | tout à fait | vas y | allez y
allez | fais le s il te plaît | je confirme | confirmé | pourquoi pas | si si | je veux bien | ce serait super | ce serait bien | ça serait bien
ça serait super | je pense que oui | je crois que oui | grave | yes merci
sì | sì grazie | si grazie | sì per favore | si per favore | certo | certo che sì | certamente | sicuro | ovvio | ovviamente | assolutamente
assolutamente sì | volentieri | con piacere | procedi | procedi pure | fai pure | vai pure | confermo | perché no | sarebbe bello | sarebbe fantastico
penso di sì | credo di sì | esattamente | vai | sim | sim por favor | sim claro | sim obrigado | claro que sim | com certeza | com ctz | pode sim
isso | isso mesmo | isso aí | por favor sim | pode fazer | faz isso sim | manda ver | bora | quero sim | aceito | seria ótimo | seria bom
acho que sim | exatamente | positivo | pode mandar | pode reservar | força | claro sim
jawel | jazeker | zeker | zeker weten | ja hoor | ja graag | graag | natuurlijk | tuurlijk | uiteraard | absoluut | doe maar ja | ja doe maar
doe dat maar | doe dat | ga je gang | waarom niet | dat zou fijn zijn | dat zou leuk zijn | dat zou mooi zijn | ik denk het wel | inderdaad
bevestigd
tak | no tak | tak poproszę | tak proszę | tak jasne | jasne | jasne że tak | pewnie | pewnie że tak | oczywiście | oczywiscie | naturalnie | chętnie
bardzo chętnie | poproszę | zdecydowanie | dokładnie | potwierdzam | śmiało | czemu nie | zrób to proszę | byłoby super | ta jest | evet | evet lütfen
tabii | tabi | tabii ki | tabiki | elbette | kesinlikle | aynen | lütfen evet | olur tabii | yap lütfen | neden olmasın | onaylıyorum | memnuniyetle
eminim
да | дa | да пожалуйста | да конечно | да давай | да да | ага | угу | конечно | конечно да | разумеется | безусловно | обязательно | естественно
определенно | несомненно | давай | давайте | валяй | с удовольствием | подтверждаю | почему нет | почему бы и нет | думаю да | было бы здорово
хотелось бы | так точно | именно | так | так звичайно | так будь ласка | звичайно | авжеж | звісно | безумовно | атож | залюбки | із задоволенням
підтверджую | чому ні | ja tack | javisst | jadå | absolut | självklart | självfallet | naturligtvis | gärna | det vore bra | det vore toppen | kör
kör på | jajamän | såklart | okej kör | jag tror det | jo tack
はい | はいはい | はいお願いします | はい お願いします | お願いします | おねがいします | お願い | おねがい | うん | うんお願い | ええ | そうです | そう | そうだね | そうですね | そうして | そうしてください | もちろん | もちろんです | ぜひ
ぜひお願いします | イエス | やって | やってください | その通り | 是 | 是的 | 是啊 | 对 | 对的 | 对啊 | 没错 | 当然 | 当然了 | 当然可以 | 要 | 要的 | 需要 | 同意 | 确认 | 确定 | 可以啊 | 请 | 没问题请 | 愿意 | 肯定 | 對
當然 | 是呀 | 行的 | 好的请 | 네 | 예 | 넵 | 넹 | 응 | 어 | 네 부탁해요 | 네 부탁드립니다 | 부탁해 | 부탁해요 | 부탁드려요 | 부탁드립니다 | 물론 | 물론이지 | 물론이죠 | 당연하지 | 당연하죠 | 당연 | 맞아 | 맞아요 | 그럼
그럼요 | 그렇게 해주세요 | ㅇㅇ | ㅇ | نعم | نعم من فضلك | نعم تفضل | أجل | اجل | ايوه | أيوه | ايوا | أيوة | اه | بالتأكيد | أكيد | اكيد | طبعا | بالطبع | تفضل
يلا | هاँ | हाँ | हां | हा | जी | जी हाँ | जी हां | हाँ जी | हाँ कृपया | बिल्कुल | ज़रूर | जरूर | क्यों नहीं | कर दो | कर दीजिए | haan | han | haan ji
ji haan | bilkul | zaroor
yess | sii | yess please | ok pour moi
"""

_NO = """
nope | nah | nay | naw | noo | nop | negative | nein | nee | nö | noe | nää | neee | nein danke | ne danke | nee danke | nee bedankt | nein nein
ach nein | oh nein | нет | неа | нетъ | не а | нет спасибо | нет нет | ні | ні дякую | hayır | hayir | hyr | yok | hayır teşekkürler | yok sağol
no thanks | no thank you | no thx | no ty | nope thanks | no please | nej | nej tack | nope nope | nie dziękuję | nie dzięki | nie nie | いいえ | いえ
いいえ結構です | いや | ううん | ノー | 不 | 不是 | 不行 | 不可以 | 不好 | 不用 | 不用谢谢 | 没有 | 否 | 不同意 | 不想 | 不了 | 不是的 | 아니요 | 아니오 | 아뇨 | 아니야 | ㄴㄴ | ㄴ | 아니 괜찮아 | لا شكرا | كلا
لأ | नहीं | नही | ना | जी नहीं | नहीं धन्यवाद | nahi | nahin | ji nahi | 👎 | ❌ | 🙅
아니 | nan | nan merci
"""

_NO_OR_NOT = """
no | ne | nao | não | non | nie | não obrigado | não obrigada | no gracias | no grazie | non merci | non grazie | no no | não não | non non | لا | нит
inte
"""

_NOT = """
dont | do not | not | never | cant | cannot | wont | didnt | doesnt | isnt | arent | shouldnt | wouldnt | without | nicht | nich | nie mals | niemals
nie wieder | kein | keine | keinen | ohne | nix | nunca | jamás | sin | tampoco | ne | n | pas | jamais | sans | senza | mai | nunca mais | sem | niet
geen | nooit | zonder | nigdy | bez | değil | asla | не | никогда | без | ніколи | aldrig | utan | 别 | 別 | 不要 | 勿 | ないで | しないで | 말고 | 지마 | لم | لن
मत | न
"""

_NEGATIVE = """
not now | not today | not really | not at all | not this time | not for now | not yet thanks | maybe later | maybe another time | another time
some other time | i dont think so | i do not think so | i dont | i wouldnt | id rather not | i d rather not | i would rather not | rather not
better not | please dont | pls dont | please do not | no dont | no way | no need | not necessary thanks | thats not necessary | absolutely not
of course not | certainly not | definitely not | hell no | heck no | i refuse | i decline | decline | declined | reject | rejected | i dont want to
i do not want to | i dont want that to happen | i disagree | no chance | nothing | no im good | no i am good | no im fine | im good thanks
im fine thanks | neither | negative please | not interested | im not interested
lieber nicht | besser nicht | eher nicht | nicht wirklich | nicht jetzt | jetzt nicht | heute nicht | nicht heute | bitte nicht | auf keinen fall
keinesfalls | keineswegs | auf gar keinen fall | nicht nötig | nicht noetig | ist nicht nötig | kein bedarf | nein lieber nicht | ich glaube nicht
ich denke nicht | ich glaub nicht | glaub nicht | eigentlich nicht | natürlich nicht | nein bitte nicht | vielleicht später | später vielleicht
ein andermal | kein interesse | will ich nicht | möchte ich nicht | möchte nicht | will nicht | nicht unbedingt | muss nicht sein | passt nicht
mejor no | ahora no | hoy no | todavía no | aún no | por ahora no | claro que no | por supuesto que no | para nada | en absoluto | no quiero
no lo creo | creo que no | no hace falta | no es necesario | no hace falta gracias | tal vez más tarde | quizás después | de ninguna manera
ni hablar | ni loco | no no hace falta | qué va | nel | negativo | no lo necesito | no importa | no lo hagas por favor
pas maintenant | pas aujourd hui | pas vraiment | pas du tout | pas encore | surtout pas | plutôt pas | je ne pense pas | je pense pas | je crois pas
je ne crois pas | je ne veux pas | je veux pas | bien sûr que non | certainement pas | absolument pas | pas question | hors de question
pas nécessaire | ce n est pas nécessaire | pas la peine | c est pas la peine | peut être plus tard | une autre fois | sans façon | jamais de la vie
mieux vaut pas | non ça va | non pas du tout | vaut mieux pas
meglio di no | meglio non | non ora | non adesso | non oggi | non ancora | non credo | non penso | penso di no | credo di no | certo che no
assolutamente no | per niente | non voglio | non serve grazie | non è necessario | magari più tardi | un altra volta | melhor não | agora não
hoje não | ainda não | claro que não | de jeito nenhum | de maneira nenhuma | nem pensar | não quero | acho que não | não precisa | nao precisa
não é necessário | talvez mais tarde | não não precisa | nada disso
liever niet | beter niet | nu niet | niet nu | vandaag niet | nog niet | niet echt | natuurlijk niet | zeker niet | absoluut niet | helemaal niet
ik denk het niet | ik dacht het niet | ik denk van niet | hoeft niet | niet nodig | dat hoeft niet | misschien later | geen interesse | lepiej nie
nie teraz | nie dzisiaj | jeszcze nie | raczej nie | oczywiście że nie | w żadnym razie | absolutnie nie | nie chcę | nie sądzę | chyba nie
nie trzeba | nie potrzeba | może później | wcale nie | şimdi değil | bugün değil | henüz değil | pek değil | istemiyorum | sanmıyorum | gerek yok
gerekmez | lazım değil | belki sonra | kesinlikle hayır | asla olmaz | olmaz | tabii ki hayır | hiç de değil
не сейчас | не сегодня | пока не надо | не надо | не нужно | лучше не надо | лучше не стоит | не стоит | не хочу | не думаю | думаю нет | пожалуй нет
конечно нет | ни в коем случае | ни за что | вряд ли | может позже | в другой раз | спасибо не надо | не согласен | не важно | не зараз | не треба
не потрібно | звичайно ні | краще ні | inte nu | inte idag | inte riktigt | helst inte | absolut inte | verkligen inte | behövs inte | det behövs inte
nej det behövs inte | kanske senare | det tror jag inte | jag tror inte | いらない | いらないです | いりません | 要らない | 結構です | 遠慮します | だめ | ダメ | だめです | ちがう | 違う
違います | 違いますよ | 今はいい | また今度 | やめておく | やめておきます | 必要ない | 必要ありません | 不要 | 不用了 | 不用了谢谢 | 不需要 | 不必了 | 不必 | 下次吧 | 以后再说 | 现在不行 | 不是现在 | 我不想 | 不對 | 됐어 | 됐어요
됐습니다 | 필요없어 | 필요 없어 | 필요 없어요 | 싫어 | 싫어요 | 안 돼요 | 나중에 할게 | 지금은 아니야 | 아니 됐어 | ليس الآن | لا أريد | لا داعي | لا أعتقد | مش عايز | अभी नहीं | आज नहीं
मुझे नहीं चाहिए | नहीं चाहिए | ज़रूरत नहीं | जरूरत नहीं | बिल्कुल नहीं | abhi nahi | nahi chahiye
leave it | leave that | leave it as it is | leave it as is
"""

ANSWERS: Final[Mapping[Sign, str]] = {
    Sign.NEGATIVE: _NEGATIVE,
    Sign.YES: _YES,
    Sign.OKAY: _OKAY,
    Sign.NO: _NO,
    Sign.NO_OR_NOT: _NO_OR_NOT,
    Sign.SI: "si",
    Sign.THANKS: _THANKS,
    Sign.NOT: _NOT,
}
