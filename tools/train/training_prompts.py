"""The prompts that a target answers to write training data for a draft head (target_documents.py): our own templates with our own words,
questions of GSM8K's training set, Python code (code_prompts.py), Python's manual, prompts that the target writes itself, and tasks about
texts that it wrote, or that somebody else did.

A task is a function of its number. Its prompts are messages of a chat; Begun stands for one that the target writes, "{text}" for what
it answered to the task's prompt before, and "{part}" for some words in a row of that.
"""

import dataclasses
import functools
import itertools
import json
import pathlib
import pydoc_data.topics
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import code_prompts  # noqa: E402
import corpus_prompts  # noqa: E402  (its templates are ours, too)

OVERLAP_WORDS = 8  # in a row; case and punctuation do not count

# Each of twenty tasks in a row: gsm8k a question of its training set, template one of ours, code about Python, synthesis the target's own
# prompt, begun one of which we wrote the first words, text a text of the target and a task about it, manual a task about a piece of Python's
# manual, german something to translate, question a short one about the world.
TURNS = ["synthesis", "code", "gsm8k", "text", "german", "begun", "question", "manual", "begun", "text", "gsm8k", "german", "synthesis",
         "template", "code", "text", "begun", "gsm8k", "manual", "synthesis"]

# With which a prompt of the kind "begun" begins.
BEGINNINGS = """Who|Who was|Who wrote|Who played|Who won the|who was the first|When did|When was|when is the|Where is|Where did|where do|What is the|
What was|what does|what is a|What year did|How many|how much|How long does|How do you|How did|Which|Why do|Why is|Why did|Is it true that|Are there|
Do|Can you explain|Explain|Describe|Compare|Discuss|Define|Tell me about|Tell me a|Imagine|Imagine you are|Pretend to be|Act as|You are a|
Write a|Write an email|Write a letter|Write a blog post about|Write a review of|Write a speech|Write a poem about|Write a short story about|
Write a scene|Compose|Draft a|Create a|Design a|Outline|Give me|Give an example of|Name|List|Suggest|Recommend|Help me|I am|I have|I want to|
My|We|If|Suppose|Should I|Rewrite|Improve|Correct|Classify|Identify the|Extract|Provide|Evaluate|Argue|Solve|Calculate|Prove|
A company|A student|In the|The|There are|It is|As a"""
BEGUN_TEMPERATURE = 0.7  # so that what begins like this is a question that somebody would ask

PART_WORDS_MIN = 60
PIECE_WORDS_MIN = 60     # of a text's paragraphs in a row that a task is about
PIECE_WORDS_MAX = 500
PARAGRAPH_WORDS_MIN = 9  # less is a heading or a caption

TEXTS = """Write a news article about {0} with names, places and numbers.|Write an encyclopedia article about {0}.|
Write a detailed report about {0} in several paragraphs.|Tell a long story in which {0} and {1} matter.|
Write an article for a magazine about {0} and {1}.|Write a chapter of a textbook about {0}.|
Write a news report about a trial in {2} in which {3} is a witness, with quotations.|Write about the career of {3}, a football player from {2}.|
Write a newspaper article: {3}, a politician from {2}, speaks about {0}.|Write about a film about {0}: its plot, its cast and its reception.|
Write about the history of {0} in {2}, with years.|Write an article about a company in {2} that sells {0} and was founded by {3}.|
Write about an accident near a town in {2}, what {3} saw, and what the police said.|Write an article about how {0} is made, step by step.|
Write an encyclopedia article about a river, a town or a king of {2}.|Write a report about a match that {2} won against {4}."""

