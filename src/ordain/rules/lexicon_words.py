"""The small words that tell an order, a question and a statement apart: greetings, politeness, pronouns, prepositions, names of work."""

# ruff: noqa: RUF001 (the tables are in many scripts)
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ordain.rules.lexicon_signs import Sign

_PLEASE = """
please | pls | ugh | argh | omg | omg | och menno | menno | uff | ay | bah | plz | plss | pleez | plase | kindly | just | really | then | thanks in advance
for me | right away | immediately | at once | straight away | asap please | quick | quickly | i told you to | i want you to | i need you to
id like you to | i would like you to | i d like you to | you should | you need to | you must | you have to | you can | u can | you may as well | lets
let us | lets just | we should | we can | guys | dude | man | bro | buddy | mate | bot | sir | maam | friend | dear | my friend | my dear | again
anymore | any more | completely | altogether | entirely | for now | for a while | for today | today then | hey there | very much | so much | a lot
a bit | go | come on | cmon | jeez | ffs | damnit | dammit | goddamn | the hell | tf | fucking | fuckin | freaking | stupid | bloody
already then | for gods sake | for goodness sake | for the love of god | i beg you | i think | maybe | perhaps | simply | better just | you know what
ok so | anyway | one last thing | nvm then | yourself | up | off | along | back | mind | ai | assistant | now please | now pls | good
bitte | bidde | büdde | mal | doch mal | bitte mal | einfach | einfach nur | halt mal einfach | sofort | gleich mal | auf der stelle | unverzüglich
umgehend | ich will dass du | ich möchte dass du | du sollst | du kannst | du musst | wir können | können wir | endlich mal | echt | wirklich
jetzt bitte | jetzt mal | jetzt sofort | denn | eben | dann | also dann | nochmal | noch mal | mensch | alter | digga | für mich | für jetzt
für heute | bist du so lieb und | sei so gut und | wärst du so nett und | komm | komm schon | bitteschön | ganz | komplett | überhaupt | eh | ja eh
wieder | vielleicht
por favor | porfa | porfis | porfavor | xfa | xfavor | plis | ahora mismo | ya mismo | inmediatamente | de inmediato | en seguida | enseguida
quiero que | necesito que | me gustaría que | tienes que | puedes | ahorita | por ahora | por hoy | hombre | amigo | amiga | tío | che | wey | güey
ya por favor | de una vez | entonces | simplemente | tan amable | otra vez | de verdad | en serio | por dios | mejor dicho | se | me | mucho | muy
tanto | te lo pido | tal vez | quizás | quiza
s il te plaît | s il te plait | s il vous plaît | s il vous plait | stp | svp | steuplé | tout de suite | immédiatement | maintenant s il te plaît
je veux que tu | j aimerais que tu | je voudrais que tu | tu dois | il faut | tu peux | vous pouvez | donc | juste | simplement | vraiment
s il te plaît maintenant | pour l instant | pour le moment | pour aujourd hui | mec | frère | mon ami | allez hop | bon allez | un peu
encore une fois | tout court | de suite | franchement | peut être | du coup | finalement alors | en fin de compte
per favore | per piacere | perfavore | pf | subito | immediatamente | voglio che tu | vorrei che | puoi | devi | pure | dai | ti prego
adesso per favore | solo | semplicemente | per ora | per oggi | amico | davvero | un po | forse
pfv | pfvr | por gentileza | se faz favor | faz favor | faça favor | agora mesmo | imediatamente | já agora | quero que | gostaria que | preciso que
pode | podes | você pode | só | apenas | por enquanto | por agora | por hoje | cara | mano | gente | meu amigo | de vez | aí | lá | um pouco | talvez
então tá
alsjeblieft | alstublieft | aub | ajb | alsjeblief | asjeblieft | maar | even | gewoon | meteen | direct | onmiddellijk | ik wil dat je | je kunt
je mag | voor nu | voor vandaag | dan | eens | nou | toch | hoor | jongen | misschien
proszę | prosze | natychmiast | od razu | chcę żebyś | możesz | po prostu | na razie | na dziś | już proszę | no weź | stary | człowieku
teraz proszę | się | może
lütfen | lutfen | hemen | derhal | istiyorum ki | sadece | şimdilik | bugünlük | ya | be | abi | kanka | hadi ya | artık lütfen | bir | bi | belki
пожалуйста | пжл | пж | плиз | плз | пожалуй | немедленно | сразу | прямо сейчас | можешь | ты можешь | хочу чтобы ты | просто | пока что | на сегодня
друг | братан | слушай | ну же | же | уж | блин | черт | может быть | будь ласка | будьласка | негайно | одразу | можеш | можливо
snälla | tack snälla | vänligen | genast | omedelbart | nu genast | du kan | bara | nu då | då | för nu | kompis | va snäll | kanske
ください | 下さい | お願いね | どうか | ちょっと | すぐ | すぐに | 直ちに | 一旦 | とりあえず | もう | ね | よ | な | を | は | が | も | に | です | ます | けど | わ | さ | じゃ | では | ほしい | くれ | くれる
もらえる | ので | から | 请 | 麻烦 | 麻烦你 | 拜托 | 马上 | 立刻 | 立即 | 赶紧 | 先 | 了 | 吧 | 啊 | 呀 | 哦 | 就 | 都 | 那 | 给我 | 我想 | 我要 | 直接 | 一下 | 的 | 帮我 | 請 | 제발 | 좀 | 당장 | 바로
즉시 | 빨리 | 일단 | 그냥 | 주세요 | 해줘 | 해주세요 | 요 | 을 | 를 | 은 | 는 | 이 | 가 | 해 | 줘
من فضلك | رجاء | رجاءا | لو سمحت | فورا | حالا | يا | ارجوك | أرجوك | بس | कृपया | प्लीज | प्लीज़ | तुरंत | जल्दी | बस | ज़रा | जरा | तो | अब
please ab | yaar | bhai | plz yaar
i said | i say | ich sagte | ich hab gesagt | j ai dit | он сказал | or what | oder was | o qué | ou quoi | лучше всего | скорее всего
"""

