"""Phrases that order what runs to stop or to be done otherwise, and those that say to go on."""

# ruff: noqa: RUF001 (the tables are in many scripts)
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ordain.rules.lexicon_signs import Sign

_STOP = """
stop | i want to stop | i want to cancel | i wanna cancel | i wanna stop | i would like to cancel | id like to cancel | i would like to stop
non laisse tomber | non annule | non oublie | non laisse | non arrête | no déjalo | no olvídalo | não deixa | não esquece | ya párale | párale
páralo | páralo ya | brauchst du nicht mehr machen | brauchst du nicht mehr zu machen | musst du nicht mehr machen | cancel my request
cancel my last request | cancel my last message | cancel my previous request | stpo | sotp | stahp | stopp | cancel | cancle | cancell | abort | halt
quit | terminate | kill it | kill that | kill this | cut it out | knock it off
nevermind | never mind | nvm | nvmd | nvrmind | never mind that | forget it | forget that | forget about it | forget about that | forget this
forget everything
fuggedaboutit | forgeddit | forget abt it | drop it | drop that | drop this | scrap it | scrap that | scratch that
scratch it | ditch it | ditch that | ditch this
call it off | call off | let it go | let it be | skip it | skip that | enough | thats enough | that is enough | enough already | stop working
stop running | stop doing | cease | stop there | stop here | stop right there | stop it | stopit | stop that | give up | give it up | you can stop
dont bother | do not bother
dont continue | do not continue | dont do it | dont do that | do not do that | do not do it | dont do this | dont go on | do not proceed
dont proceed | dont do anything | stop everything
undo that | revert that | dont need to continue | no need to continue | no need to go on | no need anymore | abandon | abandon it | pull the plug
kill the job | kill the task | desist | stand down
hör auf | hört auf | hör auf damit | aufhören | abbrechen | abbruch | stoppen | stoppe | halt stopp | stop mal | brich ab | breche ab | brech ab
lass es | lass das | lass gut sein
lass es gut sein | lass mal | lass stecken | lass es sein | lass das sein | lass sein | lasses | vergiss es | vergiss das | vergisses
vergiss das ganze | schon gut vergiss es | storniere | stornieren | beenden
beende | beende das | beende es | schluss | schluss damit | schluss jetzt | das reicht | reicht | es reicht | genug | kannst aufhören
du kannst aufhören | mach nicht weiter | nicht weitermachen
nicht weiter machen | nicht mehr nötig | nicht mehr noetig | hat sich erledigt | erledigt sich | das hat sich erledigt | schmeiß hin
brauchst nicht mehr | brauchst du nicht mehr | spar dir das | spars dir | halt an | anhalten | cancele | canceln | canceln wir | hau ab damit
verwirf das
detente | deténgase | detén | detenlo | detén eso | detener | para | párate | para ya | para ahora | pará | frena | alto | basta | basta ya | cancela
cancélalo | cancelalo | cancelala | cancelar | cancelá | anula | anúlalo | anular
olvídalo | olvidalo | olvidala | olvídate | olvídate de eso | olvidate de eso | olvida eso | olvida todo | olvídelo | déjalo | dejalo | déjalo ya
déjalo así | deja eso | déjelo | dejá | dejalo estar | aborta | abortar | no sigas | no continúes | no siga | no lo hagas | no hagas nada
ya no hace falta | ya no es necesario | deja de buscar | para de buscar | deja de hacer eso | ya basta | suficiente | termina ya | corta ya
arrête | arretes | arrête toi | arrêtez | arrêter | arrete ça | arrête tout | stoppez | stoppe tout | annule | annulez | annuler | annule ça
annule tout | laisse tomber | laissez tomber | laisse béton | oublie | oublie ça | oublie tout | oubliez | oubliez ça | oublie cette histoire
ça suffit | suffit | abandonne | abandonnez | laisse | laisse ça | interromps | plus besoin | plus la peine | c est plus la peine | ne continue pas
continue pas | ne fais pas ça | fais pas ça | ne fais rien | c est bon arrête
fermati | ferma | fermo | ferma tutto | fermatevi | smettila | smetti | smettere | annulla | annullare | annullalo | annulla tutto | interrompi
interrompere | lascia perdere | lascia stare | lasciamo perdere | lascia | dimenticalo | dimentica | dimenticatelo | non importa | fa niente
fa nulla | basta così | basta cosi | non serve più | non continuare | non farlo | alt
pare | parar | pára | pare com isso | para com isso | cancela isso | deixa | deixa pra lá | deixa para lá | deixa quieto | deixa disso | deixe
deixa isso | deixe para lá | deixe pra lá | esquece | esqueça | esquece isso | esqueça isso | esquece lá isso | chega | interrompe | interrompa
não precisa mais | não é mais preciso | já não é preciso | não continue | nao continues | não faça isso | desiste
stop maar | stop daarmee | stop ermee | hou op | houd op | hou ermee op | ophouden | annuleer | annuleren | annuleer maar | laat maar
laat maar zitten | laat zitten | laat het | vergeet het | vergeet dat | vergeet het maar | kap ermee | kappen | kappen nu | genoeg | zo is het genoeg
afbreken | breek af | niet meer nodig | hoeft niet meer | hoeft al niet meer | ga niet verder | beëindig
zatrzymaj | zatrzymaj się | zatrzymaj to | przestań | przestan | przerwij | przerwij to | anuluj | anuluj to | anulować | stój | zostaw | zostaw to
daj spokój | daj sobie spokój | zapomnij | zapomnij o tym | nieważne | dość | dosyć | wystarczy | odwołaj | odwołaj to | nie rób tego | już nie trzeba
nie trzeba już | koniec | skończ | skończ już | nie kontynuuj
dur | durdur | dur artık | durun | kes | kes şunu | iptal | iptal et | iptal edin | iptal et onu | vazgeç | vazgeçtim | vazgectim | boşver | bosver
boş ver | boşver gitsin | bırak | birak | bırak onu | unut gitsin | unut | unut bunu | yeter | yapma | devam etme | gerek kalmadı | gerek yok artık
aramayı bırak | aramayi durdur | sonlandır
стоп | стой | остановись | остановите | останови | остановить | хватит | прекрати | прекратите | перестань | перестаньте | отмена | отмени | отмените
отменить | отменяй | отбой | забудь | забудь об этом | забей | проехали | уже не надо | больше не надо | уже не нужно | не продолжай | достаточно
брось | оставь | прерви | не делай этого
зупинись | зупини | зупиніть | зупинити | стій | досить | припини | припиніть | скасуй | скасувати | скасуйте | відміна | відміни | забудь про це
облиш | вже не треба | більше не треба
stoppa | stanna | sluta | sluta med det | avbryt | avbryt det | avboka | glöm det | strunt i det | strunta i det | skit i det | skippa det | lägg av
det räcker | nog | behövs inte längre | avsluta | lägg ner | ångra det | låt bli | låt det vara
やめて | やめろ | やめ | やめよう | 止めて | 止めろ | 止まって | とめて | とまって | ストップ | 中止 | 中止して | 停止 | 停止して | 中断 | 中断して | キャンセル | キャンセルして | キャンセルで | 取り消して | 取消 | 取り消し | もういい
もういいよ | もういいです | やっぱいい | やっぱりいい | やっぱりいいや | やっぱりいいです | 忘れて | もうやめて | 待ってやめて | やめてください | 止めてください | 終了して | なしで
停 | 停下 | 停下来 | 停一下 | 打住 | 别做了 | 别弄了 | 别找了 | 别查了 | 别搜了 | 别搞了 | 别继续了 | 不要继续 | 不用继续了 | 取消吧 | 取消掉 | 终止 | 算了 | 算了吧 | 不用做了 | 不用找了 | 不用查了 | 不要了 | 不需要了 | 够了
忘了吧 | 别管了 | 停吧 | 放弃 | 放弃吧 | 住手 | 別做了 | 別找了 | 不用繼續了 | 夠了
그만 | 그만해 | 그만해줘 | 그만하세요 | 그만해 주세요 | 그만둬 | 그만 둬 | 멈춰 | 멈춰줘 | 멈춰 주세요 | 중지 | 중지해 | 중지해줘 | 중단 | 중단해 | 중단해줘 | 취소 | 취소해 | 취소해줘 | 취소해 주세요 | 취소할게 | 취소할게요 | 스톱
스탑 | 잊어버려 | 잊어줘 | 하지마 | 하지 마 | 하지마세요 | 관둬 | 정지 | 안 해도 돼
توقف | قف | أوقف | أوقفه | اوقف | أوقف ذلك | ألغ | ألغي | الغي | إلغاء | الغاء | ألغه | الغيه | ألغِ | كفى | يكفي | خلاص | انس | انسى | انسى الأمر
انس الأمر | لا تكمل | لا تتابع | دعك من هذا | بطل | خلص
रुको | रुक जाओ | रुकिए | रुकें | बंद करो | बंद कर दो | बंद करें | बंद कीजिए | रद्द करो | रद्द करें | रद्द कर दो | रद्द | कैंसल करो | कैंसिल करो
कैंसल | रहने दो | रहने दीजिए | छोड़ो | छोड़ दो | जाने दो | भूल जाओ | बस करो | मत करो | अब नहीं चाहिए | band karo | ruko | ruk jao | rehne do | chhodo
cancel karo | bas karo
batal | batalkan | berhenti | hentikan | dừng lại | hủy | ακύρωσε | σταμάτα | stop asap | stai fermo | stop stop | stop please | esc | ctrl c | sigint
🛑 | ⏹ | 🚫
stop generating | stop talking | stop writing | stop typing | stop asking | stop thinking | stop trying | stop calculating | shut up | be quiet
shush | ich will abbrechen | ich möchte abbrechen | quiero cancelar | quiero parar | je veux arrêter | je veux annuler | voglio annullare
quero cancelar | quero parar | mach das nicht | mach es nicht | que pares | que pares ya | hou maar op | hou nu op | houd maar op | не надо больше
bitte lass es
"""

