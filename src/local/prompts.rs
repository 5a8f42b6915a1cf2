//! The prompts with which texts should begin, according to a model's folder.

use std::{collections::HashMap, path::Path};

use serde::Deserialize;

use super::files::json_if_any;
use crate::{
    embed::prefixes::Prefixes,
    error::{Error, ErrorKind, Result},
};

const FILE: &str = "config_sentence_transformers.json";

#[derive(Default, Deserialize)]
struct PromptSettings {
    prompts: Option<HashMap<String, String>>,
    default_prompt_name: Option<String>,
}

/// Reads the folder's prompts for queries and documents: those with a matching name, otherwise the default one, otherwise
/// none.
pub(super) fn prompts(folder: &Path) -> Result<Prefixes> {
    let PromptSettings { prompts, default_prompt_name } = json_if_any(folder, FILE)?.unwrap_or_default();
    let prompts = prompts.unwrap_or_default();
    let default = match default_prompt_name {
        None => "",
        Some(name) => prompts.get(&name).ok_or_else(|| {
            let said = format!("{FILE} has no prompt of the name {name:?}, its default one");
            Error::new(ErrorKind::Unsupported, said)
        })?,
    };
    let named = |names: &[&str]| {
        let found = names.iter().find_map(|&name| prompts.get(name));
        found.map_or_else(|| default.to_owned(), String::clone)
    };
    Ok(Prefixes { query: named(&["query"]), document: named(&["document", "passage", "corpus"]) })
}
