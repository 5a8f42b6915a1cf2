//! What an endpoint refuses when it answers with an error: the meaning of providers' statuses and codes.

use serde::Deserialize;
use serde_json::Value;

/// What a refusal applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndpointRefusal {
    /// This request, temporarily: overload, or a failure of the endpoint.
    ForNow,
    /// This request, permanently: a filter, or its size or form.
    OfText,
    /// Every request with this key.
    OfKey,
    /// Every request of this account, until somebody pays.
    OfAccount,
    /// Every request to this model or address.
    OfModel,
}

/// Codes that mean the same at every HTTP status; a provider puts them into `error.code`, `type` or `status`.
const CODES: [(&str, EndpointRefusal); 8] = [
    ("content_filter", EndpointRefusal::OfText),           // Azure
    ("content_policy_violation", EndpointRefusal::OfText), // OpenAI
    ("invalid_api_key", EndpointRefusal::OfKey),           // OpenAI, Groq
    ("API_KEY_INVALID", EndpointRefusal::OfKey),           // Google
    ("insufficient_quota", EndpointRefusal::OfAccount),    // OpenAI, with 429
    ("billing_not_active", EndpointRefusal::OfAccount),    // OpenAI, with 429
    ("model_not_found", EndpointRefusal::OfModel),         // OpenAI, with 404 or 400
    ("invalid_model", EndpointRefusal::OfModel),           // Mistral
];
/// Phrases in `error.message` of a 400, 422 or 424 without a code.
const PHRASES: [(&[&str], EndpointRefusal); 8] = [
    (&["credit balance"], EndpointRefusal::OfAccount), // Anthropic
    (&["billing"], EndpointRefusal::OfAccount),        // Google
    (&["api key not valid"], EndpointRefusal::OfKey),  // Google
    (&["not a valid model"], EndpointRefusal::OfModel), // OpenRouter
    (&["invalid model"], EndpointRefusal::OfModel),    // Mistral
    (&["model", "not found"], EndpointRefusal::OfModel), // Ollama, LM Studio
    (&["model", "does not exist"], EndpointRefusal::OfModel), // vLLM
    (&["not a re-ranker"], EndpointRefusal::OfModel),  // text-embeddings-inference, with 424
];
/// Phrases of a filter in the message of a 403: the text was flagged, but the key is right (`OpenRouter`).
const FILTERS: [&str; 3] = ["flagged", "moderation", "content policy"];
/// How many characters of a message are inspected: what follows them may repeat what was sent.
const MESSAGE_CHARS: usize = 120;

impl EndpointRefusal {
    /// Returns what this status and body refuse. A body that is not a provider's JSON is ignored.
    pub(super) fn of(status: u16, body: &[u8]) -> Self {
        let ErrorBody { codes, message } = ErrorBody::read(body);
        let coded = CODES.iter().find(|(code, _)| codes.iter().any(|said| said == code));
        if let Some((_, refusal)) = coded {
            return *refusal;
        }
        let has = |words: &[&str]| {
            let behind = |rest: &str, word| Some(rest.split_once(word)?.1.to_owned());
            words.iter().try_fold(message.clone(), |rest, word| behind(&rest, *word)).is_some()
        };
        match status {
            403 if FILTERS.iter().any(|word| message.contains(word)) => Self::OfText,
            401 | 403 => Self::OfKey,
            402 => Self::OfAccount,
            // Redirects are not followed.
            300..=399 | 404 | 405 => Self::OfModel,
            408 | 409 | 425 | 429 | 500..=599 => Self::ForNow,
            _ => {
                // text-embeddings-inference answers 424 for every failure of its backend.
                let unsaid = if status == 424 { Self::ForNow } else { Self::OfText };
                PHRASES.iter().find(|(words, _)| has(words)).map_or(unsaid, |(_, refusal)| *refusal)
            }
        }
    }
}

