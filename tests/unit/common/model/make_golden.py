"""Makes the tiny models under tests/data and the golden logits that tests/unit/common/model holds our forward pass to.

    python tests/unit/common/model/make_golden.py tests/data [models/smollm2-135m-instruct]

Needs torch, transformers, tokenizers and safetensors (made with torch 2.11.0, the Gemmas with 2.15.0, and transformers 5.23.0). The
same versions and seed give the same files. Logits are computed by transformers in float32 from the bf16 weights that are written. With a second argument it
also writes smollm2_golden.json for that model.
"""

import json
import math
import pathlib
import sys

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (AutoTokenizer, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig,
                          LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

SPECIALS = ["<unk>", "<s>", "</s>", "<|turn|>"]
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 \n.,?!'-:;ABCDEFGHIJKLMN"
TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message['role'] }}\n{{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
ENTROPY = 2.5  # nats, mean over positions: neither flat (log 64 = 4.16) nor peaked
GOLDEN_TOKENS = 96

TIED = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
            vocab_size=64, max_position_embeddings=1024, tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
# Sizes that fill no panel and no vector, heads wider than hidden / heads, and a context beyond original_max_position_embeddings.
UNTIED = dict(hidden_size=42, intermediate_size=88, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, head_dim=20,
              vocab_size=50, max_position_embeddings=512, tie_word_embeddings=False,
              rope_parameters={"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                               "high_freq_factor": 4.0, "original_max_position_embeddings": 32})
# Biases on q, k and v; no head_dim in its config.
QWEN2 = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=64, max_position_embeddings=512, tie_word_embeddings=True, use_sliding_window=False,
             rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})
# Norms of each head of q and k; biases besides, on the output projection, too.
QWEN3 = dict(hidden_size=40, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
             vocab_size=50, max_position_embeddings=512, tie_word_embeddings=False, use_sliding_window=False, attention_bias=True,
             rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})

# Attention to the last 21 positions, a window that begins within blocks of the cache.
MISTRAL = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
               vocab_size=50, max_position_embeddings=512, tie_word_embeddings=False, sliding_window=21,
               rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
# A context beyond what its frequencies were made for.
YARN = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
            vocab_size=50, max_position_embeddings=128, tie_word_embeddings=True,
            rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32})

# A window of 21 in every second layer; soft caps that scores and logits are beyond; scores divided by another root than head_dim's.
GEMMA2 = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
              vocab_size=50, max_position_embeddings=512, tie_word_embeddings=True, sliding_window=21, query_pre_attn_scalar=7,
              attn_logit_softcapping=2.0, final_logit_softcapping=10.0, hidden_activation="gelu_pytorch_tanh",
              rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
# A window in five of six layers, which rotate by a base of their own; the sixth has linear scaling.
GEMMA3 = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=7, num_attention_heads=2, num_key_value_heads=1, head_dim=12,
              vocab_size=50, max_position_embeddings=512, tie_word_embeddings=True, sliding_window=21, query_pre_attn_scalar=12,
              hidden_activation="gelu_pytorch_tanh",
              rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                               "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})

# One layer, so that the keys and values of a position depend on no other: the test can fill a long context quickly.
FAR = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
           vocab_size=64, max_position_embeddings=131072, tie_word_embeddings=True,
           rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 16.0, "low_freq_factor": 1.0,
                            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})
FAR_POSITIONS = [0, 31, 4096, 32767, 32768, 65535, 100000, *range(131072 - 9, 131072)]

MODELS = [("tiny-llama", LlamaConfig, LlamaForCausalLM, TIED | dict(attention_bias=False), 7),
          ("tiny-llama3", LlamaConfig, LlamaForCausalLM, UNTIED | dict(attention_bias=False), 8),
          ("tiny-qwen2", Qwen2Config, Qwen2ForCausalLM, QWEN2, 9),
          ("tiny-qwen3", Qwen3Config, Qwen3ForCausalLM, QWEN3, 10),
          ("tiny-mistral", MistralConfig, MistralForCausalLM, MISTRAL, 11),
          ("tiny-yarn", LlamaConfig, LlamaForCausalLM, YARN | dict(attention_bias=False), 12),
          ("tiny-gemma2", Gemma2Config, Gemma2ForCausalLM, GEMMA2, 14),
          ("tiny-gemma3", Gemma3TextConfig, Gemma3ForCausalLM, GEMMA3, 15)]


def make_model(config_class, model_class, sizes, seed):
    torch.manual_seed(seed)
    gate = {} if "hidden_activation" in sizes else dict(hidden_act="silu")
    config = config_class(**sizes, **gate, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2)
    config._attn_implementation = "eager"
    model = model_class(config).float().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.copy_(1 - norm_offset(model) + 0.2 * torch.randn_like(weight))
            elif "bias" in name:
                weight.copy_(0.5 * torch.randn_like(weight))
            elif "embed" in name:
                weight.copy_(0.3 * torch.randn_like(weight))
            else:
                gain = 2.0 if "q_proj" in name or "k_proj" in name else 1.0
                weight.copy_(gain * torch.randn_like(weight) / math.sqrt(weight.shape[1]))
    set_entropy(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.bfloat16().float())
    return model


