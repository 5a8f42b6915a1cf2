//! A tool: its description for a model, and how its arguments become a call of a row.

use std::{fmt, sync::Arc};

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    mcp::{fit, schema},
    ops::{
        Row,
        spec::{Again, Effect, Spec},
    },
};

/// A tool of MCP.
pub(super) struct McpTool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The JSON Schema of the arguments.
    pub(super) input: Arc<JsonObject>,
    /// All rows that the tool may run; each call runs one of them.
    pub(super) rows: Vec<&'static Row>,
    plan: CallPlan,
}

/// Maps the arguments to the row and the request of a call. The error says what is wrong with the arguments.
type CallPlan = Box<dyn Fn(Map<String, Value>) -> Result<CallStep, String> + Send + Sync>;

/// The row and the request that a call runs.
#[derive(Debug)]
pub(super) struct CallStep {
    /// The row's name.
    pub(super) row: &'static str,
    /// The row's request.
    pub(super) request: Map<String, Value>,
    /// What the model reads above the response.
    pub(super) lead: CallLead,
}

/// Returns the text above a response to this caller; may be empty.
pub(super) type CallLead = fn(&Caller, &Value) -> &'static str;

/// The lead of a response that explains itself.
pub(super) fn no_lead(_: &Caller, _: &Value) -> &'static str {
    ""
}

impl McpTool {
    /// Creates a tool written by hand. The table contains every row in `rows`.
    pub(super) fn by_hand(
        (name, title): (&'static str, &'static str),
        description: &'static str,
        input: Value,
        rows: Vec<&'static Row>,
        plan: fn(Map<String, Value>) -> Result<CallStep, String>,
    ) -> Self {
        let input = Arc::new(schema::object(input));
        Self { name, title, description, input, rows, plan: Box::new(plan) }
    }

    /// Creates a tool from a row: the arguments are the request.
    pub(super) fn of_row(row: &'static Row, name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            description: row.spec.summary,
            input: Arc::new(schema::of_request(row)),
            rows: vec![row],
            plan: Box::new(|request| Ok(CallStep { row: row.spec.name, request, lead: no_lead })),
        }
    }

    /// Whether the tool changes nothing.
    pub(super) fn only_reads(&self) -> bool {
        self.specs().all(|spec| spec.effect == Effect::Reads)
    }

    /// Whether the caller may run all of the tool's rows for this user. Callers do not see tools that they may not use.
    pub(super) fn is_for(&self, caller: &Caller, user: &str) -> bool {
        self.specs().all(|spec| caller.may(spec, Some(user)).is_ok())
    }

    /// Returns the tool as `tools/list` shows it.
    pub(super) fn described(&self) -> rmcp::model::Tool {
        rmcp::model::Tool::new(self.name, self.description, Arc::clone(&self.input))
            .with_title(self.title)
            .with_annotations(self.hints())
    }

    /// Returns the row for these arguments, and the call; or what is wrong with the arguments.
    pub(super) fn step(&self, arguments: Map<String, Value>) -> Result<(&'static Row, CallStep), String> {
        let arguments = Value::Object(arguments);
        fit::check(&self.input, &arguments)?;
        let Value::Object(arguments) = arguments else {
            return Err("the arguments are not an object".to_owned());
        };
        let step = (self.plan)(arguments)?;
        let row = self.rows.iter().find(|row| row.spec.name == step.row);
        let row = row.expect("a plan names rows of its tool, which a test asks of each");
        Ok((row, step))
    }

    fn specs(&self) -> impl Iterator<Item = &'static Spec> {
        self.rows.iter().map(|row| row.spec)
    }

    /// Returns the hints about the tool's effect. A hint that is left out has MCP's default: a tool that changes
    /// something may be destructive. Here, other tools can undo the change.
    fn hints(&self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        if self.only_reads() {
            return hints.read_only(true);
        }
        let only_adds = self.specs().all(|spec| matches!(spec.effect, Effect::Reads | Effect::Adds));
        let repeats = self.specs().all(|spec| spec.again == Again::Same);
        let hints = if only_adds { hints.destructive(false) } else { hints };
        if repeats { hints.idempotent(true) } else { hints }
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
