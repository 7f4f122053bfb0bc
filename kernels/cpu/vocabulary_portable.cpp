// The loops of vocabulary_loops.h in plain C++.
#include "kernels/cpu/vocabulary_loops.h"

namespace slipstream {

const VocabularyKernels kPortableVocabulary = kVocabularyLoops;

}  // namespace slipstream
