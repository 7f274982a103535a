"""Phrases of talk about the work: questions after progress or failure."""

# ruff: noqa: RUF001 (the tables are in many scripts)
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ordain.rules.lexicon_signs import Sign

_NUDGE = """
any luck | any luck yet | any word | any word yet | how are we doing on time | taking a while | no luck yet | any news | any news yet | any update
any updates | any update yet | updates | update | update me | update pls | status | status update | stats | wats the status | whats the status
what is the status | whats our status | status report | give me a status | give me an update | give me a status update | can i get an update
can i have an update | can i get a status update | can we get an update | may i have an update | could i get an update | need an update
got an update | got any update | got any updates | have an update | progress | progress report | any progress | any progress yet | how far
how far along | how far are you | how far r u | how far along are you | how far have you gotten | how far did you get | how far have you got
how far are we | how much longer | how much more time | how long | how long will it take | how long will this take | how long will that take
how long does it take | how long does this take | how long is it going to take | how long is this going to take | how long still | how long to go
how many minutes | how many more | how close are you | how close | how is it going | hows it going | how it going | howz it going | how goes it
hows it goin | how is that going | hows that going | hows this going | how is this going | how are you doing | how r u doing | how are you getting on
how are we doing | hows it looking | how is it looking | hows that looking | hows it coming | hows it coming along | how is it coming
how is it coming along | hows that coming along | hows that coming | hows everything going | hows everything | hows things | how are things
how are things going | how are things coming along | hows progress | hows the progress | where are we | where are we at | where are we on this
where are we with that | where are we with this | where are we on that | where are you at | where r u at | where do we stand | where do things stand
where does it stand | what stage are you at | what are you doing | what r u doing | wyd | what are you doing right now | what are you up to
what are you working on | what are you waiting for | what is taking so long | whats taking so long | whats taking you so long | what takes so long
why is it taking so long | why is this taking so long | why so long | why so slow | why are you so slow | whats the hold up | whats the holdup
what is the hold up | whats the delay | why the delay | eta | whats the eta | any eta | got an eta | are you done | are you done yet | r u done
r u done yet | u done | u done yet | you done | you done yet | done yet | finished yet | ready yet | is it ready | is it ready yet | is it done
is it done yet | is that done | is that done yet | is it finished | is it working | is this working | is it still running | is it running
are we there yet | are you close | are you still there | r u still there | u still there | you still there | you there | u there | are you there
r u there | still there | anybody there | anyone there | anybody home | anyone home | are you alive | you alive | still alive | are you stuck
you stuck | did you get stuck | is it stuck | are you sleeping | did you fall asleep | you asleep | still working | still working on it | still on it
still at it | still running | still going | still searching | still looking | are you still working | are you still working on it
are you still working on that | are you still on it | r u still working on it | you still working on it | are you working on it | are you on it
r u working on it | still nothing | nothing yet | anything yet | got anything | got anything yet | got something | found anything | found anything yet
find anything yet | did you find anything | did you find something | did you find it | have you found anything | have you found it
have you found something | have you got anything | did you finish | did you finish it | have you finished | did you get it | did you get anywhere
getting anywhere | are you getting anywhere | making progress | are you making progress | any results | any results yet | results yet | any answer
any answer yet | any result | any result yet | any sign of it | any joy | any findings | whats happening | what is happening | whats going on
what is going on | wats going on | whats up with that | whats up with it | whats the latest | what is the latest | whats the word
when will it be done | when will it be ready | when will you be done | when will that be ready | when will you be ready | when will you be finished
when will you finish | when is it done | when is it ready | when will that be done | when do i get it | when do i get the result
when can i expect it | when can i expect a result | when can i expect results | when can i expect an answer | will it take long | will this take long
does it take long | is this going to take long | take your time much | hurry | hurry up | chop chop | come on hurry | faster | go faster | tick tock
im waiting | i am waiting | still waiting | im still waiting | i am still waiting | been waiting | have you started | did you start
have you started yet | did you forget me | did you forget | forgot about me | have you forgotten me | still with me | you with me
wie weit | wie weit bist du | geht da noch was | geht noch was | wie weit bisch | wie weit seid ihr | wie weit bist du schon | wie weit bist du damit
wie weit ist es | wie weit ist das | wie weit sind wir | wie weit biste | wie weit bist | wie läuft es | wie läufts | wie läuft das | wie läuft
wies läuft | wie gehts voran | wie geht es voran | gehts voran | geht es voran | gehts vorwärts | geht es vorwärts | geht es weiter | gehts weiter
gehts noch weiter | wie kommst du voran | wie kommst du vorwärts | kommst du voran | kommst du weiter | wie sieht es aus | wie siehts aus
und wie siehts aus | wie schauts aus | wie schaut es aus | wie stehts | wie steht es | wie steht es darum | wie ist der stand | wie is der stand
was ist der stand | stand der dinge | wie ist der stand der dinge | wie ist der aktuelle stand | aktueller stand | zwischenstand | der stand
was macht | bist du fertig | biste fertig | bist du bald fertig | bist du schon fertig | biste schon fertig | bist du endlich fertig | bist du soweit
bist du so weit | seid ihr fertig | schon fertig | ist es fertig | ist es schon fertig | ist das fertig | ist das schon fertig | ists fertig
wird das noch was | wird das noch | wirds noch | wirds bald | wird das heute noch was | kommt da noch was | kommt noch was | wann bist du fertig
wann bist du soweit | wann ist es fertig | wann ist das fertig | wann wirst du fertig | wann hast du es | wie lange | wie lange noch | wie lang noch
wie lange dauert es | wie lange dauert das | wie lange dauert das noch | wie lange dauert es noch | wie lang dauert das noch | wie lange brauchst du
wie lange brauchst du noch | wie lang brauchst du noch | wie lange brauchst | dauerts noch | dauert es noch | dauert das noch | dauert das noch lange
dauerts noch lang | dauert es noch lange | warum dauert das so lange | warum dauert es so lange | wieso dauert das so lange | wieso dauert das so lang
warum dauert das so lang | was dauert so lange | was dauert da so lange | was dauert denn da so lange | schon was gefunden | schon was
schon etwas gefunden | schon etwas | hast du was gefunden | hast du schon was | hast du schon was gefunden | hast schon was gefunden
haste was gefunden | haste schon was | haste schon was gefunden | hast du etwas gefunden | hast du schon etwas gefunden | was gefunden
etwas gefunden | was rausgefunden | schon was rausgefunden | hast du schon was rausgefunden | hast du schon angefangen | gibts was neues
gibt es was neues | gibt es etwas neues | gibt es schon was neues | was neues | gibts schon was neues | gibts neuigkeiten | gibt es neuigkeiten
gibt es schon neuigkeiten | gibts schon was | gibt es schon ergebnisse | schon ergebnisse | irgendwas neues | irgendwelche fortschritte | fortschritte
schon erfolg | bist du noch da | bist noch da | noch da | biste noch da | arbeitest du noch | arbeitest du noch daran | arbeitest du dran
bist du dran | bist du noch dran | noch dran | was machst du | was machst du gerade | was machst du grad | was treibst du | woran arbeitest du
woran hängts | woran liegts dass es so lange dauert | hängst du | hängst du fest | hast du es | hast dus | hast du es schon | beeil dich | schneller
mach schneller | gib gas | ich warte | ich warte noch | ich warte immer noch | lebst du noch | eingeschlafen | bist du eingeschlafen
ya está | ya esta | ya está listo | ya esta listo | ya estás | ya terminaste | ya acabaste | ya lo tienes | ya lo tenés | has terminado
ya has terminado | terminaste | acabaste | has acabado | está listo | estás listo | estas listo | ya estas listo | ya quedó | cómo va | como va
en qué va | y bien | cómo vas | como vas | cómo va eso | como va eso | cómo va todo | cómo va la cosa | como va la cosa | qué tal va | que tal va
qué tal vas | que tal vas | cómo lo llevas | cómo te va | cómo vamos | como vamos | cómo andas | por dónde vas | por donde vas | en qué vas
en que vas | en qué estás | qué haces | qué estás haciendo | en qué punto estás | cómo está la cosa | cuánto falta | cuanto falta | cuánto te falta
cuanto te falta | te falta mucho | falta mucho | te queda mucho | queda mucho | cuánto queda | cuanto queda | cuánto te queda | cuánto tardas
cuanto tardas | cuánto vas a tardar | cuánto más | cuánto tiempo más | cuanto tiempo falta | tardas mucho | vas a tardar mucho | por qué tardas tanto
por que tarda tanto | por qué tarda tanto | alguna novedad | alguna noticia | hay novedades | hay noticias | hay algo | algún avance | algun avance
hay avances | has encontrado algo | encontraste algo | ya encontraste algo | has encontrado algo ya | tienes algo | ya tienes algo | tenés algo
algún resultado | algo nuevo | hay suerte | hubo suerte | tuviste suerte | alguna suerte | sigues ahí | sigues ahi | seguís ahí | estás ahí
estas ahi | sigues trabajando | sigues en ello | sigues con eso | sigues buscando | todavía nada | aún nada | nada todavía | nada aún | nada aun
el estado | cuál es el estado | en qué estado está | cuándo estará | cuando estara listo | cuándo estará listo | cuándo terminas | cuando terminas
date prisa | apúrate | apurate | estoy esperando | sigo esperando | qué pasa | que pasa
alors | ça avance | ca avance | comment ça avance | comment ca avance | ça avance comment | tu avances | où en es tu | ou en es tu | où t en es
t en es où | t en es ou | tu en es où | tu en es ou | où en êtes vous | vous en êtes où | où on en est | on en est où | on en est ou | où en est on
où ça en est | ça en est où | c est bientôt prêt | c est bientot pret | c est bientôt fini | est ce que c est prêt | est ce que c est fini
tu as fini | t as fini | as tu fini | t as terminé | tu as terminé | as tu terminé | vous avez fini | avez vous fini | avez vous terminé
t as bientôt fini | tu as bientôt fini | du nouveau | y a du nouveau | il y a du nouveau | quoi de neuf | des nouvelles | t as des nouvelles
tu as des nouvelles | tu as trouvé | t as trouvé | as tu trouvé | avez vous trouvé | tu as trouvé quelque chose | t as trouvé quelque chose
t as trouvé qqch | t as trouvé un truc | as tu trouvé quelque chose | tu trouves | tu trouves quelque chose | combien de temps
encore combien de temps | combien de temps encore | il reste combien de temps | il te faut combien de temps | ça prend combien de temps
ça va prendre combien de temps | t en as pour longtemps | tu en as pour longtemps | c est encore long | c est long | encore long
pourquoi c est si long | pourquoi ça prend autant de temps | pourquoi ça prend si longtemps | pourquoi c est aussi long | toujours là
t es toujours là | tu es toujours là | tu es là | t es là | es tu là | vous êtes là | toujours rien | rien encore | comment ça se passe
comment ça va | ça donne quoi | qu est ce que ça donne | ça dit quoi | tu bosses | tu travailles dessus | tu travailles toujours | tu bosses dessus
tu fais quoi | qu est ce que tu fais | le statut | quel est le statut | des résultats | un résultat | des progrès | où en sommes nous | dépêche toi
plus vite | j attends | j attends toujours | et alors | quand est ce que ce sera prêt | c est pour quand
come va | come procede | come sta andando | a che punto sei | a che punto siamo | a che punto | hai finito | hai già finito | già finito | è pronto
è già pronto | sei pronto | ci sono novità | qualche novità | hai trovato qualcosa | trovato qualcosa | trovato niente | quanto manca | manca molto
manca tanto | quanto ci vuole | quanto ci vuole ancora | quanto tempo ci vuole | quanto tempo | ci sei | sei ancora lì | ci sei ancora | sei lì
ancora niente | ancora nulla | qual è lo stato | ci stai lavorando | stai lavorando | stai ancora lavorando | stai ancora cercando | che stai facendo
cosa stai facendo | progressi | perché ci metti tanto | sto aspettando | sbrigati
como está indo | como esta indo | como vai | como vai isso | como tá indo | como ta indo | como anda | como está | como estamos | já acabou
ja acabou | já acabaste | já terminou | ja terminou | já terminaste | já está pronto | ta pronto | tá pronto | está pronto | já tá pronto
falta muito | ainda falta muito | quanto falta | quanto tempo falta | vai demorar | vai demorar muito | demora muito | ainda demora | por que a demora
por que está demorando | por que demora tanto | alguma novidade | tem novidade | tem novidades | e aí | e ai | achou algo | achou alguma coisa
encontrou algo | já encontrou | encontrou alguma coisa | encontraste alguma coisa | já encontraste algo | conseguiste | já conseguiu | algum progresso
algum resultado | ainda está aí | ainda tá aí | você está aí | tá aí | estás aí | ainda nada | nada ainda | o que está fazendo | em que pé está
em que ponto estás | estou esperando | estou à espera
hoe gaat het | hoe gaat het ermee | hoe gaat t | hoe gaat ie | hoe ver ben je | hoe ver zijn we | hoe ver ben je al | hoever ben je | hoe ver
hoe staat het ermee | hoe staat het | ben je klaar | ben je al klaar | ben je bijna klaar | al klaar | is het klaar | is het al klaar
is het bijna klaar | hoe lang nog | hoelang nog | hoe lang duurt het nog | hoe lang duurt het | hoelang duurt het nog | duurt het nog lang
waarom duurt het zo lang | al iets gevonden | iets gevonden | heb je al iets gevonden | heb je iets gevonden | heb je al iets | heb je het al
al nieuws | is er al nieuws | is er nieuws | ben je er nog | ben je daar | ben je er | ben je nog bezig | nog bezig | lukt het | lukt het al
lukt het een beetje | gaat het lukken | vordert het | schiet het op | schiet op | wat is de status | de status | voortgang | enig nieuws | en lukt het
wat ben je aan het doen | al resultaat | ik wacht nog
jak idzie | jak ci idzie | jak tam | jak leci | i jak | i jak tam | jak to wygląda | jak postępy | już gotowe | czy gotowe | czy już gotowe
skończyłeś | skończyłaś | już skończyłeś | czy już skończyłeś | długo jeszcze | ile jeszcze | jak długo | jak długo jeszcze | ile to potrwa
ile to jeszcze potrwa | masz coś | masz już coś | znalazłeś coś | znalazłaś coś | coś już masz | jakieś wieści | są jakieś wieści | coś nowego
jakieś postępy | jesteś tam | żyjesz | pracujesz jeszcze | co robisz | co tak długo | dlaczego to tak długo trwa | na jakim etapie jesteś
kiedy będzie gotowe
nasıl gidiyor | nasil gidiyor | bitti mi | bitirdin mi | hazır mı | hazir mi | oldu mu | ne durumda | ne durumdasın | durum ne | durum nedir
son durum | son durum ne | ne oldu | ne kadar kaldı | ne kadar sürer | daha ne kadar | daha ne kadar sürer | ne zaman biter | ne zaman hazır olur
bir şey buldun mu | bir sey buldun mu | buldun mu | haber var mı | haber var mi | yeni bir şey var mı | gelişme var mı | orada mısın | orda mısın
hala çalışıyor musun | devam ediyor mu | bitmedi mi | neden bu kadar uzun sürüyor | hadi | ne yapıyorsun
как дела | как там | как успехи | как продвигается | как идет | как идут дела | как оно | ну что | ну что там | ну как | ну как там | ну как дела
что там | что нового | есть новости | есть что нибудь | уже готово | ты готов | ты закончил | ты закончила | уже закончил | долго еще | еще долго
долго ли еще | сколько еще | сколько ждать | сколько еще ждать | сколько осталось | сколько времени осталось | нашел что нибудь | ты нашел
ты нашла что нибудь | ты нашел что нибудь | что нибудь нашел | получается | получилось что нибудь | ты тут | ты здесь | ты там | ты еще тут
ты еще там | ты работаешь | ты еще работаешь | статус | какой статус | прогресс | на каком этапе | когда будет готово | скоро уже | скоро будет готово
почему так долго | чего так долго | что так долго | есть результат | есть результаты | что делаешь | жду
як справи | як там | як успіхи | як просувається | ну що | ну як | вже готово | довго ще | ще довго | скільки ще | знайшов щось | знайшла щось
є новини | ти тут | коли буде готово | чому так довго
hur går det | hur gar det | hur långt har du kommit | hur langt har du kommit | är du klar | är du klar än | är du färdig | är det klart
är det klart än | hur länge till | hur lång tid tar det | hittat något | har du hittat något | har du hittat nåt | några nyheter | något nytt
nåt nytt | är du kvar | är du där | hur ser det ut | varför tar det så lång tid
どう | どうなった | どうなりました | どうなってる | どうなっていますか | どうなってますか | どんな感じ | どんな感じですか | 調子はどう | 調子どう | 進捗 | 進捗は | 進捗どう | 進捗どうですか | 進捗はどうですか | 進み具合は | 進んでる | 進んでますか
進んでいますか | まだか | まだですか | まだなの | まだかな | まだかかる | まだかかりますか | まだ終わらない | まだ終わらないの | 終わりましたか | もう終わった | できましたか | もうできた | もうできましたか | 見つかりましたか | 何か見つかった
何か見つかりましたか | あとどれくらい | あとどのくらい | どれくらいかかる | どれくらいかかりますか | どのくらいかかりますか | いつ終わる | いつ終わりますか | いつできる | 状況は | 状況 | 状況を教えて | 状況教えて | 今どこまで | どこまで進んだ
どこまでできた | 順調ですか | うまくいってる | うまくいきましたか | もしもし | まだやってる | ステータス
怎么样了 | 怎么样 | 怎样了 | 怎麼樣了 | 进展如何 | 进展怎么样 | 进度 | 进度如何 | 进度怎么样 | 进度怎么样了 | 有进展吗 | 有消息吗 | 有结果了吗 | 有结果吗 | 结果呢 | 好了吗 | 好了没 | 好了没有 | 好了么 | 弄好了吗 | 做好了吗 | 做完了吗
完成了吗 | 完成了没 | 完了吗 | 查到了吗 | 查到没 | 找到了吗 | 找到了没 | 找到没 | 搞定了吗 | 搞定没 | 还没好吗 | 还没好 | 还没完吗 | 还没有吗 | 还要多久 | 还需要多久 | 要多久 | 多久 | 多久能好 | 什么时候好 | 什么时候能好 | 什么时候完成
到哪了 | 到哪一步了 | 在吗 | 还在吗 | 在不在 | 你还在吗 | 你在吗 | 在做吗 | 还在做吗 | 还在找吗 | 现在什么情况 | 什么情况 | 情况如何 | 顺利吗 | 快好了吗 | 快了吗 | 为什么这么久 | 怎么这么久 | 怎么这么慢 | 为什么这么慢 | 快点 | 快一点
好了嗎 | 還要多久 | 進度如何 | 找到了嗎
어떻게 돼가 | 어떻게 되고 있어 | 어떻게 되고 있어요 | 어떻게 됐어 | 어떻게 되었나요 | 어떻게 돼 가고 있어 | 얼마나 걸려 | 얼마나 걸려요 | 얼마나 남았어 | 얼마나 더 걸려 | 아직이야 | 아직 멀었어 | 다 됐어요 | 됐니 | 끝났어요 | 끝났나요
완료됐어 | 찾았나요 | 뭐 찾았어 | 진행 상황 | 진행상황 | 진행 상황은 | 진행 상황 알려줘 | 잘 돼가 | 잘 되고 있어 | 잘되고 있어 | 소식 있어 | 언제 끝나 | 언제 돼 | 거기 있어 | 왜 이렇게 오래 걸려
كيف الوضع | ما الوضع | ما الحالة | الحالة | كيف تسير الأمور | كيف يسير الأمر | هل انتهيت | هل من جديد | هل من أخبار | ما الجديد | في جديد | شو صار
هل وجدت شيئا | وجدت شيئا | كم بقي | كم تبقى | كم من الوقت | كم يستغرق | هل أنت هناك | وين وصلت | أين وصلت | هل هو جاهز | لماذا تأخرت
कैसा चल रहा है | कैसे चल रहा है | क्या हुआ | हो गया क्या | क्या हो गया | कितना समय लगेगा | कितना समय और | और कितना समय | कितनी देर | और कितनी देर
कुछ मिला | क्या कुछ मिला | कोई खबर | कोई अपडेट | क्या स्थिति है | स्थिति | कहाँ तक पहुँचा | कहाँ तक पहुंचे | क्या चल रहा है | ho gaya kya | kitna time
kitna time lagega | kya hua
⏳ | ⌛ | 🕒
wheres my answer | where is my answer | wheres my result | where is my result | where are my results | wheres my report | wo bleibt
how much more time do you need | how much time do you need | how much longer do you need | irgendwas gefunden | irgendwas | ça vient | ca vient
où en est | ou en est | schiet het al op | schiet het op
"""

