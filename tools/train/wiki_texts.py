"""Writes articles of Wikipedia as plain text, a file each with blank lines between paragraphs, for target_documents.py --texts.

    pip install gensim==4.4.0
    python3 tools/train/wiki_texts.py wikipedia

The dump of 107 articles that gensim's tests are made of (2015, CC BY-SA 3.0), or another one that is named.
"""

import argparse
import bz2
import pathlib
import re

import gensim
from gensim.corpora import wikicorpus

DUMP = pathlib.Path(gensim.__file__).parent / "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
ARTICLES = ("0",)  # Wikipedia's namespace


def paragraphs(wikitext):
    """Those of prose: no headings, lists, tables or captions."""
    plain = wikicorpus.filter_wiki(wikitext).replace("'''", "").replace("''", "")
    plain = re.sub(r"\(\s*[;,]\s*", "(", plain)  # a pronunciation that was taken out
    plain = re.sub(r" ?\(\s*\)", "", plain)
    return [line.strip() for line in plain.splitlines() if re.match(r"[\w\"“]", line) and re.search(r"[.!?]\W*$", line)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--dump", type=pathlib.Path, default=DUMP, help="pages-articles.xml.bz2")
    options = parser.parse_args()
    options.texts.mkdir(parents=True, exist_ok=True)
    articles = 0
    with bz2.open(options.dump) as dump:
        for _, wikitext, page in wikicorpus.extract_pages(dump, ARTICLES):
            if not wikitext.lower().startswith("#redirect"):
                (options.texts / f"{page}.txt").write_text("\n\n".join(paragraphs(wikitext)) + "\n", encoding="utf-8")
                articles += 1
    print(f"{options.texts}: {articles} articles")


if __name__ == "__main__":
    main()
