# Zeitspannen und Abstände
span-days = { $n ->
        [one] { $n } Tag
       *[other] { $n } Tage
    }
span-hours = { $n ->
        [one] { $n } Stunde
       *[other] { $n } Stunden
    }
span-minutes = { $n ->
        [one] { $n } Minute
       *[other] { $n } Minuten
    }
span-seconds = { $n ->
        [one] { $n } Sekunde
       *[other] { $n } Sekunden
    }
from-days = { $n ->
        [one] { $n } Tag
       *[other] { $n } Tagen
    }
from-hours = { $n ->
        [one] { $n } Stunde
       *[other] { $n } Stunden
    }
from-minutes = { $n ->
        [one] { $n } Minute
       *[other] { $n } Minuten
    }
from-seconds = { $n ->
        [one] { $n } Sekunde
       *[other] { $n } Sekunden
    }
span-two = { $large } { $small }
relative-in = in { $span }
relative-ago = vor { $span }
relative-now = jetzt

# Der Rahmen
nav-skip = Zum Inhalt springen
nav-main = Hauptnavigation
nav-inbox = Eingang
nav-runs = Läufe
nav-effects = Wirkungen
nav-review = Klärung
nav-switches = Schalter
nav-metrics = Kennzahlen
nav-journal = Journal
nav-replays = Wiederholungen
nav-settings = Einstellungen
nav-me = Meine Einstellungen
nav-sign-in = Anmelden
nav-sign-out = Abmelden

# Anmeldung
login-title = Anmelden
login-user = Benutzername
login-password = Passwort
login-submit = Anmelden
login-already = Sie sind als { $name } angemeldet. Eine neue Anmeldung beendet diese Sitzung.
login-to-inbox = Zum Eingang
login-refused = Benutzername oder Passwort stimmt nicht.
login-wait = Zu viele Versuche. Versuchen Sie es in { $span } wieder.

# Der Eingang
inbox-title = Wartet auf Ihre Entscheidung
inbox-mine = Meine
inbox-my-roles = Meine Rollen
inbox-all = Alle
inbox-order = Reihenfolge
inbox-by-risk = Risiko
inbox-by-age = Alter
inbox-by-due = Frist
inbox-more-effects = { $n ->
        [one] und { $n } weitere Wirkung
       *[other] und { $n } weitere Wirkungen
    }
inbox-undeliverable = Niemand war zu erreichen
page-next = Nächste Seite

# Wie eine Freigabe steht
outcome-open = Wartet auf eine Entscheidung
outcome-approved = Freigegeben
outcome-rejected = Abgelehnt
outcome-expired = Abgelaufen
outcome-withdrawn = Zurückgezogen
outcome-undeliverable = Nicht zustellbar
outcome-approved-text = Von { $who }, { $when }.
outcome-rejected-text = Von { $who }, { $when }. Es wurde nichts gesendet, und es wird nichts gesendet.
outcome-expired-text = Bis { $when } hat niemand entschieden. Es wurde nichts gesendet, und dieser Link entscheidet nichts mehr.
outcome-withdrawn-text = Zurückgezogen { $when }. Es gibt nichts mehr zu entscheiden.
outcome-undeliverable-text = Bis { $when } war niemand zu erreichen. Es wurde nichts gesendet.

# Die Karte
card-title = Freigabe
card-decide-before = Zu entscheiden bis { $when } ({ $relative })
card-source = Quelldatensatz
card-what-goes-out = Das wird gesendet
card-what-it-was = Darum ging es
card-no-effects = Es wird nichts gesendet: Diese Freigabe hat keine Wirkungen.
card-exact = Der genaue Inhalt, wie er hinausgeht
card-impact-high = Große Tragweite
card-impact-normal = Normale Tragweite
card-impact-low = Geringe Tragweite
card-window = Wird { $span } nach der Freigabe gesendet; bis dahin lässt es sich abbrechen.
card-why-asked = Warum ein Mensch gefragt wird
card-why-was-asked = Warum ein Mensch gefragt wurde
card-your-decision = Ihre Entscheidung
card-note = Anmerkung
card-note-hint = freiwillig, kommt ins Journal
card-reason = Begründung
card-reason-hint = zum Ablehnen erforderlich
card-approve = Freigeben und senden
card-reject = Ablehnen
card-withdraw = Zurückziehen
card-back = Zurück zur Freigabe
card-decisions = Entscheidungen
card-decision-approved = freigegeben
card-decision-rejected = abgelehnt
card-decision-edited = bearbeitet
card-quorum = { $n } von { $of } Freigaben
card-details = Einzelheiten
card-size = { $characters } Zeichen, { $lines ->
        [one] { $lines } Zeile
       *[other] { $lines } Zeilen
    }
