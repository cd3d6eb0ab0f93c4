# Tidsrymder och avstånd
span-days = { $n ->
        [one] { $n } dag
       *[other] { $n } dagar
    }
span-hours = { $n ->
        [one] { $n } timme
       *[other] { $n } timmar
    }
span-minutes = { $n ->
        [one] { $n } minut
       *[other] { $n } minuter
    }
span-seconds = { $n ->
        [one] { $n } sekund
       *[other] { $n } sekunder
    }
from-days = { $n ->
        [one] { $n } dag
       *[other] { $n } dagar
    }
from-hours = { $n ->
        [one] { $n } timme
       *[other] { $n } timmar
    }
from-minutes = { $n ->
        [one] { $n } minut
       *[other] { $n } minuter
    }
from-seconds = { $n ->
        [one] { $n } sekund
       *[other] { $n } sekunder
    }
span-two = { $large } { $small }
relative-in = om { $span }
relative-ago = för { $span } sedan
relative-now = nu

# Ramen
nav-skip = Hoppa till innehållet
nav-main = Huvudmeny
nav-inbox = Inkorg
nav-runs = Körningar
nav-effects = Effekter
nav-review = Granskning
nav-switches = Brytare
nav-metrics = Mätvärden
nav-journal = Journal
nav-replays = Omkörningar
nav-settings = Inställningar
nav-me = Mina inställningar
nav-sign-in = Logga in
nav-sign-out = Logga ut

# Inloggning
login-title = Logga in
login-user = Användarnamn
login-password = Lösenord
login-submit = Logga in
login-already = Du är inloggad som { $name }. Om du loggar in igen avslutas den sessionen.
login-to-inbox = Till inkorgen
login-refused = Användarnamnet eller lösenordet stämmer inte.
login-wait = För många försök. Försök igen om { $span }.

# Inkorgen
inbox-title = Väntar på ditt beslut
inbox-mine = Mina
inbox-my-roles = Mina roller
inbox-all = Alla
inbox-order = Ordning
inbox-by-risk = Risk
inbox-by-age = Ålder
inbox-by-due = Tidsgräns
inbox-more-effects = { $n ->
        [one] och { $n } effekt till
       *[other] och { $n } effekter till
    }
inbox-undeliverable = Ingen kunde meddelas
page-next = Nästa sida

# Hur ett godkännande står
outcome-open = Väntar på beslut
outcome-approved = Godkänt
outcome-rejected = Avslaget
outcome-expired = Tiden gick ut
outcome-withdrawn = Återkallat
outcome-undeliverable = Gick inte att leverera
outcome-approved-text = Av { $who }, { $when }.
outcome-rejected-text = Av { $who }, { $when }. Inget skickades, och inget kommer att skickas.
outcome-expired-text = Ingen beslutade före { $when }. Inget skickades, och den här länken avgör ingenting längre.
outcome-withdrawn-text = Återkallat { $when }. Det finns inget att besluta längre.
outcome-undeliverable-text = Ingen kunde meddelas före { $when }. Inget skickades.

# Kortet
card-title = Godkännande
card-decide-before = Besluta före { $when } ({ $relative })
card-source = Källpost
card-what-goes-out = Det här skickas
card-what-it-was = Det här gällde det
card-no-effects = Inget skickas: godkännandet har inga effekter.
card-exact = Exakt det innehåll som skickas
card-impact-high = Stor påverkan
card-impact-normal = Normal påverkan
card-impact-low = Liten påverkan
card-window = Skickas { $span } efter godkännandet; fram till dess kan det avbrytas.
card-why-asked = Varför en människa tillfrågas
card-why-was-asked = Varför en människa tillfrågades
card-your-decision = Ditt beslut
card-note = Anteckning
card-note-hint = frivillig, förs in i journalen
card-reason = Skäl
card-reason-hint = krävs för att avslå
card-approve = Godkänn och skicka
card-reject = Avslå
card-withdraw = Återkalla
card-back = Tillbaka till godkännandet
card-decisions = Beslut
card-decision-approved = godkände
card-decision-rejected = avslog
card-decision-edited = ändrade
card-quorum = { $n } av { $of } godkännanden
card-details = Detaljer
card-size = { $characters ->
        [one] { $characters } tecken
       *[other] { $characters } tecken
    }, { $lines ->
        [one] { $lines } rad
       *[other] { $lines } rader
    }
