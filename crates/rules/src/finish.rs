//! What a model's provider says about why the text ended. A reported cut makes an output invalid even if it parses.

/// Reasons that mean "this is not the whole answer": letters and digits only, lower case, sorted by where they are from.
const CUT: [&str; 27] = [
    // OpenAI chat: finish_reason; responses: status and incomplete_details.reason
    "length",
    "contentfilter",
    "incomplete",
    "maxoutputtokens",
    // Anthropic messages: stop_reason
    "maxtokens",
    "modelcontextwindowexceeded",
    "pauseturn",
    "refusal",
    // Google Gemini: finishReason
    "safety",
    "recitation",
    "blocklist",
    "prohibitedcontent",
    "spii",
    "malformedfunctioncall",
    "language",
    // Amazon Bedrock Converse: stopReason
    "contentfiltered",
    "guardrailintervened",
    // Mistral, Cohere, DeepSeek, Hugging Face, LangChain and the like
    "modellength",
    "errortoxic",
    "errorlimit",
    "error",
    "insufficientsystemresource",
    "timelimit",
    "timeout",
    "cancelled",
    "canceled",
    "abort",
];

/// Tells whether `reason` says that the output was cut off, filtered or broken off.
///
/// Compared without case, spaces, `_` and `-`, so `MAX_TOKENS`, `max-tokens` and `maxTokens` are one. A reason that is
/// not known is not a cut: workers may report words of their own.
pub fn is_cut(reason: &str) -> bool {
    let plain: String = reason.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    CUT.contains(&plain.as_str())
}

#[cfg(test)]
mod tests {
    use super::is_cut;

    #[test]
    fn reported_cuts_are_known_in_every_spelling() {
        for reason in
            ["length", "LENGTH", "max_tokens", "MAX_TOKENS", "maxTokens", "content-filter", " Length ", "SAFETY"]
        {
            assert!(is_cut(reason), "{reason}");
        }
    }

    #[test]
    fn a_regular_end_is_no_cut() {
        for reason in
            ["stop", "end_turn", "STOP", "tool_calls", "tool_use", "stop_sequence", "eos", "", "complete", "长度"]
        {
            assert!(!is_cut(reason), "{reason}");
        }
    }
}