_STOP_OPEN = """
forget | scratch | forget about | ignore | disregard | kill | drop | scrap | ditch | end | leave | stop with | cut | skip | halt all | vergiss
vergesst | brich | brech | breche | hör | hörst du | höre | lass | ignorier | ignoriere | schmeiss
olvida | olvidate de | deja | dejá de | ignora | oublie | laisse | cesse | dimentica | esquece | esqueça | deixa | vergeet | laat | hou | breek
negeer | zapomnij o | zignoruj | glöm | strunta i
забудь про | игнорируй | brich mal | hör bitte | hör mal | hör jetzt | hör sofort | hör doch
"""

_HOLD = """
wait | w8 | wai | hold on | hang on | hold up | hold it | one moment | one sec | one second | just a sec | a sec | sec | wait a sec | wait a second
wait a minute | wait a moment | moment | pause | pause that | freeze | whoa | woah | not yet | wait wait
hold that | stop for a sec | give me a sec | warte | warte mal | wart mal | wartet | moment mal | momentchen | einen moment | eine sekunde | sekunde
augenblick | pausiere | halt mal | pausieren | nicht so schnell
espera | espérate | esperate | espere | un momento | momento | un segundo | un seg | espera un momento | aguanta | pausa | attends | attendez
un instant | une seconde | deux secondes | une minute | minute | mets en pause
aspetta | aspetti | un attimo | attimo | espera aí | pera | peraí | calma | calma aí | wacht | wacht even | wacht eens | even wachten | momentje
ogenblikje | poczekaj | czekaj | zaczekaj | chwila | chwileczkę
bekle | bir dakika | bir saniye | подожди | погоди | подождите | постой | минутку | секунду | зачекай | почекай | vänta | vänta lite | ett ögonblick
待って | ちょっと待って | ちょっとまって | まって | 等等 | 等一下 | 等下 | 稍等 | 慢着 | 잠깐 | 잠깐만 | 잠시만 | 기다려 | 잠깐만요
انتظر | لحظة | استنى | मिनट रुको | एक मिनट | ठहरो | ✋
"""