card-rerun-title = Wenn etwas schiefgeht
card-rerun = Die Freigabe legt genau diese Wirkungen einmal in den Ausgang. Geht unterwegs eine Antwort verloren, gilt die Wirkung als unbekannt und wird nachgeschlagen oder von einem Menschen geklärt; blind wird nie noch einmal gesendet. Ein beendeter Lauf wird nie wiederholt: Eine Berichtigung ist ein neues Ereignis mit eigenem Schlüssel.
card-background = Hintergrund
card-summary = Zusammenfassung, wie der Arbeitsablauf sie schrieb
card-not-sent = Gehört nicht zu dem, was gesendet wird.
card-output = Was das Modell erzeugt hat
card-checks = Prüfungen

# Was im Weg steht
stop-not-asked = Sie dürfen dies lesen, gehören aber nicht zu denen, die um eine Entscheidung gebeten wurden.
stop-qualification = Diese Entscheidung verlangt die Qualifikation { $names }.
stop-decided-already = Sie haben schon entschieden. Weitere Entscheidungen stehen noch aus.
stop-own-request = Sie haben dies selbst angefordert, also muss jemand anderes es freigeben. Ablehnen dürfen Sie es.
stop-changed-title = Das ist nicht, was Sie gesehen haben
stop-changed = Was gesendet werden soll, wurde geändert, nachdem Sie diese Seite geöffnet haben. Lesen Sie es noch einmal, bevor Sie entscheiden.
stop-over-title = Ihre Entscheidung wurde nicht angenommen
stop-over = Sie kam nach dem Ende. Unten steht, wie es jetzt ist.
stop-reason-title = Eines noch
stop-reason = Zum Ablehnen geben Sie bitte eine Begründung an.
stop-sign-in-title = Melden Sie sich an, um dies zu sehen
stop-sign-in = Der Link führt nur zur Karte. Wer sie lesen und entscheiden darf, hängt vom Konto ab. Das Öffnen hat nichts geändert.
stop-outsider-title = Nicht für dieses Konto
stop-outsider = Sie sind als { $name } angemeldet. Dieses Konto wurde nicht um eine Entscheidung gebeten.
stop-dead-link-title = Dieser Link führt nirgendwohin
stop-dead-link = Vielleicht hat ihn ein Mailprogramm abgeschnitten, oder er wurde von Hand eingetippt. Kopieren Sie den ganzen Link aus der Nachricht, oder melden Sie sich an und sehen Sie im Eingang nach.
stop-no-page-title = Diese Seite gibt es nicht
stop-no-page = Vielleicht ist die Adresse vertippt oder nicht ganz kopiert.
stop-foreign-form-title = Nicht angenommen
stop-foreign-form = Dieses Formular kam nicht von einer Seite dieses Besuchs. Öffnen Sie den Link oder den Eingang noch einmal, mit erlaubten Cookies, und entscheiden Sie dort.
stop-nothing-decided = Es wurde nichts entschieden.
stop-later = Der Server kann gerade nicht antworten. Es wurde nichts geändert. Versuchen Sie es in einer Minute wieder.

# Mail und Chat
mail-subject-first = Entscheidung erbeten: { $flow } { $key }
mail-subject-reminder = Erinnerung: Entscheidung erbeten: { $flow } { $key }
mail-subject-escalation = Eskaliert: Entscheidung erbeten: { $flow } { $key }
mail-subject-edited = Geändert: Entscheidung erbeten: { $flow } { $key }
mail-subject-closed = Keine Entscheidung: { $flow } { $key }
mail-lead-first = Bitte entscheiden Sie bis { $when } ({ $relative }).
mail-lead-reminder = Ihre Entscheidung steht noch aus, bis { $when } ({ $relative }).
mail-lead-escalation = Noch hat niemand entschieden, darum werden nun auch Sie gefragt. Bis { $when } ({ $relative }).
mail-lead-edited = Was gesendet werden soll, wurde geändert. Bitte entscheiden Sie über diese Fassung, bis { $when } ({ $relative }).
mail-lead-expired = Bis { $when } hat niemand entschieden. Es wurde nichts gesendet. Es ist nichts mehr zu tun.
mail-lead-undeliverable = Bis { $when } war niemand zu erreichen, also hat niemand entschieden. Es wurde nichts gesendet. Es ist nichts mehr zu tun.
mail-open = Freigabe öffnen
mail-flow = Ablauf
mail-key = Schlüssel
mail-why = Warum Sie gefragt werden
mail-effect = { $kind } an { $target }, über { $provider }
mail-impact-high = Große Tragweite
mail-cut = […hier gekürzt; die Karte zeigt alles]
mail-more-effects = { $n ->
        [one] … und { $n } weitere Wirkung, auf der Karte
       *[other] … und { $n } weitere Wirkungen, auf der Karte
    }
