#!/usr/bin/env python3
"""man.py OUT SLIPSTREAM ROUTER VERIFIER DRAFTER: writes the manual pages of the four programs, gzipped, into OUT.

Each page is made of what the program prints for --help, so that the two cannot differ. PAGES adds what --help does not say.
"""
import gzip
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

SERVICE_EXIT = ("0: it was told to stop, and stopped.\n1: it failed, and another start may not; the last line of its log says why."
                "\n2: each start would fail so: a setting is wrong, or what it names.")
COMMAND_EXIT = "0: done.\n1: it failed, and said why.\n2: the command line is wrong."
LEFT_OUT = re.compile(r", here \d+$")  # what --help says of the machine that it runs on


class Page(NamedTuple):
    section: int
    more: str = ""  # a paragraph of DESCRIPTION
    exit_status: str = COMMAND_EXIT


PAGES = {
    "slipstream": Page(1, "Each command has a page of its own, such as slipstream-serve(1)."),
    "slipstream-serve": Page(1, "It restarts a service that dies or hangs, and stops all when it is told to stop.", SERVICE_EXIT),
    "slipstream-doctor": Page(1, "It takes the flags of slipstream-serve(1).", "0: serve would work.\n1: it would not.\n2: a flag is wrong."),
    "slipstream-demo": Page(1, "", "0: the same words.\n1: the words differ, or it failed.\n2: a flag is wrong."),
    "slipstream-verify-lossless": Page(1, "", "0: the same.\n1: different.\n2: it could not tell."),
    "slipstream-router": Page(8, "Without drafters and with any of them the answers are the same.", SERVICE_EXIT),
    "slipstream-verifier": Page(8, "It connects to its routers, and the order in which they start does not matter.", SERVICE_EXIT),
    "slipstream-drafter": Page(8, "Nothing that it sends can change an answer.", SERVICE_EXIT),
}
FILES = {"slipstream-serve": "serve", "slipstream-router": "router", "slipstream-verifier": "verifier", "slipstream-drafter": "drafter"}


class Entry(NamedTuple):
    head: str  # "--port UINT=8080"
    text: str


def roff(text):
    """Text as roff: nothing in it is a request, an escape or another character than it was."""
    for plain, escaped in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(plain, escaped)
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def read_help(text):
    """(purpose, usage, {heading: [Entry]}, footer) of a text of --help. Entries are indented by two, their texts by more."""
    first, *blocks = text.strip("\n").split("\n\n")
    purpose, usage = first.split("\nUsage: ")
    groups, footer = {}, ""
    for block in blocks:
        heading, *lines = block.strip("\n").split("\n")
        if not heading.endswith(":") or heading.startswith(" "):
            footer = block.strip()
            continue
        entries = groups.setdefault(heading[:-1], [])
        for line in lines:
            if line.startswith("      "):
                entries[-1] = entries[-1]._replace(text=f"{entries[-1].text} {line.strip()}".strip())
            else:
                head, _, rest = line.strip().partition("  ")
                entries.append(Entry(head, rest.strip()))
    return purpose, usage, groups, footer


def tagged(entry):
    head = re.sub(r"\{false\}", "", entry.head)
    names, _, value = head.partition(" ")
    shown = f"\\fB{roff(names)}\\fR" + (f" {roff(value)}" if value else "")
    return f".TP\n{shown}\n{roff(LEFT_OUT.sub('', entry.text)) or roff('No more is to be said.')}\n"


def lowered(sentence):
    head = sentence.rstrip(".")
    return head if head[:2].isupper() else head[:1].lower() + head[1:]


def options_of(groups, prefix=".SS"):
    text = ""
    for heading, entries in groups.items():
        if heading in ("Subcommands", "Options"):
            continue
        text += f'{prefix} "{roff(heading)}"\n' + "".join(map(tagged, entries))
    return "".join(map(tagged, groups.get("Options", []))) + text


def page(name, help_text, below, version, date):
    """The page of a program or a command. below: [(name, help)] of its own subcommands, which have no pages."""
    facts = PAGES.get(name, Page(1))
    purpose, usage, groups, footer = read_help(help_text)
    options = re.sub(r"^\S+", "", usage).removeprefix(" " + name.removeprefix("slipstream-"))
    text = f'.\\" Made by deploy/package/man.py of --help\n.TH {roff(name.upper())} {facts.section} {date} "slipstream {version}" Slipstream\n'
    text += f".SH NAME\n{roff(name)} \\- {roff(lowered(purpose.split('. ')[0]))}\n"
    called = name if facts.section == 8 else name.replace("-", " ", 1)
    text += f".SH SYNOPSIS\n.B {roff(called)}\n{roff(options.strip())}\n"
    text += f".SH DESCRIPTION\n{roff(purpose.rstrip('.') + ('' if purpose.endswith('?') else '.'))}\n"
    text += f".PP\n{roff(facts.more)}\n" if facts.more else ""
    if "Subcommands" in groups:
        text += ".SH COMMANDS\n" + "".join(map(tagged, groups["Subcommands"]))
    text += ".SH OPTIONS\n" + options_of(groups)
    for lower, its_help in below:
        text += f'.SS "{roff(lower)}"\n' + "".join(map(tagged, sum(read_help(its_help)[2].values(), [])))
    text += f".SH ENVIRONMENT\n{roff(footer)}\n" if footer else ""
    if name in FILES:
        settings = f"/etc/slipstream/{FILES[name]}.toml"
        text += f".SH FILES\n.TP\n.I {roff(settings)}\nSettings that its systemd unit gives with {roff('--config')}.\n"
        text += f"With a prefix P other than /usr they are in\n.IR {roff('P' + settings)} .\n"
        text += f".TP\n.I /var/lib/slipstream/models\nWhere an installed Slipstream looks for its model.\n"
    text += ".SH EXIT STATUS\n" + "".join(f".TP\n.B {status}\n{roff(what)}\n" for status, what in
                                       (line.split(": ", 1) for line in facts.exit_status.split("\n")))
    others = sorted(other for other in PAGES if other != name)
    return text + ".SH SEE ALSO\n" + ",\n".join(f".BR {roff(other)} ({PAGES[other].section})" for other in others).replace("),\n", ") ,\n") + "\n"


def said(*command):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}  # no SLIPSTREAM_ variable changes a default
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def write(out, name, text):
    target = out / f"{name}.{PAGES.get(name, Page(1)).section}.gz"
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main():
    out, slipstream, *services = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    version = said(slipstream, "--version").split()[0]
    stamp = os.environ.get("MANUAL_DATE", "2026-11-25")
    main_help = said(slipstream, "--help")
    write(out, "slipstream", page("slipstream", main_help, [], version, stamp))
    for command in read_help(main_help)[2]["Subcommands"]:
        its_help = said(slipstream, command.head, "--help")
        lower = [entry.head for entry in read_help(its_help)[2].get("Subcommands", [])]
        below = [(f"slipstream {command.head} {name}", said(slipstream, command.head, name, "--help")) for name in lower]
        write(out, f"slipstream-{command.head}", page(f"slipstream-{command.head}", its_help, below, version, stamp))
    for service in services:
        write(out, service.name, page(service.name, said(service, "--help"), [], version, stamp))


if __name__ == "__main__":
    main()
