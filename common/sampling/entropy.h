// The entropy of what a row of logits says of the next token. Pure.
#pragma once

#include <span>

namespace slipstream {

// Of softmax(logits / temperature), in nats, by which AdaEDL stops a draft (2410.18351); at
// temperature 0 of softmax(logits). A logit of -infinity is a token that cannot be drafted.
// REQUIRES: a finite logit.
float entropy_of(std::span<const float> logits, float temperature);

}  // namespace slipstream
