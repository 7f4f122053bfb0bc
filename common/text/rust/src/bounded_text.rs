//! What a chat template writes, within a limit of memory.

/// Limit on the text of a prompt, and on each JSON text in it, against templates that write what a
/// client sends once for each of its messages, or write JSON of JSON, which doubles its escapes each
/// time. No context has room for as much.
pub const TEXT_BYTES_MAX: usize = 32 << 20;

/// A text that does not grow beyond TEXT_BYTES_MAX.
#[derive(Default)]
pub struct BoundedText {
    pub bytes: Vec<u8>,
    pub full: bool, // something was left out
}

impl std::io::Write for BoundedText {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        self.full |= self.bytes.len() + more.len() > TEXT_BYTES_MAX;
        if self.full {
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