ABOUT_TEXTS = """Summarize: {text}|Summarise this text in three sentences: {text}|{text}\nWhat is the text about?|{text}\nWho is named in this text, and why?|
{text}\nWhy does it matter?|Read this and answer: what happened first?\n{text}|{text}\nWhat are the main points?|{text}\nExplain the second paragraph.|
Write a title and an abstract: {text}|{text}\nWhat are the advantages?|{text}\nHow does it work?|Correct the mistakes of this text: {text}|
Make a list of the facts in this text. {text}|{text}\nGive one argument against it.|Summarize: {text}|Summarize: {part}|Summarize: {part}|
Sum this up in one paragraph: {part}|{part}\nWho is this about?|{part}\nWhen did it happen?|{part}\nWhere does this take place?|
{part}\nWhat is it called?|{part}\nWhy did this happen?|{part}\nHow many are there?|{part}\nWhat happened at the end?|
{part}\nWho said so?|Use this text to answer.\n{part}\nWhat are the most important facts?|{part}\nDescribe it in your own words."""

GERMAN_WHO = """Die Regierung|Der Verein|Eine Lehrerin aus Kassel|Die Polizei|Der Bürgermeister|Die Bank|Ein junger Arzt|Das Unternehmen|Die Feuerwehr|
Der Trainer|Die Mannschaft|Ein Sprecher der Stadt|Die Universität|Das Gericht|Eine Gruppe von Schülern|Der Minister|Meine Nachbarin|Der Verlag|
Der Kommissar|Die Autopsie|Ein Zeuge aus {o}|Der Präsident der Vereinigten Staaten|Die Kanzlerin|Der Deutsche Wetterdienst|Ein Forscher aus {o}|
Das Pferd|Die Autofahrerin|Die Behandlung mit diesem Medikament|Der Fluggast|Die Krise in {o}|Der Film mit dem jungen Schauspieler"""
GERMAN_WHAT = """hat gestern einen neuen Plan vorgestellt|will die Preise im Herbst erhöhen|sucht seit Wochen nach einer Lösung|baut am Fluss ein großes Haus|
hat nach eigenen Angaben {n} Mitarbeiter entlassen|rechnet mit Kosten von rund {n} Millionen Euro|gewann in {o} vor {n} Zuschauern|
reiste im Jahr {y} zum ersten Mal nach {o}|forderte am Dienstag in {o} schärfere Regeln|wurde vor {n} Jahren in {o} gegründet|
hat den Bericht noch nicht gelesen|warnt vor starkem Regen und Wind|freut sich über viele Gäste|zahlt in diesem Jahr weniger Steuern|
hat am Abend die Straße gesperrt|spricht mit der Presse über die Ergebnisse|feiert im Sommer ein Fest|verkauft alte Bücher und Bilder|
braucht mehr Zeit und mehr Geld|hat die Prüfung mit Erfolg bestanden|kritisiert die Entscheidung der Kommission|verlor das Spiel mit zwei zu drei Toren"""
GERMAN_WHY = """weil es dafür gute Gründe gibt|obwohl viele Menschen dagegen sind|und niemand weiß, was morgen geschieht|denn die Lage ist schwierig|
sagte ein Zeuge am Montag|wie die Zeitung berichtet|nachdem der Winter zu Ende ging|damit die Kinder sicher zur Schule kommen|
bevor die Gäste aus Japan kommen|und alle waren zufrieden|so die Sprecherin|heißt es in dem Bericht|wie es {y} schon einmal war|
die in {o} seit {n} Tagen auf Hilfe warten|was viele Fachleute überrascht|um die Ursache zu finden|und es wird nicht lange dauern"""
GERMAN_PLACES = "Hamburg|Wien|Zürich|München|Köln|Dresden|Singapur|Nevada|Paris|Warschau|Leipzig|Bremen|Graz|Basel|Rom|Madrid"
GERMAN_TASKS = "Translate German to English: {0}|Translate German to English: {0}|Translate this to English: {0}|What does this mean? {0}"

