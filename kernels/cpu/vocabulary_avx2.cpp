// The loops of vocabulary_loops.h for AVX2.
#include "kernels/cpu/vocabulary_loops.h"

namespace slipstream {

const VocabularyKernels kAvx2Vocabulary = kVocabularyLoops;

}  // namespace slipstream
