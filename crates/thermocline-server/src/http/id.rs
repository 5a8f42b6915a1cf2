//! The id of a request: the client's trace id if there is one, so that the logs of both sides can be matched.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request's id: 32 hexadecimal digits.
#[derive(Clone, Debug)]
pub(super) struct RequestId {
    pub(super) id: String,
    /// W3C's `traceparent`, as received.
    traceparent: Option<HeaderValue>,
}

impl RequestId {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let traced =
            headers.get(TRACEPARENT).and_then(|value| Some((trace_in(value.to_str().ok()?)?, value)));
        if let Some((trace, value)) = traced {
            return Self { id: trace.to_owned(), traceparent: Some(value.clone()) };
        }
        let mut bytes = [0; 16];
        // If the system has no randomness left, the id is all zeros, and the request is answered all the same.
        let _ = getrandom::fill(&mut bytes);
        Self { id: format!("{:032x}", u128::from_be_bytes(bytes)), traceparent: None }
    }

    /// Adds the id and the received `traceparent` to a response's headers.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        if let Ok(id) = HeaderValue::from_str(&self.id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(traceparent) = &self.traceparent {
            headers.insert(TRACEPARENT, traceparent.clone());
        }
    }
}

/// Returns the trace id of a well-formed `traceparent`, which is `00-<32>-<16>-<2>` lower-case hexadecimal digits.
fn trace_in(value: &str) -> Option<&str> {
    let is_hex = |part: &str, len| {
        part.len() == len && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let parts: Vec<&str> = value.split('-').collect();
    let [version, trace, parent, flags] = parts[..] else { return None };
    let is_one = is_hex(version, 2) && version != "ff" && is_hex(parent, 16) && is_hex(flags, 2);
    (is_one && is_hex(trace, 32) && trace.bytes().any(|byte| byte != b'0')).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_taken_up_if_it_is_well_formed() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(trace_in(&format!("00-{trace}-00f067aa0ba902b7-01")), Some(trace));
        for odd in [
            "",
            "00-4bf92f35-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        ] {
            assert_eq!(trace_in(odd), None, "{odd}");
        }
    }
}
