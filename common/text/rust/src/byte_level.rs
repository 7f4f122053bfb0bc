//! GPT-2's printable alphabet for bytes, in which a byte-level BPE spells its tokens.

use std::collections::HashMap;

/// The byte that each letter stands for. A byte that is printable in Latin-1 is its own letter; the
/// other 68 bytes have the letters from U+0100 on, in their order.
pub fn alphabet() -> HashMap<char, u8> {
    let printable = |b: u8| matches!(b, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut next = 0x100..;
    let mut letter = |b: u8| if printable(b) { u32::from(b) } else { next.next().unwrap_or(0) };
    (0..=u8::MAX).filter_map(|b| Some((char::from_u32(letter(b))?, b))).collect()
}

/// The bytes of one token; a token with a letter outside the alphabet stands for its own UTF-8.
pub fn bytes_of(token: &str, alphabet: &HashMap<char, u8>) -> Vec<u8> {
    let mapped: Option<Vec<u8>> = token.chars().map(|c| alphabet.get(&c).copied()).collect();
    mapped.unwrap_or_else(|| token.as_bytes().to_vec())
}