_NEEDLESS = """
doch nicht | dann doch nicht | lieber doch nicht | i changed my mind | changed my mind | i ve changed my mind | ive changed my mind | i dont need it
i dont need it anymore | i dont need it any more | dont need it | dont need it anymore | i dont need that anymore | i dont need this anymore
i no longer need it | no longer needed | not needed | not needed anymore | not necessary
its not necessary | its not needed | its no longer needed | i dont want it | i dont want it anymore | i dont want that | i dont want this
i dont want this anymore | i dont care | i dont care anymore | i found it | i found it myself | i already found it | found it | found it already
ive found it | i got it | i got it already | got it already | already found it | i already know | i figured it out | figured it out
its too late | too late | its wrong | thats wrong | this is wrong | wrong | thats not what i want | thats not what i meant | not what i want
not what i meant | not what i asked | not what i asked for | thats not what i asked for | its fine | it doesnt matter | doesnt matter
it does not matter | no longer interested | not interested anymore | this is taking too long | its taking too long | taking too long | takes too long
it takes too long | this takes too long | my mistake | my bad | oops | whoops | wrong one | by mistake | i made a mistake | ill do it myself
i ll do it myself | i will do it myself | ill do it | i did it myself | that was a mistake | i dont like it | its too expensive
brauche ich nicht mehr | brauch ich nicht mehr | ich brauche das nicht mehr | ich brauche es nicht mehr | ich brauchs nicht mehr | brauchs nicht mehr
brauchen wir nicht mehr | will ich nicht mehr | ich wills nicht mehr | ich habs mir anders überlegt | habs mir anders überlegt
ich hab es mir anders überlegt | ich habe es mir anders überlegt | hab ich schon | ich habs schon | ich hab es schon | ich habs schon gefunden
habs schon gefunden | habs gefunden | ich habs selbst gefunden | das ist falsch | falsch | das war falsch | mein fehler | nicht mehr wichtig | egal
ist egal | ist mir egal | nicht so wichtig | ist nicht mehr wichtig | ist doch egal | das dauert zu lange | dauert zu lange | dauert mir zu lange
ich mach es selbst | ich machs selbst | mach ich selbst | so war das nicht gemeint | das wollte ich nicht
ya no lo necesito | ya no hace falta nada | ya no quiero | ya no lo quiero | cambié de idea | he cambiado de idea | cambié de opinión
he cambiado de opinión | me equivoqué | me he equivocado | está mal | eso está mal | da igual | ya da igual | ya no importa | ya lo encontré
ya lo tengo | ya lo hice | lo hago yo | no es eso | no era eso | tarda demasiado | tarda mucho | es demasiado tarde
j en ai plus besoin | je n en ai plus besoin | j ai plus besoin | je n ai plus besoin | j ai changé d avis | changé d avis | j ai trouvé
j ai déjà trouvé | c est faux | c est pas ça | ce n est pas ça | c est pas grave | tant pis | peu importe | je me suis trompé | trop tard
c est trop long | ça prend trop de temps | c est plus nécessaire | je m en occupe | je le fais moi même | j en veux plus
ho cambiato idea | non mi serve più | non serve | non ne ho più bisogno | ho sbagliato | è sbagliato | l ho trovato | ci penso io | mudei de ideia
não preciso mais | nao preciso mais | já não preciso | não quero mais | errei | está errado | tá errado | já encontrei | já achei | eu faço
ik heb het niet meer nodig | heb ik niet meer nodig | ik ben van gedachten veranderd | heb het al gevonden | ik heb het al | niet belangrijk
maakt niet uit | het is fout | fout
zmieniłem zdanie | zmieniłam zdanie | już nie potrzebuję | nie potrzebuję | już znalazłem | już mam | to bez znaczenia | pomyłka | fikrimi değiştirdim
artık gerek yok | artık istemiyorum | yanlış | yanlış oldu | buldum | ben hallederim | я передумал | я передумала | передумал | передумала | уже нашел
уже нашла | я уже нашел | это неправильно | неважно | я сам | мне больше не нужно | мені більше не потрібно | передумав | вже знайшов | неважливо
jag har ändrat mig | ändrade mig | behöver det inte längre | har hittat det
もう必要ない | もう必要ありません | 必要なくなった | 必要なくなりました | 気が変わった | 間違えた | 間違い | 自分でやる | 我改主意了 | 改主意了 | 我自己来 | 我找到了 | 找到了 | 错了 | 不对 | 弄错了 | 没事了 | 没必要了 | 마음이 바뀌었어
필요없어졌어 | 찾았어 | 틀렸어 | 잘못됐어 | 내가 할게 | غيرت رأيي | لا أحتاجه | لم أعد أحتاجه | لا يهم | मैंने मन बदल लिया | अब जरूरत नहीं
"""

