#!/usr/bin/env python3
"""Makes table.bin and vocab.txt from a BERT model's word embeddings. See README.md beside this file.

    make.py MODEL_DIR OUT_DIR        MODEL_DIR holds model.safetensors and vocab.txt; needs numpy and safetensors
"""
import hashlib, pathlib, re, struct, sys, unicodedata

import numpy as np
from safetensors.numpy import load_file

DIMS = 256
A = 1e-3  # SIF's own (Arora et al. 2017): a token of frequency p weighs a / (a + p).
MARK_SHARE = 0.02  # The frequency of a punctuation mark, about that of "and".
RARE_RANK = 200  # Single letters, digits and signs count as often as the word of this rank.


def is_mark(token):
    return len(token) == 1 and unicodedata.category(token)[0] in "PS"


def weights(tokens):
    """The vocabulary lists whole words by frequency, from "the" on; what stands before it are signs and letters."""
    first = tokens.index("the")
    rank = np.arange(len(tokens)) - first + 1
    p = np.where(rank >= 1, 1 / np.maximum(rank, 1), 0)  # Zipf
    p /= p.sum()
    for i, token in enumerate(tokens[:first]):
        p[i] = MARK_SHARE if is_mark(token) else p[first + RARE_RANK]
    return A / (A + p)


def main(model, out):
    model, out = pathlib.Path(model), pathlib.Path(out)
    source = model / "model.safetensors"
    table = load_file(source)["embeddings.word_embeddings.weight"].astype(np.float64)
    tokens = model.joinpath("vocab.txt").read_text(encoding="utf-8").splitlines()
    assert len(tokens) == len(table), "a row for each token"

    centred = table - table.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    # The sign of a singular vector is arbitrary: its largest part shall be positive, so that every machine agrees.
    directions = directions[:DIMS]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(DIMS), largest])[:, None]
    rows = weights(tokens)[:, None] * (centred @ directions.T)

    # No text has these: its brackets are split off.
    kept = [i for i, token in enumerate(tokens) if not re.fullmatch(r"\[(unused\d+|PAD|UNK|CLS|SEP|MASK)\]", token)]
    rows, tokens = rows[kept], [tokens[i] for i in kept]
    scales = (np.abs(rows).max(axis=1) / 127).astype("<f4")
    numbers = np.clip(np.rint(rows / scales[:, None]), -127, 127).astype(np.int8)

    written = struct.pack("<II", len(tokens), DIMS) + scales.tobytes() + numbers.tobytes()
    out.joinpath("table.bin").write_bytes(written)
    out.joinpath("vocab.txt").write_text("".join(token + "\n" for token in tokens), encoding="utf-8")
    for path in (source, out / "table.bin", out / "vocab.txt"):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
