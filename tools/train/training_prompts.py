"""The prompts that a target answers to write training data for a draft head (target_documents.py): our own templates with our own words,
questions of GSM8K's training set, prompts that the target writes itself, and tasks about texts that it wrote.

A task is a function of its number. Its prompts are messages of a chat; None stands for "the target writes the prompt", and "{text}" for what
it answered to the task's prompt before.
"""

import dataclasses
import itertools
import json
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import corpus_prompts  # noqa: E402  (its templates are ours, too)

OVERLAP_WORDS = 8  # in a row; case and punctuation do not count

# Each of ten tasks in a row: gsm8k a question of its training set, template one of ours, synthesis the target's own prompt,
# text a text of the target and a task about it, german a sentence to translate.
TURNS = ["synthesis", "template", "gsm8k", "template", "text", "synthesis", "template", "german", "gsm8k", "template"]

TEXTS = """Write a news article about {0} with names, places and numbers.|Write an encyclopedia article about {0}.|
Write a detailed report about {0} in several paragraphs.|Tell a long story in which {0} and {1} matter.|
Write an article for a magazine about {0} and {1}.|Write a chapter of a textbook about {0}."""

ABOUT_TEXTS = """Summarize: {text}|Summarise this text in three sentences: {text}|{text}\nWhat is the text about?|{text}\nWho is named in this text, and why?|
{text}\nWhy does it matter?|Read this and answer: what happened first?\n{text}|{text}\nWhat are the main points?|{text}\nExplain the second paragraph.|
Write a title and an abstract: {text}|{text}\nWhat are the advantages?|{text}\nHow does it work?|Correct the mistakes of this text: {text}|
Make a list of the facts in this text. {text}|{text}\nGive one argument against it."""

GERMAN_WHO = """Die Regierung|Der Verein|Eine Lehrerin aus Kassel|Die Polizei|Der Bürgermeister|Die Bank|Ein junger Arzt|Das Unternehmen|Die Feuerwehr|
Der Trainer|Die Mannschaft|Ein Sprecher der Stadt|Die Universität|Das Gericht|Eine Gruppe von Schülern|Der Minister|Meine Nachbarin|Der Verlag"""
GERMAN_WHAT = """hat gestern einen neuen Plan vorgestellt|will die Preise im Herbst erhöhen|sucht seit Wochen nach einer Lösung|baut am Fluss ein großes Haus|
hat den Bericht noch nicht gelesen|warnt vor starkem Regen und Wind|freut sich über viele Gäste|zahlt in diesem Jahr weniger Steuern|
hat am Abend die Straße gesperrt|spricht mit der Presse über die Ergebnisse|feiert im Sommer ein Fest|verkauft alte Bücher und Bilder|
braucht mehr Zeit und mehr Geld|hat die Prüfung mit Erfolg bestanden|kritisiert die Entscheidung der Kommission|verlor das Spiel mit zwei zu drei Toren"""
GERMAN_WHY = """weil es dafür gute Gründe gibt|obwohl viele Menschen dagegen sind|und niemand weiß, was morgen geschieht|denn die Lage ist schwierig|
sagte ein Zeuge am Montag|wie die Zeitung berichtet|nachdem der Winter zu Ende ging|damit die Kinder sicher zur Schule kommen|
bevor die Gäste aus Japan kommen|und alle waren zufrieden"""
GERMAN_TASKS = "Translate German to English: {0}|Translate German to English: {0}|Translate this to English: {0}|What does this mean? {0}"


@dataclasses.dataclass
class Task:
    number: int
    source: str
    prompts: list  # one after the other; a later one may have {text} of the answer before
    temperature: float


def words_of(text):
    return re.findall(r"[^\W_]+", text.lower())


def runs_of(text):
    """Each run of OVERLAP_WORDS words, or the whole of a shorter text."""
    words = words_of(text)
    length = min(len(words), OVERLAP_WORDS)
    return {" ".join(words[at:at + length]) for at in range(len(words) - length + 1)} if length else set()


class Overlap:
    """Tells whether a prompt has words in common with prompts that something is measured with."""

    def __init__(self):
        self.runs = set()

    def exclude(self, prompt):
        self.runs |= runs_of(prompt)

    def meets(self, prompt):
        return not self.runs.isdisjoint(runs_of(prompt))


def texts_of(value):
    """All strings of a JSON value but those that tell what an item is: an evaluation set's questions lie under names of its own."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, each in value.items() if name not in ("category", "task_id", "entry_point") for text in texts_of(each)]
    return [text for each in value for text in texts_of(each)] if isinstance(value, list) else []


def exclusions(files):
    overlap = Overlap()
    for file in files:
        for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
            for text in texts_of(json.loads(line)):
                overlap.exclude(text)
    return overlap


def german(dice):
    sentence = f"{dice.choice(corpus_prompts.parts(GERMAN_WHO))} {dice.choice(corpus_prompts.parts(GERMAN_WHAT))}, "
    sentence += f"{dice.choice(corpus_prompts.parts(GERMAN_WHY))}."
    return dice.choice(corpus_prompts.parts(GERMAN_TASKS)).format(sentence)


def tasks(gsm8k):
    """Task 0, 1, 2, ... without end. Beginning again gives the same tasks. gsm8k: its questions, in the order in which they are asked."""
    questions = itertools.cycle(gsm8k)
    templates = itertools.chain.from_iterable(zip(*corpus_prompts.kinds(random.Random(2))))
    topics = corpus_prompts.parts(corpus_prompts.TOPICS)
    for number in itertools.count():
        dice = random.Random(number)
        source = TURNS[number % len(TURNS)]
        if source == "gsm8k":
            prompts = [next(questions)]
        elif source == "template":
            prompts = [next(templates)]
        elif source == "synthesis":
            prompts = [None]
        elif source == "german":
            prompts = [german(dice)]
        else:
            prompts = [dice.choice(corpus_prompts.parts(TEXTS)).format(*dice.sample(topics, 2)), dice.choice(ABOUT_TEXTS.split("|")).strip()]
        yield Task(number, source, prompts, float(number // len(TURNS) % 2))
