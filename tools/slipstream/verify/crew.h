// Many questions at once: so many streams, each with connections of its own that it keeps.
#pragma once

#include <cstddef>
#include <functional>

#include "common/base/result.h"
#include "tools/slipstream/verify/progress.h"
#include "tools/slipstream/verify/side.h"

namespace slipstream::command::verify {

struct Lines {
  http::Client reference, candidate;
};

struct Crew {
  const Sides& sides;
  int streams = 1;

  // Calls task(lines, i) once for each i below count, from several threads. The first error ends it: what runs is finished,
  // nothing more is begun.
  Result<void> run(size_t count, Progress& progress, const std::function<Result<void>(Lines&, size_t)>& task) const;
};

}  // namespace slipstream::command::verify
