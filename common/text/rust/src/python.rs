//! What chat templates expect of Python: the layout of json.dumps, strftime, and how None and bool
//! are printed.

use crate::bounded_text::{BoundedText, TEXT_BYTES_MAX};
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Output, State, Value};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io;

/// The layout of json.dumps(value, ensure_ascii=False): ", " between items and ": " after a key.
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

fn dump(value: &Value, formatter: impl Formatter) -> Result<String, Error> {
    let mut out = BoundedText::default();
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    let invalid = |e: String| Error::new(ErrorKind::BadSerialization, e);
    if out.full {
        return Err(invalid(format!("a JSON text would have over {} MiB", TEXT_BYTES_MAX >> 20)));
    }
    written.map_err(|e| invalid(e.to_string()))?;
    String::from_utf8(out.bytes).map_err(|e| invalid(e.to_string()))
}

/// The `tojson` of Hugging Face's environment. Unlike Jinja's own, it does not escape for HTML.
pub fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let _: (Option<bool>, Option<bool>) = (options.get("ensure_ascii")?, options.get("sort_keys")?); // accepted, as defaults
    match options.get::<Option<usize>>("indent")? {
        None => dump(value, OneLine),
        Some(width) => dump(value, PrettyFormatter::with_indent(" ".repeat(width.min(16)).as_bytes())),
    }
}

/// How templates refuse roles or an order of roles; the message becomes the error of the rendering.
pub fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// Local time as text, as Python's datetime.now().strftime(format). The time comes from the caller,
/// as the template variable `now_unix_s`.
pub fn strftime_now(state: &State, format: String) -> Result<String, Error> {
    let bad = |why: &str| Error::new(ErrorKind::InvalidOperation, format!("strftime_now: {why}"));
    let now = state.lookup("now_unix_s").and_then(|now| i64::try_from(now).ok()).ok_or_else(|| bad("no time"))?;
    let format = std::ffi::CString::new(format).map_err(|_| bad("the format holds a NUL"))?;
    let mut text = [0u8; 256];
    // SAFETY: both calls write only to the buffers passed to them, within the size passed.
    let size = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        libc::localtime_r(&now, &mut parts);
        libc::strftime(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), &parts)
    };
    Ok(String::from_utf8_lossy(&text[..size]).into_owned())
}

/// Prints values as Python does: None, True and False instead of Jinja's none, true and false.
pub fn print(out: &mut Output, state: &State, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::None => out.write_str("None").map_err(Error::from),
        ValueKind::Bool => out.write_str(if value.is_true() { "True" } else { "False" }).map_err(Error::from),
        _ => minijinja::escape_formatter(out, state, value),
    }
}
