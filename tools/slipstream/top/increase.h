// By how much the counters of a page have grown between two scrapes of one process. Pure.
#pragma once

#include "common/metrics/scrape.h"

namespace slipstream::command::top {

// A page with the samples of `now`, each with its growth since `before` as its value. A counter
// that has fallen began anew with a restarted process, so all of it is growth; one that is new has
// grown from 0. A value that is not finite counts as no growth. Gauges mean nothing in the result.
//
//   increase(before, now).sum("slipstream_router_output_tokens_total") / seconds
Scrape increase(const Scrape& before, const Scrape& now);

}  // namespace slipstream::command::top
