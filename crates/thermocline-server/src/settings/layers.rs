//! Builds settings from a file, the environment and flags, and remembers the source of each value.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use crate::{access::check_writer, settings::Settings};

/// The prefix of environment variables that hold settings.
const PREFIX: &str = "THERMOCLINE_";
/// The setting that names the variable with a provider's API key.
const KEY_VAR: &str = "key_var";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// The default: the value is not set anywhere.
    Default,
    /// A settings file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// The command line.
    Flag,
}

/// Why settings are refused: a wrong value and its source, or a file that cannot be read.
#[derive(Debug)]
pub struct Wrong(String);

/// The settings collected so far.
#[derive(Debug)]
pub struct Layers {
    table: Table,
    sources: BTreeMap<(String, String), SettingSource>,
}

impl Layers {
    /// Starts from the defaults.
    pub fn new() -> Self {
        let table = Table::try_from(Settings::default()).expect("settings are numbers, words and lists");
        Self { table, sources: BTreeMap::new() }
    }

    /// Adds the settings of a file. On Unix, fails if another user may write it.
    pub fn file(&mut self, path: &Path) -> Result<(), Wrong> {
        let named = |error: &dyn fmt::Display| Wrong(format!("{}: {error}", path.display()));
        let mut file = File::open(path).map_err(|error| named(&error))?;
        let about = file.metadata().map_err(|error| named(&error))?;
        check_writer("the settings file", path, &about).map_err(Wrong)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| named(&error))?;
        let said: Table = text.parse().map_err(|error: toml::de::Error| named(&error.message()))?;
        for (section, fields) in said {
            let Value::Table(fields) = fields else {
                return Err(named(&format!("{section} is not in a section")));
            };
            for (name, value) in fields {
                self.set(&section, &name, value, SettingSource::File(path.to_owned()))?;
            }
        }
        Ok(())
    }

    /// Adds the settings of the environment. `THERMOCLINE_SERVICE_LISTEN` sets `listen` in the section `service`.
    pub fn environment(&mut self, variables: impl Iterator<Item = (String, String)>) -> Result<(), Wrong> {
        for (variable, text) in variables {
            let Some(name) = variable.strip_prefix(PREFIX).map(str::to_lowercase) else { continue };
            let Some((section, name)) = name.split_once('_') else { continue };
            let source = SettingSource::Variable(variable.clone());
            match self.known(section, name).cloned() {
                Some(known) => {
                    let value = read(&known, &text).map_err(|error| wrong(section, name, &source, &error))?;
                    self.set(section, name, value, source)?;
                }
                // A misspelled setting of the server may leave access open, so it is an error. Variables with another
                // section may belong to other programs.
                None if section == "service" => {
                    return Err(wrong(section, name, &source, &"there is no such setting"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds a flag: the path of a setting, such as `memory.hot_turns`, and its value as text.
    pub fn flag(&mut self, path: &str, text: &str) -> Result<(), Wrong> {
        let unknown = || Wrong(format!("there is no setting {path}; --print-config lists all"));
        let (section, name) = path.split_once('.').ok_or_else(unknown)?;
        let known = self.known(section, name).ok_or_else(unknown)?;
        let value = read(known, text).map_err(|error| wrong(section, name, &SettingSource::Flag, &error))?;
        self.set(section, name, value, SettingSource::Flag)
    }

    /// Checks and returns the settings.
    pub fn settings(&self) -> Result<Settings, Wrong> {
        // Each value is checked on its own, so that an error can name the setting and its source.
        for (place, source) in &self.sources {
            let mut alone =
                Table::try_from(Settings::default()).expect("settings are numbers, words and lists");
            let Some(Value::Table(fields)) = alone.get_mut(&place.0) else { continue };
            fields.insert(place.1.clone(), self.table[&place.0][&place.1].clone());
            if let Err(error) = alone.try_into::<Settings>() {
                return Err(wrong(&place.0, &place.1, source, &error.message()));
            }
        }
        self.table.clone().try_into().map_err(|error: toml::de::Error| Wrong(error.message().to_owned()))
    }

    /// Returns all settings in the format of a settings file, each with its source as a comment.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (section, fields) in &self.table {
            let _ = writeln!(text, "[{section}]"); // Writing to a `String` cannot fail.
            for (name, value) in fields.as_table().into_iter().flatten() {
                let source =
                    self.sources.get(&(section.clone(), name.clone())).unwrap_or(&SettingSource::Default);
                let _ = writeln!(text, "{:<44} # {source}", format!("{name} = {value}"));
            }
            text.push('\n');
        }
        text
    }

    fn known(&self, section: &str, name: &str) -> Option<&Value> {
        self.table.get(section)?.get(name)
    }

    fn set(&mut self, section: &str, name: &str, value: Value, source: SettingSource) -> Result<(), Wrong> {
        let Some(known) = self.table.get_mut(section).and_then(|section| section.get_mut(name)) else {
            return Err(wrong(section, name, &source, &"there is no such setting; --print-config lists all"));
        };
        if !known.same_type(&value) {
            let error = format!(
                "it is of the type {}, and must be of the type {}",
                value.type_str(),
                known.type_str()
            );
            return Err(wrong(section, name, &source, &error));
        }
        // A file may come from elsewhere, and its provider gets what the variable holds.
        let is_ours = value.as_str().is_none_or(|variable| variable.starts_with(PREFIX));
        if name == KEY_VAR && !is_ours && matches!(source, SettingSource::File(_)) {
            let error = format!(
                "a file may only name a variable that begins with {PREFIX}; a flag may name any: \
                 --set {section}.{KEY_VAR}=NAME"
            );
            return Err(wrong(section, name, &source, &error));
        }
        *known = value;
        self.sources.insert((section.to_owned(), name.to_owned()), source);
        Ok(())
    }
}

impl Default for Layers {
    fn default() -> Self {
        Self::new()
    }
}

/// Parses text as the type of `known`; lists are separated by commas.
fn read(known: &Value, text: &str) -> Result<Value, String> {
    match known {
        Value::Integer(_) => {
            text.parse().map(Value::Integer).map_err(|_| "it must be a whole number".to_owned())
        }
        Value::Boolean(_) => {
            text.parse().map(Value::Boolean).map_err(|_| "it must be true or false".to_owned())
        }
        Value::Array(_) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Ok(Value::Array(items.map(|item| Value::String(item.to_owned())).collect()))
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}

fn wrong(section: &str, name: &str, source: &SettingSource, error: &dyn fmt::Display) -> Wrong {
    Wrong(format!("{section}.{name} ({source}): {error}"))
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn layers(file: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Layers, Wrong> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thermocline.toml");
        fs::write(&path, file).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let mut layers = Layers::new();
        layers.file(&path)?;
        layers
            .environment(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))?;
        flags.iter().try_for_each(|(name, value)| layers.flag(name, value))?;
        layers.settings()?;
        Ok(layers)
    }

    #[track_caller]
    fn check_wrong(file: &str, variables: &[(&str, &str)], flags: &[(&str, &str)], why: &str) {
        let error = layers(file, variables, flags).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn the_last_one_to_say_something_counts() {
        let file = "[service]\nlisten = \"127.0.0.1:1\"\nmax_body_bytes = 1\n[memory]\nhot_turns = 1\nwarm_turns = 7\n";
        let variables = [
            ("THERMOCLINE_SERVICE_MAX_BODY_BYTES", "2"),
            ("THERMOCLINE_MEMORY_HOT_TURNS", "2"),
            ("PATH", "x"),
        ];
        let layers =
            layers(file, &variables, &[("memory.hot_turns", "3"), ("service.allowed_hosts", "a, b")])
                .unwrap();
        let settings = layers.settings().unwrap();
        assert_eq!(settings.service.listen, "127.0.0.1:1");
        assert_eq!(settings.service.max_body_bytes, 2);
        assert_eq!(
            (settings.memory.hot_turns, settings.memory.warm_turns, settings.memory.hot_tokens),
            (3, 7, 1_500)
        );
        assert_eq!(settings.service.allowed_hosts, ["a", "b"]);
        let shown = layers.shown();
        for line in [
            "max_body_bytes = 2",
            "THERMOCLINE_SERVICE_MAX_BODY_BYTES",
            "thermocline.toml",
            "# flag",
            "# default",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        let read_again: Settings = toml::from_str(&shown).unwrap();
        assert_eq!(read_again, settings);
    }

    #[test]
    fn what_is_no_setting_or_not_of_its_kind_is_refused_with_its_place() {
        check_wrong("[service]\nlisen = \"x\"", &[], &[], "service.lisen");
        check_wrong("[servce]\nlisten = \"x\"", &[], &[], "servce.listen");
        check_wrong("listen = \"x\"", &[], &[], "not in a section");
        check_wrong("[service]\nlisten = 1", &[], &[], "of the type");
        check_wrong("", &[("THERMOCLINE_SERVICE_LISEN", "x")], &[], "THERMOCLINE_SERVICE_LISEN");
        check_wrong("", &[("THERMOCLINE_MEMORY_HOT_TURNS", "many")], &[], "whole number");
        check_wrong("", &[], &[("memory.hot", "1")], "memory.hot");
        check_wrong("", &[], &[("memory.durability", "maybe")], "memory.durability (flag)");
        check_wrong("[memory]\nhot_turns = -1", &[], &[], "memory.hot_turns");
    }

    #[test]
    fn a_file_names_only_keys_that_are_meant_for_thermocline() {
        for section in ["llm", "embed", "rerank"] {
            let file = |variable: &str| format!("[{section}]\nkey_var = \"{variable}\"\n");
            let why = format!("{section}.key_var");
            for variable in ["AWS_SECRET_ACCESS_KEY", "", "thermocline_llm_key", "XTHERMOCLINE_KEY"] {
                check_wrong(&file(variable), &[], &[], &why);
            }
            assert!(layers(&file("THERMOCLINE_OTHER_KEY"), &[], &[]).is_ok());
            let variable = format!("THERMOCLINE_{}_KEY_VAR", section.to_uppercase());
            assert!(layers("", &[(&variable, "OPENAI_API_KEY")], &[]).is_ok());
            assert!(layers("", &[], &[(&why, "OPENAI_API_KEY")]).is_ok());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_write_is_refused_with_the_cure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thermocline.toml");
        fs::write(&path, "").unwrap();
        for (mode, is_fine) in
            [(0o600, true), (0o644, true), (0o620, false), (0o602, false), (0o666, false), (0o660, false)]
        {
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            let read = Layers::new().file(&path).map_err(|wrong| wrong.to_string());
            let cure = format!("chmod go-w {}", path.display());
            assert!(
                read.as_ref().map_or_else(|why| !is_fine && why.contains(&cure), |()| is_fine),
                "{read:?}"
            );
        }
    }

    #[test]
    fn variables_of_other_verbs_are_others() {
        let others =
            [("THERMOCLINE_DB", "x"), ("THERMOCLINE_LLM_KEY", "secret"), ("THERMOCLINE_SENSORS", "x")];
        let layers = layers("", &others, &[]).unwrap();
        assert_eq!(layers.settings().unwrap(), Settings::default());
        assert!(!layers.shown().contains("secret"));
    }
}