_CAN_YOU = """
can you | can u | could you | could u | would you | would u | will you | can you please | could you please | would you please | would you mind
can we | could we | shall we | can you just | could you just | may i ask you to | would it be possible to | is it possible to | can i ask you to
could i ask you to | can it be | can that be | could it be | can i have it | can i get it | can i get that | could i have it | can we do
can we make it | could we make it | could you make it | can you make it | can we use | can we do it | can we change it | why dont you | why not just
how about we | how about | what about | what if we | mind
kannst du | kannste | könntest du | könnteste | können sie | könnten sie | könnt ihr | würdest du | würden sie | kannst du bitte | könntest du bitte
magst du | kann man | können wir | könnten wir | wie wäre es mit | wie wärs mit | wie wäre | wie wärs
puedes | podrías | podrias | puede | podría | pueden | podrían | podés | te importa | te importaría | me puedes | me podrías | podemos | podríamos
qué tal si | que tal si | qué te parece
peux tu | tu peux | pourrais tu | tu pourrais | pouvez vous | pourriez vous | vous pouvez | est ce que tu peux | est ce que tu pourrais
est ce que vous pouvez | est ce que vous pourriez | on peut | peut on | est ce qu on peut | est ce que ça peut être | et si on | ça te dérange de
puoi | potresti | può | potrebbe | potete | possiamo | potremmo | ti dispiace | e se | pode | podes | poderia | podia | podias | você pode
você poderia | vc pode | tem como | dá pra | da pra | que tal
kun je | kunt u | kan je | zou je | zou u | wil je | wilt u | kunnen we | zullen we | możesz | możesz proszę | mógłbyś | mogłabyś | może pan | możemy
czy możesz | czy mógłbyś | czy mogłabyś | czy możemy | a może | yapabilir misin | edebilir misin | misin lütfen | misin | mısın | musun | müsün
можешь | ты можешь | можете | не могли бы вы | не мог бы ты | мог бы ты | можно ли | можно | давайте | можем | а можно | а можешь | можеш | чи можеш
можна | kan du | skulle du kunna | kan vi | kan ni | してくれる | してくれますか | してもらえる | してもらえますか | してもらえませんか | してくれない | くれますか | もらえますか | くれませんか | いただけますか
できますか | 能不能 | 可以请你 | 你能 | 你能不能 | 能 | 可不可以 | 可以帮我 | 解决一下 | 해줄래 | 해줄래요 | 해줄 수 있어 | 해 줄 수 있어 | 해줄 수 있나요 | 할 수 있어 | هل يمكنك | هل يمكن | ممكن | تقدر
هل تستطيع | क्या आप | क्या तुम | क्या आप कृपया | kya aap | kya tum
kannst
"""

