//! Renders a model's chat template in the same environment as Hugging Face's transformers.

use crate::abi::{guard, Bytes, Slice};
use crate::bounded_text::{BoundedText, TEXT_BYTES_MAX};
use crate::python;
use minijinja::{AutoEscape, Environment, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Limit on the instructions of one rendering, against templates that loop for very long. A request
/// of 4 MiB holds about 130,000 empty messages, which take about 30 instructions each.
const FUEL_MAX: u64 = 10_000_000;
const SPECIALS: [&str; 4] = ["bos_token", "eos_token", "unk_token", "pad_token"];

#[repr(C)]
pub struct Turn {
    role: Slice,
    content: Slice,
    more: Slice, // JSON
}

#[repr(C)]
pub struct Extras {
    tools: Slice,     // JSON
    variables: Slice, // JSON
    add_generation_prompt: bool,
    now_unix_s: i64,
}

pub struct TemplateHandle {
    environment: Environment<'static>,
    source: String,
    reads: std::collections::HashSet<String>, // the variables that the template reads and does not set
    specials: Vec<(&'static str, String)>,
}

/// The text of a special token: "<s>", or {"content": "<s>", ...} in older tokenizer_config.json
/// files.
fn token_text(value: &Json) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(String::from)
}

/// The template in tokenizer_config.json: a string, or a list of {name, template} with one named
/// "default".
fn template_of(config: &Json) -> Option<String> {
    let found = config.get("chat_template")?;
    let named = || found.as_array()?.iter().find(|entry| entry["name"] == "default")?["template"].as_str();
    found.as_str().or_else(named).map(String::from)
}

fn sentence(error: &minijinja::Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), String::from);
    match error.line() {
        Some(line) => format!("{detail} (line {line} of the template)"),
        None => detail,
    }
}

impl TemplateHandle {
    fn load(template: &str, config: &[u8]) -> Result<Self, String> {
        let config: Json = match config {
            [] => Json::Null,
            text => {
                serde_json::from_slice(text).map_err(|e| format!("tokenizer_config.json is not valid JSON: {e}"))?
            }
        };
        let source = if template.is_empty() { template_of(&config) } else { Some(template.into()) };
        let source = source.ok_or("the model has no chat template: add chat_template.jinja to its folder")?;
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL_MAX));
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_formatter(python::print);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_filter("tojson", python::tojson);
        environment.add_function("raise_exception", python::raise_exception);
        environment.add_function("strftime_now", python::strftime_now);
        environment
            .add_template_owned("chat", source.clone())
            .map_err(|e| format!("the chat template is not valid Jinja: {}", sentence(&e)))?;
        let reads = environment.get_template("chat").map_err(|e| sentence(&e))?.undeclared_variables(false);
        let specials = SPECIALS.iter().filter_map(|&name| Some((name, token_text(config.get(name)?)?))).collect();
        Ok(TemplateHandle { environment, source, reads, specials })
    }

    fn render(&self, messages: Vec<Value>, extras: &Extras) -> Result<String, String> {
        let variables = unsafe { fields(&extras.variables, "the template's variables")? };
        let mut values: BTreeMap<String, Value> =
            variables.into_iter().map(|(name, value)| (name, Value::from_serialize(value))).collect();
        for (name, text) in &self.specials {
            values.insert((*name).into(), Value::from(text.as_str()));
        }
        values.insert("messages".into(), Value::from(messages));
        values.insert("tools".into(), unsafe { json(&extras.tools, "the tools")? });
        values.insert("documents".into(), Value::from(()));
        values.insert("now_unix_s".into(), Value::from(extras.now_unix_s));
        values.insert("add_generation_prompt".into(), Value::from(extras.add_generation_prompt));
        let template = self.environment.get_template("chat").map_err(|e| sentence(&e))?;
        let mut text = BoundedText::default();
        match template.render_captured_to(values, &mut text) {
            Ok(_) => String::from_utf8(text.bytes).map_err(|e| e.to_string()),
            Err(_) if text.full => Err(format!("the prompt would have over {} MiB of text", TEXT_BYTES_MAX >> 20)),
            Err(e) => Err(format!("the chat template refuses these messages: {}", sentence(&e))),
        }
    }
}

/// The value of a JSON text; none if it is empty.
unsafe fn json(text: &Slice, what: &str) -> Result<Value, String> {
    let text = text.text(what)?;
    if text.is_empty() {
        return Ok(Value::from(()));
    }
    let value: Json = serde_json::from_str(text).map_err(|e| format!("{what} are not valid JSON: {e}"))?;
    Ok(Value::from_serialize(value))
}

/// The fields of a JSON object; none if the text is empty.
unsafe fn fields(text: &Slice, what: &str) -> Result<serde_json::Map<String, Json>, String> {
    let text = text.text(what)?;
    if text.is_empty() {
        return Ok(serde_json::Map::new());
    }
    serde_json::from_str(text).map_err(|e| format!("{what} are no JSON object: {e}"))
}

unsafe fn message(turn: &Turn) -> Result<Value, String> {
    let mut object = serde_json::Map::new(); // in order, as a template may print it
    object.insert("role".into(), turn.role.text("a role")?.into());
    object.insert("content".into(), turn.content.text("a message")?.into());
    object.extend(fields(&turn.more, "a message's fields")?);
    Ok(Value::from_serialize(object))
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_template_load(
    template: Slice,
    tokenizer_config: Slice,
    error: *mut Bytes,
) -> *mut TemplateHandle {
    let handle = guard(error, || TemplateHandle::load(template.text("the chat template")?, tokenizer_config.bytes()));
    handle.map_or(std::ptr::null_mut(), |handle| Box::into_raw(Box::new(handle)))
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_template_free(handle: *mut TemplateHandle) {
    drop(Box::from_raw(handle));
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_template_render(
    handle: &TemplateHandle,
    turns: *const Turn,
    count: usize,
    extras: &Extras,
    text: *mut Bytes,
    error: *mut Bytes,
) -> bool {
    let rendered = guard(error, || {
        let turns = if count == 0 { &[] } else { std::slice::from_raw_parts(turns, count) };
        let messages = turns.iter().map(|turn| message(turn)).collect::<Result<_, _>>()?;
        handle.render(messages, extras)
    });
    rendered.map(|rendered| text.write(Bytes::new(rendered))).is_some()
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_template_reads(handle: &TemplateHandle, variable: Slice) -> bool {
    variable.text("a variable").is_ok_and(|name| handle.reads.contains(name))
}

#[no_mangle]
pub extern "C" fn slipstream_template_source(handle: &TemplateHandle) -> Slice {
    Slice::borrowed(&handle.source)
}
