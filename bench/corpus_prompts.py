"""Writes prompts from which `slipstream corpus` makes a corpus: our own templates with our own words in them, and nobody's data.

    python3 bench/corpus_prompts.py 4000 > prompts.jsonl

The same number gives the same prompts. Kinds take turns, so any beginning of the file has all of them.
"""

import itertools
import json
import random
import sys

TOPICS = """bread baking|solar panels|volcanoes|the human heart|black holes|tea|chess|photosynthesis|glaciers|electric cars|honey bees|coffee|
the Roman Empire|earthquakes|libraries|submarines|jazz|recycling|vaccines|the moon|bridges|maps|clocks|coral reefs|trains|gardens|paper|salt|
the printing press|antibiotics|rivers|deserts|rainbows|sleep|memory|money|taxes|insurance|elections|newspapers|photography|cinema|opera|
mathematics|prime numbers|probability|computers|the internet|databases|encryption|robots|machine learning|operating systems|batteries|wind power|
nuclear energy|aeroplanes|rockets|satellites|telescopes|microscopes|DNA|evolution|dinosaurs|whales|owls|wolves|elephants|ants|spiders|trees|
mushrooms|soil|weather forecasts|hurricanes|lightning|tides|lakes|mountains|islands|cities|houses|bicycles|football|swimming|running|yoga|
nutrition|sugar|chocolate|cheese|rice|pasta|soup|apples|tomatoes|wine|languages|poetry|novels|fairy tales|museums|painting|sculpture|music theory|
pianos|guitars|dance|theatre|friendship|anger|happiness|habits|time management|job interviews|teamwork|leadership|marketing|start-ups|budgets|
remote work|public speaking|note taking|travel|hotels|airports|camping|first aid|fire safety|cooking for children|pets|cats|dogs|horses"""

CHAT = """Explain {0} to a beginner.|What are the main advantages and disadvantages of {0}?|Write a short essay about {0}.|
Give me five tips about {0}.|Tell me an interesting story about {0}.|How has {0} changed over the last century?|
Write a blog post about {0} with a title and three sections.|What should everybody know about {0}?|Write a poem about {0}.|
List ten facts about {0}.|Why does {0} matter?|Write a dialogue between a teacher and a student about {0}.|
What are common misunderstandings about {0}?|Make a study plan for someone who wants to learn about {0}.|Describe {0} in three sentences.|
Write a persuasive speech about {0}.|Compare {0} and {1}.|How are {0} and {1} related?|Write an email to a colleague about {0}.|
Plan a weekend workshop on {0}.|What questions should I ask an expert on {0}?|Write a product description for a book about {0}."""

QUESTIONS = """Who invented {0}?|What is {0}?|When did people first write about {0}?|Where can one learn about {0}?|How does {0} work?|
Why is {0} important?|Which country is famous for {0}?|What is the difference between {0} and {1}?|Is {0} older than {1}?|
What is the most famous example of {0}?|How many kinds of {0} are there?|What causes problems with {0}?"""

PLACES = """France|Japan|Brazil|Egypt|Canada|India|Kenya|Norway|Spain|Peru|Greece|Turkey|Poland|Mexico|Chile|Italy|Sweden|Austria|Portugal|Ireland|
Morocco|Vietnam|Thailand|Iceland|Finland|Hungary|Cuba|Nepal|Ghana|Jordan"""

PLACE_QUESTIONS = """What is the capital of {0}?|Which languages are spoken in {0}?|What is {0} known for?|Plan a five-day trip to {0}.|
What is the climate of {0} like?|Describe a traditional dish from {0}.|Write a postcard from {0}.|Give a short history of {0}.|
Which are the largest cities of {0}?|What should a traveller to {0} pack?"""

TASKS = """reverses a string|checks whether a word is a palindrome|returns the largest of three numbers|counts the vowels of a text|
computes the factorial of a number|returns the n-th Fibonacci number|sorts a list of names|removes duplicates from a list|
merges two sorted lists|finds the second smallest number of a list|converts Celsius to Fahrenheit|checks whether a year is a leap year|
counts how often each word occurs|returns the sum of the digits of a number|tests whether a number is prime|rotates a list by k places|
finds the longest word of a sentence|flattens a nested list|computes the greatest common divisor|transposes a matrix|
reads a file and counts its lines|splits a list into chunks|validates an email address|converts a number to binary|
finds the intersection of two lists|implements binary search|implements a stack with push and pop|implements a queue|
multiplies two matrices|draws a triangle of stars|rolls two dice and returns the sum|generates a random password|
parses a date such as 2024-05-01|returns the median of three numbers|counts the words of a text|capitalises each word"""

