//! The five languages, and which of them somebody reads: by setting first, then by what the browser says.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::accept;

/// A language that messages exist in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    En,
    Sv,
    De,
    Ru,
    Fa,
}

impl Language {
    pub const ALL: [Self; 5] = [Self::En, Self::Sv, Self::De, Self::Ru, Self::Fa];

    /// The language for somebody: the setting if it names one of ours, else the best of `Accept-Language` (RFC 9110
    /// section 12.5.4), else English. Never fails: what cannot be read is passed over.
    #[must_use]
    pub fn pick(setting: Option<&str>, accept_language: Option<&str>) -> Self {
        let set = setting.and_then(Self::of_tag);
        set.or_else(|| accept_language.and_then(accept::best)).unwrap_or_default()
    }

    /// The language of a tag: `sv`, `sv-FI`, `sv_SE`, in any case. `None` for one that is not ours.
    #[must_use]
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// For `lang=`, and what a setting holds.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Sv => "sv",
            Self::De => "de",
            Self::Ru => "ru",
            Self::Fa => "fa",
        }
    }

    /// For `dir=`.
    #[must_use]
    pub const fn dir(self) -> &'static str {
        match self {
            Self::Fa => "rtl",
            Self::En | Self::Sv | Self::De | Self::Ru => "ltr",
        }
    }

    /// Its name in itself, as a list to choose from shows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Sv => "Svenska",
            Self::De => "Deutsch",
            Self::Ru => "Русский",
            Self::Fa => "فارسی",
        }
    }

    pub(crate) const fn at(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_goes_before_what_the_browser_says() {
        assert_eq!(Language::pick(Some("de"), Some("sv")), Language::De);
        assert_eq!(Language::pick(Some("fa-IR"), None), Language::Fa);
    }

    #[test]
    fn a_setting_that_is_none_of_ours_is_passed_over() {
        assert_eq!(Language::pick(Some("xx"), Some("ru")), Language::Ru);
        assert_eq!(Language::pick(Some(""), None), Language::En);
    }

    #[test]
    fn the_tag_of_every_language_is_read_back() {
        for language in Language::ALL {
            assert_eq!(Language::of_tag(language.tag()), Some(language));
        }
    }
}
