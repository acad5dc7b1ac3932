#!/usr/bin/env python3
"""Life on a torus and RLE files, written apart from the Rust program to check it.

Each line of the input has a file, a number of generations and another file; exits with 1 and what differs if the
first after so many generations is not the second.

Needs numpy. Shares no code and no idea with crates/life: the neighbours are sums of whole shifted
arrays, the files are taken apart by regular expressions. Takes two-state B/S rules and tori.
"""

import re
import sys

import numpy as np

HEADER = re.compile(
    r"x = (\d+), y = (\d+), rule = B([0-8]*)/S([0-8]*):T(\d+),(\d+)",
)


def read(path):
    """The file's cells, (height, width) of 0 and 1, and its rule as (births, survivals)."""
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
    if (header[5], header[6]) != (header[1], header[2]):
        sys.exit(f"{path}: its torus is not its extents")
    cells = np.zeros((height, width), np.uint8)
    row = column = 0
    for count, letter in re.findall(r"(\d*)([bo$])", body):
        count = int(count or 1)
        if letter == "$":
            row, column = row + count, 0
        else:
            if letter == "o":
                if row >= height or column + count > width:
                    sys.exit(f"{path}: cells beyond {width}x{height}")
                cells[row, column : column + count] = 1
            column += count
    return cells, tuple(frozenset(map(int, digits)) for digits in header.group(3, 4))


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


def difference(name, generations, other):
    """Says where the second file differs from the first after so many generations, or nothing."""
    cells, rule = read(name)
    for _ in range(int(generations)):
        cells = step(cells, rule)
    found, found_rule = read(other)
    name = f"{other} is not {name} after {generations} generations"
    if found_rule != rule:
        return f"{name}: another rule"
    if found.shape != cells.shape:
        return f"{name}: another size"
    differing = np.argwhere(found != cells)
    if len(differing):
        row, column = differing[0]
        return f"{name}: {len(differing)} cells, first in column {column}, row {row}"
    return None


differences = [difference(*line.split()) for line in sys.stdin]
sys.exit("\n".join(filter(None, differences)) or None)
