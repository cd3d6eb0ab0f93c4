//! Every message by name, with its variables: the one list that the five files are held against. An id that is not here
//! does not compile; a message that a file lacks, has too much or writes with other variables fails a test.
//!
//! To add one: a line here and a message of the same id in each of `messages/*.ftl`, in the same commit.

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $id:literal [$($variable:literal),*];)*) => {
        /// A message of the house.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Msg {
            $($(#[$doc])* $name,)*
        }

        impl Msg {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its id in the files.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// The variables that it wants, all of them, in every language.
            #[must_use]
            pub const fn variables(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($variable),*],)*
                }
            }
        }
    };
}

messages! {
    // Spans and distances. The first four stand alone, the next four after "in" or before "ago".
    SpanDays = "span-days" ["n"];
    SpanHours = "span-hours" ["n"];
    SpanMinutes = "span-minutes" ["n"];
    SpanSeconds = "span-seconds" ["n"];
    FromDays = "from-days" ["n"];
    FromHours = "from-hours" ["n"];
    FromMinutes = "from-minutes" ["n"];
    FromSeconds = "from-seconds" ["n"];
    SpanTwo = "span-two" ["large", "small"];
    RelativeIn = "relative-in" ["span"];
    RelativeAgo = "relative-ago" ["span"];
    RelativeNow = "relative-now" [];

    // One's own page.
    MeWho = "me-who" [];
    MeIdentity = "me-identity" [];
    MeSignedInWith = "me-signed-in-with" [];
    MeMail = "me-mail" [];
    MeRoles = "me-roles" [];
    MeNoRoles = "me-no-roles" [];
    MeAccount = "me-account" [];
    MeSingleSignOn = "me-single-sign-on" [];
    MeLanguageAndZone = "me-language-and-zone" [];
    MeLanguage = "me-language" [];
    MeBrowserLanguage = "me-browser-language" [];
    MeZone = "me-zone" [];
    MeSave = "me-save" [];
    MeSaved = "me-saved" [];
    MeSessions = "me-sessions" [];
    MeDeviceUnknown = "me-device-unknown" [];
    MeThisOne = "me-this-one" [];
    MeSessionTimes = "me-session-times" ["created", "seen", "expires"];
    MeSignOutEverywhere = "me-sign-out-everywhere" [];
    MeThisToo = "me-this-too" [];
    MePassword = "me-password" [];
    MePasswordOld = "me-password-old" [];
    MePasswordNew = "me-password-new" [];
    MePasswordHint = "me-password-hint" [];
    MePasswordChange = "me-password-change" [];

    // The frame of every page.
    NavSkip = "nav-skip" [];
    NavMain = "nav-main" [];
    NavInbox = "nav-inbox" [];
    NavRuns = "nav-runs" [];
    NavEffects = "nav-effects" [];
    NavReview = "nav-review" [];
    NavSwitches = "nav-switches" [];
    NavMetrics = "nav-metrics" [];
    NavJournal = "nav-journal" [];
    NavReplays = "nav-replays" [];
    NavSettings = "nav-settings" [];
    NavMe = "nav-me" [];
    NavSignIn = "nav-sign-in" [];
    NavSignOut = "nav-sign-out" [];

    // Signing in.
    LoginTitle = "login-title" [];
    LoginUser = "login-user" [];
    LoginPassword = "login-password" [];
    LoginSubmit = "login-submit" [];
    LoginAlready = "login-already" ["name"];
    LoginToInbox = "login-to-inbox" [];
    LoginRefused = "login-refused" [];
    LoginWait = "login-wait" ["span"];

    // The inbox.
    InboxTitle = "inbox-title" [];
    InboxMine = "inbox-mine" [];
    InboxMyRoles = "inbox-my-roles" [];
    InboxAll = "inbox-all" [];
    InboxOrder = "inbox-order" [];
    InboxByRisk = "inbox-by-risk" [];
    InboxByAge = "inbox-by-age" [];
    InboxByDue = "inbox-by-due" [];
    InboxMoreEffects = "inbox-more-effects" ["n"];
    InboxUndeliverable = "inbox-undeliverable" [];
    PageNext = "page-next" [];

    // How an approval stands.
    OutcomeOpen = "outcome-open" [];
    OutcomeApproved = "outcome-approved" [];
    OutcomeRejected = "outcome-rejected" [];
    OutcomeExpired = "outcome-expired" [];
    OutcomeWithdrawn = "outcome-withdrawn" [];
    OutcomeUndeliverable = "outcome-undeliverable" [];
    OutcomeApprovedText = "outcome-approved-text" ["who", "when"];
    OutcomeRejectedText = "outcome-rejected-text" ["who", "when"];
    OutcomeExpiredText = "outcome-expired-text" ["when"];
    OutcomeWithdrawnText = "outcome-withdrawn-text" ["when"];
    OutcomeUndeliverableText = "outcome-undeliverable-text" ["when"];

    // The card.
    CardTitle = "card-title" [];
    CardDecideBefore = "card-decide-before" ["when", "relative"];
    CardSource = "card-source" [];
    CardWhatGoesOut = "card-what-goes-out" [];
    CardWhatItWas = "card-what-it-was" [];
    CardNoEffects = "card-no-effects" [];
    CardExact = "card-exact" [];
    CardImpactHigh = "card-impact-high" [];
    CardImpactNormal = "card-impact-normal" [];
    CardImpactLow = "card-impact-low" [];
    CardWindow = "card-window" ["span"];
    CardWhyAsked = "card-why-asked" [];
    CardWhyWasAsked = "card-why-was-asked" [];
    CardYourDecision = "card-your-decision" [];
    CardNote = "card-note" [];
    CardNoteHint = "card-note-hint" [];
    CardReason = "card-reason" [];
    CardReasonHint = "card-reason-hint" [];
    CardApprove = "card-approve" [];
    CardReject = "card-reject" [];
    CardWithdraw = "card-withdraw" [];
    CardBack = "card-back" [];
    CardDecisions = "card-decisions" [];
    CardDecisionApproved = "card-decision-approved" [];
    CardDecisionRejected = "card-decision-rejected" [];
    CardDecisionEdited = "card-decision-edited" [];
    CardQuorum = "card-quorum" ["n", "of"];
    CardDetails = "card-details" [];
    CardSize = "card-size" ["characters", "lines"];
    CardRerunTitle = "card-rerun-title" [];
    CardRerun = "card-rerun" [];
    CardBackground = "card-background" [];
    CardSummary = "card-summary" [];
    CardNotSent = "card-not-sent" [];
    CardOutput = "card-output" [];
    CardChecks = "card-checks" [];

    // What stands in the way of a decision.
    StopNotAsked = "stop-not-asked" [];
    StopQualification = "stop-qualification" ["names"];
    StopDecidedAlready = "stop-decided-already" [];
    StopOwnRequest = "stop-own-request" [];
    StopChangedTitle = "stop-changed-title" [];
    StopChanged = "stop-changed" [];
    StopOverTitle = "stop-over-title" [];
    StopOver = "stop-over" [];
    StopReasonTitle = "stop-reason-title" [];
    StopReason = "stop-reason" [];
    StopSignInTitle = "stop-sign-in-title" [];
    StopSignIn = "stop-sign-in" [];
    StopOutsiderTitle = "stop-outsider-title" [];
    StopOutsider = "stop-outsider" ["name"];
    StopDeadLinkTitle = "stop-dead-link-title" [];
    StopDeadLink = "stop-dead-link" [];
    StopNoPageTitle = "stop-no-page-title" [];
    StopNoPage = "stop-no-page" [];
    StopForeignFormTitle = "stop-foreign-form-title" [];
    StopForeignForm = "stop-foreign-form" [];
    StopNothingDecided = "stop-nothing-decided" [];
    StopLater = "stop-later" [];

    // Mail and chat.
    MailSubjectFirst = "mail-subject-first" ["flow", "key"];
    MailSubjectReminder = "mail-subject-reminder" ["flow", "key"];
    MailSubjectEscalation = "mail-subject-escalation" ["flow", "key"];
    MailSubjectEdited = "mail-subject-edited" ["flow", "key"];
    MailSubjectClosed = "mail-subject-closed" ["flow", "key"];
    MailLeadFirst = "mail-lead-first" ["when", "relative"];
    MailLeadReminder = "mail-lead-reminder" ["when", "relative"];
    MailLeadEscalation = "mail-lead-escalation" ["when", "relative"];
    MailLeadEdited = "mail-lead-edited" ["when", "relative"];
    MailLeadExpired = "mail-lead-expired" ["when"];
    MailLeadUndeliverable = "mail-lead-undeliverable" ["when"];
    MailOpen = "mail-open" [];
    MailFlow = "mail-flow" [];
    MailKey = "mail-key" [];
    MailWhy = "mail-why" [];
    MailEffect = "mail-effect" ["kind", "target", "provider"];
    MailImpactHigh = "mail-impact-high" [];
    MailCut = "mail-cut" [];
    MailMoreEffects = "mail-more-effects" ["n"];
    MailFoot = "mail-foot" [];
    MailForYou = "mail-for-you" ["who"];
    MarkBlanks = "mark-blanks" ["n"];
    MarkBlankLines = "mark-blank-lines" ["n"];
    AlertSubject = "alert-subject" ["alert"];
    AlertMore = "alert-more" [];
    AlertServer = "alert-server" [];

    // The pages' frame, and pages of lists.
    FrameMenu = "frame-menu" [];
    FrameRenewed = "frame-renewed" [];
    PageFirst = "page-first" [];

    // The inbox's lines.
    InboxWaiting = "inbox-waiting" ["span"];
    InboxYouDecided = "inbox-you-decided" [];
    InboxLate = "inbox-late" [];
    InboxAllFlows = "inbox-all-flows" [];
    InboxShow = "inbox-show" [];
    InboxEmptyMine = "inbox-empty-mine" [];
    InboxEmptyRoles = "inbox-empty-roles" [];
    InboxEmptyAll = "inbox-empty-all" [];
    InboxEmptyFlow = "inbox-empty-flow" [];

    // What became of it.
    OutcomeWithdrawnBy = "outcome-withdrawn-by" ["who", "when"];
    SentNone = "sent-none" [];
    SentPart = "sent-part" ["n", "of"];

    // The card's parts.
    CardDeadline = "card-deadline" [];
    CardRun = "card-run" [];
    CardSourcePlain = "card-source-plain" [];
    CardEdited = "card-edited" [];
    CardEdits = "card-edits" [];
    CardChangedSince = "card-changed-since" [];
    CardNow = "card-now" [];
    EffectScheduled = "effect-scheduled" [];
    EffectPending = "effect-pending" [];
    EffectSending = "effect-sending" [];
    EffectUnknown = "effect-unknown" [];
    EffectReview = "effect-review" [];
    EffectCompleted = "effect-completed" [];
    EffectFailed = "effect-failed" [];
    EffectCancelled = "effect-cancelled" [];
    CardKnownAs = "card-known-as" [];
    CardWholeText = "card-whole-text" [];
    CardProviderMail = "card-provider-mail" [];
    CardProviderEnforcing = "card-provider-enforcing" [];
    CardProviderAdvisory = "card-provider-advisory" [];
    CardHeld = "card-held" [];
    CardProviderGone = "card-provider-gone" [];
    CardDecider = "card-decider" [];
    CardDeciderByLink = "card-decider-by-link" [];
    CardByLink = "card-by-link" [];
    CardRequired = "card-required" [];
    CardPeople = "card-people" [];
    CardWants = "card-wants" ["n"];
    CardWantsNonEditor = "card-wants-non-editor" [];
    CardSuperseded = "card-superseded" [];
    CardWithdrawTitle = "card-withdraw-title" [];
    CardWithdrawHint = "card-withdraw-hint" [];
    CardCancelTitle = "card-cancel-title" [];
    CardCancelSubmit = "card-cancel-submit" [];
    CardOutputHint = "card-output-hint" [];
    CardNoOutput = "card-no-output" [];

    // The clock.
    SlaTitle = "sla-title" [];
    SlaLeft = "sla-left" ["span", "of"];
    SlaLate = "sla-late" ["span", "of"];
    SlaStops = "sla-stops" [];
    SlaRuns = "sla-runs" [];

    // The card's details.
    FactModel = "fact-model" [];
    FactModelRevision = "fact-model-revision" [];
    FactPromptRevision = "fact-prompt-revision" [];
    FactModelProvider = "fact-model-provider" [];
    FactIterations = "fact-iterations" [];
    FactAskedBy = "fact-asked-by" [];
    FactQualification = "fact-qualification" [];
    FactRun = "fact-run" [];
    FactFlowRevision = "fact-flow-revision" [];

    // What validation found.
    CheckFits = "check-fits" [];
    CheckNoOutput = "check-no-output" [];
    CheckNoSchema = "check-no-schema" [];
    CheckEffects = "check-effects" [];
    CheckExtracted = "check-extracted" [];
    CheckRepairs = "check-repairs" ["n"];
    CheckFinish = "check-finish" ["reason"];

    // What an edit changed.
    ChangeAdded = "change-added" [];
    ChangeRemoved = "change-removed" [];
    ChangeChanged = "change-changed" [];
    ChangeBefore = "change-before" [];
    ChangeAfter = "change-after" [];

    // Edit and approve.
    EditTitle = "edit-title" [];
    EditEffect = "edit-effect" ["n"];
    EditIntro = "edit-intro" [];
    EditNeedsAnother = "edit-needs-another" [];
    EditSubmit = "edit-submit" [];
    EditOnePerLine = "edit-one-per-line" [];
    EditRaw = "edit-raw" [];
    EditFixed = "edit-fixed" [];
    EditHidden = "edit-hidden" [];
    EditWhole = "edit-whole" [];
    EditNotGiven = "edit-not-given" [];
    EditErrorsTitle = "edit-errors-title" [];
    EditErrors = "edit-errors" [];
    EditMissing = "edit-missing" [];
    EditBadNumber = "edit-bad-number" [];
    EditBadJson = "edit-bad-json" ["detail"];
    EditNothing = "edit-nothing" [];
    EditTooMany = "edit-too-many" [];
    EditChangedMeanwhile = "edit-changed-meanwhile" [];

    // What a page says instead.
    StopAsks = "stop-asks" ["flow", "when"];
    StopAsked = "stop-asked" ["flow", "state"];
    StopOtherAccount = "stop-other-account" [];
    StopDisabledTitle = "stop-disabled-title" [];
    StopDisabled = "stop-disabled" [];
    StopGoneTitle = "stop-gone-title" [];
    StopGone = "stop-gone" [];
    StopProblemTitle = "stop-problem-title" [];
    StopLaterTitle = "stop-later-title" [];
    StopManyTitle = "stop-many-title" [];
    StopMany = "stop-many" [];
    StopMedia = "stop-media" [];
    StopUncertainTitle = "stop-uncertain-title" [];
    StopUncertain = "stop-uncertain" [];
    StopReasonTooLong = "stop-reason-too-long" [];
    StopReasonWanted = "stop-reason-wanted" [];
    StopTooLateTitle = "stop-too-late-title" [];
    StopTooLate = "stop-too-late" [];
    StopKept = "stop-kept" [];
    StopEndedTitle = "stop-ended-title" [];
    StopEnded = "stop-ended" [];
    StopEndedSignIn = "stop-ended-sign-in" [];
    StopEndedGoOn = "stop-ended-go-on" [];
    LoginWith = "login-with" ["name"];
    LoginLocal = "login-local" [];
    LoginNobody = "login-nobody" [];
    SignOnOverTitle = "sign-on-over-title" [];
    SignOnOver = "sign-on-over" [];
    SignOnAwayTitle = "sign-on-away-title" [];
    SignOnAway = "sign-on-away" [];
    SignOnRoleTitle = "sign-on-role-title" [];
    SignOnRole = "sign-on-role" [];
    SignOnRefusedTitle = "sign-on-refused-title" [];
    SignOnRefused = "sign-on-refused" ["reason"];
    SignOnStill = "sign-on-still" ["name"];
    SignOnAgain = "sign-on-again" [];
    SignOutTitle = "sign-out-title" [];
    SignOutThere = "sign-out-there" ["name"];
    SignOutOn = "sign-out-on" [];
}
