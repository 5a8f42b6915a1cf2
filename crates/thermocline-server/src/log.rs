//! Logs: text for people or JSON for machines.
//!
//! Logs contain ids and counts, and never what anybody said. Logs of the MCP SDK are left out at every level, because the
//! SDK logs whole messages.

use std::str::FromStr;

use tracing_subscriber::{
    Layer, Registry,
    filter::{FilterExt, Targets, filter_fn},
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// The format of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("a log format is text or json".to_owned()),
        }
    }
}

/// The MCP SDK, which logs whole messages.
const TALKATIVE: &str = "rmcp";

/// Starts logging with this filter of levels and targets, such as `info` or `warn,thermocline=debug`. Called at most once
/// per process.
pub fn begin(
    format: Format,
    targets: &str,
    to: impl for<'a> MakeWriter<'a> + Send + Sync + 'static,
) -> Result<(), String> {
    let targets: Targets =
        targets.parse().map_err(|_| "a log level is error, warn, info, debug or trace".to_owned())?;
    let lines = fmt::layer().with_ansi(false).with_writer(to);
    let lines = match format {
        Format::Text => lines.boxed(),
        Format::Json => {
            lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
        }
    };
    let is_discreet = filter_fn(|of| !of.target().starts_with(TALKATIVE));
    let subscriber = Registry::default().with(lines.with_filter(targets.and(is_discreet)));
    subscriber.try_init().map_err(|error| error.to_string())
}
