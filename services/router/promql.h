// Reads the answer of a Prometheus to one query: the newest sample of every series of all workers.
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/metrics/scrape.h"

namespace slipstream {

// GET of the HTTP API: {__name__=~"slipstream_(verifier|drafter)_.+"}.
inline constexpr std::string_view kWorkersQueryPath =
    "/api/v1/query?query=%7B__name__%3D~%22slipstream_%28verifier%7Cdrafter%29_.%2B%22%7D";

// The samples of each worker, by the label `instance`, which Prometheus gives to all that it
// scrapes. Errors: the body is no JSON, no success, or no vector.
Result<std::map<std::string, std::vector<Sample>>> read_query(std::string_view json);

}  // namespace slipstream