mail-foot = Das Öffnen des Links ändert nichts. Nur die Schaltflächen auf der Seite entscheiden.
mail-for-you = Diese Nachricht ist für { $who }. Der Link ist persönlich: Geben Sie ihn nicht weiter.
mark-blanks = { $n ->
        [one] { $n } Leerzeichen
       *[other] { $n } Leerzeichen
    }
mark-blank-lines = { $n ->
        [one] { $n } Leerzeile
       *[other] { $n } Leerzeilen
    }
alert-subject = Effectgate-Alarm: { $alert }
alert-more = Mehr
alert-server = Server

# The pages' frame, and pages of lists
frame-menu = Menü
frame-renewed = Die Seite wurde aktualisiert.
page-first = Erste Seite

# The inbox's lines
inbox-waiting = Wartezeit: { $span }
inbox-you-decided = Sie haben entschieden; auf andere wird gewartet
inbox-late = Überfällig
inbox-all-flows = Alle Abläufe
inbox-show = Anzeigen
inbox-empty-mine = Auf Sie persönlich wartet nichts.
inbox-empty-roles = Auf Ihre Rollen wartet nichts.
inbox-empty-all = Auf niemanden wartet etwas.
inbox-empty-flow = Hier wird nur ein Ablauf gezeigt.

# What became of it
outcome-withdrawn-by = Zurückgezogen von { $who }, { $when }. Es wurde nichts gesendet.
sent-none = Es gibt keine Wirkungen.
sent-part = Erledigt: { $n } von { $of }.

# The card's parts
card-deadline = Zu entscheiden bis
card-run = Lauf öffnen
card-source-plain = keine Webadresse
card-edited = Bearbeitet
card-edits = Was geändert wurde
card-changed-since = Was sich geändert hat, seit Sie die Seite geöffnet haben
card-now = Jetzt
effect-scheduled = geplant
effect-pending = wartet auf den Versand
effect-sending = wird gesendet
effect-unknown = ungewiss
effect-review = wird von einem Menschen geprüft
effect-completed = erledigt
effect-failed = gescheitert
effect-cancelled = abgebrochen
card-known-as = dort bekannt als
card-whole-text = Ganzer Text, scrollbar
card-provider-mail = Mailserver; eine Mail lässt sich nicht zurückholen
card-provider-enforcing = achtet unseren Schlüssel: dieselbe Anfrage zweimal wird einmal ausgeführt
card-provider-advisory = nichts verhindert dort eine zweite Ausführung
card-provider-gone = nicht mehr in der Konfiguration: dies würde warten
card-held = Das Senden ist abgeschaltet: Freigegebenes wartet und geht hinaus, sobald der Schalter wieder an ist.
card-decider = Protokolliert wird sie als
card-decider-by-link = Über diesen Link und ohne Anmeldung wird sie protokolliert als
card-by-link = per Link
card-required = erforderlich
card-people = Gefragt wurden
card-wants = { $n ->
        [one] Noch { $n } Freigabe wird gebraucht.
       *[other] Noch { $n } Freigaben werden gebraucht.
    }
card-wants-non-editor = Sie muss von jemandem kommen, der nichts geändert hat.
card-superseded = zu einer früheren Fassung; zählt nicht
card-withdraw-title = Die Anfrage zurückziehen
card-withdraw-hint = Der Lauf endet, und es wird nichts gesendet.
card-cancel-title = Diese Wirkung abbrechen
card-cancel-submit = Wirkung abbrechen
card-output-hint = Roh, zum Vergleich; gesendet wird, was oben steht.
card-no-output = Nicht aufbewahrt, oder es gab nichts.

