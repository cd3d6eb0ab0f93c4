//! Every code that can reach a caller, once: its word, its status, its title. Each has a page in `docs/errors`, which
//! is what the problem's `type` leads to.

use http::StatusCode;

macro_rules! codes {
    ($($variant:ident = $word:literal, $status:ident, $title:literal;)+) => {
        /// The stable word that callers branch on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($variant),+ }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status),+ }
            }

            /// The page in `docs/errors`, as Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../../../../docs/errors/", $word, ".md"))),+
                }
            }

            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),+ }
            }
        }
    };
}

codes! {
    // The request as bytes.
    InvalidJson = "invalid_json", BAD_REQUEST, "The body is not JSON";
    InvalidUtf8 = "invalid_utf8", BAD_REQUEST, "The body is not UTF-8";
    DuplicateMember = "duplicate_member", BAD_REQUEST, "One object has a member twice";
    LoneSurrogate = "lone_surrogate", BAD_REQUEST, "Half of a surrogate pair is no text";
    NumberOutOfRange = "number_out_of_range", BAD_REQUEST, "A number is too large for a double";
    TooDeep = "too_deep", BAD_REQUEST, "The JSON is nested too deep";
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    BodyIncomplete = "body_incomplete", BAD_REQUEST, "The body ended before its end";
    BodyTimeout = "body_timeout", REQUEST_TIMEOUT, "The body did not come in time";
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The body must be JSON";
    // The request as members.
    UnknownMember = "unknown_member", BAD_REQUEST, "The request has a member that is not known";
    MissingMember = "missing_member", BAD_REQUEST, "The request lacks a member";
    BadMember = "bad_member", BAD_REQUEST, "A member of the request cannot be taken";
    BadParameter = "bad_parameter", BAD_REQUEST, "A query parameter cannot be taken";
    BadKey = "bad_key", BAD_REQUEST, "The key cannot name one event";
    CorrectionKey = "correction_key", BAD_REQUEST, "A correction needs a key of its own";
    MissingKey = "missing_key", BAD_REQUEST, "The request names no key";
    BadLease = "bad_lease", BAD_REQUEST, "The lease is outside of its bounds";
    UnknownFlow = "unknown_flow", BAD_REQUEST, "There is no flow of this name";
    UnknownClass = "unknown_class", BAD_REQUEST, "There is no failure class of this name";
    InvalidPayload = "invalid_payload", BAD_REQUEST, "The payload breaks the flow's schema";
    ReasonRequired = "reason_required", BAD_REQUEST, "A reason is required";
    ReasonTooLong = "reason_too_long", BAD_REQUEST, "The reason is too long";
    NothingChanged = "nothing_changed", BAD_REQUEST, "The edit changes nothing";
    // Who calls.
    BadSignature = "bad_signature", UNAUTHORIZED, "The signature is not the source's";
    StaleSignature = "stale_signature", UNAUTHORIZED, "The signature is too old";
    Unauthorized = "unauthorized", UNAUTHORIZED, "Who calls is not known";
    Forbidden = "forbidden", FORBIDDEN, "The caller may not do this";
    OutNotAllowed = "out_not_allowed", FORBIDDEN, "This door does not let the request through";
    CrossSite = "cross_site", FORBIDDEN, "The request does not come from this site's own page";
    TooManyFailures = "too_many_failures", TOO_MANY_REQUESTS, "Too many failed authentications";
    TooManyRequests = "too_many_requests", TOO_MANY_REQUESTS, "Too many requests from one caller";
    LocalAccountsOff = "local_accounts_off", FORBIDDEN, "Local accounts are switched off";
    SignInExpired = "sign_in_expired", BAD_REQUEST, "This sign-in is over";
    SignInRefused = "sign_in_refused", FORBIDDEN, "The sign-in was not accepted";
    NoRole = "no_role", FORBIDDEN, "This person has no role here";
    IssuerUnavailable = "issuer_unavailable", SERVICE_UNAVAILABLE, "The sign-in service does not answer";
    CannotDecide = "cannot_decide", FORBIDDEN, "An API key cannot decide";
    LoginRequired = "login_required", FORBIDDEN, "This decision wants a signed-in person";
    NotInAudience = "not_in_audience", FORBIDDEN, "This person was not asked";
    NotQualified = "not_qualified", FORBIDDEN, "This person lacks a qualification";
    SeparationOfDuties = "separation_of_duties", FORBIDDEN, "Nobody approves an own request";
    // What is there now.
    NotFound = "not_found", NOT_FOUND, "There is nothing of this id";
    NoSuchPath = "no_such_path", NOT_FOUND, "There is nothing at this path";
    UnknownSource = "unknown_source", NOT_FOUND, "There is no inbound door of this name";
    NoOut = "no_out", NOT_FOUND, "This provider has no outbound door";
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "This path does not know this method";
    UnknownToken = "unknown_token", NOT_FOUND, "This link leads nowhere";
    PayloadConflict = "payload_conflict", UNPROCESSABLE_ENTITY, "The key stands for another payload";
    UrlNotAllowed = "url_not_allowed", UNPROCESSABLE_ENTITY, "The gate may not call this address";
    InvalidOutput = "invalid_output", UNPROCESSABLE_ENTITY, "The output or its effects are invalid";
    InvalidEdit = "invalid_edit", UNPROCESSABLE_ENTITY, "The edited effects are invalid";
    EffectDiffers = "effect_differs", UNPROCESSABLE_ENTITY, "The effect was begun with another payload";
    LeaseLost = "lease_lost", CONFLICT, "The lease is not yours any more";
    EffectsOpen = "effects_open", CONFLICT, "Inline effects were begun and not settled";
    EffectNotBegun = "effect_not_begun", CONFLICT, "This effect is not in the hands of this worker";
    WrongState = "wrong_state", CONFLICT, "From this state there is no such way";
    KeyPoisoned = "key_poisoned", CONFLICT, "The provider would only repeat an error that it keeps";
    ReplayExpired = "replay_expired", CONFLICT, "This plan may not be executed any more";
    BudgetUsedUp = "budget_used_up", CONFLICT, "A budget is used up";
    SwitchOff = "switch_off", CONFLICT, "Actions are switched off";
    InFlight = "in_flight", CONFLICT, "A request with this key is under way";
    OutcomeUnknown = "outcome_unknown", CONFLICT, "Whether it happened is not known";
    NotSent = "not_sent", CONFLICT, "It was not sent and will not be";
    NoAnswer = "no_answer", CONFLICT, "There is no answer to give";
    AnswerErased = "answer_erased", CONFLICT, "The answer was erased";
    ApprovalOver = "approval_over", CONFLICT, "This approval has ended";
    EffectsChanged = "effects_changed", CONFLICT, "The effects are not the ones that were shown";
    TooManyEdits = "too_many_edits", CONFLICT, "This approval has been edited too often";
    AlreadyDecided = "already_decided", CONFLICT, "This person has decided already";
    // Passing troubles and ours.
    Contended = "contended", SERVICE_UNAVAILABLE, "Too many others changed the same thing";
    DatabaseUnavailable = "database_unavailable", SERVICE_UNAVAILABLE, "The database does not answer";
    CommitUnknown = "commit_unknown", SERVICE_UNAVAILABLE, "Whether the commit happened is not known";
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something went wrong in here";
}

impl Code {
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == word)
    }
}
