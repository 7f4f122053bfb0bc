//! Encodes text as token ids, and holds the table of the bytes that each id stands for.

use crate::abi::{guard, Bytes, Ids, Slice};
use crate::prefix_space::{normalizer_without, pre_tokenizer_without};
use crate::spelling::{Spelling, SPACE};
use tokenizers::tokenizer::{AddedVocabulary, Model, OffsetType, PreTokenizer};
use std::sync::Arc;
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

pub struct TokenizerHandle {
    tokenizer: Tokenizer,
    words_only: AddedVocabulary, // the added tokens, without recognising the special ones in texts
    inside: Inside,
    specials: Vec<String>,
    prefix: Vec<u32>, // what the post-processor puts before a text: the beginning of a sequence, or nothing
    drops_first_space: bool,
    piece_bytes: Vec<u8>, // the bytes of all ids, one id after the other
    piece_ends: Vec<u32>, // [vocabulary] where in piece_bytes those of each id end
    is_special: Vec<u8>,  // [vocabulary]
}

/// How a text that goes on behind another is normalized and split: without the step that puts a
/// space before it.
struct Inside {
    normalizer: Option<NormalizerWrapper>,
    pre_tokenizer: Option<PreTokenizerWrapper>,
}

/// Borrowed from the handle; see rust_bridge.h.
#[repr(C)]
pub struct Pieces {
    bytes: *const u8,
    ends: *const u32,
    is_special: *const u8,
    count: usize,
}

