# Spans and distances
span-days = { $n ->
        [one] { $n } day
       *[other] { $n } days
    }
span-hours = { $n ->
        [one] { $n } hour
       *[other] { $n } hours
    }
span-minutes = { $n ->
        [one] { $n } minute
       *[other] { $n } minutes
    }
span-seconds = { $n ->
        [one] { $n } second
       *[other] { $n } seconds
    }
from-days = { $n ->
        [one] { $n } day
       *[other] { $n } days
    }
from-hours = { $n ->
        [one] { $n } hour
       *[other] { $n } hours
    }
from-minutes = { $n ->
        [one] { $n } minute
       *[other] { $n } minutes
    }
from-seconds = { $n ->
        [one] { $n } second
       *[other] { $n } seconds
    }
span-two = { $large } { $small }
relative-in = in { $span }
relative-ago = { $span } ago
relative-now = now

# The frame
nav-skip = Skip to the content
nav-main = Main navigation
nav-inbox = Inbox
nav-runs = Runs
nav-effects = Effects
nav-review = Review
nav-switches = Switches
nav-metrics = Metrics
nav-journal = Journal
nav-replays = Replays
nav-settings = Settings
nav-me = My settings
nav-sign-in = Sign in
nav-sign-out = Sign out

# Signing in
login-title = Sign in
login-user = User name
login-password = Password
login-submit = Sign in
login-already = You are signed in as { $name }. Signing in again ends that session.
login-to-inbox = To the inbox
login-refused = User name or password is not right.
login-wait = Too many tries. Try again in { $span }.

# The inbox
inbox-title = Waiting for your decision
inbox-mine = Mine
inbox-my-roles = My roles
inbox-all = All
inbox-order = Order
inbox-by-risk = Risk
inbox-by-age = Age
inbox-by-due = Due
inbox-more-effects = { $n ->
        [one] and { $n } more effect
       *[other] and { $n } more effects
    }
inbox-undeliverable = Nobody could be told
page-next = Next page

# How an approval stands
outcome-open = Waiting for a decision
outcome-approved = Approved
outcome-rejected = Rejected
outcome-expired = Expired
outcome-withdrawn = Withdrawn
outcome-undeliverable = Undeliverable
outcome-approved-text = By { $who }, { $when }.
outcome-rejected-text = By { $who }, { $when }. Nothing was sent, and nothing will be.
outcome-expired-text = Nobody decided before { $when }. Nothing was sent, and this link decides nothing any more.
outcome-withdrawn-text = Taken back { $when }. There is nothing to decide any more.
outcome-undeliverable-text = Nobody could be told of it before { $when }. Nothing was sent.

# The card
card-title = Approval
card-decide-before = Decide before { $when } ({ $relative })
card-source = Source record
card-what-goes-out = What will be sent
card-what-it-was = What this was about
card-no-effects = Nothing is sent: this approval has no effects.
card-exact = The exact payload, as it goes out
card-impact-high = High impact
card-impact-normal = Normal impact
card-impact-low = Low impact
card-window = Sent { $span } after the approval; it can be cancelled until then.
card-why-asked = Why a person is asked
card-why-was-asked = Why a person was asked
card-your-decision = Your decision
card-note = Note
card-note-hint = optional, goes into the journal
card-reason = Reason
card-reason-hint = required to reject
card-approve = Approve and send
card-reject = Reject
card-withdraw = Withdraw
card-back = Back to the approval
card-decisions = Decisions
card-decision-approved = approved
card-decision-rejected = rejected
card-decision-edited = edited
card-quorum = { $n } of { $of } approvals
card-details = Details
card-size = { $characters ->
        [one] { $characters } character
       *[other] { $characters } characters
    }, { $lines ->
        [one] { $lines } line
       *[other] { $lines } lines
    }
card-rerun-title = If something goes wrong
card-rerun = Approving puts exactly these effects into the outbox, once. If an answer is lost on the way, the effect is called unknown and is looked up or settled by a person; it is never blindly sent again. A finished run is never replayed: a correction is a new event with a key of its own.
card-background = Background
card-summary = Summary, as the worker wrote it
card-not-sent = Not part of what is sent.
card-output = What the model produced
card-checks = Validation

# What stands in the way
stop-not-asked = You may read this, but you are not among those who were asked to decide.
stop-qualification = This decision wants the qualification { $names }.
stop-decided-already = You decided already. Others of the quorum are waited for.
stop-own-request = You asked for this yourself, so somebody else has to approve it. You may reject it.
stop-changed-title = This is not what you saw
stop-changed = Somebody changed what is to be sent after you opened this page. Read it again before you decide.
stop-over-title = Your decision was not taken
stop-over = It came after the end. Below is what is there now.
stop-reason-title = One more thing
stop-reason = To reject, give a reason.
stop-sign-in-title = Sign in to see this
stop-sign-in = The link only finds the card. Who may read it and decide is a matter of the account. Opening it changed nothing.
stop-outsider-title = Not for this account
stop-outsider = You are signed in as { $name }, who is not among those who were asked to decide.
stop-dead-link-title = This link leads nowhere
stop-dead-link = It may have been cut by a mail program, or typed by hand. Copy the whole link out of the message, or sign in and look into your inbox.
stop-no-page-title = There is no such page
stop-no-page = The address may have been typed or copied with a mistake.
stop-foreign-form-title = Not accepted
stop-foreign-form = This form did not come from a page of this visit. Open the link or the inbox again, with cookies allowed, and decide there.
stop-nothing-decided = Nothing was decided.
stop-later = The server cannot answer at this moment. Nothing was changed. Try again in a minute.