/// The relevant fields of an error's body.
#[derive(Default)]
struct ErrorBody {
    codes: Vec<String>,
    /// The beginning of the message, in lower case.
    message: String,
}

impl ErrorBody {
    /// Reads `{"error": {"code", "type", "status", "message", "details": [{"reason"}]}}`, `{"error": "message"}`, or
    /// the same fields without `error`.
    fn read(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct ErrorBodyFields {
            #[serde(default)]
            code: Value,
            #[serde(default, rename = "type")]
            kind: Value,
            #[serde(default)]
            status: Value,
            #[serde(default)]
            message: Value,
            #[serde(default)]
            details: Value,
        }
        let Ok(mut body) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        if let Some(error) = body.get_mut("error") {
            body = error.take();
        }
        if let Value::String(message) = &body {
            return Self { codes: Vec::new(), message: beginning(message) };
        }
        let Ok(fields) = serde_json::from_value::<ErrorBodyFields>(body) else { return Self::default() };
        let reasons = fields.details.as_array().into_iter().flatten().filter_map(|of| of.get("reason"));
        let codes = [&fields.code, &fields.kind, &fields.status].into_iter().chain(reasons);
        Self {
            codes: codes.filter_map(Value::as_str).map(str::to_owned).collect(),
            message: fields.message.as_str().map(beginning).unwrap_or_default(),
        }
    }
}

fn beginning(message: &str) -> String {
    message.chars().take(MESSAGE_CHARS).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: EndpointRefusal) {
        assert_eq!(EndpointRefusal::of(status, body.as_bytes()), expected, "{status} {body}");
    }

    #[test]
    fn a_status_says_what_is_refused() {
        for (status, expected) in [
            (401, EndpointRefusal::OfKey),
            (403, EndpointRefusal::OfKey),
            (402, EndpointRefusal::OfAccount),
            (404, EndpointRefusal::OfModel),
            (307, EndpointRefusal::OfModel),
            (400, EndpointRefusal::OfText),
            (413, EndpointRefusal::OfText),
            (424, EndpointRefusal::ForNow),
            (429, EndpointRefusal::ForNow),
            (503, EndpointRefusal::ForNow),
        ] {
            for body in ["", "<html>", "[]", "{}", "{\"error\":7}", "{\"error\":{\"message\":null}}"] {
                check(status, body, expected);
            }
        }
    }

    #[test]
    fn a_body_tells_a_wrong_model_or_key_from_a_text_that_is_refused() {
        let openai = r#"{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}"#;
        check(400, openai, EndpointRefusal::OfModel);
        check(
            400,
            r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#,
            EndpointRefusal::OfModel,
        );
        check(400, r#"{"error":"model 'qwen3:8b' not found"}"#, EndpointRefusal::OfModel);
        check(
            400,
            r#"{"object":"error","message":"The model `m` does not exist.","code":400}"#,
            EndpointRefusal::OfModel,
        );
        let google = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"m","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        check(400, google, EndpointRefusal::OfKey);
        check(
            424,
            r#"{"error":"model is not a re-ranker model","error_type":"Backend"}"#,
            EndpointRefusal::OfModel,
        );
        check(429, r#"{"error":{"code":"insufficient_quota"}}"#, EndpointRefusal::OfAccount);
        check(403, r#"{"error":{"code":403,"message":"Your input was flagged"}}"#, EndpointRefusal::OfText);
        check(400, r#"{"error":{"code":"content_filter","message":"m"}}"#, EndpointRefusal::OfText);
    }

    #[test]
    fn a_body_that_repeats_what_was_said_does_not_pass_for_a_refusal_of_the_model() {
        let said =
            format!("bad request: {} the model was not found", "the user said this and that, ".repeat(8));
        check(400, &serde_json::json!({ "error": { "message": said } }).to_string(), EndpointRefusal::OfText);
        check(400, r#"{"error":{"message":"not found is a model of brevity"}}"#, EndpointRefusal::OfText);
    }
}
