"""Inputs of models that read text or bytes."""

import numpy as np
from seeded import seeded


def bert_cases():
    """Token ids of the vocabulary with masks: [CLS] ... [SEP], then padding."""
    vocabulary = 30522

    def batch(label, lengths, width, ids=None):
        rng = seeded(label)
        tokens = np.zeros((len(lengths), width), np.int64)
        mask = np.zeros_like(tokens)
        for row, length in enumerate(lengths):
            tokens[row, :length] = rng.integers(999, vocabulary, length) if ids is None else rng.choice(ids, length)
            tokens[row, 0] = 101
            tokens[row, length - 1] = 102
            mask[row, :length] = 1
        return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}

    pair = batch("pair", [24], 24)
    pair["token_type_ids"][:, 12:] = 1
    zeros = batch("zeros", [16], 16)
    zeros["input_ids"][:] = 0
    return {
        "standard": batch("standard", [16], 16),
        "padded batch": batch("padded batch", [31, 7, 2, 19], 32),
        "zeros": zeros,
        "edges of the vocabulary": batch("edges", [20, 20], 20, ids=[0, 1, vocabulary - 1]),
        "one token": {name: np.full((1, 1), value, np.int64)
                      for name, value in (("input_ids", 101), ("attention_mask", 1), ("token_type_ids", 0))},
        "sentence pair": pair,
        "long": batch("long", [256], 256),
    }


def t5_encoder_cases():
    """Token ids with masks: words, then the end 1, then padding 0."""
    vocabulary = 32100

    def batch(label, lengths, width, ids=None):
        rng = seeded(label)
        tokens = np.zeros((len(lengths), width), np.int64)
        mask = np.zeros_like(tokens)
        for row, length in enumerate(lengths):
            tokens[row, :length] = rng.integers(3, vocabulary, length) if ids is None else rng.choice(ids, length)
            tokens[row, length - 1] = 1
            mask[row, :length] = 1
        return {"input_ids": tokens, "attention_mask": mask}

    return {
        "standard": batch("t5 standard", [16], 16),
        "other words": batch("t5 other words", [16], 16),
        "padded batch": batch("t5 padded batch", [11, 24, 2], 24),
        "edges of the vocabulary": batch("t5 edges", [20], 20, ids=[0, 1, vocabulary - 1]),
        "end only": batch("t5 end", [1], 1),
        "long": batch("t5 long", [160], 160),
    }


def t5_decoder_cases():
    """Beginnings of texts, with made-up hidden states of the encoder."""

    def beginning(label, tokens, words, batch=1):
        rng = seeded("t5 decoder " + label)
        ids = rng.integers(3, 32100, (batch, tokens))
        ids[:, 0] = 0
        mask = np.ones((batch, words), np.int64)
        mask[-1, words - words // 3:] = 0
        return {"input_ids": ids, "encoder_hidden_states": rng.normal(0, 0.15, (batch, words, 512)).astype(np.float32),
                "encoder_attention_mask": mask}

    return {"standard": beginning("standard", 8, 16), "other words": beginning("other words", 8, 16),
            "first": beginning("first", 1, 9),
            "batch": beginning("batch", 5, 12, 3),
            "long": beginning("long", 40, 30), "one word": beginning("one", 4, 1)}


def magika_cases():
    """The first and the last 1024 bytes of a file without surrounding blanks; 256 stands for none."""

    def features(*files):
        rows = []
        for data in files:
            begin, end = list(data[:1024]), list(data[-1024:])
            rows.append(begin + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + end)
        return {"bytes": np.array(rows, np.int32)}

    code = b"".join(b"def f%d(x):\n    return x * %d\n\n" % (i, i) for i in range(60))
    page = b"<!DOCTYPE html>\n<html><body>" + b"<p>one</p>" * 300 + b"</body></html>"
    table = b"".join(b"%d,%d,%.2f\n" % (i, i * i, i / 7) for i in range(200))
    noise = seeded("magika").integers(0, 256, 4096).astype(np.uint8).tobytes()
    archive = b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + noise[:2000] + b"PK\x05\x06" + bytes(18)
    return {
        "standard": features(code),
        "batch": features(page, table, noise, archive),
        "short": features(b"#!/bin/sh\necho"),
        "nothing": features(b""),
        "zeros": features(bytes(2048)),
    }


def t5_prompts():
    """Requests in the vocabulary of T5, chosen so that no token of the answer is nearly as likely as another."""
    texts = {
        # "summarize: improve the cache for new users"
        "cache": [21603, 10, 1172, 8, 11800, 21, 126, 1105, 1],
        # "Generate a title: document the email to the command line and test the report of the main application"
        "email": [6939, 2206, 3, 9, 2233, 10, 1708, 8, 791, 12, 8, 4106, 689, 11, 794, 8, 934, 13, 8, 711, 917, 1],
        # "summarize: split the client when the file is empty and test the client of the main application"
        "client": [21603, 10, 5679, 8, 1188, 116, 8, 1042, 19, 6364, 11, 794, 8, 1188, 13, 8, 711, 917, 1],
    }
    return {label: {"input_ids": np.array([ids], np.int64), "attention_mask": np.ones((1, len(ids)), np.int64)}
            for label, ids in texts.items()}