_KEEP = """
dont stop | do not stop | dont you stop | dont cancel | do not cancel | dont abort | do not abort | dont halt | dont quit | never stop | dont give up
do not give up | dont forget | do not forget | never forget
no need to stop | no need to cancel | no reason to stop
dont need to stop | dont have to stop | you dont have to stop | you dont need to stop | non stop | nonstop | dont pause | dont wait | cant stop
cannot stop | wont stop | didnt stop | doesnt stop | unstoppable
i didnt say stop | dont drop it | dont skip it | never give up
nicht aufhören | nicht stoppen | nicht abbrechen | nicht stornieren | nicht vergessen | vergiss nicht
vergiss bitte nicht | hör nicht auf | hör bitte nicht auf | brich nicht ab | brich das nicht ab | brich bitte nicht ab | bloß nicht aufhören
nicht anhalten | nicht canceln | lass dich nicht aufhalten
no pares | no te detengas | no canceles | no lo canceles | no la canceles | no lo pares | no lo detengas | no cancele | no te pares | no olvides
no te olvides | no hace falta parar | no hace falta que pares
no dejes de | no abortes
n arrête pas | n arretes pas | arrête pas | t arrête pas | ne t arrête pas | ne t arretes pas | n arrêtez pas | ne vous arrêtez pas | n annule pas
annule pas | n annulez pas | ne l annule pas | n oublie pas | oublie pas | n oubliez pas | n abandonne pas | ne laisse pas tomber | laisse pas tomber
ne stoppe pas
non fermarti | non ti fermare | non smettere | non annullare | non annullarlo | non cancellare | non dimenticare | non interrompere
não pare | não para | não pares | não cancele | não cancela | não canceles | não interrompa | não esqueça | não esquece
não te esqueças | não desista
stop niet | niet stoppen | niet annuleren | annuleer niet | annuleer het niet | hou niet op | vergeet niet
niet ophouden | nie przestawaj | nie zatrzymuj | nie zatrzymuj się | nie anuluj | nie przerywaj | nie zapomnij | durma
iptal etme | vazgeçme | unutma | bırakma | durdurma
не останавливайся | не останавливай | не останавливайтесь | не отменяй | не отменяйте | не прекращай | не забудь | не переставай
не зупиняйся | не скасовуй | sluta inte | stoppa inte | avbryt inte | avboka inte | glöm inte | やめないで
止めないで | とめないで | 止まらないで | キャンセルしないで | 中止しないで | 忘れないで | 别停 | 不要停 | 别停下 | 不要停下 | 别停下来 | 不要停下来 | 不要停止 | 别取消 | 不要取消 | 别放弃 | 不要放弃
别忘了 | 不要忘 | 別停 | 別取消
멈추지 마 | 멈추지마 | 그만두지 마 | 그만두지마 | 취소하지 마 | 취소하지마 | 중단하지 마 | 잊지 마 | لا تتوقف | لا توقف | لا تلغ | لا تلغي | لا تلغه | لا تنس
मत रुको | रुको मत | रद्द मत करो | बंद मत करो | कैंसल मत करो | मत भूलना
no para | no pare | no cancela | no anula | no aborta | no termina | no frena | non annulla | non ferma | non interrompe | non cancella
"""

