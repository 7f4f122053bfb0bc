// slipstream top: what a running fleet does now, drawn again each second on a terminal, or printed
// once.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "common/base/result.h"

namespace slipstream::command::top {

struct TopOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string ca_file;  // https: certificates of the authorities that are trusted; empty: the system's
  std::string api_key;  // "": none
  double every_s = 1;   // between two looks
  bool once = false;    // print one snapshot, of two looks, and end
  bool plain = false;   // without colours
};

// Adds the subcommand, which fills `options` when it is parsed. REQUIRES: options outlive the app.
CLI::App* top_flags(CLI::App& app, TopOptions& options);

// Without a terminal it prints one snapshot, as for `once`. Errors: the address is none; for a
// snapshot also that the router does not answer. REQUIRES: no other thread has started.
Result<void> run_top(const TopOptions& options);

}  // namespace slipstream::command::top
