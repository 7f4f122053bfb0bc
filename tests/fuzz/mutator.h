// Makes hostile inputs of good ones: bytes flipped, taken out, put in, repeated and exchanged for
// words of the language or for pieces of another input. Deterministic; not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace slipstream::fuzz {

inline constexpr size_t kInputBytesMax = 4096;

class Mutator {
 public:
  // corpus: not empty. words: of the language.
  Mutator(uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> words);
  // An input of the corpus with 1 to 8 changes.
  std::string next();

 private:
  size_t below(size_t limit) { return random_() % limit; }
  const std::string& any(const std::vector<std::string>& of) { return of[below(of.size())]; }
  void change(std::string& input);

  std::mt19937_64 random_;
  const std::vector<std::string> corpus_, words_;
};

}  // namespace slipstream::fuzz