_GO_ON = """
keep going | keep on going | keep it going | keep it up | keep on | carry on | go on | continue | proceed | keep working | keep searching
keep looking | keep trying | let it run | mach weiter | macht weiter | weiter | weiter so | weitermachen | nur weiter | mach ruhig weiter
fahr fort | sigue | sigue así | sigue adelante | continúa | continua | adelante sigue | continue comme ça | continuez | vas y continue
continua così | vai avanti | prosegui | continue assim | segue em frente | pode continuar | ga door | ga verder | ga maar door | kontynuuj | dalej
devam et | devam | продолжай | продолжайте | дальше | продовжуй | fortsätt | 続けて | 続けてください | そのまま続けて | 继续 | 请继续 | 接着 | 繼續 | 계속 | 계속해 | 계속해줘 | استمر
كمل | تابع | जारी रखो | जारी रखें
"""

_CHANGE = """
make it | make that | change it to | change that to | change this to | change to | change it into | change it for
switch it to | switch to | switch that to | swap it for | swap to | swap that for | replace it with | replace that with | replace it by | turn it into
turn that into | lets make it | lets do it in | lets switch to | lets change it to | change the destination to | change the language to
change the city to | change the date to | update it to | set it to | adjust it to | do this instead | do that instead | do it instead
lets change to | change of plan | change of plans | change plans
change it so | change it so that | modify it to | modify it so | redo it with | redo it in | redo it for | do it over | start over with | redo it
do it again but | do it again with | start over | start again
mach daraus | mach draus | mach das zu | mach es zu | ändere das zu | ändere das in | ändere das auf | ändere es zu | ändere es in | ändere es auf
änder das auf | änder das zu | änder das in | änder es auf | änder es in | wechsle zu | wechsel zu | wechsle auf | wechsel auf | ersetze das durch
tausch das gegen | stell um auf | stell das um auf | doch lieber | dann lieber | dann doch lieber | doch besser | planänderung | fang nochmal an
fang neu an | von vorne | änderung
cámbialo a | cambialo a | cámbialo por | cambialo por | cámbialo para | cámbialo | cámbiala a | cambia eso a | cambia eso por | cambia a | cambia al
cámbiate a | que sea | que sean | ponlo en | ponlo para | mejor hazlo | mejor haz | mejor que sea | cambio de planes | cambio de plan | hazlo mejor
reemplázalo por | empieza de nuevo
change ça | change ça en | change ça pour | change le en | change en | change pour | change le pour | remplace ça par | remplace le par | remplace par
mets plutôt | fais plutôt | prends plutôt | passe à | passe plutôt à | passe en | changement de plan | changement de programme | recommence
cambialo in | cambialo con | cambia in | cambialo | fallo diventare | passa a | sostituiscilo con | cambio di programma | cambio di piani
meglio farlo | facciamo che sia | ricomincia | muda para | mude para | mudar para | muda isso para | mude isso para | troca para | troca por
troque por | troque para | troque isso por | altera para | altere para | faz antes | faça antes | mudança de planos | começa de novo
maak er | maak daar | maak het | verander het in | verander dat in | verander het naar | verander dat naar | verander naar | wissel naar
doe toch maar | doe maar liever | doe dan maar | toch liever | toch maar | verandering van plannen | begin opnieuw | zmień to na | zmień na
zamień na | zamień to na | niech będzie | niech to będzie | zrób z tego | zmiana planów | zacznij od nowa
değiştir onu | şununla değiştir | olarak değiştir | plan değişti | измени на | измени это на | поменяй на | поменяй это на | смени на | замени на
замени это на | пусть будет | сделай лучше | лучше сделай | планы изменились | переделай | давай лучше | начни сначала | зміни на | заміни на
поміняй на | нехай буде | хай буде | краще зроби | давай краще
ändra till | ändra det till | byt till | byt det till | gör det istället | gör om det till | gör om | 改成 | 改为 | 改為 | 换成 | 換成 | 改用 | 换到 | 改到 | 改去 | 还是用
变成 | 重新来 | 换一个 | ではなくて | غيره إلى | غيرها إلى | بدله ب | غير إلى | اجعله | اجعلها | خليه | खुद बदलकर | इसे बदलकर | बदल कर
"""