# The clock
sla-title = Frist für die Antwort
sla-left = noch { $span }, insgesamt { $of }
sla-late = um { $span } überschritten, insgesamt { $of }
sla-stops = die Uhr steht, solange Menschen entscheiden
sla-runs = die Uhr läuft, während Menschen entscheiden

# The card's details
fact-model = Modell
fact-model-revision = Modellrevision
fact-prompt-revision = Prompt-Revision
fact-model-provider = Modellanbieter
fact-iterations = Agentendurchläufe
fact-asked-by = Angefragt von
fact-qualification = Geforderte Qualifikation
fact-run = Lauf
fact-flow-revision = Ablaufrevision

# What validation found
check-fits = Die Ausgabe entspricht dem Schema des Ablaufs.
check-no-output = Es gab keine Modellausgabe, oder sie wird nicht mehr aufbewahrt.
check-no-schema = Der Ablauf hat kein Schema für die Ausgabe.
check-effects = Jede Wirkung hat die Prüfungen ihres Typs und Anbieters bestanden.
check-extracted = Das JSON wurde aus umgebendem Text genommen; nichts darin wurde geändert.
check-repairs = { $n ->
        [one] Das Modell wurde nach ungültiger Ausgabe { $n } Mal erneut gefragt.
       *[other] Das Modell wurde nach ungültiger Ausgabe { $n } Mal erneut gefragt.
    }
check-finish = Das Modell endete mit „{ $reason }“.

# What an edit changed
change-added = hinzugefügt
change-removed = entfernt
change-changed = geändert
change-before = Vorher
change-after = Nachher

# Edit and approve
edit-title = Bearbeiten und freigeben
edit-effect = Wirkung { $n }
edit-intro = Sie ändern, was gesendet wird, nicht wohin. Mit der Schaltfläche geben Sie die neue Fassung frei; die Änderung steht auf der Karte.
edit-needs-another = Jemand, der nichts geändert hat, muss sie ebenfalls freigeben.
edit-submit = Mit diesen Änderungen freigeben
edit-one-per-line = Eine Angabe pro Zeile.
edit-raw = JSON, wie es gesendet wird.
edit-fixed = nicht änderbar
edit-hidden = Dieser Text enthält Zeichen, die hier nicht zu sehen sind. Die Karte benennt sie.
edit-whole = Inhalt
edit-not-given = nicht angegeben
edit-errors-title = Bitte prüfen Sie diese Felder
edit-errors = Es wurde nichts entschieden. Ihre Eingaben sind noch da.
edit-missing = Diese Angabe ist erforderlich.
edit-bad-number = Das ist keine Zahl. Schreiben Sie 1234.50.
edit-bad-json = Das ist kein JSON: { $detail }
edit-nothing = Sie haben nichts geändert. Um so zuzustimmen, geben Sie es auf der Karte frei.
edit-too-many = Dies wurde zu oft bearbeitet. Lehnen Sie es ab, und lassen Sie einen neuen Vorschlag machen.
edit-changed-meanwhile = Was gesendet werden soll, wurde geändert, nachdem Sie diese Seite geöffnet haben. Es wurde nichts entschieden. Die Änderungen stehen unten; Ihre Eingaben sind noch im Formular.

