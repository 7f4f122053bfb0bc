//! Renders a model's chat template in the same environment as Hugging Face's transformers.

use crate::abi::{guard, Bytes, Slice};
use crate::python;
use minijinja::{context, AutoEscape, Environment, Value};
use serde_json::Value as Json;

/// Limit on the instructions of one rendering, against templates that loop for very long. A request
/// of 4 MiB holds about 130,000 empty messages, which take about 30 instructions each.
const FUEL_MAX: u64 = 10_000_000;
const SPECIALS: [&str; 4] = ["bos_token", "eos_token", "unk_token", "pad_token"];

#[repr(C)]
pub struct Turn {
    role: Slice,
    content: Slice,
}

pub struct TemplateHandle {
    environment: Environment<'static>,
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
            .add_template_owned("chat", source)
            .map_err(|e| format!("the chat template is not valid Jinja: {}", sentence(&e)))?;
        let specials = SPECIALS.iter().filter_map(|&name| Some((name, token_text(config.get(name)?)?))).collect();
        Ok(TemplateHandle { environment, specials })
    }

    fn render(&self, messages: Vec<Value>, now_unix_s: i64) -> Result<String, String> {
        let specials: Value = self.specials.iter().cloned().collect();
        let values = context! {
            messages, now_unix_s, add_generation_prompt => true, tools => (), documents => (), ..specials
        };
        let template = self.environment.get_template("chat").map_err(|e| sentence(&e))?;
        template.render(values).map_err(|e| format!("the chat template refuses these messages: {}", sentence(&e)))
    }
}

unsafe fn message(turn: &Turn) -> Result<Value, String> {
    let (role, content) = (turn.role.text("a role")?, turn.content.text("a message")?);
    Ok(context! { role, content })
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
    now_unix_s: i64,
    text: *mut Bytes,
    error: *mut Bytes,
) -> bool {
    let rendered = guard(error, || {
        let turns = if count == 0 { &[] } else { std::slice::from_raw_parts(turns, count) };
        let messages = turns.iter().map(|turn| message(turn)).collect::<Result<_, _>>()?;
        handle.render(messages, now_unix_s)
    });
    rendered.map(|rendered| text.write(Bytes::new(rendered))).is_some()
}
