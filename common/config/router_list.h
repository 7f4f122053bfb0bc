// The routers that a worker is told to offer itself to.
#pragma once

#include <string>
#include <vector>

namespace slipstream {

// Leaves each address once, the first mention of it, as all workers spell it (actor/membership.h compares them): a worker that
// connects to one router twice is two workers of one identity, and takes one of the connections for a stranger's. A sentence
// for each that went.
std::vector<std::string> drop_repeats(std::vector<std::string>& routers);

}  // namespace slipstream