CODE = """Write a Python function that {0}.|Write a JavaScript function that {0}.|Write a C++ function that {0}, and explain it.|
Show me code in Python that {0}, with an example.|Write a Java method that {0}.|Explain step by step how to write a program that {0}.|
Write a test for a Python function that {0}.|Write a Python class with a method that {0}."""

NAMES = "Anna|Ben|Carla|David|Emma|Felix|Grace|Hugo|Ines|Jack|Kira|Leo|Mona|Nils|Olga|Paul|Rosa|Sam|Tina|Victor"

SUMS = """{n} has {a} apples and buys {b} more. Then {n} gives {c} to a friend. How many apples are left?|
A train goes {a} km in {c} hours. How far does it go in {b} hours at the same speed?|
{n} earns {a} dollars an hour and works {b} hours a week. How much does {n} earn in {c} weeks?|
A box holds {a} pens. {n} has {b} boxes and loses {c} pens. How many pens does {n} have now?|
A rectangle is {a} metres long and {b} metres wide. What are its area and its perimeter?|
{n} reads {c} pages a day. How many days does a book of {a} pages take, and how many days do {b} such books take?|
Tickets cost {a} dollars for adults and {c} dollars for children. What do {b} adults and {c} children pay together?|
{n} saves {c} dollars every day. After how many days does {n} have {a} dollars?|
What is {a} plus {b} times {c}? Show each step.|Solve the equation {c}x + {b} = {a} for x.|What is {b} percent of {a}?|
A shop sells {a} loaves on Monday, {b} more on Tuesday, and twice as many on Wednesday as on Monday. How many loaves does it sell in all?"""

SENTENCES = """The weather is fine today and we are going to the lake.|My brother works in a hospital near the old town.|
The meeting was moved to Thursday because of the holiday.|She has lived in this house for twenty years.|
The government announced new rules for small companies.|Prices rose again last month, the bank said.|
The children are playing in the garden behind the school.|He forgot his keys and had to wait outside for an hour.|
The museum opens at nine and closes at six.|We need more time to finish the report.|The film was longer than I had expected.|
A storm damaged several roofs in the north of the country.|The team won its third game in a row.|
I would like a table for two, please.|The police are looking for a witness of the accident.|
Scientists have found water under the surface of the planet.|The bridge will be closed for repairs until spring.|
Many people take the bus since petrol has become expensive.|The minister said that the talks had gone well.|
Can you tell me how to get to the station?"""

TRANSLATE = """Translate to German: {0}|Translate to French: {0}|Translate to Spanish: {0}|Rewrite in simpler words: {0}|Correct the grammar: {0}|
Continue the story: {0}|Say this more politely: {0}|Make a news headline of this: {0}|Answer with a question: {0}"""

REPORTS = """Summarise this text in two sentences: {0} {1} {2} {3} {4}|Read the text and list what happened. Text: {0} {1} {2} {3}|
Text: {0} {1} {2} {3} What is this text about?|Write a report that uses these notes: {0} {1} {2}|
Summarize the following article: {0} {1} {2} {3} {4} {5}"""


def parts(text):
    return [part.strip() for part in text.replace("\n", "").split("|")]


def kinds(dice):
    """One endless stream of prompts for each kind."""
    def stream(templates, words, count=2):
        pairs = list(itertools.product(parts(templates), parts(words)))
        dice.shuffle(pairs)
        for template, word in itertools.cycle(pairs):
            others = dice.sample([each for each in parts(words) if each != word], count - 1)
            yield template.format(word, *others)

    def sums():
        while True:
            a, b, c = dice.randrange(20, 400), dice.randrange(3, 20), dice.randrange(2, 10)
            yield dice.choice(parts(SUMS)).format(n=dice.choice(parts(NAMES)), a=a, b=b, c=c)

    return [stream(CHAT, TOPICS), stream(CODE, TASKS), sums(), stream(CHAT, TOPICS), stream(QUESTIONS, TOPICS), stream(PLACE_QUESTIONS, PLACES),
            stream(TRANSLATE, SENTENCES), stream(REPORTS, SENTENCES, 6)]


def main():
    seen = set()
    for kind in itertools.cycle(kinds(random.Random(1))):
        prompt = next(kind)
        if prompt not in seen:
            seen.add(prompt)
            print(json.dumps({"prompt": prompt}))
        if len(seen) == int(sys.argv[1]):
            return


if __name__ == "__main__":
    main()