card-rerun-title = Om något går fel
card-rerun = Ett godkännande lägger exakt de här effekterna i utkorgen, en gång. Går ett svar förlorat på vägen kallas effekten okänd och kontrolleras eller avgörs av en människa; den skickas aldrig om i blindo. En avslutad körning spelas aldrig upp igen: en rättelse är en ny händelse med en egen nyckel.
card-background = Bakgrund
card-summary = Sammanfattning, så som arbetsflödet skrev den
card-not-sent = Ingår inte i det som skickas.
card-output = Vad modellen tog fram
card-checks = Kontroller

# Vad som står i vägen
stop-not-asked = Du får läsa det här, men du är inte bland dem som har ombetts att besluta.
stop-qualification = Beslutet kräver behörigheten { $names }.
stop-decided-already = Du har redan beslutat. Fler beslut inväntas.
stop-own-request = Du har själv begärt det här, så någon annan måste godkänna det. Du kan avslå det.
stop-changed-title = Det här är inte vad du såg
stop-changed = Någon har ändrat det som ska skickas sedan du öppnade sidan. Läs igenom det igen innan du beslutar.
stop-over-title = Ditt beslut registrerades inte
stop-over = Det kom efter slutet. Nedan ser du hur det står till nu.
stop-reason-title = En sak till
stop-reason = Ange ett skäl för att avslå.
stop-sign-in-title = Logga in för att se det här
stop-sign-in = Länken leder bara till kortet. Vem som får läsa och besluta avgörs av kontot. Att du öppnade länken ändrade ingenting.
stop-outsider-title = Inte för det här kontot
stop-outsider = Du är inloggad som { $name }, som inte är bland dem som har ombetts att besluta.
stop-dead-link-title = Länken leder ingenstans
stop-dead-link = Den kan ha klippts av i ett e-postprogram eller skrivits in för hand. Kopiera hela länken ur meddelandet, eller logga in och titta i inkorgen.
stop-no-page-title = Sidan finns inte
stop-no-page = Adressen kan ha skrivits fel eller inte kopierats helt.
stop-foreign-form-title = Godtogs inte
stop-foreign-form = Formuläret kom inte från en sida i det här besöket. Öppna länken eller inkorgen igen, med kakor tillåtna, och besluta där.
stop-nothing-decided = Inget beslut togs.
stop-later = Servern kan inte svara just nu. Inget har ändrats. Försök igen om en minut.

# E-post och chatt
mail-subject-first = Beslut önskas: { $flow } { $key }
mail-subject-reminder = Påminnelse: beslut önskas: { $flow } { $key }
mail-subject-escalation = Eskalerat: beslut önskas: { $flow } { $key }
mail-subject-edited = Ändrat: beslut önskas: { $flow } { $key }
mail-subject-closed = Inget beslut: { $flow } { $key }
mail-lead-first = Du ombeds att besluta före { $when } ({ $relative }).
mail-lead-reminder = Ditt beslut väntas fortfarande, före { $when } ({ $relative }).
mail-lead-escalation = Ingen har beslutat ännu, så nu tillfrågas även du. Före { $when } ({ $relative }).
mail-lead-edited = Någon har ändrat det som ska skickas. Ditt beslut önskas om den här versionen, före { $when } ({ $relative }).
mail-lead-expired = Ingen beslutade före { $when }. Inget skickades. Du behöver inte göra något.
mail-lead-undeliverable = Ingen kunde meddelas före { $when }, så ingen beslutade. Inget skickades. Du behöver inte göra något.
mail-open = Öppna godkännandet
mail-flow = Flöde
mail-key = Nyckel
mail-why = Varför du tillfrågas
mail-effect = { $kind } till { $target }, via { $provider }
mail-impact-high = Stor påverkan
mail-cut = […avklippt här; kortet visar allt]
mail-more-effects = { $n ->
        [one] … och { $n } effekt till, på kortet
       *[other] … och { $n } effekter till, på kortet
    }
mail-foot = Att öppna länken ändrar ingenting. Bara knapparna på sidan avgör.
mail-for-you = Det här meddelandet är till { $who }. Länken är personlig: skicka den inte vidare.
mark-blanks = { $n ->
        [one] { $n } blanksteg
       *[other] { $n } blanksteg
    }
mark-blank-lines = { $n ->
        [one] { $n } tom rad
       *[other] { $n } tomma rader
    }
alert-subject = Larm från Effectgate: { $alert }
alert-more = Mer
alert-server = Server

# The pages' frame, and pages of lists
frame-menu = Meny
frame-renewed = Sidan har uppdaterats.
page-first = Första sidan