# Mail and chat
mail-subject-first = Decision wanted: { $flow } { $key }
mail-subject-reminder = Reminder: decision wanted: { $flow } { $key }
mail-subject-escalation = Escalated: decision wanted: { $flow } { $key }
mail-subject-edited = Changed: decision wanted: { $flow } { $key }
mail-subject-closed = No decision: { $flow } { $key }
mail-lead-first = You are asked for a decision before { $when } ({ $relative }).
mail-lead-reminder = Your decision is still wanted, before { $when } ({ $relative }).
mail-lead-escalation = Nobody has decided yet, so you are asked too. Before { $when } ({ $relative }).
mail-lead-edited = Somebody changed what is to be sent. Your decision is wanted about this version, before { $when } ({ $relative }).
mail-lead-expired = Nobody decided before { $when }. Nothing was sent. There is nothing to do any more.
mail-lead-undeliverable = Nobody could be told before { $when }, so nobody decided. Nothing was sent. There is nothing to do any more.
mail-open = Open the approval
mail-flow = Flow
mail-key = Key
mail-why = Why you are asked
mail-effect = { $kind } to { $target }, through { $provider }
mail-impact-high = High impact
mail-cut = […cut here; the card shows all of it]
mail-more-effects = { $n ->
        [one] … and { $n } more effect, on the card
       *[other] … and { $n } more effects, on the card
    }
mail-foot = Opening the link changes nothing. Only the buttons on the page decide.
mail-for-you = This message is for { $who }. The link is personal: do not pass it on.
mark-blanks = { $n ->
        [one] { $n } blank
       *[other] { $n } blanks
    }
mark-blank-lines = { $n ->
        [one] { $n } blank line
       *[other] { $n } blank lines
    }
alert-subject = Effectgate alert: { $alert }
alert-more = More
alert-server = Server

# The pages' frame, and pages of lists
frame-menu = Menu
frame-renewed = This page was brought up to date.
page-first = First page

# The inbox's lines
inbox-waiting = Waiting for { $span }
inbox-you-decided = You decided; others are waited for
inbox-late = Late
inbox-all-flows = All flows
inbox-show = Show
inbox-empty-mine = Nothing waits for you by name.
inbox-empty-roles = Nothing waits for your roles.
inbox-empty-all = Nothing waits for anybody.
inbox-empty-flow = Only one flow is shown here.

# What became of it
outcome-withdrawn-by = Taken back by { $who }, { $when }. Nothing was sent.
sent-none = It has no effects.
sent-part = Completed: { $n } of { $of }.

# The card's parts
card-deadline = Decide before
card-run = Open the run
card-source-plain = not a web address
card-edited = Edited
card-edits = What people changed
card-changed-since = What changed since you opened the page
card-now = Now
effect-scheduled = scheduled
effect-pending = pending
effect-sending = sending
effect-unknown = unknown
effect-review = review
effect-completed = completed
effect-failed = failed
effect-cancelled = cancelled
card-known-as = known there as
card-whole-text = Whole text, scrolls
card-provider-mail = mail server; a mail cannot be called back
card-provider-enforcing = honours our key: the same request twice is done once
card-provider-advisory = nothing over there stops a second execution
card-provider-gone = not in the config any more: this would wait
card-held = Sending is switched off: what is approved waits, and goes out once the switch is on again.
card-decider = It will be logged as
card-decider-by-link = By this link and without a sign-in, it will be logged as
card-by-link = by link
card-required = required
card-people = People asked
card-wants = { $n ->
        [one] { $n } more approval is wanted.
       *[other] { $n } more approvals are wanted.
    }
card-wants-non-editor = It has to come from somebody who edited nothing.
card-superseded = about an earlier version; does not count
card-withdraw-title = Take the question back
card-withdraw-hint = The run ends and nothing is sent.
card-cancel-title = Call this effect back
card-cancel-submit = Cancel the effect
card-output-hint = Raw, for comparison; what is sent is above.
card-no-output = Not kept, or there was none.

# The clock
sla-title = Time to answer
sla-left = { $span } left of { $of }
sla-late = late by { $span }, of { $of }
sla-stops = the clock stands still while people decide
sla-runs = the clock runs while people decide

# The card's details
fact-model = Model
fact-model-revision = Model revision
fact-prompt-revision = Prompt revision
fact-model-provider = Model provider
fact-iterations = Agent iterations
fact-asked-by = Asked for by
fact-qualification = Qualification wanted
fact-run = Run
fact-flow-revision = Flow revision

