// The addresses that a host's name stands for.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

// As texts without brackets, sorted, each once. It asks the system (getaddrinfo), which may block
// for as long as its resolver tries.
Result<std::vector<std::string>> addresses_of(const std::string& host);

// By which others may find this machine:
//   1. the address from which it would reach `towards`, if that is an address;
//   2. else the first address of its interfaces beyond loopback, IPv4 before IPv6;
//   3. else its name.
// It sends nothing and waits for nothing.
std::string own_address(const std::string& towards);

}  // namespace slipstream
