"""Greedy decoding by a peer, with bench/decode's protocol: a line with the number of tokens and the prompt's ids in, a line of JSON out.

    PYTHON bench/peers/decode.py llama.cpp MODEL.gguf [--threads 2]
    PYTHON bench/peers/decode.py transformers MODEL             in bf16: a Hugging Face folder
    PYTHON bench/peers/decode.py openvino MODEL.gguf

Each peer decodes in the fastest way that its API offers: the likeliest token only, without making text. Once it is ready, it prints its
name and version on stderr.
"""

import argparse
import json
import os
import sys
import time

import numpy as np

CONTEXT = 4096  # tokens, as bench/decode has


def timed(first, following, wanted):
    """Times decoding for peers whose API leaves the loop to the caller: first() and following(token) each return a token."""
    asked = time.perf_counter()
    tokens = [first()]
    begun = time.perf_counter()
    while len(tokens) < wanted:
        tokens.append(following(tokens[-1]))
    return {"prompt_s": begun - asked, "decode_s": time.perf_counter() - begun, "tokens": tokens}


def llama_cpp(path, threads):
    import llama_cpp

    model = llama_cpp.Llama(path, n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False)
    vocabulary = model.n_vocab()

    def likeliest(tokens):
        model.eval(tokens)
        last = llama_cpp.llama_get_logits_ith(model.ctx, -1)
        return int(np.ctypeslib.as_array(last, (vocabulary,)).argmax())

    def decode(wanted, prompt):
        model.reset()
        return timed(lambda: likeliest(prompt), lambda token: likeliest([token]), wanted)

    return f"llama-cpp-python {llama_cpp.__version__}", decode


def transformers(folder, threads):
    import torch
    import transformers

    torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()

    def decode(wanted, prompt):
        cache = transformers.DynamicCache(config=model.config)

        def likeliest(tokens):
            with torch.inference_mode():
                return int(model(torch.tensor([tokens]), past_key_values=cache, logits_to_keep=1).logits[0, -1].argmax())

        return timed(lambda: likeliest(prompt), lambda token: likeliest([token]), wanted)

    return f"transformers {transformers.__version__}, torch {torch.__version__}, bf16", decode


def openvino(path, threads):
    import openvino
    import openvino_genai

    pipeline = openvino_genai.LLMPipeline(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"})

    def decode(wanted, prompt):
        ids = openvino.Tensor(np.array([prompt], dtype=np.int64))
        inputs = openvino_genai.TokenizedInputs(ids, openvino.Tensor(np.ones_like(np.array([prompt], dtype=np.int64))))
        how = openvino_genai.GenerationConfig(max_new_tokens=wanted, min_new_tokens=wanted, ignore_eos=True, do_sample=False)
        result = pipeline.generate(inputs, how)
        first = result.perf_metrics.get_ttft().mean / 1e3
        whole = result.perf_metrics.get_generate_duration().mean / 1e3
        return {"prompt_s": first, "decode_s": whole - first, "tokens": list(result.tokens[0])}

    return f"OpenVINO GenAI {openvino_genai.__version__}", decode


def main():
    peers = {"llama.cpp": llama_cpp, "transformers": transformers, "openvino": openvino}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("peer", choices=peers)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    words = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come among the answers
    name, decode = peers[arguments.peer](arguments.model, arguments.threads)
    print(f"ready: {name}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        wanted, *prompt = map(int, line.split())
        print(json.dumps(decode(wanted, prompt)), file=words, flush=True)


if __name__ == "__main__":
    main()