# What validation found
check-fits = The output fits the flow's schema.
check-no-output = There was no model output, or it is not kept any more.
check-no-schema = The flow has no schema for the output.
check-effects = Each effect passed the checks of its type and its provider.
check-extracted = The JSON was taken out of surrounding text; nothing in it was changed.
check-repairs = { $n ->
        [one] The model was asked again { $n } time after an invalid output.
       *[other] The model was asked again { $n } times after an invalid output.
    }
check-finish = The model ended with “{ $reason }”.

# What an edit changed
change-added = added
change-removed = removed
change-changed = changed
change-before = Before
change-after = After

# Edit and approve
edit-title = Edit and approve
edit-effect = Effect { $n }
edit-intro = You change what is sent, not where to. With the button you approve the new version; the change is shown on the card.
edit-needs-another = Somebody who edited nothing has to approve it too.
edit-submit = Approve with these changes
edit-one-per-line = One per line.
edit-raw = JSON, as it goes out.
edit-fixed = cannot be changed
edit-hidden = This text holds characters that are not seen here. The card names them.
edit-whole = Payload
edit-not-given = not given
edit-errors-title = Please look at these fields
edit-errors = Nothing was decided. What you typed is still here.
edit-missing = This is required.
edit-bad-number = This is no number. Write it as 1234.50.
edit-bad-json = This is no JSON: { $detail }
edit-nothing = You changed nothing. To agree as it is, approve on the card.
edit-too-many = This was edited too often. Reject it, and let the worker propose again.
edit-changed-meanwhile = Somebody changed what is to be sent after you opened this page. Nothing was decided. What they changed is listed below; what you typed is still in the form.

# What a page says instead
stop-asks = The flow { $flow } asks for a decision before { $when }.
stop-asked = The flow { $flow } asked for a decision. It is over: { $state }.
stop-other-account = Sign out and sign in with the account that was asked. Nothing was decided.
stop-disabled-title = This account is disabled
stop-disabled = The account this link was issued to is not in use any more. Somebody else who was asked can decide.
stop-gone-title = There is no such approval
stop-gone = It does not exist, or its record was removed long after its end.
stop-problem-title = This did not work
stop-later-title = Not now
stop-many-title = Too many tries
stop-many = Wait a while before the next try.
stop-media = Only the form on the page decides; other encodings are refused.
stop-uncertain-title = Not certain yet
stop-uncertain = The database went away while this was written. Open the page again: it shows whether it was. Deciding again does no harm.
stop-reason-too-long = The reason is too long: 2,000 characters are the most.
stop-reason-wanted = A reason is required. Nothing was changed.
stop-too-late-title = Too late
stop-too-late = It can no longer be called back. Below is what is there now.
stop-kept = The page was from an earlier visit, so nothing was decided. What you typed is still here: look at it and press the button again. If this comes back, allow cookies.
stop-ended-title = Signed out meanwhile
stop-ended = Your session ended while you were writing. Nothing was decided, and this page keeps what you typed. Sign in in a new tab, come back to this one, and go on.
stop-ended-sign-in = Sign in (new tab)
stop-ended-go-on = I am signed in: go on
login-with = Sign in with { $name }
login-local = Sign in with an account of this server
login-nobody = Nobody can sign in here at present: local accounts are switched off, and no sign-in service is configured.
sign-on-over-title = This sign-in is over
sign-on-over = It took too long, is finished already, or was begun in another browser. That happens with the back button, a bookmark of this page, or cookies that are switched off. Nothing was changed.
sign-on-away-title = The sign-in service does not answer
sign-on-away = This is between this server and your organisation’s sign-in service; your account is not the matter. Try again in a minute.
sign-on-role-title = You have no role here
sign-on-role = Your organisation knows you, but none of your groups has a role on this server, so you were not signed in. Ask whoever runs it for one.
sign-on-refused-title = You were not signed in
sign-on-refused = Nothing was changed. Try again; if it happens again, give this reason to whoever runs this server: { $reason }
sign-on-still = You are still signed in as { $name }.
sign-on-again = Sign in again
sign-out-title = You are signed out here
sign-out-there = Now signing out of { $name }.
sign-out-on = Go on

# One's own page
me-who = Who you are here
me-identity = Identity
me-signed-in-with = Signed in with
me-mail = Mail address
me-roles = Roles
me-no-roles = none: you see the cards that you are asked for
me-account = an account of this server
me-single-sign-on = single sign-on
me-language-and-zone = Language and time zone
me-language = Language of cards, mails and messages
me-browser-language = As my browser says
me-zone = Time zone
me-save = Save
me-saved = Saved.
me-sessions = Sessions
me-device-unknown = A program or an unknown browser
me-this-one = this one
me-session-times = Signed in { $created }, last used { $seen }, ends { $expires } if it is not used.
me-sign-out-everywhere = Sign out everywhere
me-this-too = This session ends too.
me-password = Password
me-password-old = The present one
me-password-new = A new one, 12 characters or more
me-password-hint = A few words of your own are best; signs and digits are not asked for. Your other sessions end.
me-password-change = Change the password
