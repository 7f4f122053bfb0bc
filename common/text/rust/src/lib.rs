//! Implements the C ABI of common/text/rust_bridge.h. No panic may unwind into C++, so every call
//! that can fail goes through `abi::guard`.

mod abi;
mod bounded_text;
mod byte_level;
mod chat_template;
mod grammar;
mod multiples;
mod prefix_space;
mod python;
mod spelling;
mod tokenizer;
