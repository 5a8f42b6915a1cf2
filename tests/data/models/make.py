"""Makes the tiny models of this folder, with random weights, and what `transformers` gives for them.

    pip install torch transformers tokenizers safetensors
    python make.py
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig, BertForSequenceClassification, BertModel, DistilBertConfig, DistilBertForSequenceClassification,
    DistilBertModel, RobertaConfig, RobertaModel, XLMRobertaConfig, XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

HERE = Path(__file__).parent
SIZE, LAYERS, HEADS, WIDE, POSITIONS = 8, 2, 2, 12, 20
FORM = dict(hidden_size=SIZE, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=WIDE)

PIECES = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "red", "fox", "ran", "##ning", "home", "where", "is", "?", ",", ".",
    "query", "passage", ":", "Red", "é", "É", "e",
]
UNIGRAM = [
    ("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁the", -2.0), ("▁red", -3.0),
    ("▁f", -4.0), ("ox", -4.0), ("▁ran", -3.5), ("n", -5.0), ("ing", -4.0), ("▁home", -3.0), ("où", -4.0),
    ("est", -3.0), ("le", -2.5), ("?", -3.0), (",", -3.0), (".", -3.0), ("狐", -4.0), ("r", -6.0), ("e", -6.0),
    ("query", -4.0), (":", -3.0),
]
BPE = ["<s>", "<pad>", "</s>", "<unk>"] + sorted(set(pre_tokenizers.ByteLevel.alphabet()) & set("Ġabdefghimnoqrtuwxy?.,:ĊÃ©"))
MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("o", "x"), ("Ġ", "f"), ("Ġf", "ox"), ("r", "e"), ("re", "d"), ("Ġ", "red")]

TEXTS = ["The red fox.", "the fox ran home, running", "Où est le red fox? 狐", "red </s> fox [SEP] home", "wolf",
         "the red fox ran home, " * 8, ""]
QUERY = "where is the fox?"
PAIRS = [(QUERY, text) for text in TEXTS if text] + [("the fox ran home, " * 8, "the red fox ran home, " * 8),
                                                     ("the fox ran home, " * 8, "red fox")]


def words():
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    return bert_like(tokenizer, lowercase=True)


def bert_like(tokenizer, lowercase):
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def cased():
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    return bert_like(tokenizer, lowercase=False)


def unigram():
    tokenizer = Tokenizer(models.Unigram(UNIGRAM, unk_id=3))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    # As published folders have it: neither is to count here.
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>", length=9)
    return tokenizer


def bpe():
    vocab = {}
    for piece in BPE + [a + b for a, b in MERGES]:
        vocab.setdefault(piece, len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab, MERGES, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return tokenizer


def cut(tokenizer, query, text, most):
    """A query's and a text's ids, the text cut, and of the query what is longer than half of the room."""
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # What users write is text.
    first = tokenizer.encode(query, add_special_tokens=False)
    if text is None:
        first.truncate(most - tokenizer.num_special_tokens_to_add(False))
        return tokenizer.post_process(first)
    second = tokenizer.encode(text, add_special_tokens=False)
    room = most - tokenizer.num_special_tokens_to_add(True)
    kept = min(len(first), max(room // 2, room - len(second)))
    first.truncate(kept)
    second.truncate(room - kept)
    return tokenizer.post_process(first, second)


def run(model, encoding, kinds):
    inputs = dict(input_ids=torch.tensor([encoding.ids]), attention_mask=torch.ones(1, len(encoding.ids), dtype=torch.long))
    if kinds:
        inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
    with torch.no_grad():
        return model.double()(**inputs)


def save(folder, model, tokenizer, vocab_txt):
    torch.manual_seed(7)
    for name, weights in model.named_parameters():
        scale = 0.1 if "LayerNorm" in name or "layer_norm" in name or name.endswith("bias") else 0.5
        base = 1.0 if name.endswith(("LayerNorm.weight", "layer_norm.weight")) else 0.0
        weights.data = (base + scale * torch.randn(weights.shape)).half().float()
    model.eval()
    folder.mkdir()
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    keep = ["model_type", "architectures", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
            "dim", "n_layers", "n_heads", "hidden_dim", "activation", "hidden_act", "max_position_embeddings",
            "vocab_size", "type_vocab_size", "layer_norm_eps", "pad_token_id"]
    write(folder / "config.json", {name: config[name] for name in keep if config.get(name) is not None})
    tensors = {name: weights.half().contiguous() for name, weights in model.state_dict().items()
               if weights.is_floating_point()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if vocab_txt:
        (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    else:
        text = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
        (folder / "tokenizer.json").write_text(text)


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n")


def pool(rows, mode):
    return {"mean_tokens": rows.mean(0), "cls_token": rows[0], "lasttoken": rows[-1]}[mode]


def embedder(name, model, tokenizer, kinds, *, mode="mean_tokens", vocab_txt=False, max_seq_length=None, dense=False,
             prompts=None, settings=None):
    folder = HERE / name
    save(folder, model, tokenizer, vocab_txt)
    kind = "sentence_transformers.models."
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules += [("2_Dense", "Dense"), ("3_Normalize", "Normalize")] if dense else []
    write(folder / "modules.json", [{"idx": at, "name": str(at), "path": path, "type": kind + module}
                                    for at, (path, module) in enumerate(modules)])
    modes = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
    write(folder / "1_Pooling/config.json", {"word_embedding_dimension": SIZE, "include_prompt": True}
          | {f"pooling_mode_{other}": other == mode for other in modes})
    most = POSITIONS
    if max_seq_length:
        write(folder / "sentence_bert_config.json", {"max_seq_length": max_seq_length, "do_lower_case": False})
        most = min(most, max_seq_length)
    if prompts:
        write(folder / "config_sentence_transformers.json", prompts)
    if settings:
        write(folder / "tokenizer_config.json", settings)
    if dense:
        linear = torch.nn.Linear(SIZE, 5)
        linear.weight.data = torch.randn(5, SIZE).half().float()
        linear.bias.data = torch.randn(5).half().float()
        write(folder / "2_Dense/config.json", {"in_features": SIZE, "out_features": 5, "bias": True,
                                               "activation_function": "torch.nn.modules.activation.Tanh"})
        save_file({f"linear.{part}": weights.half().contiguous() for part, weights in linear.state_dict().items()},
                  folder / "2_Dense/model.safetensors")

    def vector(text, prefix=""):
        encoding = cut(tokenizer, text, None, most)
        if len(encoding.ids) == tokenizer.num_special_tokens_to_add(False):
            return [0.0] * (5 if dense else SIZE)
        encoding = cut(tokenizer, prefix + text, None, most)
        pooled = pool(run(model, encoding, kinds).last_hidden_state[0], mode)
        if dense:
            pooled = torch.tanh(linear.double()(pooled))
        return (pooled / pooled.norm()).tolist()

    named = (prompts or {}).get("prompts", {})
    default = named.get((prompts or {}).get("default_prompt_name"), "")
    expected = [{"text": text, "query": rounded(vector(text, named.get("query", default))),
                 "document": rounded(vector(text, named.get("document", named.get("passage", default))))} for text in TEXTS]
    write(folder / "expected.json", expected)


def reranker(name, model, tokenizer, kinds, vocab_txt=False):
    folder = HERE / name
    save(folder, model, tokenizer, vocab_txt)
    expected = []
    for query, text in PAIRS:
        logits = run(model, cut(tokenizer, query, text, POSITIONS), kinds).logits
        expected.append({"query": query, "text": text, "score": rounded(logits[0].tolist())[0]})
    write(folder / "expected.json", expected)


def rounded(numbers):
    return [round(number, 6) for number in numbers]


def main():
    for path in HERE.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    bert = BertConfig(**FORM, vocab_size=len(PIECES), max_position_embeddings=POSITIONS, num_labels=1)
    distil = DistilBertConfig(dim=SIZE, n_layers=LAYERS, n_heads=HEADS, hidden_dim=WIDE, vocab_size=len(PIECES),
                              max_position_embeddings=POSITIONS, num_labels=1)
    xlm = XLMRobertaConfig(**FORM, vocab_size=len(UNIGRAM), max_position_embeddings=POSITIONS + 2, type_vocab_size=1,
                           layer_norm_eps=1e-5, pad_token_id=1, num_labels=1)
    roberta = RobertaConfig(**FORM, vocab_size=bpe().get_vocab_size(), max_position_embeddings=POSITIONS + 2,
                            type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1)
    multilingual = BertConfig(**FORM, vocab_size=len(UNIGRAM) + 3, max_position_embeddings=POSITIONS)

    embedder("bert-cls", BertModel(bert, add_pooling_layer=False), words(), True, mode="cls_token", vocab_txt=True)
    embedder("bert-cased", BertModel(bert, add_pooling_layer=False), cased(), True, vocab_txt=True,
             settings={"do_lower_case": False})
    embedder("bert-dense", BertModel(bert, add_pooling_layer=False), words(), True, dense=True, max_seq_length=9)
    embedder("bert-prompts", BertModel(bert, add_pooling_layer=False), words(), True, mode="lasttoken", vocab_txt=True,
             prompts={"prompts": {"query": "query: ", "passage": "passage: ", "other": "red "},
                      "default_prompt_name": "other"})
    embedder("distilbert", DistilBertModel(distil), words(), False, vocab_txt=True)
    embedder("xlm-roberta", XLMRobertaModel(xlm, add_pooling_layer=False), unigram(), False,
             prompts={"prompts": {"query": "query: "}})
    embedder("roberta", RobertaModel(roberta, add_pooling_layer=False), bpe(), False, mode="lasttoken")
    # As multilingual E5 and paraphrase-multilingual-MiniLM are: BERT's layers with XLM-RoBERTa's tokens.
    embedder("bert-unigram", BertModel(multilingual, add_pooling_layer=False), unigram(), True)
    reranker("reranker-bert", BertForSequenceClassification(bert), words(), True, vocab_txt=True)
    reranker("reranker-distilbert", DistilBertForSequenceClassification(distil), words(), False, vocab_txt=True)
    reranker("reranker-xlm-roberta", XLMRobertaForSequenceClassification(xlm), unigram(), False)


main()
