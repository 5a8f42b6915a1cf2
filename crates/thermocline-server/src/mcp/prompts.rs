//! Prompts: one gives a message together with what is known about it, the other ends a conversation.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::{Value, json};
use thermocline::quoted;

use crate::mcp::{Mcp, resources};

const WITH_MEMORY: &str = "with_memory";
const END_OF_SESSION: &str = "end_of_session";

/// Returns the prompts, in a fixed order; the second only if the caller sees the tools that it names.
pub(super) fn list(mcp: &Mcp) -> Vec<Prompt> {
    let required =
        |name: &str, what: &str| vec![PromptArgument::new(name).with_description(what).with_required(true)];
    let mut prompts = vec![
        Prompt::new(
            WITH_MEMORY,
            Some("A message, and before it what is known of it from earlier conversations"),
            Some(required("message", "The user's message")),
        )
        .with_title("With memory"),
    ];
    if ["memory_save", "memory_session"].iter().all(|name| mcp.tools().any(|tool| tool.name == *name)) {
        prompts.push(
            Prompt::new(
                END_OF_SESSION,
                Some("Save what lasts of a conversation, then end it"),
                Some(required("session", "Key of the conversation")),
            )
            .with_title("End of session"),
        );
    }
    prompts
}

/// Returns the prompt with this name, filled in.
pub(super) async fn get(
    mcp: &Mcp,
    name: &str,
    arguments: &JsonObject,
    client: &str,
) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| match arguments.get(name) {
        Some(Value::String(text)) if arguments.len() == 1 => Ok(text.as_str()),
        _ => Err(ErrorData::invalid_params(format!("this prompt takes one argument, {name}, a text"), None)),
    };
    match name {
        WITH_MEMORY => with_memory(mcp, argument("message")?, client).await,
        END_OF_SESSION => Ok(end_of_session(argument("session")?)),
        _ => Err(ErrorData::invalid_params("there is no prompt of that name; prompts/list names them", None)),
    }
}

async fn with_memory(mcp: &Mcp, message: &str, client: &str) -> Result<GetPromptResult, ErrorData> {
    let context = mcp.ask("context", json!({ "message": message }), client).await;
    let context = context.map_err(|problem| resources::error(&problem))?;
    let text = match context["text"].as_str() {
        None | Some("") => message.to_owned(),
        Some(context) => format!("{context}\n{message}"),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn end_of_session(session: &str) -> GetPromptResult {
    let text = format!(
        "This conversation is over; its session, as JSON, is {}. Look back over it. Save with memory_save each fact the user stated or \
         confirmed that will matter in later conversations, and each decision or solution worth keeping: one call for each, in \
         few words, nothing that is only a guess. Then call memory_session with op end and this session.",
        Value::from(quoted(session))
    );
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
}
