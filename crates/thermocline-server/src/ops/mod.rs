//! The table of operations: everything that can be asked of the memory, each thing defined once.
//!
//! HTTP routes below `/v1`, OpenAPI, `thermocline call`, the labels of metrics, the lines of the audit file and the
//! permissions of keys are derived from the rows, and MCP's tools run rows. Rows name routes and tools, and problems have
//! statuses, but nothing here imports the code of HTTP or MCP.

pub mod anchors;
pub mod call;
pub mod compression;
pub mod context;
pub mod file;
pub mod jobs;
pub mod memories;
pub mod page;
pub mod problem;
pub mod recall;
pub mod receipts;
pub mod record;
pub mod request;
pub mod schema;
pub mod sessions;
pub mod spec;
mod strict;
pub mod turns;
pub mod users;

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use thermocline::Erased;

use crate::{
    metrics::Metrics,
    ops::{
        call::Call,
        problem::Problem,
        spec::{Effect, Spec},
    },
};

/// The response of an operation, or the problem that prevented it.
pub type Result<T> = std::result::Result<T, Problem>;

/// One thing that can be asked of the memory. `SPEC` contains everything that a surface needs to know about it.
pub trait Operation: 'static {
    /// The operation's description.
    const SPEC: Spec;
    /// The request. Unknown fields are refused (`deny_unknown_fields`), so that a misspelled field is an error.
    type Request: DeserializeOwned + JsonSchema + Send;
    /// The response. Later versions may add fields, but never change the meaning of one.
    type Response: Serialize + JsonSchema + Send;

    /// Runs the operation, on a thread that may block.
    fn run(call: Call, request: Self::Request) -> Result<Self::Response>;

    /// Updates what the metrics count of this operation besides its duration. By default, they count nothing else.
    fn count(_response: &Self::Response, _metrics: &Metrics) {}

    /// Returns the outcome for a response.
    fn outcome(_response: &Self::Response) -> OperationOutcome {
        match Self::SPEC.effect {
            Effect::Adds => OperationOutcome::Added,
            _ => OperationOutcome::Done,
        }
    }
}

/// The outcome of an operation that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationOutcome {
    /// The operation is done.
    Done,
    /// Something new was added.
    Added,
    /// Nothing was added, because an earlier call had added it.
    Known,
    /// A job still has to finish the operation.
    Pending,
}

impl OperationOutcome {
    /// Returns the outcome of an operation that erases.
    pub fn of_erase(erased: &Erased) -> Self {
        if erased.is_pending { Self::Pending } else { Self::Done }
    }
}

/// A value that a request added, or that was there already. The response is the value alone; whether it is new is shown by
/// the outcome.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct MaybeNew<T> {
    /// The value, as the file has it now.
    pub value: T,
    /// Whether the request added anything.
    #[serde(skip)]
    pub is_new: bool,
}

impl<T> MaybeNew<T> {
    fn outcome(&self) -> OperationOutcome {
        if self.is_new { OperationOutcome::Added } else { OperationOutcome::Known }
    }
}

impl<T: JsonSchema> JsonSchema for MaybeNew<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The response of any operation, as JSON.
#[derive(Debug)]
pub struct OperationReply {
    /// The operation's outcome.
    pub outcome: OperationOutcome,
    /// The response as a JSON object, with its fields in the order in which their type declares them.
    pub body: String,
}

/// A row of the table: an operation without its types. A service may have rows in addition to those of [`table`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The operation's description.
    pub spec: &'static Spec,
    /// Generates the schema of the request. [`schema`] returns it in full, with plain descriptions.
    pub request: fn(&mut SchemaGenerator) -> Schema,
    /// Generates the schema of the response.
    pub response: fn(&mut SchemaGenerator) -> Schema,
    /// Reads a request from JSON, and runs the operation.
    pub run: fn(Call, Value) -> Result<OperationReply>,
}

/// Returns the row of an operation.
pub fn row<O: Operation>() -> Row {
    Row {
        spec: const { &O::SPEC },
        request: SchemaGenerator::subschema_for::<O::Request>,
        response: SchemaGenerator::subschema_for::<O::Response>,
        run: run_erased::<O>,
    }
}

fn run_erased<O: Operation>(call: Call, request: Value) -> Result<OperationReply> {
    let request = request::read::<O::Request>(request)?;
    let service = Arc::clone(&call.service);
    let response = O::run(call, request)?;
    O::count(&response, &service.metrics);
    let outcome = O::outcome(&response);
    let body = serde_json::to_string(&response).map_err(|error| Problem::unexpected(&error))?;
    Ok(OperationReply { outcome, body })
}

/// Returns all operations, in the order in which `thermocline call --list` shows them.
pub fn table() -> &'static [Row] {
    static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
        [
            record::rows(),
            vec![row::<context::ContextOperation>(), row::<recall::RecallOperation>()],
            turns::rows(),
            sessions::rows(),
            compression::rows(),
            anchors::rows(),
            receipts::rows(),
            memories::rows(),
            users::rows(),
            file::rows(),
            jobs::rows(),
        ]
        .concat()
    });
    &TABLE
}

/// Returns the operation with this name.
pub fn find(name: &str) -> Option<&'static Row> {
    table().iter().find(|row| row.spec.name == name)
}
