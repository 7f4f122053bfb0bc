"""A peer's logits for given texts, with bench/logits's protocol: a line of token ids in, [tokens, vocabulary] floats out.

    PYTHON bench/peers/logits.py transformers MODEL.gguf      in fp32, with the file's own numbers
    PYTHON bench/peers/logits.py llama.cpp MODEL.gguf

PYTHON has torch, transformers and gguf, or llama-cpp-python. Once it is ready, it prints its name and version on stderr.
"""

import os
import sys

import numpy as np

CONTEXT = 2048


def transformers_in_fp32(path):
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    folder, file = os.path.split(os.path.abspath(path))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()

    def logits(ids):
        with torch.no_grad():
            return model(torch.tensor([ids])).logits[0].numpy()

    return f"transformers {transformers.__version__}, fp32", logits


def llama_cpp_as_it_comes(path):
    import llama_cpp

    model = llama_cpp.Llama(path, n_ctx=CONTEXT, logits_all=True, n_threads=1, n_threads_batch=1, verbose=False)

    def logits(ids):
        model.reset()
        model.eval(ids)
        return np.asarray(model.scores[: len(ids)])

    return f"llama-cpp-python {llama_cpp.__version__}", logits


def main():
    peer, path = sys.argv[1:]
    words = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not come among the numbers
    name, logits = {"transformers": transformers_in_fp32, "llama.cpp": llama_cpp_as_it_comes}[peer](path)
    print(f"ready: {name}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        words.write(np.ascontiguousarray(logits([int(word) for word in line.split()]), dtype=np.float32).tobytes())
        words.flush()


if __name__ == "__main__":
    main()
