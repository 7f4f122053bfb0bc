// The C ABI of the Rust library in rust/.
//
//   - Memory that Rust returns is freed by Rust (the ..._free functions).
//   - Memory that Rust borrows is used during the call only.
//   - Several threads may use one handle at a time.
//   - A call that fails writes a sentence to `error`, which the caller then owns. A call that
//     succeeds leaves `error` untouched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

extern "C" {

struct SlipstreamSlice {  // borrowed
  const char* data;
  size_t size;
};
struct SlipstreamBytes {  // owned by the caller: slipstream_bytes_free
  char* data;
  size_t size;
};
struct SlipstreamIds {  // owned by the caller: slipstream_ids_free
  uint32_t* data;
  size_t size;
};
void slipstream_bytes_free(SlipstreamBytes bytes);
void slipstream_ids_free(SlipstreamIds ids);

struct SlipstreamTokenizer;
struct SlipstreamPieces {     // borrowed from the tokenizer for its lifetime
  const char* bytes;          // the bytes of all ids, one id after the other
  const uint32_t* ends;       // [count] where in `bytes` those of each id end
  const uint8_t* is_special;  // [count]
  size_t count;               // the vocabulary: greatest id + 1
};
SlipstreamTokenizer* slipstream_tokenizer_load(SlipstreamSlice json, SlipstreamBytes* error);  // null: failed
void slipstream_tokenizer_free(SlipstreamTokenizer* tokenizer);
SlipstreamPieces slipstream_tokenizer_pieces(const SlipstreamTokenizer* tokenizer);
int64_t slipstream_tokenizer_id(const SlipstreamTokenizer* tokenizer, SlipstreamSlice token);  // -1: there is none
// The ids that the tokenizer's post-processor puts before a text; mostly none.
SlipstreamIds slipstream_tokenizer_prefix(const SlipstreamTokenizer* tokenizer);
// Whether the text of a sequence lacks the space with which its first token begins.
bool slipstream_tokenizer_drops_first_space(const SlipstreamTokenizer* tokenizer);
// The number of special tokens, and each of them as it is written in texts; in no order. `special`
// borrows from the tokenizer for its lifetime.
size_t slipstream_tokenizer_specials(const SlipstreamTokenizer* tokenizer);
SlipstreamSlice slipstream_tokenizer_special(const SlipstreamTokenizer* tokenizer, size_t index);
// False: failed. `mark` (a Unicode scalar; 0: none) is removed from the text after the special
// tokens in it were found.
bool slipstream_tokenizer_encode(const SlipstreamTokenizer* tokenizer, SlipstreamSlice text, bool parse_special, uint32_t mark,
                                 SlipstreamIds* ids, SlipstreamBytes* error);
// The same of a text that goes on behind another: without the space that some tokenizers put before
// a text. Special tokens are text.
bool slipstream_tokenizer_encode_inside(const SlipstreamTokenizer* tokenizer, SlipstreamSlice text, SlipstreamIds* ids,
                                        SlipstreamBytes* error);

struct SlipstreamTemplate;
struct SlipstreamTurn {
  SlipstreamSlice role;
  SlipstreamSlice content;
  SlipstreamSlice more;  // a JSON object of the message's other fields; empty: none
};
struct SlipstreamExtras {
  SlipstreamSlice tools;      // a JSON list; empty: none
  SlipstreamSlice variables;  // a JSON object; empty: none
  bool add_generation_prompt;
  int64_t now_unix_s;
};
// Null: failed. If `jinja` is empty, the template inside tokenizer_config.json is used. An empty
// `tokenizer_config` means that the file does not exist.
SlipstreamTemplate* slipstream_template_load(SlipstreamSlice jinja, SlipstreamSlice tokenizer_config, SlipstreamBytes* error);
void slipstream_template_free(SlipstreamTemplate* chat_template);
bool slipstream_template_render(const SlipstreamTemplate* chat_template, const SlipstreamTurn* turns, size_t count,
                                const SlipstreamExtras* extras, SlipstreamBytes* text, SlipstreamBytes* error);
// Whether the template reads a variable that it does not set.
bool slipstream_template_reads(const SlipstreamTemplate* chat_template, SlipstreamSlice variable);
SlipstreamSlice slipstream_template_source(const SlipstreamTemplate* chat_template);  // borrowed from the template

struct SlipstreamGrammars;  // shares the tokenizer, which may be freed before
struct SlipstreamGrammar;   // one thread at a time
// ends: [count] the tokens that end an answer. Null: failed.
SlipstreamGrammars* slipstream_grammars_new(const SlipstreamTokenizer* tokenizer, const uint32_t* ends, size_t count,
                                            SlipstreamBytes* error);
void slipstream_grammars_free(SlipstreamGrammars* grammars);
// form: 0 a JSON schema, 1 a regular expression, 2 rules in Lark's form. Null: failed; lasting: and
// so will every later call with this text.
SlipstreamGrammar* slipstream_grammar_compile(const SlipstreamGrammars* grammars, uint32_t form, SlipstreamSlice text,
                                              bool* lasting, SlipstreamBytes* error);
SlipstreamGrammar* slipstream_grammar_begun(const SlipstreamGrammar* grammar);  // the same one, at its beginning
void slipstream_grammar_free(SlipstreamGrammar* grammar);
// False: failed, and so will every later call.
bool slipstream_grammar_advance(SlipstreamGrammar* grammar, const uint32_t* tokens, size_t count, SlipstreamBytes* error);
// bits: [words] bit v % 32 of word v / 32 says whether token v may come behind the tokens and
// `path`. work_ns: what it took, reckoned from counts; a second if it failed. False: failed.
bool slipstream_grammar_mask(const SlipstreamGrammar* grammar, const uint32_t* path, size_t count, uint32_t* bits, size_t words,
                             uint64_t* work_ns, SlipstreamBytes* error);
}

namespace slipstream {

// Conversions. taken() copies what Rust returned and frees it.
inline SlipstreamSlice slice_of(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view_of(SlipstreamSlice slice) { return {slice.data, slice.size}; }

inline std::string taken(SlipstreamBytes bytes) {
  std::string text(bytes.data, bytes.size);
  slipstream_bytes_free(bytes);
  return text;
}

inline std::vector<TokenId> taken(SlipstreamIds ids) {
  std::vector<TokenId> copy(ids.data, ids.data + ids.size);
  slipstream_ids_free(ids);
  return copy;
}

}  // namespace slipstream
