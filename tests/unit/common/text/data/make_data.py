"""Makes the tokenizer and the golden files of this folder; see README.md."""

import argparse
import datetime
import inspect
import json
import sys
from pathlib import Path

import jinja2
import jinja2.sandbox
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = Path(__file__).parent
NOW_UNIX_S = 1_700_000_000  # 14 November 2023, 22:13 UTC
CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CORPUS = """
The drafter guesses the next words and the verifier checks the whole tree of guesses in one pass. When the guesses are right the
answer comes sooner; when they are wrong nothing is lost but a little time. The words of the answer never change.
A river runs past the mill, and the miller waits for nobody: she lets the water through when it comes, she turns the wheel when
it is there, and she counts the sacks in the evening. There were twelve on Monday, fifteen on Tuesday and none on Wednesday.
def main(): return [n * 2 for n in range(10) if n % 3 == 0]  # even numbers and the like
int main() { for (int i = 0; i < 10; ++i) { std::cout << i << "\\n"; } return 0; }
I don't think it's what they'd have wanted; we'll see whether you're right. What's done is done.
"""
TEXTS = [
    "",
    " ",
    "\n",
    "Hello, world!",
    "  leading and trailing  ",
    "the words of the answer never change",
    "12345 6.789 1e-9 ½ ²³ ٣٤",
    "don't DON'T we'll they'd I'm you're it's 'tis",
    "tabs\tand\r\nnew lines\n\n\n  end",
    "a\u00a0b\u2003c\u3000d",
    "naïve café e\u0301 ﬁ Å",
    "日本語のテキスト",
    "Привет, мир",
    "🤷🏽\u200d♀️ and 🇩🇪 and 👩‍👩‍👧‍👦",
    "<|im_start|>user\nhi<|im_end|>\n",
    "a<|im_end|>b <|im_end|> c",
    "<|im_end|<|im_end|>|>",
    "<|im_endoftext|> <|im_",
    "think <think> aloud </think>",
    "nul \u0000 and \u0007 bell",
    "\U0010fffd private \ue000",
    "x" * 300,
    " " * 100 + "y",
    "\n" * 50,
    "def main(): return [n * 2 for n in range(10)]  # even\n\tpass",
]
CHATS = [
    [("user", "Hello, world!")],
    [("user", "")],
    [("user", "\n\n  spaces first and last \n ")],
    [("system", "Be brief."), ("user", "What is done?"), ("assistant", "Done is done."), ("user", "> quoted | text >")],
    [("user", "a < b and b <"), ("assistant", "|> odd <|"), ("user", "/command now 'quoted' \"too\" & <b>")],
    [("system", "  trimmed  "), ("user", "日本語 🤷🏽\u200d♀️ naïve")],
    [("user", "<think>aloud</think>"), ("assistant", "ok"), ("user", "\U000f0000\U0010fffd")],
]


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIALS, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    tokenizer.add_tokens([AddedToken("<think>", normalized=False)])
    tokenizer.save(str(HERE / "tokenizer.json"))
    (HERE / "tokenizer_config.json").write_text(
        json.dumps({"bos_token": {"content": "<|im_start|>", "special": True}, "eos_token": "<|im_end|>", "chat_template": CHATML}, indent=1) + "\n"
    )


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def dump(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def render(template, chat):
    """The environment that Hugging Face's apply_chat_template gives a template."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    now = datetime.datetime.fromtimestamp(NOW_UNIX_S, datetime.timezone.utc)
    environment.filters["tojson"] = dump
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = now.strftime
    messages = [{"role": role, "content": content} for role, content in chat]
    specials = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}
    return environment.from_string(template).render(
        messages=messages, tools=None, documents=None, add_generation_prompt=True, **specials
    )


def texts_golden(tokenizer):
    golden = []
    for text in TEXTS:
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        decoded = tokenizer.decode(ids, skip_special_tokens=True)
        golden.append({"text": text, "ids": ids, "plain_ids": plain, "decoded": decoded})
    return golden


def chats_golden(tokenizer, template):
    golden = []
    for chat in CHATS:
        text = render(template, chat)
        golden.append({"messages": chat, "text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids})
    return golden


# In their order they tell groups of three digits from longer ones and from single ones: 12345 is 123 45, 12 34 5 or 1 2 3 4 5.
DIGIT_MERGES = [("3", "4"), ("1", "2"), ("12", "3"), ("4", "5")]


def with_digits():
    """The tiny tokenizer, and tokens of several digits behind its own."""
    tokenizer = json.loads((HERE / "tokenizer.json").read_text())
    model = tokenizer["model"]
    model["vocab"].update({token["content"]: token["id"] for token in tokenizer["added_tokens"]})
    for left, right in DIGIT_MERGES:
        model["vocab"][left + right] = len(model["vocab"])
        model["merges"].append([left, right])
    return tokenizer


def pre_tokenizer_golden():
    """What Llama 3's and Qwen2's way to split a text into words, as transformers has them, make of the tiny vocabulary and digits."""
    from transformers.convert_slow_tokenizer import Qwen2Converter, TikTokenConverter

    model = with_digits()["model"]
    qwen2 = Qwen2Converter(argparse.Namespace()).converted(model["vocab"], [tuple(merge) for merge in model["merges"]])
    pattern = inspect.signature(TikTokenConverter).parameters["pattern"].default
    golden = {"merges": DIGIT_MERGES}
    for name in ("llama-bpe", "qwen2"):
        tokenizer = Tokenizer.from_str(json.dumps(with_digits()))
        if name == "qwen2":
            tokenizer.normalizer, tokenizer.pre_tokenizer = qwen2.normalizer, qwen2.pre_tokenizer
        else:
            tokenizer.model.ignore_merges = True
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
                pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ])
        golden[name] = texts_golden(tokenizer)
    return golden


def write(name, value):
    lines = json.dumps(value, ensure_ascii=False, indent=None).replace('}, {"', '},\n{"')
    (HERE / name).write_text(lines + "\n", encoding="utf-8")


def main():
    train()
    tiny = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    chatty = (HERE / "chatty.jinja").read_text()
    write("golden.json", {
        "now_unix_s": NOW_UNIX_S,
        "texts": texts_golden(tiny),
        "chatml": chats_golden(tiny, CHATML),
        "chatty": chats_golden(tiny, chatty),
    })
    write("pre_tokenizer_golden.json", pre_tokenizer_golden())
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        smollm2 = Tokenizer.from_file(str(folder / "tokenizer.json"))
        template = (folder / "chat_template.jinja").read_text()
        write("smollm2_golden.json", {"texts": texts_golden(smollm2), "chats": chats_golden(smollm2, template)})


if __name__ == "__main__":
    main()
