//! How a person comes: the size of the screen, light or dark, with JavaScript or without, and the languages they read.

use serde_json::{Value, json};

use super::Browser;

/// One way to look at pages. A new window wears the last look given.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// In CSS pixels.
    pub width: u32,
    pub height: u32,
    /// Device pixels to a CSS pixel.
    pub scale: f64,
    /// A phone: touch, and the page's own viewport rule counts.
    pub is_phone: bool,
    pub is_dark: bool,
    pub has_javascript: bool,
    /// The size of letters that the person chose in their browser, in percent of the usual.
    pub letters: u32,
    /// `Accept-Language`, whole; none: the browser's own.
    pub languages: Option<String>,
}

impl Look {
    /// A laptop's window in the light.
    #[must_use]
    pub fn desktop() -> Self {
        Self {
            width: 1280,
            height: 900,
            scale: 1.0,
            is_phone: false,
            is_dark: false,
            has_javascript: true,
            letters: 100,
            languages: None,
        }
    }

    /// A small phone: 360 by 740 CSS pixels.
    #[must_use]
    pub fn phone() -> Self {
        Self { width: 360, height: 740, scale: 2.0, is_phone: true, ..Self::desktop() }
    }

    #[must_use]
    pub fn dark(self) -> Self {
        Self { is_dark: true, ..self }
    }

    #[must_use]
    pub fn without_javascript(self) -> Self {
        Self { has_javascript: false, ..self }
    }

    #[must_use]
    pub fn with_letters(self, percent: u32) -> Self {
        Self { letters: percent, ..self }
    }

    /// Sends this as `Accept-Language`.
    #[must_use]
    pub fn reading(self, languages: &str) -> Self {
        Self { languages: Some(languages.to_owned()), ..self }
    }
}

impl Browser {
    /// Puts the look on the present window; pages opened from now on come in it.
    ///
    /// # Panics
    /// If Chromium does not know a part of it.
    pub async fn wear(&self, look: &Look) {
        let size = json!({ "width": look.width, "height": look.height, "deviceScaleFactor": look.scale, "mobile": look.is_phone });
        self.cdp("Emulation.setDeviceMetricsOverride", size).await;
        self.cdp("Emulation.setTouchEmulationEnabled", json!({ "enabled": look.is_phone })).await;
        let scheme = if look.is_dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        // Chromium's own sizes are 16 and, for fixed width, 13 pixels.
        let sizes = json!({ "standard": 16 * look.letters / 100, "fixed": 13 * look.letters / 100 });
        self.cdp("Page.setFontSizes", json!({ "fontSizes": sizes })).await;
        self.cdp("Emulation.setScriptExecutionDisabled", json!({ "value": !look.has_javascript })).await;
        let headers = look.languages.as_ref().map_or_else(|| json!({}), |l| json!({ "Accept-Language": l }));
        self.cdp("Network.setExtraHTTPHeaders", json!({ "headers": headers })).await;
    }

    /// A command of Chromium's own protocol, for what WebDriver has no word for.
    pub(super) async fn cdp(&self, command: &str, params: Value) -> Value {
        let call = json!({ "cmd": command, "params": params });
        self.wire.post("/goog/cdp/execute", &call).await.unwrap_or_else(|e| panic!("{command}: {e:?}"))
    }
}