_CHANGED = """
にして | にしてください | に変えて | に変えてください | に変更して | に変更 | に変更してください | じゃなくて | じゃなく | ではなく | でなく | のほうがいい | の方がいい | にかえて | でお願い
로 바꿔 | 로 바꿔줘 | 로 변경 | 로 변경해 | 로 변경해줘 | 로 바꿔 주세요 | 로 해줘 | 으로 해줘 | 말고 | 가 아니라 | 이 아니라 | 로 해 주세요 | olarak değiştir | yap onu | olsun | yap bunu
कर दो इसे | में बदलो | में बदल दो | की जगह
"""

_USE = """
use | take | try | go with | lets go with | lets use | lets try | lets take | lets do | lets go for | we use | pick | choose | put | do | do it
do that | do this | do it with | do it in | do them | go | include | only | just use | just do | keep | switch | focus on | change the | ändere das
ändere es | änder das | limit it to | set | i want it | i want it in | i need it | i need it in | i need it for | it should be | it should
it must be | it has to be | it needs to be
nimm | nehm | nehmt | nehmen wir | nehme | versuch | versuche | versuchs mit | versuch es mit | probier | probiere | verwende | benutz | benutze
nutze | mach | mache | machs | mach es | mach das | machen wir | setz | wähle | wähl | geh | ich will | ich will es | ich möchte | ich brauche
es soll | nur
usa | usá | utiliza | prueba con | prueba | toma | elige | escoge | pon | ponlo | haz | hazlo | hagámoslo | vamos con | vamos a
utilise | utilisez | prends | prenez | essaie | essaye | mets | mettez | choisis | fais | fais le | faites | faisons | vas | on prend
prova | prova con | prendi | metti | scegli | fai | fallo | facciamo | andiamo con | usa o | usa a | use o | use a | tenta | tente | experimenta
pega | escolhe | escolha | faz | faça | faz isso | faça isso | vamos com | põe | coloca
gebruik | neem | probeer | doe | doe het | doe maar | kies | zet | użyj | weź | spróbuj | wybierz | zrób | zrób to | kullan | dene | seç | yap
используй | возьми | попробуй | выбери | сделай | давай | бери | візьми | використай | спробуй | обери | зроби
använd | försök | gör | gör det | välj | 使って | 使用 | 用 | 试试 | 選んで | 选 | استخدم | جرب | اختر | इस्तेमाल करो | लो
make this | make them | go for
"""

