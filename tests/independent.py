#!/usr/bin/env python3
"""Life on a torus and RLE files, written apart from the Rust program to check it.

    independent.py step IN.rle GENERATIONS OUT.rle    step a file and write the result
    independent.py compare A.rle B.rle                exit 0 if equal, 1 and the first difference if not
    independent.py check                              many at once: each line of the input is an object
        {"start": A.rle, "generations": N, "ends": [B.rle, ...]}; exit 1 and what differs if A after N
        generations is not B; "torus": [W, H] and "rule": "B3/S23" stand for what A.rle does not say

Needs numpy. Shares no code and no idea with crates/life: the neighbours are sums of whole shifted
arrays, the files are taken apart by regular expressions. Takes two-state B/S rules and tori.
A file that names no torus (:TW,H after its rule) is on the torus of its own extents.
"""

import argparse
import json
import re
import sys

import numpy as np

HEADER = re.compile(
    r"x\s*=\s*(\d+)\s*,?\s*y\s*=\s*(\d+)\s*(?:,?\s*rule\s*=\s*([^:\s]+)\s*(?::\s*t\s*(\d+)\s*,\s*(\d+))?)?\s*",
    re.IGNORECASE,
)


def read(path, torus=None, rule=None):
    """The file's cells, (height, width) of 0 and 1, and its rule as (births, survivals).

    A torus (width, height) or a rule that is given holds against the file's own.
    """
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line and not line.startswith("#")]
    header = HEADER.fullmatch(lines[0]) if lines else None
    if header is None:
        sys.exit(f"{path}: no RLE header")
    body, end, _ = "".join("".join(lines[1:]).split()).partition("!")
    if not end:
        sys.exit(f"{path}: no '!'")
    if not re.fullmatch(r"(\d*[bo$])*\d*", body):
        sys.exit(f"{path}: something other than counts, b, o and $")
    width, height = int(header[1]), int(header[2])
    left = top = 0
    if torus is None and header[4]:
        torus = int(header[4]), int(header[5])
    if torus:
        # A pattern smaller than its torus lies in the middle, rounded to the top left.
        torus_width, torus_height = torus
        left, top = (torus_width - width) // 2, (torus_height - height) // 2
        width, height = torus_width, torus_height
    cells = np.zeros((height, width), np.uint8)
    row, column = top, left
    for count, letter in re.findall(r"(\d*)([bo$])", body):
        count = int(count or 1)
        if letter == "$":
            row, column = row + count, left
        else:
            if letter == "o":
                if left < 0 or top < 0 or row >= height or column + count > width:
                    sys.exit(f"{path}: cells beyond {width}x{height}")
                cells[row, column : column + count] = 1
            column += count
    return cells, read_rule(rule or header[3] or "B3/S23")


def read_rule(text):
    """The births and survivals of B3/S23."""
    match = re.fullmatch(r"B([0-8]*)/S([0-8]*)", text, re.IGNORECASE)
    if match is None:
        sys.exit(f"unknown rule {text}")
    return tuple(frozenset(map(int, digits)) for digits in match.groups())


def write(path, cells, rule):
    """Writes the cells, all of them: the torus is the extents."""
    height, width = cells.shape
    births, survivals = ("".join(map(str, sorted(counts))) for counts in rule)
    rows = []
    for row in cells:
        text = row.tobytes().translate(bytes.maketrans(b"\0\1", b"bo")).decode().rstrip("b")
        rows.append(re.sub(r"bb+|oo+", lambda run: f"{len(run[0])}{run[0][0]}", text))
    body = "$".join(rows).rstrip("$") + "!"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"x = {width}, y = {height}, rule = B{births}/S{survivals}:T{width},{height}\n")
        while len(body) > 70:
            # Not within a count and its letter.
            cut = 70
            while body[cut - 1].isdigit():
                cut -= 1
            file.write(body[:cut] + "\n")
            body = body[cut:]
        file.write(body + "\n")


def step(cells, rule):
    """The next generation. A shift around a side of 1 or 2 meets the same cell again."""
    births, survivals = rule
    neighbours = np.zeros(cells.shape, np.uint8)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if (down, right) != (0, 0):
                neighbours += np.roll(cells, (down, right), (0, 1))
    born = np.isin(neighbours, list(births))
    stay = np.isin(neighbours, list(survivals))
    return np.where(cells == 1, stay, born).astype(np.uint8)


def compare(a, b):
    """Says where the files differ, or nothing."""
    return difference(a, *read(a), b)


def difference(a, cells_a, rule_a, b):
    """Says where the file b differs from cells and rule that are called a, or nothing."""
    cells_b, rule_b = read(b)
    if rule_a != rule_b:
        return f"{a} and {b} have different rules"
    if cells_a.shape != cells_b.shape:
        sizes = (f"{cells.shape[1]}x{cells.shape[0]}" for cells in (cells_a, cells_b))
        return f"{a} and {b} have different sizes: {' and '.join(sizes)}"
    differing = np.argwhere(cells_a != cells_b)
    if len(differing):
        row, column = differing[0]
        return f"{a} and {b} differ in {len(differing)} cells, first in column {column}, row {row}"
    return None


def check(lines):
    """Yields what is not as it should be."""
    for case in map(json.loads, lines):
        cells, rule = read(case["start"], case.get("torus"), case.get("rule"))
        for _ in range(case["generations"]):
            cells = step(cells, rule)
        name = f"{case['start']} after {case['generations']} generations"
        for end in case["ends"]:
            if what := difference(name, cells, rule, end):
                yield what


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    stepping = commands.add_parser("step")
    stepping.add_argument("source")
    stepping.add_argument("generations", type=int)
    stepping.add_argument("target")
    comparing = commands.add_parser("compare")
    comparing.add_argument("a")
    comparing.add_argument("b")
    commands.add_parser("check")
    options = parser.parse_args()
    if options.command == "check":
        differences = list(check(sys.stdin))
        if differences:
            sys.exit("\n".join(differences))
    elif options.command == "compare":
        difference = compare(options.a, options.b)
        if difference:
            sys.exit(difference)
    else:
        cells, rule = read(options.source)
        for _ in range(options.generations):
            cells = step(cells, rule)
        write(options.target, cells, rule)


if __name__ == "__main__":
    main()