_GREETING = """
hi there | hello there | hey hey | heya | hiya | howdy | sup | whats up | wassup | good morning | good afternoon | good evening | morning all
greetings | yo yo | guten morgen | ach | ach ja | guten tag | guten abend | moin | moin moin | servus | grüß gott | grüezi | grüß dich | tach
hallöchen | hi du | buenos días | buenas tardes | buenas | buen día | bonjour | bonsoir | coucou | slt | bjr | buongiorno | buonasera | salve
bom dia | boa tarde | oi | olá tudo bem | goedemorgen | goedemiddag | goedenavond | goedendag | hoi | cześć | czesc | hej hej | dzień dobry | siema
witam | merhaba | selam | slm | günaydın | iyi günler | привет | здравствуйте | здравствуй | доброе утро | добрый день | добрый вечер | приветик | хай
вітаю | привіт | добрий день | hejsan | tjena | god morgon | こんにちは | こんばんは | おはよう | おはようございます | ハロー | やあ | 你好 | 您好 | 早上好 | 嗨 | 哈喽 | 大家好 | 안녕 | 안녕하세요
하이 | مرحبا | اهلا | أهلا | السلام عليكم | صباح الخير | هاي | नमस्ते | नमस्कार | हैलो | हाय | namaste | 👋
"""

_IT = """
it | its | it all | that | thats | this | them | these | those | everything | all | all of it | all of that | all of this | everything else | whatever
whatever it is | whatever you are doing | whatever youre doing | what youre doing | what you are doing | what ur doing | what you re doing
the whole thing | this one | that one | my last message | my last request | the last one | the last request | the previous one | the current one
that thing | this thing | that please | anything else | with it | with that | with this | on it | on that | on this | about it | about that
about this | of it | of that | for it | there | here | what i said | what i asked | what i just said | what i wrote | what i asked for | me | us
to me | yourself | both | one
das | dass | es | dies | dieses | diese | den | alles | das alles | das ganze | alle | damit | daran | davon | dafür | darüber | dabei | hiermit
was du machst | was du tust | was du gerade machst | was auch immer | was ich gesagt habe | was ich geschrieben habe | meine letzte nachricht
die letzte nachricht | ihn | sie | mir | mich | uns | dich | dir | da | hier | drauf | dran | beide
eso | esto | ello | lo | la | los | las | todo | todo eso | todo esto | lo que estás haciendo | lo que estas haciendo | lo que haces | lo que sea
lo de antes | lo anterior | lo último | lo que te dije | lo que dije | mi mensaje anterior | te | le | con eso | con ello | de eso | aquello | ese
esta | este
ça | ca | cela | ceci | tout | tout ça | tout cela | le tout | ce que tu fais | ce que vous faites | ce que j ai dit | mon dernier message
ma demande | la demande | les | l | y | en | toi | vous | moi | cette histoire
li | questo | quello | quella | questa | tutto | tutto quanto | tutto questo | ciò | quello che stai facendo | quello che ho detto | ti | mi | ci
con questo | isso | isto | aquilo | tudo | tudo isso | o que está fazendo | o que estás a fazer | o que eu disse | com isso | com isto | disso
het | dit | dat | dat alles | hiermee | daarmee | ermee | eraan | erover | wat je doet | wat je aan het doen bent | wat ik zei | mij | to | tego | tym
tam | wszystko | to wszystko | to co robisz | z tym | nad tym | bunu | onu | şunu | bunları | hepsini | her şeyi | bu | o | şu | bunun | yaptığını
ne yapıyorsan
это | этого | этим | всё | все | все это | эту | этот | то | то что делаешь | его | ее | мне | меня | тебя | там | с этим | об этом | це | цього
все це | його | її | мені | det | detta | allt | det där | det här | alltihop | med det | mig | これ | それ | あれ | 全部 | すべて | 今の | その | この | 今やってること
さっきの | 这个 | 那个 | 这 | 它 | 所有 | 刚才的 | 这些 | 刚才那个 | 你在做的 | 這個 | 那個 | 이거 | 그거 | 저거 | 이것 | 그것 | 다 | 전부 | 모두 | 모든 | 지금 하는 거 | 하던 거 | 아까 그거 | هذا | ذلك | هذه
كل شيء | كله | كل هذا | ما تفعله | यह | इसे | उसे | ये | वो | सब | सब कुछ | इसको | उसको | ise | use abhi | isko | yeh sab
"""

_THE = """
the | next | nächsten | nächste | nächster | próximo | próxima | prochain | prochaine | prossimo | volgende | este | eerstvolgende | my | your | ur
our | his | current | running | last | previous | whole | entire | ongoing | pending | latest | der | die | dem | des | ein | eine | einen | einem
einer | mein | meine | meinen | meiner | dein | deine | deinen | deiner | diesen | diesem | dieser | jetzige | laufende | laufenden | aktuelle
aktuellen | letzte | letzten | ganze | ganzen | el | un | una | mi | tu | su | esa | estos | última | último | actual | anterior | une | du | mon | ma
mes | ton | ta | tes | votre | vos | ce | cet | cette | dernière | il | lo stesso | gli | uno | mio | mia | tuo | tua | corrente | ultima | ultimo
quest | o | os | as | um | uma | meu | minha | teu | seu | sua | de | een | mijn | je | jouw | deze | huidige | laatste | mój | moje | moją | twój
twoje | obecne | tę | ten | мой | мою | мое | твой | твою | текущий | текущую | последний | последнюю | цю | цей | мій | en | ett | min | mitt | din
ditt | denna | ال
"""

