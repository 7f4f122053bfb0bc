//! Grammars over a tokenizer's vocabulary, by the crate llguidance: which tokens may come next in a
//! text that must follow a JSON schema, a regular expression or rules in Lark's form.

use crate::abi::{borrowed_ids, guard, Bytes, Slice};
use crate::multiples;
use crate::tokenizer::TokenizerHandle;
use llguidance::api::{GrammarWithLexer, ParserLimits, TopLevelGrammar};
use llguidance::earley::ParserStats;
use llguidance::toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::{json, Value};
use std::cell::RefCell;
use std::sync::Arc;

// Compiling recurses as deep as a grammar is nested, which its size alone bounds. Pages of the
// stack that are not touched cost nothing.
const COMPILE_STACK_BYTES: usize = 512 << 20;

// Each lexer state takes 1 to 2 kB, and a grammar keeps its states while a sequence uses it.
const LEXER_STATES_MAX: usize = 20_000;

// Work on the states of a grammar, about a microsecond each: of compiling, which holds up the thread
// that does it, and of a mask. Nested counts ("a{1000}{1000}") would take a million.
const COMPILE_FUEL_MAX: u64 = 100_000;
const MASK_FUEL_MAX: u64 = 100_000;

// Earley items of all the rows that a mask needs. Ordinary grammars have some tens in a row; the rows
// of ambiguous ones grow with the text, and a row takes time by the square of its items.
const MASK_ITEMS_MAX: usize = 20_000;

// How far compiling looks behind a grammar's beginning: so many tokens of so many texts, but after
// the first of them for no more work than this (fuel and parser's items, some 20 ms): a grammar that
// is refused is always refused. The tokens are some of the first that are allowed: short ones, which
// tokenizers number first.
const TRIED_TEXTS: usize = 2;
const TRIED_TOKENS: usize = 4;
const TRIED_AT_LEAST: usize = 2;
const TRIED_WORK_MAX: u64 = 40_000;
const TRIED_FIRST: usize = 64;

/// The form of a grammar's text, as rust_bridge.h numbers them.
fn top_level(form: u32, text: &str) -> Result<TopLevelGrammar, String> {
    match form {
        0 => {
            let schema: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
            multiples::bounded(&schema)?;
            Ok(TopLevelGrammar::from_grammar(GrammarWithLexer::from_json_schema(with_fixed_spaces(schema))))
        }
        1 => Ok(TopLevelGrammar::from_regex(text)),
        2 => {
            multiples::bounded_in_rules(text)?;
            Ok(TopLevelGrammar::from_lark(text.to_string()))
        }
        _ => Err(format!("unknown form of grammar: {form}")),
    }
}

/// A schema that says nothing about spaces gets one after each comma and colon, and no others. A
/// model that may write spaces wherever JSON allows them may write nothing else, and where they are
/// fixed more tokens are certain.
fn with_fixed_spaces(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields
            .entry("x-guidance")
            .or_insert_with(|| json!({"whitespace_flexible": false, "item_separator": ", ", "key_separator": ": "}));
    }
    schema
}

/// The tokenizer's vocabulary as llguidance sees it.
struct Vocabulary {
    trie: TokTrie,
    tokenizer: Arc<TokenizerHandle>,
    canonical: bool,
}

impl Vocabulary {
    /// Special tokens are marked, so that no text that a grammar describes matches them.
    fn new(tokenizer: Arc<TokenizerHandle>, ends: &[TokenId]) -> Result<Self, String> {
        let words: Vec<Vec<u8>> = (0..tokenizer.vocabulary())
            .map(|id| match tokenizer.is_special(id) {
                true => [&[TokTrie::SPECIAL_TOKEN_MARKER], tokenizer.piece(id)].concat(),
                false => tokenizer.piece(id).to_vec(),
            })
            .collect();
        let size = u32::try_from(words.len()).map_err(|e| e.to_string())?;
        if ends.is_empty() || ends.iter().any(|&end| end >= size) {
            return Err("the model names no token that ends an answer, or one that its tokenizer lacks".into());
        }
        let trie = TokTrie::from(&TokRxInfo::new(size, ends[0]), &words).with_eos_tokens(ends);
        // One whose tokens are not the bytes of the text does not write a text as a model would.
        let sample = r#"{"a": 1}"#;
        let ids = tokenizer.encode_inside(sample)?;
        let canonical = trie.decode_raw(&ids) == sample.as_bytes();
        Ok(Vocabulary { trie, tokenizer, canonical })
    }
}

impl TokenizerEnv for Vocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }
    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            self.tokenizer.encode_inside(text).unwrap_or_else(|_| self.trie.greedy_tokenize(text.as_bytes()))
        })
    }
    fn tokenize_is_canonical(&self) -> bool {
        self.canonical
    }
}