def norm_offset(model):
    """What a norm adds to its weight."""
    return 1 if "Gemma" in type(model).__name__ else 0


def entropy(model):
    tokens = torch.randint(4, model.config.vocab_size, (16, 64), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        log_p = model(tokens).logits.log_softmax(-1)
    return float(-(log_p.exp() * log_p).sum(-1).mean())


def set_entropy(model):
    """Scales the last norm's gain until the mean entropy is ENTROPY."""
    offset = norm_offset(model)
    gain = model.model.norm.weight.detach().clone() + offset
    low, high = 0.01, 2.0 if getattr(model.config, "final_logit_softcapping", None) else 100.0  # capped logits grow alike beyond
    for _ in range(40):
        middle = math.sqrt(low * high)
        with torch.no_grad():
            model.model.norm.weight.copy_(gain * middle - offset)
        low, high = (middle, high) if entropy(model) > ENTROPY else (low, middle)


def write_folder(model, sizes, folder):
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: weight.bfloat16().contiguous() for name, weight in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    config = {key: value for key, value in model.config.to_dict().items() if not key.startswith("_")}
    keep = list(sizes) + ["hidden_act", "rms_norm_eps", "bos_token_id", "eos_token_id", "mlp_bias", "model_type", "layer_types"]
    config = {key: config[key] for key in keep if key in config}
    config |= {"architectures": [type(model).__name__], "dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, "eos_token_id": [2]}, indent=2) + "\n")


def write_golden(model, folder):
    """tokens [1, n] and logits [n, vocabulary], both F32 so that our own reader reads them."""
    tokens = torch.randint(4, model.config.vocab_size, (1, GOLDEN_TOKENS), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        logits = model(tokens).logits[0].contiguous()
    save_file({"tokens": tokens.float(), "logits": logits}, folder / "golden.safetensors")
    print(f"{folder}: entropy {entropy(model):.3f} nats, |logits| {logits.abs().mean():.3f}")


def write_far_golden(model, folder):
    """Logits [n, vocabulary] after some positions of a text as long as the context, whose token at i is as below."""
    tokens = torch.tensor([[4 + (i * i % 8191 * 31 + i * 7) % 60 for i in range(model.config.max_position_embeddings)]])
    model.config._attn_implementation = "sdpa"
    with torch.no_grad():
        hidden = model.model(tokens, use_cache=False).last_hidden_state[:, FAR_POSITIONS]
        logits = model.lm_head(hidden)[0].contiguous()
    save_file({"positions": torch.tensor(FAR_POSITIONS).float(), "logits": logits}, folder / "golden.safetensors")
    print(f"{folder}: |logits| {logits.abs().mean():.3f}")


def write_tokenizer(folder):
    """One token a character, for text through real processes; byte-level, as the tokenizers of real Llamas are."""
    spelt = [{" ": "\u0120", "\n": "\u010a"}.get(character, character) for character in CHARACTERS]
    vocabulary = {token: index for index, token in enumerate(SPECIALS + spelt)}
    assert len(vocabulary) == 64
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names, indent=2) + "\n")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    check = Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = "<|turn|>user\nhello, 42!</s>"
    assert check.decode(check.encode(text).ids, skip_special_tokens=False) == text


def write_real(model_folder, path):
    """Top logits of every position of one real chat."""
    model = LlamaForCausalLM.from_pretrained(model_folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    question = "A train leaves at 9:40 and arrives at 12:05. How long does the journey take? Explain in two short sentences."
    text = tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
    with torch.no_grad():
        tokens = model.generate(prompt, max_new_tokens=48, do_sample=False)
        logits = model(tokens).logits[0]
    top = logits.topk(8)
    golden = {
        "prompt_tokens": prompt.shape[1],
        "tokens": tokens[0].tolist(),
        "top_ids": top.indices.tolist(),
        "top_logits": [[round(value, 4) for value in row] for row in top.values.tolist()],
    }
    path.write_text(json.dumps(golden) + "\n")
    print(f"{path}: {tokens.shape[1]} positions")


def main():
    data = pathlib.Path(sys.argv[1])
    for name, config_class, model_class, sizes, seed in MODELS:
        model = make_model(config_class, model_class, sizes, seed)
        write_folder(model, sizes, data / name)
        write_golden(model, data / name)
        for file in (data / name).iterdir():
            file.chmod(0o644)
    far = make_model(LlamaConfig, LlamaForCausalLM, FAR | dict(attention_bias=False), 13)
    write_folder(far, FAR, data / "tiny-far")
    write_far_golden(far, data / "tiny-far")
    write_tokenizer(data / "tiny-llama")
    if len(sys.argv) > 2:
        write_real(sys.argv[2], data / "smollm2_golden.json")


if __name__ == "__main__":
    main()
