//! The C ABI of ../../ffi.h. Nothing here unwinds into C++: every entry goes through `abi::guard`.

mod abi;
mod byte_level;
mod chat_template;
mod python;
mod tokenizer;
