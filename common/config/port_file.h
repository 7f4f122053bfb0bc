// The port file tells a launcher or a test which addresses a process has bound.
//
//   {"pid": 4711, "http": "127.0.0.1:8080", "bind": "tcp://127.0.0.1:7300"}
//
// The process writes it when it is ready. The file appears complete (it is written under another
// name and renamed), so a reader can wait for it to exist.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace slipstream {

using BoundAddresses = std::initializer_list<std::pair<std::string_view, std::string_view>>;  // name, address

// Writes the addresses and this process's id. Does nothing if `path` is empty.
//
// Errors: `path` exists and is no regular file (a device, say), or writing failed. No temporary
// file is left.
Result<void> write_port_file(const std::string& path, BoundAddresses bound);

}  // namespace slipstream
