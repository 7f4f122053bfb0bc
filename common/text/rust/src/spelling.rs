//! How a tokenizer spells its tokens, that is, which bytes each of them stands for.

use crate::byte_level;
use serde_json::{json, Value};
use std::collections::HashMap;
use tokenizers::{ModelWrapper, Tokenizer};

pub const SPACE: char = '▁'; // U+2581, which SentencePiece writes for a space

pub enum Spelling {
    /// GPT-2's letters for bytes.
    ByteLevel(HashMap<char, u8>),
    /// SentencePiece's: `SPACE` for a space, and "<0x0A>" for a byte where the model has such tokens.
    SentencePiece { bytes: bool, drops_first_space: bool },
}

const SUPPORTED: &str = "use a model with a byte-level BPE or a SentencePiece BPE";

impl Spelling {
    /// As the decoder of the tokenizer.json says.
    pub fn of(tokenizer: &Tokenizer) -> Result<Self, String> {
        if !matches!(tokenizer.get_model(), ModelWrapper::BPE(_)) {
            return Err(format!("its model is no BPE: {SUPPORTED}"));
        }
        let decoder = tokenizer.get_decoder().ok_or(format!("it has no decoder: {SUPPORTED}"))?;
        let decoder = serde_json::to_value(decoder).map_err(|e| e.to_string())?;
        if decoder["type"] == "ByteLevel" {
            return Ok(Spelling::ByteLevel(byte_level::alphabet()));
        }
        Self::sentence_piece(&decoder)
            .ok_or_else(|| format!("its decoder is of no supported kind ({decoder}): {SUPPORTED}"))
    }

    /// The steps of Llama's and Mistral's decoders, in their order. All but the first may be absent:
    ///     Replace "▁" by " ", or Metaspace; ByteFallback; Fuse; Strip one " "
    fn sentence_piece(decoder: &Value) -> Option<Self> {
        let mut steps =
            decoder["decoders"].as_array().map_or(std::slice::from_ref(decoder), Vec::as_slice).iter().peekable();
        let metaspace = steps.next_if(|step| step["type"] == "Metaspace" && step["replacement"] == SPACE.to_string());
        let replace = json!({"type": "Replace", "pattern": {"String": SPACE}, "content": " "});
        if metaspace.is_none() && *steps.next()? != replace {
            return None;
        }
        let bytes = steps.next_if(|step| step["type"] == "ByteFallback").is_some();
        let fused = steps.next_if(|step| step["type"] == "Fuse").is_some();
        let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
        let strips = fused && steps.next_if(|&step| *step == strip).is_some(); // unfused, it would strip every token
        let drops_first_space = strips || metaspace.is_some_and(|step| step["prepend_scheme"] != "never");
        steps.next().is_none().then_some(Spelling::SentencePiece { bytes, drops_first_space })
    }

    /// Whether a text that begins with these tokens lacks the space of the first.
    pub fn drops_first_space(&self) -> bool {
        matches!(self, Spelling::SentencePiece { drops_first_space: true, .. })
    }

    /// as_it_is: an added token that is found in a text before spaces become `SPACE`.
    pub fn bytes_of(&self, token: &str, as_it_is: bool) -> Vec<u8> {
        match self {
            Spelling::ByteLevel(alphabet) => byte_level::bytes_of(token, alphabet),
            Spelling::SentencePiece { .. } if as_it_is => token.as_bytes().to_vec(),
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
    let hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| hex)
}