_SEARCH = """
search | searching | research | lookup | suche | recherche | recherchieren | búsqueda | búsquedas | recherches | ricerca | pesquisa | zoektocht
zoekopdracht | wyszukiwanie | arama | aramayı | aramayi | поиск | пошук | sökning | sökningen | 検索 | 搜索 | 搜寻 | 검색 | البحث | बحث | खोज
looking
"""

_WORK = """
task | job | request | query | question | work | process | run | thing | research | lookup | look up | operation | action | report | summary
analysis | answer | message | response | reply | command | plan | planning | calculation | conversation | chat | topic | thread | stuff | nonsense
crap | bullshit | shit | result | results | output | draft | attempt | generation | writing | typing | talking | text | list | thinking | answering
working | doing
suche | sucherei | suchen | aufgabe | auftrag | anfrage | frage | arbeit | vorgang | prozess | recherche | recherchieren | bericht | zusammenfassung
analyse | antwort | nachricht | befehl | sache | ding | zeug | quatsch | unsinn | mist | scheiß | aktion | ausführung | berechnung | planung
bearbeitung | schreiben | rechnen | ganzen kram | kram
búsqueda | tarea | trabajo | petición | solicitud | consulta | pregunta | proceso | operación | acción | informe | resumen | análisis | respuesta
mensaje | cosa | investigación | buscar | búsquedas | resultado | lista
recherches | tâche | travail | demande | requête | processus | opération | rapport | résumé | réponse | truc | machin | chercher | traitement | calcul
boulot
ricerca | compito | lavoro | richiesta | domanda | processo | operazione | rapporto | riassunto | analisi | risposta | messaggio | comando | cercare
pesquisa | tarefa | trabalho | solicitação | pergunta | operação | relatório | resumo | análise | resposta | mensagem | coisa | procurar | busca
zoekopdracht | zoektocht | zoeken | taak | opdracht | werk | verzoek | aanvraag | vraag | proces | samenvatting | antwoord | gedoe | onzin
wyszukiwanie | szukanie | szukać | zadanie | praca | pracę | prośbę | zapytanie | raport | pytanie | odpowiedź | arama | aramayı | aramayi | görev
görevi | iş | işi | işlem | işlemi | istek | isteği | isteğimi | sorgu | sorguyu | rapor | raporu | soru
поиск | искать | задачу | задача | задание | работу | работа | запрос | запроса | процесс | вопрос | отчет | ответ | сообщение | операцию | выполнение
пошук | завдання | запит | роботу | процес | звіт | sökning | sökningen | uppgift | uppgiften | jobbet | jobb | arbetet | frågan | begäran | processen
rapporten
検索 | 作業 | 処理 | タスク | 依頼 | リクエスト | 仕事 | 調査 | 質問 | 実行 | レポート | 生成 | 分析 | 搜索 | 搜寻 | 任务 | 工作 | 操作 | 请求 | 查询 | 处理 | 执行 | 问题 | 报告 | 回答 | 任務 | 請求 | 查詢 | 검색
작업 | 요청 | 처리 | 업무 | 실행 | 질문 | 일 | 보고서 | البحث | بحث | المهمة | المهمه | العمل | الطلب | طلب | العملية | طلبي | السؤال | खोज | काम | कार्य | अनुरोध
सर्च | टास्क | kaam | search ko
"""

_I = """
i want to | i wanna | id like to | i would like to | i | we | im | ive | i ve | id | ill | youll | ich | wir | yo | nosotros | j | je | j ai | nous
io | noi | eu | nós | ik | wij | ja chcę | ben | biz | я | мы | мне нужно | мені треба | ми | jag | vi | 私 | 僕 | 俺 | 我 | 我们 | 나 | 나는 | 저는 | أنا | نحن
मैं | हम | मुझे | he | she | they | er | ella | elle | elles | ils | lui | lei | ele | ela | hij | zij | он | она | они | hes | shes | theyre | i have
i need | i want | i like | i think that | i feel | i know | i hate | i love
not sure | not certain | i dont know | dont know | no idea | keine ahnung | nicht sicher | bin nicht sicher | weiß nicht | weiß ich nicht
ich weiß nicht | no sé | no lo sé | je ne sais pas | je sais pas | pas sûr | non so | não sei | weet ik niet | nie wiem | не знаю | bilmiyorum
"""
_YOU = """
you | u | youre | ur | you re | ya all | du | ihr | tú | vos | usted | ustedes | tu | t | você | vc | vocês | jij | ty | sen | siz | ты | вы | ти | ви
du bist | あなた | 你 | 您 | 너 | 당신 | أنت | तुम | आप
"""
_BE = """
is | are | r | was it | were | has | have | had | did | does | do | been | be | being | bist | ist | sind | war | hast | hat | haben | habt | wird
wirst | es | está | estás | estan | están | son | ha | han | hay | sigue | est | a | avez | est ce que | êtes | sont | est il | est elle | sei
è | hai | sta | stai | é | estão | tem | foi | tá | ben | heb | heeft | zijn | wordt | jest | czy | mi | mı | mu | mü | var | ли | есть | чи | är
har | ですか | ますか | هل | है | हो | हैं
"""