_IMPATIENT = """
well | so | and | hello | hallo | hey | yo | hi | und | na | na und | nun | also | y | y bien | et | eh bien | hé | e | e allora | en nu | ve | ee
ну | и | halo | och | nå | それで | で | 然后呢 | 呢 | 그래서 | और | و | anyone | anybody | huh | alo | allô | allo | aló | oye | ei | ej | эй | au | hola | olá
salut | ciao
"""

_PROGRESS = """
finished | all done | fertig | bald fertig | endlich fertig | fini | bientôt fini | bientôt prêt | bientôt | pronto | finito | fatto | terminou
acabou | conseguiu | готово | закончил | закончила | скоро | нашел | нашла | получилось | klaar | bijna klaar | skończone | zrobione | gotowe | 終わった
できた | 出来た | 見つかった | 終わりました | 見つかりました | まだ | results | anything | found it | waiting | almost done | nearly done | almost there | stuck | rien | stand
noticias | novedades | avances | estado | fortschritt | erfolg | neuigkeiten | nieuws | новости | novità | novidades | stato | statut | postępy
हो गया | ho gaya | انتهيت | خلصت | جاهز | 끝났어 | 찾았어 | 다 됐어 | 다 했어 | 아직 | 아직도 | 进展 | 状态 | 상태 | find anything | listo ya | c est fini | c est terminé
c est prêt | c est pret | ya casi | ya mero | jesteś | no luck | working on it | ta ai | e então | e entao | então | allora | done | ready | going
coming along | coming | complete | completed | over | finishing | soweit | so weit | erledigt | listo | lista | terminado | acabado | prêt | prête
terminé | terminée | pronta | afgerond | gereed | gotowy | bitmiş | hazır | готов | готова | закончено | färdig | found | gefunden | encontrado
trouvé | trovato | gevonden | working on | running | finish | progressing | läufts | voran | vorwärts | avance | avancé | avanza | progresa
look | finished with | up to date | dran | ready with | done with | fertig mit | on track
"""