# The inbox's lines
inbox-waiting = Har väntat i { $span }
inbox-you-decided = Du har beslutat; andras beslut inväntas
inbox-late = Försenat
inbox-all-flows = Alla flöden
inbox-show = Visa
inbox-empty-mine = Inget väntar på dig personligen.
inbox-empty-roles = Inget väntar på dina roller.
inbox-empty-all = Inget väntar på någon.
inbox-empty-flow = Här visas bara ett flöde.

# What became of it
outcome-withdrawn-by = Återkallat av { $who }, { $when }. Inget skickades.
sent-none = Det har inga effekter.
sent-part = Klara: { $n } av { $of }.

# The card's parts
card-deadline = Besluta före
card-run = Öppna körningen
card-source-plain = ingen webbadress
card-edited = Ändrat
card-edits = Det som har ändrats
card-changed-since = Det som har ändrats sedan du öppnade sidan
card-now = Nu
effect-scheduled = planerad
effect-pending = väntar på att skickas
effect-sending = skickas
effect-unknown = okänd
effect-review = granskas av en människa
effect-completed = klar
effect-failed = misslyckad
effect-cancelled = avbruten
card-known-as = känd där som
card-whole-text = Hela texten, kan rullas
card-provider-mail = e-postserver; ett skickat brev går inte att få tillbaka
card-provider-enforcing = respekterar vår nyckel: samma begäran två gånger utförs en gång
card-provider-advisory = ingenting där hindrar att det utförs två gånger
card-provider-gone = finns inte längre i konfigurationen: detta skulle vänta
card-held = Sändningen är avstängd: det som godkänns väntar och skickas när brytaren slås på igen.
card-decider = Det loggas som
card-decider-by-link = Med den här länken och utan inloggning loggas det som
card-by-link = via länk
card-required = obligatoriskt
card-people = Tillfrågade
card-wants = { $n ->
        [one] Ytterligare { $n } godkännande behövs.
       *[other] Ytterligare { $n } godkännanden behövs.
    }
card-wants-non-editor = Det måste komma från någon som inte har ändrat något.
card-superseded = gäller en tidigare version; räknas inte
card-withdraw-title = Återkalla frågan
card-withdraw-hint = Körningen avslutas och inget skickas.
card-cancel-title = Avbryt den här effekten
card-cancel-submit = Avbryt effekten
card-output-hint = Rått, för jämförelse; det som skickas står ovan.
card-no-output = Har inte sparats, eller så fanns det inget.

# The clock
sla-title = Svarstid
sla-left = { $span } kvar av { $of }
sla-late = { $span } för sent, av { $of }
sla-stops = klockan står still medan människor beslutar
sla-runs = klockan går medan människor beslutar

# The card's details
fact-model = Modell
fact-model-revision = Modellrevision
fact-prompt-revision = Promptrevision
fact-model-provider = Modellleverantör
fact-iterations = Agentens varv
fact-asked-by = Begärt av
fact-qualification = Krävd behörighet
fact-run = Körning
fact-flow-revision = Flödesrevision

# What validation found
check-fits = Modellens svar följer flödets schema.
check-no-output = Modellen gav inget svar, eller så sparas det inte längre.
check-no-schema = Flödet har inget schema för modellens svar.
check-effects = Varje effekt klarade kontrollerna för sin typ och leverantör.
check-extracted = JSON-värdet togs ut ur omgivande text; inget i det ändrades.
check-repairs = { $n ->
        [one] Modellen tillfrågades { $n } gång till efter ett ogiltigt svar.
       *[other] Modellen tillfrågades { $n } gånger till efter ett ogiltigt svar.
    }
check-finish = Modellen slutade med ”{ $reason }”.

# What an edit changed
change-added = tillagt
change-removed = borttaget
change-changed = ändrat
change-before = Före
change-after = Efter

# Edit and approve
edit-title = Ändra och godkänn
edit-effect = Effekt { $n }
edit-intro = Du ändrar vad som skickas, inte vart. Med knappen godkänner du den nya versionen; ändringen visas på kortet.
edit-needs-another = Någon som inte har ändrat något måste också godkänna.
edit-submit = Godkänn med dessa ändringar
edit-one-per-line = En per rad.
edit-raw = JSON, så som det skickas.
edit-fixed = kan inte ändras
edit-hidden = Texten innehåller tecken som inte syns här. Kortet anger dem.
edit-whole = Innehåll
edit-not-given = inte angivet
edit-errors-title = Se över de här fälten
edit-errors = Inget beslut togs. Det du skrev finns kvar.
edit-missing = Det här måste anges.
edit-bad-number = Det här är inget tal. Skriv det som 1234.50.
edit-bad-json = Det här är inte JSON: { $detail }
edit-nothing = Du har inte ändrat något. Vill du godkänna det som det är, gör det på kortet.
edit-too-many = Det har ändrats för många gånger. Avslå det, och låt arbetsflödet föreslå på nytt.
edit-changed-meanwhile = Någon har ändrat det som ska skickas sedan du öppnade sidan. Inget beslut togs. Ändringarna står nedan; det du skrev finns kvar i formuläret.