_QUESTION = """
what | whats | wat | wht | which | who | whos | whose | whom | where | wheres | when | whens | why | whys | y tho | how | hows | howto | how come
what is | what are | was | wer | wen | wem | wessen | wo | woher | wohin | wann | warum | wieso | weshalb | weswegen | wie | wieviel | wie viel
wie viele | welche | welcher | welches | welchen | womit | wofür | worum | woran | wozu | inwiefern
qué | que | quién | quien | quiénes | cuándo | cuando | dónde | donde | adónde | por qué | por que | cómo | como | cuál | cual | cuáles | cuánto
cuanto | cuánta | cuántos | cuantos | cuántas | para qué | qu est ce que | qu est ce qu | qu est ce qui | quel | quelle | quels | quelles | qui
quand | où | ou est | où est | pourquoi | pq | comment | combien | quoi | c est quoi | qu | lequel | che cosa | cosa | chi | quando | dove | dov
dov e | perché | perche | come | com e | quanto | quanta | quanti | quale | quali | qual | quais | quem | onde | cadê | porque | porquê | o que | oque
quantos | quantas
wie is | wat is | waar | wanneer | waarom | hoe | hoeveel | welk | welke | wiens | co | kto | kiedy | gdzie | dlaczego | czemu | jak | jaki | jaka
jakie | ile | który | która | które | skąd | ne zaman | nerede | nereye | nereden | neden | niçin | niye | nasıl | nasil | kim | kaç | kac | hangi
nedir | ne kadar | что | кто | когда | где | куда | откуда | почему | зачем | как | какой | какая | какое | какие | сколько | чей | який | яка | яке
які | що | хто | коли | де | куди | чому | як | скільки | чи не | vad | vem | när | var är | varför | hur | vilken | vilket | vilka | hur mycket
何 | なに | なん | 誰 | だれ | いつ | どこ | なぜ | なんで | どうして | どうやって | どれ | どの | どんな | いくら | いくつ | どっち | どちら | どういう | どうすれば | 什么 | 什麼 | 谁 | 哪 | 哪里 | 哪儿 | 哪个
什么时候 | 为什么 | 為什麼 | 怎么 | 怎麼 | 怎样 | 如何 | 多少 | 几 | 几点 | 多大 | 뭐 | 무엇 | 누구 | 언제 | 어디 | 왜 | 어떻게 | 얼마 | 얼마나 | 몇 | 어느 | 어떤 | 무슨 | ما | ماذا | ما هو | ما هي
من هو | من هي | متى | أين | لماذا | ليش | كيف | كم | أي | شو | क्या | कौन | कब | कहाँ | कहां | क्यों | कैसे | कितना | कितने | कितनी | किस | कौनसा
kya | kaun | kab | kahan | kyu | kyun | kaise | kitna
whyd | howd
"""

_QUESTION_OPENS = """
is there | are there | is the | are the | is it true | is it ok | is it | is that | is this | was the | was there | were there | does the | does it
does a | do i | do you | do we | do they | do any | does anyone | does anybody | did the | did you | did i | did he | did she | did they | has the
have you | have the | has anyone | can i | can a | can he | can it | could i | could it be that | should i | should we | shall i | may i | am i
will it | will the | will there | would it | would a | isnt it | isnt there | arent there | dont you | doesnt it | anyone know | anybody know
do you know | you know any | i wonder | im wondering | i was wondering | tell me about | tell me why | tell me how | tell me what | tell me who
tell me when | tell me where | explain why | explain how | explain what
gibt es | gibts | ist der | ist die | ist das | ist es | sind die | kann ich | darf ich | soll ich | muss ich | kann der | hat der | hat die
weißt du | weisst du | kennst du | ist mein | sollte ich | könnte ich | hay algun | hay alguna | hay un | hay una | es el | es la | es verdad
es cierto | puedo | podría yo | debo | debería | sabes | conoces | tengo que | está el | está la | están los | il y a | y a t il | est ce qu il y a
est ce que je | est ce que le | est ce que la | est ce qu il | puis je | je peux | dois je | peut il | sais tu | tu sais | connais tu | tu connais
le magasin est il | c è | ci sono | posso | devo | sai | conosci | è vero | há | existe | tem algum | tem alguma | você sabe | sabe | conheces
é verdade | is er | zijn er | kan ik | mag ik | moet ik | weet je | ken je | is het waar | is de | czy jest | czy są | czy mogę | czy można | czy ten
czy ta | czy to prawda | wiesz | znasz | var mı | biliyor musun | yapabilir miyim | можно ли мне | есть ли | могу ли я | могу я | знаешь | ты знаешь
правда ли | чи є | чи можу | чи можна | чи правда | знаєш | finns det | kan jag | får jag | ska jag | vet du | är det sant | 有没有 | 是不是 | 能否 | 是否 | 你知道
知道不知道 | 有沒有 | 知ってる | 知っていますか | هل يوجد | هل هناك | هل أستطيع | هل تعرف | क्या वहाँ | क्या मैं | क्या कोई
"""

