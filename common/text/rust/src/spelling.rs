//! How a tokenizer spells its tokens, that is, which bytes each of them stands for.

use crate::byte_level;
use serde_json::Value;
use std::collections::HashMap;
use tokenizers::Tokenizer;

const SPACE: char = '▁'; // U+2581, which SentencePiece writes for a space

pub enum Spelling {
    /// GPT-2's letters for bytes.
    ByteLevel(HashMap<char, u8>),
    /// SentencePiece's: `SPACE` for a space, and "<0x0A>" for a byte where the model has such tokens.
    SentencePiece { bytes: bool, drops_first_space: bool },
}

const SUPPORTED: &str = "use a model with a byte-level BPE or a SentencePiece tokenizer";

impl Spelling {
    /// As the decoder of the tokenizer.json says.
    pub fn of(tokenizer: &Tokenizer) -> Result<Self, String> {
        let decoder = tokenizer.get_decoder().ok_or(format!("it has no decoder: {SUPPORTED}"))?;
        let decoder = serde_json::to_value(decoder).map_err(|e| e.to_string())?;
        if decoder["type"] == "ByteLevel" {
            return Ok(Spelling::ByteLevel(byte_level::alphabet()));
        }
        let one = vec![decoder.clone()];
        let steps = decoder["decoders"].as_array().unwrap_or(&one);
        let (mut spaces, mut bytes, mut drops_first_space) = (false, false, false);
        for step in steps {
            match step["type"].as_str() {
                Some("Replace") if step["pattern"]["String"] == SPACE.to_string() && step["content"] == " " => {
                    spaces = true
                }
                Some("Metaspace") if step["replacement"] == SPACE.to_string() => {
                    spaces = true;
                    drops_first_space |= step["prepend_scheme"] != "never";
                }
                Some("ByteFallback") => bytes = true,
                Some("Fuse") => {}
                Some("Strip") if Self::strips_one_space(step) => drops_first_space = true,
                _ => return Err(format!("its decoder has a step that is not supported ({step}): {SUPPORTED}")),
            }
        }
        match spaces {
            true => Ok(Spelling::SentencePiece { bytes, drops_first_space }),
            false => Err(format!("its decoder is of no supported kind: {SUPPORTED}")),
        }
    }

    fn strips_one_space(step: &Value) -> bool {
        step["content"] == " " && step["start"] == 1 && step["stop"] == 0
    }

    /// Whether a text that begins with these tokens lacks the space of the first.
    pub fn drops_first_space(&self) -> bool {
        matches!(self, Spelling::SentencePiece { drops_first_space: true, .. })
    }

    pub fn bytes_of(&self, token: &str) -> Vec<u8> {
        match self {
            Spelling::ByteLevel(alphabet) => byte_level::bytes_of(token, alphabet),
            Spelling::SentencePiece { bytes, .. } => match byte_named(token).filter(|_| *bytes) {
                Some(byte) => vec![byte],
                None => token.replace(SPACE, " ").into_bytes(),
            },
        }
    }
}

/// The byte of a token like "<0x0A>".
fn byte_named(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?
}