_INSTEAD = """
instead | instead pls | instead please | insted | instaed | intead | in its place | stattdessen | statt dessen | stattdesen | anstatt dessen
dafür lieber | en su lugar | en lugar de eso | en vez de eso | en cambio | en lugar de esto | en vez de esto | en vez de ello | en su vez | à la place
a la place | au lieu de ça | au lieu de cela | à la place de ça | invece | al suo posto | al posto suo | invece di questo | invece di quello
em vez disso | ao invés disso | no lugar disso | em vez disto | no lugar | in plaats daarvan | ipv dat | in de plaats daarvan | zamiast tego
w zamian | onun yerine | bunun yerine | yerine bunu | вместо этого | взамен | вместо того | замість цього | натомість | istället | i stället | 代わりに
かわりに | その代わり | 代わりで | 而是 | 대신 | 대신에 | 그 대신 | بدلا من ذلك | بدلا منه | بدل ذلك | عوضا عن ذلك | इसके बजाय | उसके बजाय | की बजाय यह | badle | uske badle
"""

_INSTEAD_OF = """
instead of | insted of | in place of | rather than | anstatt | statt | anstelle von | anstatt von | en vez de | en vez del | en lugar de
en lugar del | en lugar | au lieu de | au lieu du | au lieu d | à la place de | à la place du | plutôt que | plutôt qu | plutôt que de | invece di
invece che | al posto di | al posto della | invece del | anziché | em vez de | em vez do | em vez da | ao invés de | ao invés do | no lugar de
no lugar do | in plaats van | ipv | zamiast | yerine | вместо | замість | istället för | i stället för | ではなく | 而不是 | 대신에요 | بدلا من | بدل | عوضا عن
के बजाय | की बजाय | ke bajay
"""

_RATHER = """
id rather | i d rather | i would rather | id rather have | i would rather have | rather not that but | id prefer it | better make it
better do | better use | better to use | id much rather
lieber | ich hätte lieber | ich möchte lieber | ich will lieber | ich würde lieber | nein lieber | ne lieber | dann bitte lieber | besser doch
vielmehr | aber lieber | hätte lieber | hätt lieber | möchte lieber | will lieber
más bien | mas bien | preferiría que sea | plutôt | plutot | plûtot | plus tôt que | finalement | finalement plutôt | tout compte fait
je préfère plutôt | je voudrais plutôt | piuttosto | preferirei | preferisco invece | de preferência | preferia | liever | ik wil liever
ik heb liever | doe liever | raczej | jednak | wolałbym | wolałabym | wolę | a jednak | daha doğrusu | лучше | а лучше | нет лучше | точнее
краще | ні краще | точніше | hellre | hellre då | やっぱり | やっぱ | やはり | むしろ | 还是 | 還是 | 차라리 | 역시 | بالأحرى | بل
"""

_RATHER_ADJ = """
mejor | melhor | better | besser | meglio | beter | lepiej | bättre | daha iyi
rather | скорее
"""

_ACTUALLY = """
actually | acutally | actualy | actully | on second thought | on second thoughts | come to think of it | in fact | sorry | oh sorry | ah sorry
oops sorry | apologies | pardon | correction | small change | slight change | eigentlich | tatsächlich | sorry doch | doch | korrektur
entschuldigung | entschuldige | en realidad | de hecho | pensándolo bien | perdón | perdona | corrección | en fait | enfait | au fait
finalement non | désolé | désolée | in realtà | anzi | a dire il vero | scusa | pensandoci bene | na verdade | aliás | pensando bem | desculpa
desculpe | eigenlijk | bij nader inzien | właściwie | w sumie | tak właściwie | przepraszam | aslında | на самом деле | вообще-то | вообще то | хотя
хотя нет | извини | извините | насправді | взагалі то | вибач | egentligen | förresten | förlåt | 实际上 | 其实 | 其實 | 抱歉 | 사실 | 아니다 | 미안 | ごめん | すみません
في الحقيقة | آسف | असल में | दरअसल
i mean | ich meine | o sea | то есть | je veux dire | digo | quero dizer | ik bedoel | jag menar
"""

