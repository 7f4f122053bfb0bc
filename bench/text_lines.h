// The main() of benchmark programs that answer lines of stdin.
#pragma once

#include <cstdio>
#include <iostream>
#include <string>

#include "bench/model_flags.h"
#include "common/kv/block_table.h"

namespace slipstream {

// Reads the flags, loads the model, prints its numerics id on stderr once it is ready, then calls
// on_line(model, pool, line) -> Result<void> for each line of stdin. Returns the exit status.
template <class OnLine>
int answer_lines(int argc, char** argv, const char* description, ModelFlags flags, int32_t context, const OnLine& on_line) {
  CLI::App app(description);
  flags.add_to(app);
  app.add_option("--context", context, "tokens of the longest line, and of its answer")
      ->capture_default_str()
      ->check(CLI::Range(1, 32768));
  CLI11_PARSE(app, argc, argv);
  const auto answer = [&]() -> Result<void> {
    const int32_t blocks = blocks_of_a_sequence(context);
    TRY(LanguageModel model, flags.load(blocks));
    std::fprintf(stderr, "ready: %s\n", model.numerics_id().c_str());
    BlockPool pool(blocks);
    for (std::string line; std::getline(std::cin, line);) TRY_VOID(on_line(model, pool, line));
    return {};
  };
  if (const auto done = answer(); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace slipstream