# A question's words and what it may be about. What is asked need not be true: the target answers anyhow.
QUESTIONS = """Who wrote {work}?|Who played the main role in {work}?|When did {work} come out?|Where was {work} filmed?|Who sings the song in {work}?|
How does {work} end?|Where was {person} born?|What did {person} discover?|How old was {person} when he died?|Who was {person} married to?|
When did {person} become famous?|What is the name of {person}'s most famous work?|Where is {place} located?|How high is {place}?|
When was {place} built?|Which river flows through {place}?|How many people live in {place}?|What is the oldest building of {place}?|
Who is the coach of {team}?|When did {team} last win the championship?|Where does {team} play its home games?|
What is the function of {thing} in the body?|Where is {thing} found?|Who discovered {thing}?|What is another name for {thing}?|
When did {event} begin?|Who won {event}?|What were the causes of {event}?|How long did {event} last?|Where did {event} take place?"""
ABOUT = {
    "work": """Hamlet|Don Quixote|The Wizard of Oz|Moby Dick|The Magic Flute|Pride and Prejudice|Star Wars|The Lion King|Casablanca|Titanic|
The Jungle Book|Robin Hood|Carmen|Frankenstein|Dracula|The Godfather|Jaws|Friends|The Simpsons|Doctor Who|Treasure Island""",
    "person": """Marie Curie|Isaac Newton|Leonardo da Vinci|Mozart|Albert Einstein|Charles Darwin|Julius Caesar|Cleopatra|Galileo|Beethoven|
Abraham Lincoln|Nelson Mandela|Mahatma Gandhi|Neil Armstrong|Pablo Picasso|Vincent van Gogh|Jane Austen|Mark Twain|Marco Polo""",
    "place": """Mount Everest|the Eiffel Tower|the Taj Mahal|London|New York|Rome|Machu Picchu|the Great Wall of China|Sydney|Cairo|Moscow|
the Golden Gate Bridge|Stonehenge|Istanbul|Buckingham Palace|Niagara Falls|the Statue of Liberty|Vienna|Lake Victoria""",
    "team": """Manchester United|Real Madrid|the Chicago Bulls|the New York Yankees|the Green Bay Packers|Bayern Munich|the Boston Celtics|
the Brazilian football team|the Toronto Maple Leafs|the All Blacks""",
    "thing": """haemoglobin|the liver|insulin|the thyroid gland|calcium|penicillin|chlorophyll|the pancreas|gold|oxygen|the cell nucleus|keratin|
vitamin C|the retina|uranium|the femur|adrenaline|mitochondria|collagen|helium""",
    "event": """the First World War|the French Revolution|the Olympic Games of 1936|the Battle of Waterloo|the American Civil War|the Cold War|
the World Cup of 1998|the Black Death|the Apollo programme|the industrial revolution|the Korean War|the gold rush""",
}


@dataclasses.dataclass(frozen=True)
class Begun:
    """A prompt that the target writes as the user: behind these words, if there are any, at this temperature."""

    words: str
    temperature: float


@dataclasses.dataclass
class Task:
    number: int
    source: str
    prompts: list  # one after the other, texts or Begun; a later one may have {text} of the answer before
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