_OKAY_IF = """
klar | klart | c est bon | ça marche | ca marche | ça roule | ja esta | já está | 順調
läuft
"""

_STILL = """
still | yet | already | soon | almost | nearly | so far | by now | far | much longer | longer | noch | schon | bald | endlich | gleich | immer noch
inzwischen | mittlerweile | bis jetzt | todavía | aún | ya | casi | por fin | encore | déjà | toujours | enfin | ancora | già | quasi | ainda | quase
finalmente | nog | al | bijna | eindelijk | jeszcze | już | wreszcie | hala | artık | henüz | еще | уже | наконец | вже | ще | fortfarande | redan
än | äntligen | もう | 已经 | 还 | 벌써 | अब तक | अभी तक | بعد | so long | so slow | taking | dauert | dauerts | so lange | tarda | tardas | duurt
"""

_TROUBLE = """
what went wrong | wat went wrong | what has gone wrong | whats gone wrong | what did go wrong | where did it go wrong | what happened | what happend
wat happened | what just happened | what happened there | so what happened | what failed | why did it fail | why did that fail | why did this fail
why did you fail | why has it failed | why it failed | why failed | how did it fail | did it fail | did something fail | did that fail | has it failed
what was the problem | what is the problem | whats the problem | whats wrong | what is wrong | what was wrong | what went bad | whats the issue
what was the issue | what is the issue | whats the error | what error | what was the error | which error | what error was it | what broke
what crashed | why did it crash | why did it break | why did it stop | why did you stop | why did that stop | why isnt it working
why is it not working | why doesnt it work | why didnt it work | why didnt that work | why did it not work | why did that not work | why not working
why no answer | why no result | why cant you do it | why couldnt you do it | why couldnt you | why didnt you finish | why didnt you do it
what was that about | did something go wrong | did anything go wrong | something wrong | anything wrong | explain the error | explain the failure
explain what went wrong | tell me what went wrong | tell me what happened | show me the error | what do you mean failed | what do you mean it failed
whats broken | what do you mean error | why the error | why an error | why failure | why wasnt it done | how come it failed | how come it didnt work
how come | what caused it | what caused the error | what caused the failure | what caused this | what caused that
was ist schiefgelaufen | was ist schief gelaufen | was lief schief | was ist schief gegangen | was ist schiefgegangen | was ging schief
was ging da schief | was ist da schiefgelaufen | was ist denn schiefgelaufen | was ist passiert | was ist denn passiert | was ist da passiert
was is passiert | was ist los | was ist denn los | was war los | was war denn los | was war da los | was is los | was war das problem
was ist das problem | wo ist das problem | wo war das problem | was war der fehler | was ist der fehler | was für ein fehler | welcher fehler
was für ein problem | woran lag es | woran lags | woran hat es gelegen | woran ist es gescheitert | woran lag das | woran liegts | woran liegt es
warum hat es nicht geklappt | warum hat das nicht geklappt | wieso hat das nicht geklappt | warum hats nicht geklappt | wieso hats nicht geklappt
warum ging das nicht | warum ging es nicht | wieso ging das nicht | warum geht das nicht | wieso geht das nicht | warum geht es nicht
warum klappt das nicht | wieso klappt das nicht | warum funktioniert das nicht | warum hat es nicht funktioniert | warum hat das nicht funktioniert
wieso hat das nicht funktioniert | warum ist es fehlgeschlagen | warum ist das fehlgeschlagen | wieso ist das fehlgeschlagen | warum schlug es fehl
warum schlug das fehl | was hat nicht geklappt | was hat nicht funktioniert | was ging nicht | was ist kaputt | warum abgebrochen
warum hast du abgebrochen | wieso hast du abgebrochen | warum hast du aufgehört | ist was schiefgelaufen | ist etwas schiefgelaufen
qué pasó | que paso | qué ha pasado | que ha pasado | qué ocurrió | que ocurrio | qué ha ocurrido | qué sucedió | qué salió mal | que salio mal
qué ha salido mal | que ha salido mal | qué falló | que fallo | qué ha fallado | que ha fallado | por qué falló | por que fallo | por qué ha fallado
por que ha fallado | por qué no funcionó | por que no funciono | por qué no funciona | por que no funciona | por qué no ha funcionado
por qué no se pudo | por qué no pudiste | cuál fue el problema | cuál es el problema | cual fue el problema | cuál fue el error | cual fue el error
cuál es el error | qué error | que error | qué error hubo | cuál fue el fallo | qué fue mal | que fue mal | qué fue lo que pasó | qué fue lo que falló
hubo un error | qué está mal
qu est ce qui s est passé | qu est ce qui c est passé | qu est ce qu il s est passé | qu est ce qui n a pas marché | qu est ce qui a échoué
qu est ce qui a foiré | qu est ce qui cloche | qu est ce qui ne va pas | qu est ce qui a planté | que s est il passé | il s est passé quoi
s est passé quoi | qu est il arrivé | pourquoi ça a échoué | pourquoi ça n a pas marché | pourquoi ça a pas marché | pourquoi ça marche pas
pourquoi ça ne marche pas | pourquoi cela a échoué | pourquoi ça a planté | pourquoi ça a foiré | pourquoi l échec | pourquoi tu as échoué
pourquoi t as échoué | pourquoi cet échec | c est quoi le problème | c était quoi le problème | quel est le problème | quel était le problème
quel problème | quelle erreur | c est quoi l erreur | c était quoi l erreur | quelle est l erreur | quelle était l erreur | d où vient l erreur
d où vient le problème | où est le problème | pourquoi une erreur | ça a échoué
cosa è successo | cos è successo | che è successo | che cosa è successo | cosa è andato storto | cos è andato storto | che cosa è andato storto
cosa non ha funzionato | perché non ha funzionato | perché non funziona | perché è fallito | perché ha fallito | qual è il problema
qual era il problema | qual è l errore | che errore | dov è il problema
o que aconteceu | que aconteceu | o que houve | o que deu errado | que deu errado | o que correu mal | que correu mal | o que falhou | por que falhou
porque falhou | por que não funcionou | porque não funcionou | por que deu errado | por que deu erro | qual foi o problema | qual é o problema
qual foi o erro | qual o erro | que erro foi | deu erro | deu ruim
wat ging er mis | wat ging mis | wat is er misgegaan | wat is er mis gegaan | wat is er gebeurd | wat gebeurde er | wat is er aan de hand
wat was het probleem | wat is het probleem | waarom lukte het niet | waarom is het mislukt | waarom mislukte het | waarom werkte het niet
waarom werkt het niet | wat was de fout | welke fout | fout gegaan
co się stało | co sie stalo | co poszło nie tak | co poszlo nie tak | co jest nie tak | co się zepsuło | dlaczego nie wyszło | dlaczego się nie udało
czemu się nie udało | czemu nie działa | dlaczego nie działa | dlaczego nie zadziałało | jaki był problem | jaki błąd | co nie zadziałało
w czym problem
ne yanlış gitti | ne yanlis gitti | ne ters gitti | neden başarısız oldu | niye başarısız oldu | neden olmadı | niye olmadı | neden çalışmadı
niye çalışmadı | sorun ne | sorun neydi | hata ne | hata neydi | ne hatası
что случилось | что произошло | что пошло не так | что не так | что сломалось | почему не получилось | почему не вышло | почему не работает
почему не сработало | почему ошибка | почему упало | в чем проблема | в чем была проблема | в чем дело | какая ошибка | что за ошибка | в чем ошибка
из за чего ошибка
що сталося | що трапилось | що трапилося | що пішло не так | чому не вийшло | чому не працює | чому не спрацювало | в чому проблема | яка помилка
vad gick fel | vad hände | vad var problemet | vad är problemet | vad var felet | varför funkade det inte | varför misslyckades det
varför fungerade det inte | vad är fel
何があった | 何があったの | 何がありましたか | 何が起きた | 何が起きたの | 何が起きましたか | 何が起こった | 何が起こりましたか | 何が問題 | 何が問題だった | 何が問題でしたか | 何がダメだった | 何がだめだった | 何が悪かった | なぜ失敗した | なぜ失敗したの
なぜ失敗しましたか | なんで失敗した | なんで失敗したの | どうして失敗した | どうして失敗したの | 失敗した | どうしたの | どうした | なぜできない | なんでできないの | なぜ動かない | エラーは | 何のエラー | どんなエラー
怎么回事 | 怎麼回事 | 发生了什么 | 发生什么了 | 发生了什么事 | 出什么问题了 | 出了什么问题 | 出什么事了 | 哪里出错了 | 哪里出问题了 | 哪里错了 | 哪出错了 | 为什么失败 | 为什么失败了 | 为什么会失败 | 怎么失败了 | 为什么没成功 | 为什么不行
怎么不行 | 为什么出错 | 为什么报错 | 什么错误 | 错误是什么 | 失败原因 | 失败的原因是什么 | 原因是什么 | 什么问题 | 有什么问题 | 為什麼失敗 | 發生了什麼
뭐가 잘못됐어 | 뭐가 잘못됐어요 | 뭐가 잘못된 거야 | 무엇이 잘못됐나요 | 무슨 일이야 | 무슨 일이에요 | 무슨 일 있었어 | 왜 실패했어 | 왜 실패했어요 | 왜 실패했나요 | 왜 안 돼 | 왜 안됐어 | 왜 안 됐어 | 뭐가 문제야 | 문제가 뭐야
무슨 오류 | 무슨 문제
ماذا حدث | ماذا حصل | ما الذي حدث | شو اللي صار | ما المشكلة | أين المشكلة | ما الخطأ | ما هو الخطأ | لماذا فشل | لماذا فشلت | ليش فشل
ما الذي لم ينجح
क्या गलत हुआ | क्या गड़बड़ हुई | क्या गलत हो गया | क्या समस्या है | क्या दिक्कत है | क्यों फेल हुआ | क्यों विफल हुआ | क्यों नहीं हुआ
क्या गड़बड़ हो गई | kya galat hua | kya problem hai
whyd it fail | whyd that fail | whyd it break | wieso hat es nicht funktioniert | wieso hat es nicht geklappt | wieso klappt es nicht
por qué no salió | por que no salio | qué fue lo que falló | qu est ce qui a merdé
"""

_FAILURE = """
it failed | error | fehler | erreur | errore | erro | błąd | hata | помилка | エラー | خطأ | 오류 | 失败了 | 出错了 | не получилось | something went wrong
failed | fail | failure | fails | failing | wrong | crash | crashed | broke | broken | errored | problem | issue | went wrong | go wrong | gone wrong
schiefgelaufen | schiefgegangen | schief | gescheitert | kaputt | geklappt | abgestürzt | fallado | fallo | fracasó | échoué | planté | marché
fallito | misgegaan | сломалось | провалилось | misslyckades | 失败 | 错误 | 실패
"""

TALK: Final[Mapping[Sign, str]] = {
    Sign.TROUBLE: _TROUBLE,
    Sign.NUDGE: _NUDGE,
    Sign.IMPATIENT: _IMPATIENT,
    Sign.PROGRESS: _PROGRESS,
    Sign.OKAY_IF: _OKAY_IF,
    Sign.STILL: _STILL,
    Sign.FAILURE: _FAILURE,
}