impl TokenizerHandle {
    fn load(json: &[u8]) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|e| e.to_string())?;
        let spelling = Spelling::of(&tokenizer)?;
        let mut model = tokenizer.get_model().clone();
        model.resize_cache(0); // without its cache the model is constant, so threads share it without a lock
        tokenizer.with_model(model);
        let mut words_only = tokenizer.get_added_vocabulary().clone();
        words_only.set_encode_special_tokens(true);
        let specials = Self::specials(&words_only);
        let (piece_bytes, piece_ends, is_special) = Self::pieces(&tokenizer, &spelling)?;
        let prefix = Self::prefix(&tokenizer)?;
        let drops_first_space = spelling.drops_first_space();
        let inside = Inside {
            normalizer: tokenizer.get_normalizer().and_then(normalizer_without),
            pre_tokenizer: tokenizer.get_pre_tokenizer().map(pre_tokenizer_without),
        };
        Ok(TokenizerHandle {
            tokenizer,
            words_only,
            inside,
            specials,
            prefix,
            drops_first_space,
            piece_bytes,
            piece_ends,
            is_special,
        })
    }

    /// One that is looked for in normalized text may be written with spaces, too.
    fn specials(added: &AddedVocabulary) -> Vec<String> {
        let special = added.get_added_tokens_decoder().values().filter(|token| token.special);
        let written = special.flat_map(|token| {
            let with_spaces = token.content.replace(SPACE, " ");
            let other = token.normalized && with_spaces != token.content;
            std::iter::once(token.content.clone()).chain(other.then_some(with_spaces))
        });
        written.collect()
    }

    fn prefix(tokenizer: &Tokenizer) -> Result<Vec<u32>, String> {
        let one = tokenizer.encode("a", true).map_err(|e| e.to_string())?;
        let added = one.get_special_tokens_mask().iter().take_while(|&&mask| mask == 1).count();
        Ok(one.get_ids()[..added].to_vec())
    }

    fn pieces(tokenizer: &Tokenizer, spelling: &Spelling) -> Result<(Vec<u8>, Vec<u32>, Vec<u8>), String> {
        let top = tokenizer.get_vocab(true).values().copied().max().ok_or("it has no tokens")?;
        const IDS_MAX: u32 = 1 << 21;
        if top >= IDS_MAX {
            return Err(format!("it has the token id {top}; the limit is {IDS_MAX}"));
        }
        let added = tokenizer.get_added_vocabulary();
        let (mut bytes, mut ends, mut special) = (Vec::new(), Vec::new(), Vec::new());
        for id in 0..=top {
            let token = tokenizer.id_to_token(id).unwrap_or_default(); // an unused id stands for no bytes
            let as_it_is = added.get_added_tokens_decoder().get(&id).is_some_and(|token| !token.normalized);
            bytes.extend(spelling.bytes_of(&token, as_it_is));
            ends.push(u32::try_from(bytes.len()).map_err(|_| "its tokens are longer than 4 GiB together")?);
            special.push(added.is_special_token(&token).into());
        }
        Ok((bytes, ends, special))
    }

    pub fn vocabulary(&self) -> u32 {
        self.piece_ends.len() as u32
    }

    pub fn piece(&self, id: u32) -> &[u8] {
        let at = id as usize;
        let begin = if at == 0 { 0 } else { self.piece_ends[at - 1] };
        &self.piece_bytes[begin as usize..self.piece_ends[at] as usize]
    }

    pub fn is_special(&self, id: u32) -> bool {
        self.is_special[id as usize] != 0
    }

    /// The steps of `Tokenizer::encode` without the post-processor, with one more in between:
    /// `mark` is removed after the special tokens were found and before the rest is split.
    pub fn encode(&self, text: &str, parse_special: bool, mark: Option<char>) -> Result<Vec<u32>, String> {
        let added = if parse_special { self.tokenizer.get_added_vocabulary() } else { &self.words_only };
        self.encode_by(text, added, self.tokenizer.get_normalizer(), self.tokenizer.get_pre_tokenizer(), mark)
    }

    /// The ids of a text that goes on behind another. Special tokens in it are text.
    pub fn encode_inside(&self, text: &str) -> Result<Vec<u32>, String> {
        let Inside { normalizer, pre_tokenizer } = &self.inside;
        self.encode_by(text, &self.words_only, normalizer.as_ref(), pre_tokenizer.as_ref(), None)
    }

    fn encode_by(
        &self,
        text: &str,
        added: &AddedVocabulary,
        normalizer: Option<&NormalizerWrapper>,
        pre_tokenizer: Option<&PreTokenizerWrapper>,
        mark: Option<char>,
    ) -> Result<Vec<u32>, String> {
        let mut split = added.extract_and_normalize(normalizer, text);
        let run = || -> tokenizers::Result<Vec<u32>> {
            if let Some(mark) = mark {
                split.normalize(|segment| segment.replace(mark, ""))?;
            }
            if let Some(pre_tokenizer) = pre_tokenizer {
                pre_tokenizer.pre_tokenize(&mut split)?;
            }
            split.tokenize(|segment| self.tokenizer.get_model().tokenize(segment.get()))?;
            Ok(split.into_encoding(None, 0, OffsetType::None)?.get_ids().to_vec())
        };
        run().map_err(|e| format!("the text cannot be tokenized: {e}"))
    }
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_tokenizer_load(json: Slice, error: *mut Bytes) -> *const TokenizerHandle {
    let handle = guard(error, || TokenizerHandle::load(json.bytes()));
    handle.map_or(std::ptr::null(), |handle| Arc::into_raw(Arc::new(handle))) // shared with grammar.rs
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_tokenizer_free(handle: *const TokenizerHandle) {
    drop(Arc::from_raw(handle));
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_tokenizer_encode(
    handle: &TokenizerHandle,
    text: Slice,
    parse_special: bool,
    mark: u32,
    ids: *mut Ids,
    error: *mut Bytes,
) -> bool {
    let mark = char::from_u32(mark).filter(|&c| c != '\0');
    let encoded = guard(error, || handle.encode(text.text("the text")?, parse_special, mark));
    encoded.map(|encoded| ids.write(Ids::new(encoded))).is_some()
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_tokenizer_encode_inside(
    handle: &TokenizerHandle,
    text: Slice,
    ids: *mut Ids,
    error: *mut Bytes,
) -> bool {
    let encoded = guard(error, || handle.encode_inside(text.text("the text")?));
    encoded.map(|encoded| ids.write(Ids::new(encoded))).is_some()
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_tokenizer_id(handle: &TokenizerHandle, token: Slice) -> i64 {
    let token = std::str::from_utf8(token.bytes()).ok();
    token.and_then(|token| handle.tokenizer.token_to_id(token)).map_or(-1, i64::from)
}

#[no_mangle]
pub extern "C" fn slipstream_tokenizer_pieces(handle: &TokenizerHandle) -> Pieces {
    Pieces {
        bytes: handle.piece_bytes.as_ptr(),
        ends: handle.piece_ends.as_ptr(),
        is_special: handle.is_special.as_ptr(),
        count: handle.piece_ends.len(),
    }
}

#[no_mangle]
pub extern "C" fn slipstream_tokenizer_prefix(handle: &TokenizerHandle) -> Ids {
    Ids::new(handle.prefix.clone())
}

#[no_mangle]
pub extern "C" fn slipstream_tokenizer_drops_first_space(handle: &TokenizerHandle) -> bool {
    handle.drops_first_space
}

#[no_mangle]
pub extern "C" fn slipstream_tokenizer_specials(handle: &TokenizerHandle) -> usize {
    handle.specials.len()
}

#[no_mangle]
pub extern "C" fn slipstream_tokenizer_special(handle: &TokenizerHandle, index: usize) -> Slice {
    Slice::borrowed(handle.specials.get(index).map_or("", String::as_str))
}