_QUESTION_ENDS = "か | かな | かしら | の? | 吗 | 嗎 | 么 | 呢 | 까 | 까요 | 나요 | 니까 | 습니까 | ですか | ますか"

_ORDER = """
find | find me | book | reserve | write | draft | compose | translate | tell | tell me | show | show me | give me | get me | explain | summarize
summarise | describe | calculate | compute | convert | compare | recommend | suggest | remind | remind me | remind me to | schedule | set up | set a
set an | create | generate | build | make a | make an | make me | make a list | plan a | plan my | plan me | buy | purchase | send | email | call
text my | play | open | close | turn on | turn off | start | check | look for | look up | google
research the | list the | list all | list some | name some | name a | add | remove | delete | update my | update the | cancel my | fix | debug | code
help me | help | teach | solve | order me | order a | download | upload | print | read | sing | draw | paint | design | proofread | correct my
rewrite | rephrase | paraphrase | spell | define | i need a | i need some | i need help | i want a | i want to know | id like a | i would like a
im looking for | i am looking for | we need a | analyse | analyze | organize | prepare | cook | navigate | directions to | recipe for | weather in
note | note that down | count | estimate | review | best | the best | cheapest | beste | bester | bestes | meilleur | meilleure | miglior | migliore
mejores | melhores | лучший | лучшие | najlepszy | najlepsze | 最好的 | stop by | stop at
finde | find mir | such | suche nach | suche mir | such mir | buch | buche | buch mir | reservier | reserviere | schreib | schreibe | schreib mir
übersetz | übersetze | sag mir | sage mir | erzähl | erzähle | erzähl mir | zeig | zeige | zeig mir | gib mir | erklär | erkläre | erklär mir | fass
fasse | beschreib | beschreibe | berechne | rechne | vergleich | vergleiche | empfiehl | empfehle | erinnere mich | erinner mich | erstell | erstelle
mach mir | mache mir | mach eine | mach einen | mach ein | plan mir | plane | kauf | kaufe | schick | schicke | sende | ruf | spiel | spiele | öffne
prüf | prüfe | schau | schau nach | guck | füge | füg | lösche | lösch | hilf | hilf mir | löse | bestell | bestelle | lade | lies | mal mir | zeichne
kündige | ich brauche einen | ich brauche eine | ich brauche ein | ich suche | ich hätte gern | ich hätte gerne | ich möchte wissen | trag | trage
stell einen | stell mir | nenn | nenne | nenn mir | notiere | merk dir
busca | búscame | buscame | encuentra | encuéntrame | reserva | resérvame | escribe | escríbeme | redacta | traduce | tradúceme | dime | cuéntame
muestra | muéstrame | enséñame | dame | explica | explícame | resume | resúmeme | calcula | convierte | compara | recomienda | recomiéndame | sugiere
recuérdame | recuerdame | programa | crea | créame | genera | haz un | haz una | hazme | planea | planifica | compra | cómprame | envía | manda
mándame | llama | reproduce | abre | revisa | comprueba | verifica | añade | agrega | elimina | borra | ayúdame | ayuda | resuelve | pide | pídeme
necesito un | necesito una | busco | quiero un | quiero una | quiero saber | quisiera | pon una | pon un | anota | apunta
cherche | cherche moi | cherchez | trouve | trouve moi | trouvez | réserve | réserve moi | écris | écris moi | écrivez | rédige | traduis | traduisez
dis moi | raconte | raconte moi | montre | montre moi | donne | donne moi | explique | explique moi | résume | décris | calcule | recommande
conseille | rappelle | rappelle moi | crée | génère | fais moi | fais un | fais une | planifie | achète | envoie | appelle | joue | ouvre | vérifie
regarde | ajoute | supprime | efface | aide moi | aidez moi | résous | commande | commande moi | j ai besoin d | j ai besoin de | je cherche
je veux savoir | je voudrais un | je voudrais une | liste
cerca | cercami | cercare | trova | trovami | prenota | prenotami | scrivi | scrivimi | traduci | traducimi | dimmi | racconta | raccontami | mostra
mostrami | dammi | spiega | spiegami | riassumi | descrivi | calcola | converti | confronta | consiglia | consigliami | suggerisci | ricordami | fammi
pianifica | invia | chiama | apri | controlla | aggiungi | cancella | aiutami | risolvi | ordina | ho bisogno di | sto cercando | vorrei un
vorrei una | elenca | procura | procure | encontra | encontre | encontre um | acha | ache | pesquisa | pesquise | escreve | escreva | traduz | traduza
diz | diga | diga me | conta | conte | mostre | me mostra | dá me | me dá | me dê | resuma | descreve | recomenda | recomende | sugere | lembra me
me lembra | me lembre | lembre me | cria | crie | gera | gere | faz um | faz uma | faça um | faça uma | planeja | compre | envia | envie | mande
liga | verifique | adiciona | adicione | apaga | ajuda me | me ajuda | me ajude | resolve | pede | preciso de | estou procurando | quero um
quero uma | quero saber | lista
zoek | zoek voor mij | vind | boek | reserveer | schrijf | vertaal | vertel | vertel me | laat me | laat zien | geef me | geef mij | leg uit | leg
vat | beschrijf | bereken | vergelijk | beveel | raad | herinner me | maak een | maak me | plan een | koop | stuur | bel | speel | controleer | voeg
verwijder | los | bestel | ik heb een | ik zoek | ik wil een | ik wil weten | noem | znajdź | znajdz | poszukaj | wyszukaj | zarezerwuj | napisz
przetłumacz | powiedz | powiedz mi | opowiedz | pokaż | pokaż mi | daj mi | wyjaśnij | streść | opisz | oblicz | policz | porównaj | poleć
zaproponuj | przypomnij | przypomnij mi | stwórz | wygeneruj | zaplanuj | kup | wyślij | zadzwoń | włącz | otwórz | sprawdź | dodaj | usuń | pomóż
pomóż mi | rozwiąż | zamów | potrzebuję | szukam | chcę wiedzieć | ara | bul | bana | rezervasyon yap | yaz | çevir | söyle | anlat | göster | ver
açıkla | özetle | hesapla | karşılaştır | öner | hatırlat | oluştur | planla | satın al | gönder | aç | kontrol et | ekle | sil | yardım et | çöz
sipariş et | arıyorum | bul bana
найди | найди мне | найдите | поищи | забронируй | закажи | напиши | переведи | скажи | скажи мне | расскажи | покажи | дай мне | объясни | опиши
посчитай | рассчитай | сравни | порекомендуй | посоветуй | предложи | напомни | напомни мне | создай | сгенерируй | составь | спланируй | купи
отправь | пришли | позвони | включи | открой | проверь | добавь | удали | помоги | помоги мне | реши | мне нужен | мне нужна | мне нужно | ищу
хочу узнать | знайди | пошукай | забронюй | переклади | розкажи | дай мені | поясни | порахуй | порівняй | порадь | нагадай | створи | склади
сплануй | надішли | перевір | додай | видали | допоможи | замов | мені потрібен | мені потрібна | hitta | sök efter | leta | boka | skriv | översätt
berätta | visa | visa mig | ge mig | förklara | sammanfatta | beskriv | räkna | jämför | rekommendera | föreslå | påminn mig | skapa | planera | köp
skicka | ring | spela | öppna | kolla | lägg till | ta bort | hjälp mig | lös | beställ | jag behöver en | jag letar efter | jag vill veta
探して | 見つけて | 予約して | 書いて | 翻訳して | 訳して | 教えて | 教えてください | 見せて | 説明して | 要約して | 計算して | 比較して | おすすめ | 作って | 作成して | 計画して | 買って | 送って | 調べて | 検索して | 追加して
削除して | 手伝って | リマインドして | 帮我找 | 帮我查 | 帮我写 | 帮我订 | 帮我翻译 | 帮我做 | 找 | 查 | 查一下 | 预订 | 预定 | 写 | 翻译 | 翻譯 | 告诉我 | 显示 | 解释 | 总结 | 描述 | 计算 | 比较 | 推荐 | 建议 | 提醒我
创建 | 生成 | 制定 | 购买 | 发送 | 发 | 打开 | 检查 | 添加 | 加上 | 删除 | 帮助 | 찾아줘 | 찾아 줘 | 찾아 | 예약해줘 | 예약해 | 써줘 | 작성해줘 | 번역해줘 | 번역해 | 알려줘 | 알려 줘 | 보여줘 | 설명해줘 | 설명해
요약해줘 | 계산해줘 | 비교해줘 | 추천해줘 | 추천해 | 만들어줘 | 만들어 줘 | 계획해줘 | 사줘 | 보내줘 | 추가해줘 | 삭제해줘 | 도와줘 | ابحث | ابحث عن | احجز | اكتب | ترجم | قل لي | أخبرني | أرني
اشرح | لخص | صف | احسب | قارن | اقترح | ذكرني | أنشئ | خطط | اشتر | أرسل | أضف | احذف | ساعدني | أريد | ढूंढो | ढूँढो | खोजो | बुक करो | लिखो | लिखें
अनुवाद करो | बताओ | बताइए | दिखाओ | समझाओ | सारांश | गणना करो | तुलना करो | सुझाव दो | याद दिलाना | बनाओ | भेजो | जोड़ो | मदद करो | batao | dhundo
likho
change my | ändere mein | ändere meine | ändere meinen | cambia mi | change mon | change ma | cambia il mio | cambia la mia | muda o meu
muda a minha
"""

