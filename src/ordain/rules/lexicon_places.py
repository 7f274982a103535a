"""Words of times, places and choices between two."""

# ruff: noqa: RUF001 (the tables are in many scripts)
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ordain.rules.lexicon_signs import Sign

_DATE = """
today | tonight | tomorrow | tmrw | tmr | tmrow | tomorow | tommorow | tommorrow | tomo | 2morrow | yesterday | day after tomorrow
the day after tomorrow | this morning | this afternoon | this evening | tomorrow morning | tomorrow evening | morning | afternoon | evening | noon
midday | midnight | monday | tuesday | wednesday | thursday | friday | saturday | sunday | mondays | tue | tues | wed | weds | thu | thur | thurs
fri | weekend | weekends | weekday | next week | this week | next month | this month | next year | next day | day after | in a week | in an hour
in an hr | in half an hour | half an hour | in a few days | in a couple of days | in a month | fortnight | january | february | april | june | july
august | september | october | november | december | jan | feb | apr | jun | jul | aug | sept | sep | oct | nov | dec | oclock | o clock | half past
quarter past | quarter to | christmas | christmas eve | new year | new years eve | new years | easter | halloween | asap | as soon as possible
whenever | anytime | any time | any day | lunchtime | dinner time | at lunch | after lunch | after work | before noon | eod | end of the month
end of month | end of the week | end of day | sunrise | sunset | pm | a m | p m | minutes | mins | hours | hrs | days | weeks | months | next monday
spring | summer | autumn | winter | once | right now please | daily | weekly | early next week
heute | heute abend | heute nacht | morgen | morgen früh | morgen abend | übermorgen | gestern | montag | dienstag | mittwoch | donnerstag | freitag
samstag | sonnabend | sonntag | montags | früh | vormittag | mittag | mittags | nachmittag | nachmittags | abend | abends | nachts | mitternacht
heut | nächste woche | nächsten monat | nächstes jahr | diese woche | in einer stunde | in einer woche | halbe stunde | in einer halben stunde
wochenende | am wochenende | uhr | halb | viertel vor | viertel nach | dreiviertel | jänner | januar | februar | märz | juni | juli | oktober
dezember | weihnachten | silvester | neujahr | ostern | pfingsten | egal wann | wann du willst | so bald wie möglich | schnellstmöglich | stunden
stunde | minuten | tage | tagen | wochen | monate | feierabend | nach der arbeit | jederzeit | irgendwann | frühling | sommer | herbst
ende der woche | ende des monats | morgn | moin früh
hoy | mañana | pasado mañana | ayer | esta noche | esta tarde | mañana por la mañana | mañana por la tarde | por la mañana | por la tarde
por la noche | de la mañana | de la tarde | de la noche | lunes | martes | miércoles | jueves | viernes | sábado | domingo | mediodía | medianoche
próxima semana | la semana que viene | semana que viene | la próxima semana | el próximo mes | el mes que viene | fin de semana | en una hora
en media hora | media hora | enero | febrero | marzo | abril | mayo | junio | julio | agosto | septiembre | setiembre | octubre | noviembre
diciembre | navidad | nochevieja | año nuevo | semana santa | cuando quieras | cuando puedas | lo antes posible | cuanto antes | horas | hora
minutos | días | semanas | a las tres | a las dos | a las cuatro | a las cinco | a las seis | a las siete | a las ocho | a las nueve | a las diez
a la una | y media | y cuarto | menos cuarto | tarde | noche
aujourd hui | ce soir | ce matin | cet après midi | demain | demain matin | demain soir | après demain | hier soir | lundi | mardi | mercredi | jeudi
vendredi | samedi | dimanche | midi | minuit | matin | soir | après midi | semaine prochaine | la semaine prochaine | mois prochain | le mois prochain
cette semaine | ce week end | week end | le week end | dans une heure | dans une demi heure | une demi heure | janvier | février | mars | avril | juin
juillet | août | septembre | octobre | novembre | décembre | noël | nouvel an | pâques | heures | heure | jours | semaines | dès que possible
n importe quand | quand tu veux | h du matin | et demie | et quart
oggi | domani | dopodomani | ieri | stasera | stamattina | stanotte | domani mattina | domani sera | lunedì | martedì | mercoledì | giovedì | venerdì
sabato | domenica | mezzogiorno | mezzanotte | mattina | pomeriggio | sera | la prossima settimana | settimana prossima | prossima settimana
mese prossimo | fine settimana | tra un ora | fra un ora | mezz ora | gennaio | febbraio | aprile | maggio | giugno | luglio | settembre | ottobre
dicembre | natale | capodanno | pasqua | ore | minuti | giorni | settimane | prima possibile | il prima possibile | quando vuoi | hoje | amanhã
depois de amanhã | ontem | hoje à noite | amanhã de manhã | segunda | terça | quarta | quinta | sexta | segunda feira | terça feira | quarta feira
quinta feira | sexta feira | meio dia | meia noite | manhã | de manhã | à tarde | à noite | da manhã | da tarde | semana que vem | mês que vem
próximo mês | daqui a uma hora | meia hora | janeiro | fevereiro | março | maio | junho | julho | setembro | outubro | novembro | dezembro | natal
ano novo | páscoa | dias | o mais rápido possível | quando quiser
vandaag | morgenochtend | morgenavond | morgenmiddag | vanavond | vanmiddag | vanochtend | overmorgen | gisteren | maandag | dinsdag | woensdag
donderdag | vrijdag | zaterdag | zondag | ochtend | middag | avond | middernacht | volgende week | volgende maand | deze week | over een uur
half uur | uur | januari | februari | maart | mei | augustus | kerst | pasen | zo snel mogelijk | dagen | weken | dziś | dzisiaj | jutro | pojutrze
wczoraj | dziś wieczorem | jutro rano | jutro wieczorem | poniedziałek | wtorek | środa | środę | czwartek | piątek | sobota | sobotę | niedziela
niedzielę | rano | południe | w południe | wieczorem | wieczór | północ | o północy | przyszły tydzień | w przyszłym tygodniu | za tydzień
za godzinę | godzina | godzin | minut | dni | styczeń | stycznia | lutego | marca | kwietnia | maja | czerwca | lipca | sierpnia | września
października | listopada | grudnia | święta | o piątej | o szóstej | o siódmej | o ósmej | o dziewiątej | o trzeciej
bugün | yarın | yarin | öbür gün | ertesi gün | dün | bu akşam | bu sabah | yarın sabah | yarın akşam | pazartesi | salı | çarşamba | perşembe | cuma
cumartesi | pazar | sabah | öğlen | öğle | öğleden sonra | akşam | gece | gece yarısı | haftaya | gelecek hafta | önümüzdeki hafta | gelecek ay
hafta sonu | bir saat sonra | yarım saat | saat | saatte | dakika | gün | hafta | ocak | şubat | nisan | mayıs | haziran | temmuz | ağustos | eylül
ekim | kasım | aralık | buçuk | buçukta | en kısa zamanda | ne zaman istersen
сегодня | завтра | послезавтра | вчера | сегодня вечером | завтра утром | завтра вечером | понедельник | вторник | среда | среду | четверг | пятница
пятницу | суббота | субботу | воскресенье | утром | днем | вечером | ночью | полдень | в полдень | полночь | на следующей неделе | следующая неделя
через неделю | через час | через полчаса | полчаса | в выходные | выходные | час | часа | часов | минут | дней | января | февраля | марта | апреля
мая | июня | июля | августа | сентября | октября | ноября | декабря | новый год | рождество | как можно скорее | в любое время | в пять | в шесть
в семь | в восемь | утра | вечера | сьогодні | післязавтра | вчора | увечері | ввечері | вранці | понеділок | вівторок | середу | четвер | пятницю
п ятницю | суботу | неділю | опівдні | наступного тижня | через тиждень | через годину | годину | годині | хвилин | січня | лютого | березня | квітня
травня | червня | липня | серпня | вересня | жовтня | листопада | грудня
idag | i dag | imorgon | i morgon | i övermorgon | igår | ikväll | i kväll | måndag | tisdag | onsdag | torsdag | fredag | lördag | söndag | förmiddag
eftermiddag | kväll | midnatt | nästa vecka | nästa månad | om en timme | timmar | klockan | kl | helgen | i helgen | maj | så snart som möjligt
midsommar
今日 | 明日 | あした | あす | 明後日 | あさって | 昨日 | 今夜 | 今晩 | 今朝 | 月曜 | 火曜 | 水曜 | 木曜 | 金曜 | 土曜 | 日曜 | 月曜日 | 火曜日 | 水曜日 | 木曜日 | 金曜日 | 土曜日 | 日曜日 | 午前 | 午後 | 正午 | 夜
朝 | 昼 | 夕方 | 来週 | 再来週 | 今週 | 来月 | 来年 | 週末 | 時 | 時半 | 時間後 | 分後 | 日 | 月 | クリスマス | いつでも | 今天 | 明天 | 后天 | 昨天 | 今晚 | 明早 | 明晚 | 早上 | 上午 | 中午 | 下午 | 晚上 | 半夜
星期一 | 星期二 | 星期三 | 星期四 | 星期五 | 星期六 | 星期天 | 星期日 | 周一 | 周二 | 周三 | 周四 | 周五 | 周六 | 周日 | 礼拜一 | 礼拜五 | 周末 | 下周 | 这周 | 下个月 | 下个星期 | 下星期 | 明年 | 点 | 点半 | 点钟
小时后 | 分钟后 | 号 | 春节 | 圣诞节 | 随时 | 尽快 | 後天 | 下週 | 點 | 小時 | 오늘 | 내일 | 모레 | 어제 | 오늘 밤 | 내일 아침 | 월요일 | 화요일 | 수요일 | 목요일 | 금요일 | 토요일 | 일요일 | 아침 | 오전 | 오후 | 저녁
정오 | 자정 | 다음 주 | 다음주 | 이번 주 | 주말 | 다음 달 | 시 | 시간 후 | 시간 뒤 | 분 후 | 월 | 언제든지 | 아무때나
اليوم | غدا | بكرة | بعد غد | أمس | الليلة | هذا المساء | صباحا | مساء | ظهرا | الاثنين | الثلاثاء | الأربعاء | الخميس | الجمعة | السبت | الأحد
الأسبوع القادم | الشهر القادم | الساعة | بعد ساعة | आज | कल | परसों | आज रात | आज शाम | कल सुबह | सुबह | दोपहर | शाम | रात | सोमवार | मंगलवार | बुधवार
गुरुवार | शुक्रवार | शनिवार | रविवार | अगले हफ्ते | अगले सप्ताह | अगले महीने | बजे | घंटे | aaj | kal | subah | shaam | baje
at one | at two | at three | at four | at five | at six | at seven | at eight | at nine | at ten | at eleven | at twelve | um eins | um zwei
um drei | um vier | um fünf | um sechs | um sieben | um acht | um neun | um zehn | um elf | um zwölf | gegen eins | gegen zwei | gegen drei
gegen vier | gegen fünf | gegen sechs | gegen sieben | gegen acht | gegen neun | gegen zehn | gegen elf | gegen zwölf | om een uur | om twee uur
om drie uur | om vier uur | om vijf uur | om zes uur | om zeven uur | om acht uur | om negen uur | om tien uur | om elf uur | om twaalf uur
a las una | a las dos | a las tres | a las cuatro | a las cinco | a las seis | a las siete | a las ocho | a las nueve | a las diez | a las once
a las doce | half | halb eins | halb zwei | halb drei | halb vier | halb fünf | halb sechs | halb sieben | halb acht | halb neun | halb zehn
halb elf | halb zwölf
"""