# What a page says instead
stop-asks = Der Ablauf { $flow } bittet um eine Entscheidung bis { $when }.
stop-asked = Der Ablauf { $flow } bat um eine Entscheidung. Das ist vorbei: { $state }.
stop-other-account = Melden Sie sich ab und mit dem Konto an, das gefragt wurde. Es wurde nichts entschieden.
stop-disabled-title = Dieses Konto ist deaktiviert
stop-disabled = Das Konto, für das dieser Link ausgestellt wurde, ist nicht mehr in Gebrauch. Jemand anderes, der gefragt wurde, kann entscheiden.
stop-gone-title = Diese Freigabe gibt es nicht
stop-gone = Es gibt sie nicht, oder sie wurde lange nach ihrem Ende entfernt.
stop-problem-title = Das hat nicht geklappt
stop-later-title = Nicht jetzt
stop-many-title = Zu viele Versuche
stop-many = Warten Sie eine Weile vor dem nächsten Versuch.
stop-media = Nur das Formular auf der Seite entscheidet; andere Kodierungen werden abgelehnt.
stop-uncertain-title = Noch nicht sicher
stop-uncertain = Die Datenbank war beim Schreiben nicht mehr erreichbar. Öffnen Sie die Seite noch einmal: Sie zeigt, ob geschrieben wurde. Noch einmal zu entscheiden schadet nicht.
stop-reason-too-long = Die Begründung ist zu lang: höchstens 2.000 Zeichen.
stop-reason-wanted = Eine Begründung ist erforderlich. Es wurde nichts geändert.
stop-too-late-title = Zu spät
stop-too-late = Es lässt sich nicht mehr abbrechen. Unten steht, wie es jetzt ist.
stop-kept = Die Seite stammte von einem früheren Besuch, darum ist nichts entschieden. Was Sie geschrieben haben, steht noch hier: Sehen Sie es an und drücken Sie die Taste noch einmal. Kommt das wieder, lassen Sie Cookies zu.
stop-ended-title = Inzwischen abgemeldet
stop-ended = Ihre Sitzung ist abgelaufen, während Sie geschrieben haben. Nichts ist entschieden, und diese Seite bewahrt, was Sie geschrieben haben. Melden Sie sich in einem neuen Tab an, kommen Sie hierher zurück und fahren Sie fort.
stop-ended-sign-in = Anmelden (neuer Tab)
stop-ended-go-on = Ich bin angemeldet: weiter
login-with = Mit { $name } anmelden
login-local = Mit einem Konto dieses Servers anmelden
login-nobody = Zurzeit kann sich hier niemand anmelden: Lokale Konten sind abgeschaltet, und kein Anmeldedienst ist eingerichtet.
sign-on-over-title = Diese Anmeldung ist vorbei
sign-on-over = Sie hat zu lange gedauert, ist schon abgeschlossen oder wurde in einem anderen Browser begonnen. Das kommt vor bei der Zurück-Taste, einem Lesezeichen auf diese Seite oder ausgeschalteten Cookies. Nichts wurde geändert.
sign-on-away-title = Der Anmeldedienst antwortet nicht
sign-on-away = Das betrifft diesen Server und den Anmeldedienst Ihrer Organisation, nicht Ihr Konto. Versuchen Sie es in einer Minute wieder.
sign-on-role-title = Sie haben hier keine Rolle
sign-on-role = Ihre Organisation kennt Sie, aber keine Ihrer Gruppen hat auf diesem Server eine Rolle; Sie wurden nicht angemeldet. Bitten Sie die Betreiber um eine.
sign-on-refused-title = Sie wurden nicht angemeldet
sign-on-refused = Nichts wurde geändert. Versuchen Sie es noch einmal; geschieht es wieder, nennen Sie den Betreibern diesen Grund: { $reason }
sign-on-still = Sie sind weiterhin als { $name } angemeldet.
sign-on-again = Noch einmal anmelden
sign-out-title = Sie sind hier abgemeldet
sign-out-there = Nun werden Sie auch bei { $name } abgemeldet.
sign-out-on = Weiter

# Die eigene Seite
me-who = Wer Sie hier sind
me-identity = Identität
me-signed-in-with = Angemeldet mit
me-mail = E-Mail-Adresse
me-roles = Rollen
me-no-roles = keine: Sie sehen die Karten, zu denen Sie gefragt werden
me-account = ein Konto dieses Servers
me-single-sign-on = Single Sign-on
me-language-and-zone = Sprache und Zeitzone
me-language = Sprache von Karten, E-Mails und Nachrichten
me-browser-language = Wie mein Browser es sagt
me-zone = Zeitzone
me-save = Speichern
me-saved = Gespeichert.
me-sessions = Sitzungen
me-device-unknown = Ein Programm oder ein unbekannter Browser
me-this-one = diese
me-session-times = Angemeldet { $created }, zuletzt benutzt { $seen }, endet { $expires }, wenn sie nicht benutzt wird.
me-sign-out-everywhere = Überall abmelden
me-this-too = Auch diese Sitzung endet.
me-password = Passwort
me-password-old = Das bisherige
me-password-new = Ein neues, mindestens 12 Zeichen
me-password-hint = Am besten einige eigene Wörter; Zeichen und Ziffern sind nicht verlangt. Ihre anderen Sitzungen enden.
me-password-change = Passwort ändern