# What a page says instead
stop-asks = Flödet { $flow } ber om ett beslut före { $when }.
stop-asked = Flödet { $flow } bad om ett beslut. Det är avslutat: { $state }.
stop-other-account = Logga ut och logga in med det konto som tillfrågades. Inget beslut togs.
stop-disabled-title = Kontot är avstängt
stop-disabled = Kontot som länken är utställd på används inte längre. Någon annan av de tillfrågade kan besluta.
stop-gone-title = Det finns inget sådant godkännande
stop-gone = Det finns inte, eller så togs uppgifterna bort långt efter att det hade avslutats.
stop-problem-title = Det gick inte
stop-later-title = Inte nu
stop-many-title = För många försök
stop-many = Vänta en stund före nästa försök.
stop-media = Bara formuläret på sidan avgör; andra kodningar avvisas.
stop-uncertain-title = Ännu inte säkert
stop-uncertain = Databasen försvann medan det här skrevs. Öppna sidan igen: den visar om det blev skrivet. Det gör ingen skada att besluta en gång till.
stop-reason-too-long = Skälet är för långt: högst 2 000 tecken.
stop-reason-wanted = Ett skäl krävs. Inget har ändrats.
stop-too-late-title = För sent
stop-too-late = Det går inte längre att avbryta. Nedan ser du hur det står till nu.
stop-kept = Sidan var från ett tidigare besök, så inget har beslutats. Det du skrev finns kvar: se igenom det och tryck på knappen igen. Händer det igen, tillåt kakor.
stop-ended-title = Utloggad under tiden
stop-ended = Din session tog slut medan du skrev. Inget har beslutats, och den här sidan behåller det du skrev. Logga in i en ny flik, kom tillbaka hit och fortsätt.
stop-ended-sign-in = Logga in (ny flik)
stop-ended-go-on = Jag är inloggad: fortsätt
login-with = Logga in med { $name }
login-local = Logga in med ett konto på den här servern
login-nobody = Ingen kan logga in här just nu: lokala konton är avstängda och ingen inloggningstjänst är konfigurerad.
sign-on-over-title = Den här inloggningen är över
sign-on-over = Den tog för lång tid, är redan klar eller påbörjades i en annan webbläsare. Det händer med bakåtknappen, ett bokmärke till den här sidan eller avstängda kakor. Inget har ändrats.
sign-on-away-title = Inloggningstjänsten svarar inte
sign-on-away = Det här är mellan servern och din organisations inloggningstjänst och har inte med ditt konto att göra. Försök igen om en minut.
sign-on-role-title = Du har ingen roll här
sign-on-role = Din organisation känner dig, men ingen av dina grupper har en roll på den här servern, så du loggades inte in. Be den som driver den om en roll.
sign-on-refused-title = Du loggades inte in
sign-on-refused = Inget har ändrats. Försök igen; händer det på nytt, ge den här orsaken till den som driver servern: { $reason }
sign-on-still = Du är fortfarande inloggad som { $name }.
sign-on-again = Logga in igen
sign-out-title = Du är utloggad här
sign-out-there = Nu loggas du ut från { $name }.
sign-out-on = Fortsätt

# Den egna sidan
me-who = Vem du är här
me-identity = Identitet
me-signed-in-with = Inloggad med
me-mail = E-postadress
me-roles = Roller
me-no-roles = inga: du ser de kort som du tillfrågas om
me-account = ett konto på den här servern
me-single-sign-on = enkel inloggning
me-language-and-zone = Språk och tidszon
me-language = Språk för kort, e-post och meddelanden
me-browser-language = Som min webbläsare säger
me-zone = Tidszon
me-save = Spara
me-saved = Sparat.
me-sessions = Sessioner
me-device-unknown = Ett program eller en okänd webbläsare
me-this-one = den här
me-session-times = Inloggad { $created }, senast använd { $seen }, slutar { $expires } om den inte används.
me-sign-out-everywhere = Logga ut överallt
me-this-too = Den här sessionen slutar också.
me-password = Lösenord
me-password-old = Det nuvarande
me-password-new = Ett nytt, minst 12 tecken
me-password-hint = Några egna ord är bäst; tecken och siffror krävs inte. Dina andra sessioner slutar.
me-password-change = Byt lösenord
