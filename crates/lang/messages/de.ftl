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
nav-settings = Einstellungen
nav-me = Meine Einstellungen
nav-sign-in = Anmelden
nav-sign-out = Abmelden

# Anmeldung
login-title = Anmelden
login-user = Benutzername
login-password = Passwort
login-submit = Anmelden
login-oidc = Mit dem Firmenkonto anmelden
login-or = oder
login-already = Sie sind als { $name } angemeldet. Eine neue Anmeldung beendet diese Sitzung.
login-to-inbox = Zum Eingang
login-refused = Benutzername oder Passwort stimmt nicht.
login-wait = Zu viele Versuche. Versuchen Sie es in { $span } wieder.

# Der Eingang
inbox-title = Wartet auf Ihre Entscheidung
inbox-empty = Es wartet nichts auf Sie.
inbox-mine = Meine
inbox-my-roles = Meine Rollen
inbox-all = Alle
inbox-order = Reihenfolge
inbox-by-risk = Risiko
inbox-by-age = Alter
inbox-by-due = Frist
inbox-count = { $n ->
        [one] { $n } Freigabe
       *[other] { $n } Freigaben
    }
inbox-more-effects = { $n ->
        [one] und { $n } weitere Wirkung
       *[other] und { $n } weitere Wirkungen
    }
inbox-decide-before = Zu entscheiden bis { $when } ({ $relative })
inbox-undeliverable = Niemand war zu erreichen
page-next = Nächste Seite
page-previous = Vorige Seite

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
card-effect-to = { $kind } an { $target }
card-through = über { $provider }
card-exact = Der genaue Inhalt, wie er hinausgeht
card-impact-high = Große Tragweite
card-impact-normal = Normale Tragweite
card-impact-low = Geringe Tragweite
card-window = Wird { $span } nach der Freigabe gesendet; bis dahin lässt es sich abbrechen.
card-why-asked = Warum ein Mensch gefragt wird
card-why-was-asked = Warum ein Mensch gefragt wurde
card-your-decision = Ihre Entscheidung
card-logged-as = Protokolliert wird sie als { $who }.
card-logged-by-link = Protokolliert wird sie als { $who }, über diesen Link und ohne Anmeldung.
card-note = Anmerkung
card-note-hint = freiwillig, kommt ins Journal
card-reason = Begründung
card-reason-hint = zum Ablehnen erforderlich
card-approve = Freigeben und senden
card-reject = Ablehnen
card-edit = Bearbeiten
card-edit-approve = Diese Fassung freigeben
card-withdraw = Zurückziehen
card-cancel = Abbrechen
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