/// Some grammars are small at their beginning and too complex a few tokens later. This follows a few
/// texts, the same ones each time, and finds most of these, so that a client is told before its answer
/// begins. A copy with states of its own does: what it finds out must not change any mask.
fn try_out(begins: &Matcher) -> Result<(), String> {
    let own = begins.deep_clone();
    let (mut work, mut tried, mut random) = (0, 0, 1u64);
    for _ in 0..TRIED_TEXTS {
        let mut text = own.clone();
        for _ in 0..TRIED_TOKENS {
            if text.is_stopped() || (tried >= TRIED_AT_LEAST && work > TRIED_WORK_MAX) {
                break;
            }
            let allowed = match text.compute_mask_or_eos() {
                Ok(mask) => mask.to_list(),
                Err(e) if e.to_string().contains("NoExtension") => break, // a text that ends nowhere
                Err(e) => return Err(e.to_string()),
            };
            let step = text.last_step_stats().map_err(|e| e.to_string())?;
            work += step.lexer_cost + step.all_items as u64;
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); // Knuth's
            let token = allowed[(random >> 33) as usize % allowed.len().min(TRIED_FIRST)];
            text.consume_token(token).map_err(|e| e.to_string())?;
            tried += 1;
        }
    }
    Ok(())
}

const FAILED_WORK_NS: u64 = 1_000_000_000; // no mask that was made comes near it

/// What a mask takes, in nanoseconds as they were measured on one machine. It is reckoned from counts,
/// not from a clock: the same mask has the same work everywhere.
fn work_ns(stats: &ParserStats) -> u64 {
    let items = stats.all_items as u64;
    let of_rows = items * items * 5 / 2 / stats.rows.max(1) as u64; // the library looks through a row for each of its items
    of_rows + stats.lexer_cost * 50 + stats.trie_nodes_walked as u64 * 5
}

/// The place that begins an error of the library, "at 3(1): ..." or "3(1): ...", and the rest.
fn placed(error: &str) -> Option<(usize, usize, &str)> {
    let (place, rest) = error.strip_prefix("at ").unwrap_or(error).split_once("): ")?;
    let (line, column) = place.split_once('(')?;
    Some((line.parse().ok()?, column.parse().ok()?, rest))
}

const FEWER_STATES: &str = "write smaller counts ({1,50} for {1,5000}), no counts of counts, or fewer alternatives";

/// What to do about a grammar that needs more states than it may have, at its beginning or later.
fn too_large(error: &str) -> Option<String> {
    const SAID: [&str; 4] = ["lexer error: ", "initial lexer", "fuel exhausted", "lexer precomputation"];
    let what = placed(error).map_or(error, |(_, _, what)| what);
    let detail = what.lines().next().unwrap_or_default();
    SAID.iter()
        .any(|words| what.starts_with(words))
        .then(|| format!("it needs too many states: {FEWER_STATES} ({detail})"))
}

fn advised(error: String) -> String {
    too_large(&error).unwrap_or(error)
}

/// An error says where in the text something is wrong, what stands there, and what would be right.
fn in_own_words(form: u32, text: &str, error: String) -> String {
    const RULE: &str = r#"a rule looks like `start: "a" other*`"#;
    if let Some(advice) = too_large(&error) {
        return advice;
    }
    if error.starts_with("no start rule") {
        return format!("no rule is called `start`, with which every text begins; {RULE}");
    }
    match placed(&error) {
        None => error,
        Some((_, _, what)) if form == 1 => what.into(), // the library has put the expression into a rule
        Some((line, column, what)) => {
            let (first, more) = what.split_at(what.find('\n').unwrap_or(what.len()));
            let first = first.split(" (at ").next().unwrap_or(first).replace(r"'\n'", "the end of the line");
            let first = first.replace("lexer error", "nothing that rules are made of");
            let whole = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            let read: String = whole.chars().skip(column.saturating_sub(20)).take(40).collect();
            let rule = if error.starts_with("at ") { String::new() } else { format!("; {RULE}") };
            format!("line {line}, column {column}: {first}, in `{}`{rule}{more}", read.trim())
        }
    }
}

/// Why there is no grammar.
enum Fault {
    Text(String),    // it cannot be followed, whenever it is compiled
    Machine(String), // it could not be compiled now
}

/// Compiles grammars for one tokenizer.
pub struct Grammars {
    factory: ParserFactory,
}

impl Grammars {
    fn new(tokenizer: Arc<TokenizerHandle>, ends: &[TokenId]) -> Result<Self, String> {
        let vocabulary: TokEnv = Arc::new(Vocabulary::new(tokenizer, ends)?);
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory =
            ParserFactory::new(&vocabulary, InferenceCapabilities::default(), &slices).map_err(|e| e.to_string())?;
        factory.quiet();
        *factory.limits_mut() = ParserLimits {
            max_lexer_states: LEXER_STATES_MAX,
            initial_lexer_fuel: COMPILE_FUEL_MAX,
            step_lexer_fuel: MASK_FUEL_MAX,
            step_max_items: MASK_ITEMS_MAX,
            verbose_errors: false, // errors reach clients and logs: they hold no text of an answer
            ..ParserLimits::default()
        };
        Ok(Grammars { factory })
    }

