//! The plain structs that cross the C ABI, and `guard`, which turns errors and panics into a
//! sentence.

use std::any::Any;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;

/// Bytes borrowed from the caller for the duration of the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    data: *const u8,
    size: usize,
}

impl Slice {
    pub fn borrowed(text: &str) -> Self {
        Slice { data: text.as_ptr(), size: text.len() }
    }

    /// # Safety
    /// `data` points to `size` bytes that outlive the call, or `size` is 0.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        std::slice::from_raw_parts(self.data, self.size)
    }

    /// # Safety
    /// As `bytes`.
    pub unsafe fn text<'a>(self, what: &str) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes())
            .map_err(|e| format!("{what} is not valid UTF-8 at byte {}: send UTF-8 text", e.valid_up_to()))
    }
}

/// # Safety
/// `ids` points to `count` ids that outlive the call, or `count` is 0.
pub unsafe fn borrowed_ids<'a>(ids: *const u32, count: usize) -> &'a [u32] {
    if count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(ids, count)
}

/// Text owned by the caller, which frees it with `slipstream_bytes_free`.
#[repr(C)]
pub struct Bytes {
    data: *mut u8,
    size: usize,
}

impl Bytes {
    pub fn new(text: String) -> Self {
        let boxed = text.into_bytes().into_boxed_slice();
        let size = boxed.len();
        Bytes { data: Box::into_raw(boxed).cast(), size }
    }
}

/// Token ids owned by the caller, which frees them with `slipstream_ids_free`.
#[repr(C)]
pub struct Ids {
    data: *mut u32,
    size: usize,
}

impl Ids {
    pub fn new(ids: Vec<u32>) -> Self {
        let boxed = ids.into_boxed_slice();
        let size = boxed.len();
        Ids { data: Box::into_raw(boxed).cast(), size }
    }
}

/// # Safety
/// `bytes` came from this library and was not freed before.
#[no_mangle]
pub unsafe extern "C" fn slipstream_bytes_free(bytes: Bytes) {
    drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes.data, bytes.size)));
}

/// # Safety
/// `ids` came from this library and was not freed before.
#[no_mangle]
pub unsafe extern "C" fn slipstream_ids_free(ids: Ids) {
    drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(ids.data, ids.size)));
}

fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
    format!("internal error in the text library: {}", text.unwrap_or_else(|| "no details".into()))
}

/// Runs `body`. If it fails or panics, writes a sentence to `error` and returns None.
///
/// # Safety
/// `error` points to a `Bytes` that may be overwritten.
pub unsafe fn guard<T>(error: *mut Bytes, body: impl FnOnce() -> Result<T, String>) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| set_hook(Box::new(|_| {}))); // no line on stderr: the caller gets the text
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(panic_text(panic))) {
        Ok(value) => Some(value),
        Err(message) => {
            error.write(Bytes::new(message));
            None
        }
    }
}
