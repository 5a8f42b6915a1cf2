//! The tools of the core profile: written by hand, each over a row of the table, because a model chooses better among six.

use std::sync::{Arc, LazyLock};

use rmcp::model::ToolAnnotations;
use serde_json::{Value, json};

use crate::ops::{self, Row};

/// A tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// JSON Schema of its arguments.
    pub(super) input: Value,
    /// What it runs.
    pub(super) row: &'static Row,
    /// The row's request from the arguments.
    pub(super) request: fn(Value) -> Value,
    /// What of the response a model reads.
    pub(super) shown: fn(&Value) -> String,
}

impl Tool {
    /// As `tools/list` shows it.
    pub(super) fn described(&self) -> rmcp::model::Tool {
        let input = self.input.as_object().cloned().unwrap_or_default();
        rmcp::model::Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    }
}

/// All tools, in a fixed order, so that prompts stay cached.
pub(super) fn all() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| vec![recall()]);
    &TOOLS
}

/// The tool of this name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name == name)
}

fn recall() -> Tool {
    Tool {
        name: "memory_recall",
        title: "Recall",
        description: "What is known about the user and what was said before that fits a question: who they are, and past \
            turns with dates, as quoted text within a token budget. Call it before you answer anything that may depend on \
            earlier conversations.",
        input: json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "The user's message or a question, in their words" },
                "budget_tokens": { "type": "integer", "description": "Default 1200", "minimum": 100, "maximum": 20000 },
                "session": { "type": "string", "description": "Key of the running conversation, to include its own turns" },
                "now": { "type": "string", "description": "As of this time (RFC 3339)" },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
        row: ops::find("context").expect("a row of the table"),
        request: |mut arguments| {
            if let Some(query) = arguments.as_object_mut().and_then(|fields| fields.remove("query")) {
                arguments["message"] = query;
            }
            if arguments.get("budget_tokens").is_none() {
                arguments["budget_tokens"] = 1_200.into();
            }
            arguments
        },
        shown: |context| match context["text"].as_str() {
            None | Some("") => "Nothing is known of this yet.".to_owned(),
            Some(text) => text.to_owned(),
        },
    }
}
