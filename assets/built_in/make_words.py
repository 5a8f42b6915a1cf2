#!/usr/bin/env python3
"""Makes words.bin from table.bin, vocab.txt and the crate's stop words. See README.md beside this file.

    make_words.py DIR STOP_WORDS     DIR holds table.bin and vocab.txt and receives words.bin; STOP_WORDS is
                                     src/text/stop_words.rs; needs numpy and snowballstemmer
"""
import hashlib, pathlib, re, struct, sys, unicodedata

import numpy as np
from snowballstemmer.english_stemmer import EnglishStemmer  # The one in Python, even where PyStemmer is installed.

MOST = 16  # Synonyms of a word.
LEAST = 0.35  # The cosine of the farthest one.
BLOCK = 64  # Words for each start of their synonyms.
SHORTEST = 3  # Letters of a word that is or has a synonym.


def fold(text):
    """As src/text/words.rs does."""
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFKC", text).lower()
    return "".join(c for c in unicodedata.normalize("NFD", lower) if not "\u0300" <= c <= "\u036f")


def hash_of(stem):
    """FNV-1a, 64 bits folded to 32 by xor."""
    h = 0xCBF29CE484222325
    for byte in stem.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h >> 32 ^ h & 0xFFFFFFFF


def is_plain(word):
    return re.fullmatch("[a-z]+", word) is not None


def whole_words(tokens, stop_words):
    """Of each whole word: its place among the tokens from "the" on, itself, and its stem; stop words left out."""
    stemmer = EnglishStemmer()
    first = tokens.index("the")
    for place, token in enumerate(tokens[first:]):
        # Marks inside a word and scripts without spaces do not occur here; "£10" is "10", and "¹⁄₂" is two words.
        words = [] if token.startswith("##") else re.findall(r"[^\W_]+", fold(token))
        if len(words) == 1 and words[0] not in stop_words:
            yield place, token, stemmer.stemWord(words[0]) if is_plain(words[0]) else words[0]


def main(folder, stop_words):
    folder = pathlib.Path(folder)
    listed = re.search(r'STOP_WORDS: &str = "\\\n(.*?)";', pathlib.Path(stop_words).read_text(encoding="utf-8"), re.S)
    stop_words = set(listed[1].replace("\\", "").split())
    tokens = folder.joinpath("vocab.txt").read_text(encoding="utf-8").splitlines()
    table = folder.joinpath("table.bin").read_bytes()
    count, dims = struct.unpack_from("<II", table)
    # A row's scale is lost in what follows.
    rows = np.frombuffer(table, np.int8, count * dims, 8 + 4 * count).reshape(count, dims).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    first = tokens.index("the")
    places, stems, members = {}, {}, {}
    for place, token, stem in whole_words(tokens, stop_words):
        word = hash_of(stem)
        # Of words with one stem, and of stems with one hash, the first is the most frequent.
        places.setdefault(word, place)
        if stems.setdefault(word, stem) == stem and is_plain(token) and len(token) >= SHORTEST:
            members.setdefault(word, []).append(first + place)

    hashes = sorted(places)
    index = {word: i for i, word in enumerate(hashes)}
    known = sorted(members)
    vectors = np.array([rows[members[word]].mean(axis=0) for word in known])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    synonyms = [[] for _ in hashes]
    for i, word in enumerate(known):
        cosines = vectors @ vectors[i]
        cosines[i] = -1
        nearest = np.argsort(-cosines, kind="stable")[:MOST]
        synonyms[index[word]] = [(index[known[k]], round(255 * cosines[k])) for k in nearest if cosines[k] >= LEAST]

    starts = np.cumsum([0] + [len(entries) for entries in synonyms])[:-1][::BLOCK]
    entries = [entry for entries in synonyms for entry in entries]
    written = struct.pack("<II", len(hashes), len(entries))
    written += np.array(hashes, "<u4").tobytes() + np.array([places[word] for word in hashes], "<u2").tobytes()
    written += bytes(len(entries) for entries in synonyms) + starts.astype("<u4").tobytes()
    written += np.array([i for i, _ in entries], "<u2").tobytes() + bytes(cosine for _, cosine in entries)
    path = folder / "words.bin"
    path.write_bytes(written)
    print(hashlib.sha256(written).hexdigest(), len(written), path.name)
    print(len(hashes), "words,", len(known), "with a vector,", len(entries), "synonyms")


if __name__ == "__main__":
    main(*sys.argv[1:])
