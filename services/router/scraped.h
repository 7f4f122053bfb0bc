// What the scraper tells the router's actor of one worker, some times a second. Plain data.
#pragma once

#include <string>
#include <variant>

#include "common/speculation/worker_reading.h"

namespace slipstream {

// There is no reading.
struct NoReading {
  bool reached = false;  // a page came, and was nonsense; else the worker did not answer
};

struct Scraped {
  std::string source;  // the address of the worker's page: it tells workers apart
  std::variant<NoReading, WorkerReading> what;
};

}  // namespace slipstream
