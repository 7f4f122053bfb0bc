//! How a SentencePiece BPE spells its tokens: "▁" for a space, "<0x0A>" for a byte.

use serde_json::{json, Value};
use tokenizers::DecoderWrapper;

const SPACE: char = '▁';

/// What tokenizer.json's decoder says about the tokens.
pub struct Spelling {
    has_bytes: bool,
    /// A whole text loses one space at its beginning, which the tokenizer had put there.
    pub drops_first_space: bool,
}

impl Spelling {
    /// None: the decoder is of another kind. Those of Llama and Mistral are known, with and without
    /// the tokens of bytes, and with and without the last step:
    ///     Replace "▁" " ", ByteFallback, Fuse, Strip " " 1
    pub fn of(decoder: &DecoderWrapper) -> Option<Self> {
        let value = serde_json::to_value(decoder).ok()?;
        let steps: &[Value] = match value["decoders"].as_array() {
            Some(steps) if value["type"] == "Sequence" => steps,
            _ => std::slice::from_ref(&value),
        };
        let mut rest = steps.iter().peekable();
        let mut next_is = |step: Value| rest.next_if(|&each| *each == step).is_some();
        if !next_is(json!({"type": "Replace", "pattern": {"String": SPACE}, "content": " "})) {
            return None;
        }
        let has_bytes = next_is(json!({"type": "ByteFallback"}));
        let is_fused = next_is(json!({"type": "Fuse"}));
        let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
        let drops_first_space = is_fused && next_is(strip);
        rest.next().is_none().then_some(Spelling { has_bytes, drops_first_space })
    }

    /// The bytes of a token that is no added one: those are written in texts as they are.
    pub fn bytes_of(&self, token: &str) -> Vec<u8> {
        match byte_named(token).filter(|_| self.has_bytes) {
            Some(byte) => vec![byte],
            None => token.replace(SPACE, " ").into_bytes(),
        }
    }
}

fn byte_named(token: &str) -> Option<u8> {
    let hex = token.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_hex = hex.len() == 2 && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(hex, 16).ok().filter(|_| is_hex)
}