_NOW = """
now | right now | jetzt | jetzt gleich | ahora | maintenant | adesso | ora | agora | nu | teraz | şimdi | сейчас | зараз | 今 | 今すぐ | 现在 | 지금 | الآن
अभी
"""

_ONE = """
1 | 1st | first | the first | first one | the former | former | number one | numero uno | erste | ersten | erster | erstes | das erste | die erste
den ersten | ersteres | eins | nummer 1 | nummer eins | primero | primera | el primero | la primera | premier | première | le premier | la première
la 1re | primo | prima opzione | il primo | la prima | primeiro | primeira | o primeiro | a primeira | eerste | de eerste | het eerste | pierwszy
pierwsza | pierwsze | pierwszą | birinci | ilki | birincisi | ilk | первый | первое | первая | первую | один | перший | перше | перша | första
den första | 一つ目 | 1つ目 | 最初 | 最初の | 一番目 | 第一 | 第一个 | 前者 | 첫 번째 | 첫번째 | 일번 | الأول | الأولى | पहला | पहली | पहले वाला | uno | ① | a plan one | top one
left one | the left one
"""
_TWO = """
2 | 2nd | second | the second | second one | the latter | latter | number two | numero dos | zweite | zweiten | zweiter | zweites | das zweite
die zweite | den zweiten | letzteres | zwei | nummer 2 | nummer zwei | segundo | segunda opción | la segunda | el segundo | deuxième | le deuxième
la deuxième | le second | la seconde | la 2e | secondo | seconda | il secondo | la seconda | o segundo | a segunda | tweede | de tweede | het tweede
drugi | druga | drugie | drugą | ikinci | ikincisi | второй | второе | вторая | вторую | два | другий | друге | друга | andra | den andra | 二つ目 | 2つ目
二番目 | 第二 | 第二个 | 后者 | 두 번째 | 두번째 | 이번 거 | الثاني | الثانية | दूसरा | दूसरी | दूसरे वाला | dos | last one | ② | the right one
"""
_CHOOSE = """
option | opt | choice | number | nr | variant | version | answer is | i choose | i pick | i take | ill take | i ll take | ill go with | i ll go with
i go with | i prefer | id prefer | i would prefer | i d prefer | i like | id go with | definitely option | go with option | ich nehme | ich nehm
ich wähle | ich bevorzuge | ich bin für | ich will | nehmen wir | variante | möglichkeit | antwort | auswahl | opción | elijo | prefiero
me quedo con | escojo | la opción | choix | l option | je choisis | je prends | je préfère | opzione | scelgo | preferisco | prendo | opção | escolho
prefiro | fico com | optie | ik kies | ik neem | liever optie | opcja | opcję | wybieram | wolę | seçenek | seçiyorum | вариант | выбираю | я выбираю
варіант | обираю | alternativ | jag väljer | jag tar | 番 | 案 | プラン | のほう | の方 | 选项 | 选 | 选择 | 我选 | 方案 | 号选项 | 번 | 안 | 선택 | 번으로 | خيار | الخيار | أختار
विकल्प | वाला | वाली
"""
_PLACE = """
here | right here | my place | my location | my current location | current location | home | at home | my home | my house | at work | my office
the office | at my place | where i am | where i am now | same place | same place as last time | near | close to | next to | around | downtown
city center | city centre | nearby | i am in | im in | i m in | i live in | im at | i am at | im near | im from | i am from | im staying in
im currently in | its in | in the city of | outside | airport | station | street | avenue | ave | road | boulevard | blvd | square | hotel | hier
bei mir | bei mir zuhause | zu hause | zuhause | daheim | mein standort | aktueller standort | in der nähe | in der nähe von | nähe | ich bin in
ich bin gerade in | bin in | bin gerade in | ich wohne in | in meiner stadt | innenstadt | stadtmitte | hauptbahnhof | bahnhof | hbf | flughafen
straße | strasse | platz | gasse | allee | aquí | aqui | acá | en casa | en mi casa | mi casa | mi ubicación | mi ubicación actual | cerca de | cerca
estoy en | vivo en | al lado de | el centro | centro | aeropuerto | calle | avenida | plaza | paseo | ici | chez moi | à la maison | ma position
près de | à côté de | je suis à | je suis en | je suis au | j habite à | centre ville | gare | aéroport | rue | place | qui vicino | a casa
a casa mia | vicino a | sono a | sono in | abito a | stazione | aeroporto | via | piazza | em casa | minha casa | perto de | estou em | estou no
estou na | moro em | rua | praça | hier in de buurt | thuis | bij mij thuis | in de buurt van | ik ben in | ik woon in | straat | plein | tutaj
w domu | u mnie | blisko | jestem w | mieszkam w | ulica | ul | plac | burada | buradayım | evde | evim | yakınında | sokak | caddesi | cadde
mahallesi | здесь | дома | у меня дома | рядом с | около | я в | я живу в | улица | ул | проспект | площадь | тут поруч | вдома | вулиця | вул
я живу у | här | hemma | nära | jag är i | jag bor i | gatan | ここ | うち | 家 | 自宅 | 駅 | 近く | 市 | 区 | 県 | 这里 | 这儿 | 家里 | 附近 | 我在 | 公司 | 火车站 | 机场 | 路 | 街
여기 | 집 | 우리 집 | 근처 | 역 | هنا | البيت | في البيت | قرب | شارع | यहाँ | यहां | घर | घर पर | पास | 📍 | 🏠
"""

PLACES: Final[Mapping[Sign, str]] = {
    Sign.ONE: _ONE,
    Sign.TWO: _TWO,
    Sign.LETTER_A: "a",
    Sign.LETTER_B: "b",
    Sign.CHOOSE: _CHOOSE,
    Sign.DATE: _DATE,
    Sign.NOW: _NOW,
    Sign.PLACE: _PLACE,
}
