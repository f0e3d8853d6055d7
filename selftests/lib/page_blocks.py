#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""page_blocks.py PAGE TREE: follows a page of Documentation/adding in the tree at TREE.

Each block of code after one of these lines changes a file, whose name is printed:

    New file `PATH`:
    In `PATH`, before "TEXT":       the block is inserted before the only line that begins
    In `PATH`, before `TEXT`:       with TEXT; "before the call" says the same

Exits with 1 if a line cannot be followed or there is none.
"""
import os
import re
import sys

STEP = re.compile(r"^(?:New file `(?P<new>[^`]+)`|"
                  r"In `(?P<old>[^`]+)`, before (?:the call )?"
                  r"(?:\"(?P<quoted>[^\"]+)\"|`(?P<text>[^`]+)`)):\n"
                  r"\n```\w*\n(?P<block>.*?)^```$", re.M | re.S)


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def place_in(path, text):
    """The index of the only line that begins with text."""
    places = [number for number, line in enumerate(lines_of(path)) if line.startswith(text)]
    if len(places) != 1:
        sys.exit(f"page_blocks.py: {path}: {len(places)} lines begin with '{text}'")
    return places[0]


def check(step, path):
    if not step["new"]:
        place_in(path, step["quoted"] or step["text"])
    elif os.path.exists(path):
        sys.exit(f"page_blocks.py: {path} exists already")


def take(step, path):
    lines = [] if step["new"] else lines_of(path)
    place = 0 if step["new"] else place_in(path, step["quoted"] or step["text"])
    lines.insert(place, step["block"])
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def main(page, tree):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    steps = list(STEP.finditer(text))
    promised = len(re.findall(r"^(?:New file|In) `[^`]+`.*:$", text, re.M))
    if not steps or len(steps) != promised:
        sys.exit(f"page_blocks.py: {page}: {len(steps)} of {promised} steps have a block")
    # Nothing changes unless all of them can be taken.
    for function in (check, take):
        for step in steps:
            function(step, os.path.join(tree, step["new"] or step["old"]))
    for step in steps:
        print(step["new"] or step["old"])


if __name__ == "__main__":
    main(*sys.argv[1:])
