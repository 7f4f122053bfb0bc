#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace slipstream::fuzz {

Mutator::Mutator(uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> words)
    : random_(seed), corpus_(std::move(corpus)), words_(std::move(words)) {
  CHECK(!corpus_.empty() && !words_.empty(), "a fuzz target without inputs or words");
}

std::string Mutator::next() {
  std::string input = any(corpus_);
  for (size_t changes = 1 + below(8); changes > 0; --changes) change(input);
  input.resize(std::min(input.size(), kInputBytesMax));
  return input;
}

void Mutator::change(std::string& input) {
  const size_t at = below(input.size() + 1), bytes = std::min(1 + below(16), input.size() - at);
  switch (below(8)) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(below(256));
      break;
    case 2:
      input.erase(at, bytes);
      break;
    case 3:
      input.insert(at, any(words_));
      break;
    case 4:
      input.replace(at, bytes, any(words_));
      break;
    case 5: {  // repeated, sometimes often
      const std::string piece = input.substr(at, bytes);
      for (size_t times = below(16) == 0 ? below(512) : 1; times > 0 && input.size() < kInputBytesMax; --times) {
        input.insert(at, piece);
      }
      break;
    }
    case 6: {  // a piece of another input
      const std::string& other = any(corpus_);
      const size_t from = below(other.size() + 1);
      input.insert(at, other.substr(from, below(64)));
      break;
    }
    default:
      input.resize(at);
  }
}

}  // namespace slipstream::fuzz
