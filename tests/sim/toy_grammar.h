// Grammars over the toy model's vocabulary: token 0 ends an answer, token t is the letter t of the
// alphabet.
#pragma once

#include "common/grammar/grammar.h"

namespace slipstream::sim {

const Grammars& toy_grammars();

}  // namespace slipstream::sim