_SAID = """
he said | she said | they said | someone said | said | says | yelled | shouted | screamed | whispered | quote | quoted | lyrics | song | sang | sings
movie | film | title | word | words | phrase | sign | signs | meaning | means | mean | synonym | synonyms | sagte | sagt | schrie | rief | wort
wörter | liedtext | lied | bedeutet | bedeutung | dijo | dice | gritó | palabra | palabras | canción | letra | significa | significado | dit il
dit elle | a dit | mot | mots | chanson | paroles | signifie | veut dire | disse | ha detto | parola | parole | canzone | palavra | palavras | música
zei | zegt | woord | woorden | liedje | betekent | powiedział | słowo | piosenka | znaczy | dedi | kelime | şarkı | сказал | сказала | слово | слова
песня | значит | означает | казав | sa | ordet | låten | betyder | と言った | という | 歌 | 意味 | 歌词 | 意思 | 单词 | 这个词 | 这句话 | 라고 | 노래 | 뜻
lieber gott | lieber herr | lieber freund | lieber kollege | lieber papa | lieber opa | lieber onkel | lieber kunde | lieber nachbar
"""
_WITH = """
in | en | to | for | on | at | with | from | by | of | into | until | till | before | after | around | about | or | via | per | as
and then | if | because | than | an | not the | auf | mit | für | nach | von | bis | bei | zu | zum | zur | im | am | um | aus | über | gegen | vor
oder | ohne das | ins | vom | als | wenn | weil | für den | con | para el | para la | por | sin el | hasta | desde | sobre | entre | al | del | si es
avec | pour | dans | sur | à | au | aux | vers | chez | par | jusqu | d | sous | des | da | dal | dalla | nel | nella | alla | allo | su | tra | fra
di | della | dei | com | para o | para a | no | na | nos | nas | em | até | do | dos | das | ao | pelo | pela | met | voor | naar | van | tot | bij
op | om | uit | over | z | ze | w | we | od | dla | przez | po | przed | u | lub | ile | için | ile birlikte | с | со | на | в | во | для | до | от
по | у | к | из | за | о | или | з | із | від | про | або | med | för | på | från | av | eller | i | で | と | へ | まで | より | 在 | 到 | 从 | 用 | 和 | 跟 | 把
对 | 给 | 去 | 에 | 에서 | 로 | 으로 | 까지 | 와 | 과 | 의 | في | إلى | على | من | عن | مع | ل | ب | में | पर | से | को | का | की | के | तक | लिए
"""
_PARTICLE = "ab | auf | off | out | ermee | mee | af | op mee | sein | bleiben | stecken | gut"

WORDS: Final[Mapping[Sign, str]] = {
    Sign.CAN_YOU: _CAN_YOU,
    Sign.PLEASE: _PLEASE,
    Sign.GREETING: _GREETING,
    Sign.SAID: _SAID,
    Sign.QUESTION_OPENS: _QUESTION_OPENS,
    Sign.QUESTION: _QUESTION,
    Sign.QUESTION_ENDS: _QUESTION_ENDS,
    Sign.IT: _IT,
    Sign.SEARCH: _SEARCH,
    Sign.WORK: _WORK,
    Sign.ORDER: _ORDER,
    Sign.I: _I,
    Sign.YOU: _YOU,
    Sign.BE: _BE,
    Sign.PARTICLE: _PARTICLE,
    Sign.WITH: _WITH,
    Sign.THE: _THE,
}