def part_of(text, dice):
    """Words in a row: as a search cuts a text, from amid a sentence to amid another. A short text stays whole."""
    words = text.split(" ")
    first = dice.randrange(max(1, len(words) // 2 - PART_WORDS_MIN))
    return " ".join(words[first:dice.randrange(first + PART_WORDS_MIN, max(first + PART_WORDS_MIN, len(words)) + 1)])


def question(dice):
    words = {kind: dice.choice(corpus_prompts.parts(each)) for kind, each in ABOUT.items()}
    asked = dice.choice(corpus_prompts.parts(QUESTIONS)).format(**words)
    return dice.choice([asked, asked, asked.lower(), asked.removesuffix("?")])


def german(dice):
    sentence = f"{dice.choice(corpus_prompts.parts(GERMAN_WHO))} {dice.choice(corpus_prompts.parts(GERMAN_WHAT))}, "
    sentence += f"{dice.choice(corpus_prompts.parts(GERMAN_WHY))}."
    sentence = sentence.format(o=dice.choice(corpus_prompts.parts(GERMAN_PLACES)), n=dice.randrange(3, 900), y=dice.randrange(1900, 2024))
    return dice.choice(corpus_prompts.parts(GERMAN_TASKS)).format(sentence)


def text_and_task(dice):
    topics, places = (dice.sample(corpus_prompts.parts(words), 2) for words in (corpus_prompts.TOPICS, corpus_prompts.PLACES))
    words = [*topics, places[0], dice.choice(corpus_prompts.parts(corpus_prompts.NAMES)), places[1]]
    return [dice.choice(corpus_prompts.parts(TEXTS)).format(*words), dice.choice(ABOUT_TEXTS.split("|")).strip()]


def words_in(paragraphs):
    return sum(len(each.split()) for each in paragraphs)


def up_to_most(paragraphs):
    """The first of them, until they have PIECE_WORDS_MAX words."""
    words = 0
    for at, paragraph in enumerate(paragraphs):
        words += len(paragraph.split())
        if words >= PIECE_WORDS_MAX:
            return paragraphs[:at + 1]
    return list(paragraphs)


def pieces_of(text):
    """Of each paragraph of prose: it and those that follow it, each on one line, if they are enough."""
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n") if re.match(r"\w", each) and "::=" not in each]
    paragraphs = [each for each in paragraphs if len(each.split()) >= PARAGRAPH_WORDS_MIN]
    pieces = [up_to_most(paragraphs[at:]) for at in range(len(paragraphs))]
    return [each for each in pieces if words_in(each) >= PIECE_WORDS_MIN]


@functools.cache
def manual_pieces():
    return [piece for _, text in sorted(pydoc_data.topics.topics.items()) for piece in pieces_of(text)]


def about_a_piece(pieces, dice):
    """A task about some paragraphs in a row."""
    words, wanted = [], dice.randrange(PIECE_WORDS_MIN, PIECE_WORDS_MAX)
    for paragraph in dice.choice(pieces):
        if words_in(words) >= PIECE_WORDS_MIN and words_in([*words, paragraph]) > wanted:
            break
        words.append(paragraph)
    return dice.choice(ABOUT_TEXTS.split("|")).strip().replace("{part}", "{text}").replace("{text}", "\n\n".join(words))


def manual(dice):
    return about_a_piece(manual_pieces(), dice)


def tasks_about(texts, source):
    """Task 0, 1, 2, ... without end, each about a piece of one of these texts."""
    pieces = [piece for text in texts for piece in pieces_of(text)]
    if not pieces:
        raise SystemExit(f"the texts have no {PIECE_WORDS_MIN} words of prose in a row: paragraphs stand between blank lines")
    for number in itertools.count():
        yield Task(number, source, [about_a_piece(pieces, random.Random(number))], float(number % 2))


def tasks(gsm8k):
    """Task 0, 1, 2, ... without end. Beginning again gives the same tasks. gsm8k: its questions, in the order in which they are asked."""
    questions = itertools.cycle(gsm8k)
    templates = itertools.chain.from_iterable(zip(*corpus_prompts.kinds(random.Random(2))))
    for number in itertools.count():
        dice = random.Random(number)
        source = TURNS[number % len(TURNS)]
        if source == "gsm8k":
            prompts = [next(questions)]
        elif source == "template":
            prompts = [next(templates)]
        elif source == "synthesis":
            prompts = [Begun("", 1.0)]
        elif source == "begun":
            prompts = [Begun(dice.choice(corpus_prompts.parts(BEGINNINGS)), BEGUN_TEMPERATURE)]
        elif source == "text":
            prompts = text_and_task(dice)
        else:
            prompts = [{"german": german, "code": code_prompts.prompt, "question": question, "manual": manual}[source](dice)]
        yield Task(number, source, prompts, float(number // len(TURNS) % 2))