    fn compile(&self, form: u32, text: &str) -> Result<Grammar, Fault> {
        let compiled = std::thread::scope(|scope| {
            let work = || -> Result<Matcher, String> {
                let parser = self.factory.create_parser(top_level(form, text)?).map_err(|e| e.to_string())?;
                let mut matcher = Matcher::new(Ok(parser));
                let begins = matcher.compute_mask_or_eos().map_err(|e| e.to_string());
                begins.map_err(|e| if e.contains("NoExtension") { "no text matches it".into() } else { e })?;
                try_out(&matcher)?;
                Ok(matcher)
            };
            let builder = std::thread::Builder::new().stack_size(COMPILE_STACK_BYTES);
            let thread = builder.spawn_scoped(scope, work).map_err(|e| Fault::Machine(e.to_string()))?;
            let compiled = thread.join().map_err(|_| Fault::Machine("it cannot be compiled".into()))?;
            compiled.map_err(|e| Fault::Text(in_own_words(form, text, e)))
        })?;
        Ok(Grammar::at_start(Arc::new(compiled)))
    }
}

/// A grammar and how far a text has followed it.
///
/// Copies of a Matcher share the states of its lexer, and where one of them finds the grammar too
/// complex, all of them fail from then on. So each text has states of its own.
pub struct Grammar {
    start: Arc<Matcher>, // nothing follows it, so it never fails
    now: RefCell<Matcher>,
    text: Vec<TokenId>,
}

impl Grammar {
    fn at_start(start: Arc<Matcher>) -> Self {
        Grammar { now: RefCell::new(start.deep_clone()), start, text: Vec::new() }
    }

    fn begun(&self) -> Self {
        Grammar::at_start(self.start.clone())
    }

    /// Where states run out within a token, the library says that it is forbidden, and quotes it.
    fn advance(&mut self, tokens: &[TokenId]) -> Result<(), String> {
        self.text.extend(tokens);
        self.now.get_mut().consume_tokens(tokens).map_err(|e| {
            too_large(&e.to_string())
                .unwrap_or_else(|| format!("it forbids a token here, or needs too many states for it: {FEWER_STATES}"))
        })
    }

    /// A copy goes along the path: going back on the state itself leaves traces in it. An error behind
    /// a path must not reach the text, which begins anew with other states.
    /// Returns the mask's work.
    fn mask(&self, path: &[TokenId], bits: &mut [u32]) -> Result<u64, String> {
        let mut behind = self.now.borrow().clone();
        let mask = behind.consume_tokens(path).and_then(|()| behind.compute_mask_or_eos()).map_err(|e| {
            if !path.is_empty() {
                let mut anew = self.start.deep_clone();
                let _ = anew.consume_tokens(&self.text); // it fails again if it had failed
                self.now.replace(anew);
            }
            advised(e.to_string())
        })?;
        let words = mask.as_slice();
        let shared = words.len().min(bits.len());
        bits.fill(0);
        bits[..shared].copy_from_slice(&words[..shared]);
        Ok(behind.last_step_stats().map_or(0, work_ns))
    }
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammars_new(
    tokenizer: *const TokenizerHandle,
    ends: *const u32,
    count: usize,
    error: *mut Bytes,
) -> *mut Grammars {
    Arc::increment_strong_count(tokenizer);
    let tokenizer = Arc::from_raw(tokenizer);
    let made = guard(error, || Grammars::new(tokenizer, borrowed_ids(ends, count)));
    made.map_or(std::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammars_free(grammars: *mut Grammars) {
    drop(Box::from_raw(grammars));
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammar_compile(
    grammars: &Grammars,
    form: u32,
    text: Slice,
    lasting: &mut bool,
    error: *mut Bytes,
) -> *mut Grammar {
    *lasting = false;
    let made = guard(error, || {
        grammars.compile(form, text.text("the grammar")?).map_err(|fault| match fault {
            Fault::Text(message) => {
                *lasting = true;
                message
            }
            Fault::Machine(message) => message,
        })
    });
    made.map_or(std::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

#[no_mangle]
pub extern "C" fn slipstream_grammar_begun(grammar: &Grammar) -> *mut Grammar {
    Box::into_raw(Box::new(grammar.begun()))
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammar_free(grammar: *mut Grammar) {
    drop(Box::from_raw(grammar));
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammar_advance(
    grammar: &mut Grammar,
    tokens: *const u32,
    count: usize,
    error: *mut Bytes,
) -> bool {
    guard(error, || grammar.advance(borrowed_ids(tokens, count))).is_some()
}

/// # Safety
/// See rust_bridge.h.
#[no_mangle]
pub unsafe extern "C" fn slipstream_grammar_mask(
    grammar: &Grammar,
    path: *const u32,
    count: usize,
    bits: *mut u32,
    words: usize,
    work_ns: &mut u64,
    error: *mut Bytes,
) -> bool {
    let bits = std::slice::from_raw_parts_mut(bits, words);
    let made = guard(error, || grammar.mask(borrowed_ids(path, count), bits));
    *work_ns = made.unwrap_or(FAILED_WORK_NS);
    made.is_some()
}