_MEANT = """
i meant
i ment | i actually meant | what i meant was | what i meant is | sorry i meant | i meant to say | i meant to write | meant
i wanted to say | make that a | ich meinte | meinte | ich meinte eigentlich | gemeint war | gemeint ist | ich wollte sagen
ich wollte schreiben | soll heißen | quise decir | quería decir | me refería a | me refiero a | je voulais dire
je parlais de | j voulais dire | intendevo | volevo dire | intendevo dire | quis dizer | queria dizer | eu quis dizer | ik bedoelde
bedoelde | ik wou zeggen | miałem na myśli | miałam na myśli | chodziło mi o | chodzi mi o | demek istedim | demek istediğim
я имел в виду | я имела в виду | имел в виду | я хотел сказать | я мав на увазі | я мала на увазі | jag menade | menade | 我是说
我的意思是 | 我指的是 | 我是說 | 내 말은 | قصدت | أقصد | كنت أقصد | मेरा मतलब | मतलब
no i said | nope i said | no i asked for | i asked for | i said not | nein ich sagte | nein ich habe gesagt | nein ich hab gesagt | no dije
no he dicho | non j ai dit | no ho detto
"""

_NOT_BUT = "sondern | sino | sino que | bensì | 而是 | 而是要"

_BUT = """
but | but not | aber | pero | mais | maar | ale | ama | а | men | mas | ma | unless | except | except for | only if | yes if | sure if | ok if | okay if
außer | ausser | es sei denn | nur wenn | nur falls | ja wenn | ja falls | ok wenn | sauf | sauf si | à moins | seulement si | oui si | excepto
salvo | a menos que | solo si | sólo si | sí si | tranne | a meno che | solo se | sì se | exceto | a não ser | só se | sim se | behalve | tenzij
alleen als | ja als | chyba że | oprócz | tylko jeśli | tylko jeżeli | tak jeśli | кроме | только если | да если | крім | тільки якщо | utom
bara om | ja om
"""

_ALSO = """
also | too | as well | additionally | and also | plus | in addition | besides | next | then also | another | one more | one more thing | after that
afterwards | when youre done | when you re done | when ur done | once youre done | when that is done | when thats done | when you are done
when finished | later | auch | auch noch | noch | außerdem | zusätzlich | danach | anschließend | dazu | und dann | wenn du fertig bist | nebenbei
también | además | tambien | después | y luego | cuando termines | de paso | aussi | en plus | également | ensuite | après | quand tu auras fini
quand tu as fini | anche | inoltre | poi | dopo | também | além disso | depois | ook | ook nog | daarna | verder ook | też | także | również | potem
ayrıca | bir de | da ayrıca | sonra | также | тоже | еще | ещё | потом | а еще | також | теж | ще | потім | också | även | dessutom | sen | sedan
もまた | それから | ついでに | あとで | 也 | 还要 | 另外 | 顺便 | 然后 | 그리고 | 또 | 도 | 나중에 | أيضا | كمان | ايضا | بعد ذلك | भी | और
"""

ORDERS: Final[Mapping[Sign, str]] = {
    Sign.KEEP: _KEEP,
    Sign.GO_ON: _GO_ON,
    Sign.NEEDLESS: _NEEDLESS,
    Sign.CHANGE: _CHANGE,
    Sign.CHANGED: _CHANGED,
    Sign.INSTEAD: _INSTEAD,
    Sign.INSTEAD_OF: _INSTEAD_OF,
    Sign.MEANT: _MEANT,
    Sign.RATHER: _RATHER,
    Sign.RATHER_ADJ: _RATHER_ADJ,
    Sign.STOP: _STOP,
    Sign.STOP_OPEN: _STOP_OPEN,
    Sign.HOLD: _HOLD,
    Sign.ACTUALLY: _ACTUALLY,
    Sign.USE: _USE,
    Sign.NOT_BUT: _NOT_BUT,
    Sign.BUT: _BUT,
    Sign.ALSO: _ALSO,
}
