//! Control tokens of chat templates: finds them in text, and rewrites text so that none is left. A model's tokenizer may act
//! on one wherever it occurs in the input.

use std::borrow::Cow;

/// Tokens of the common model families, in lower case, matched case-insensitively. Tokens that begin with `<|`, `<｜` or `[|`
/// are not listed: they are detected by these prefixes, whatever follows. Nor are those that [`has_form`] detects.
const TOKENS: [&str; 48] = [
    // Llama, Mistral and their derivatives.
    "<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "<mask>",
    "<<sys>>",
    "<</sys>>",
    "[inst]",
    "[/inst]",
    "[system_prompt]",
    "[/system_prompt]",
    "[available_tools]",
    "[/available_tools]",
    "[tool_calls]",
    "[tool_results]",
    "[/tool_results]",
    "[tool_content]",
    "[/tool_content]",
    "[call_id]",
    "[args]",
    "[think]",
    "[/think]",
    // Gemma, Cohere, and others that name the beginning and end of a text.
    "<bos>",
    "<eos>",
    "<cls>",
    "<sep>",
    "<eot>",
    "<image>",
    "</image>",
    "<seed:bos>",
    "<seed:eos>",
    // GLM, InternLM, Ling, MiniMax.
    "[bos]",
    "[eos]",
    "[cls]",
    "[sep]",
    "[gmask]",
    "[smask]",
    "<sop>",
    "<eop>",
    "<eoh>",
    "<eoa>",
    "<role>",
    "</role>",
    "]~b]",
    "]~!b[",
    "[e~[",
    // Thoughts of Qwen, DeepSeek and others.
    "<think>",
    "</think>",
];

/// Returns where control tokens begin. No token contains a blank, and each begins with one of `<`, `[` and `]`.
pub(crate) fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(['<', '[', ']']).map(|(at, _)| at).filter(|&at| is_token(&text[at..]))
}

fn is_token(text: &str) -> bool {
    let behind = |marks: [&str; 2]| marks.iter().find_map(|mark| text.strip_prefix(mark)?.chars().next());
    behind(["<|", "<\u{ff5c}"]).is_some_and(|c| !c.is_whitespace())
        || behind(["[|", "[\u{ff5c}"]).is_some_and(char::is_alphabetic)
        || has_form(text)
        || TOKENS.iter().any(|token| {
            text.as_bytes()
                .get(..token.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(token.as_bytes()))
        })
}

/// Whether the text begins with a tag such as `<extra_id_1>`, `</tool_call>`, `<unused99>` or `<turn|>`: a word with an
/// underscore or a digit, or with a bar at its end. Headings of HTML and the usual names of types, such as `<h1>`, `<u8>`,
/// `<int64>` and `<size_t>`, are none.
fn has_form(text: &str) -> bool {
    let Some(word) = text.strip_prefix('<').map(|tag| tag.strip_prefix('/').unwrap_or(tag)) else {
        return false;
    };
    let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
    let (word, rest) = word.split_at(end);
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_type = word.ends_with("_t") || stem.len() < 2 || ["int", "uint", "float"].contains(&stem);
    let is_marked = word.contains(|c: char| c == '_' || c.is_ascii_digit()) && !is_type;
    !word.is_empty() && (rest.starts_with("|>") || rest.starts_with('>') && is_marked)
}

/// Returns the text with a blank after the first character of each control token: `<|im_end|>` becomes `< |im_end|>`.
///
/// No token contains a blank, so inserting a blank can break tokens but never create one, however they are nested. Nothing
/// is removed, so the parts around a token cannot form another one.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    rewritten(text, |first| format!("{first} "))
}

/// Returns the text with the first character of each control token replaced.
pub(crate) fn rewritten(text: &str, mut written: impl FnMut(char) -> String) -> Cow<'_, str> {
    let mut starts = starts(text).peekable();
    if starts.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    let mut done = 0;
    for at in starts {
        out.push_str(&text[done..at]);
        out.push_str(&written(char::from(text.as_bytes()[at])));
        done = at + 1;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(harmless(text), expected);
    }

    #[test]
    fn a_blank_breaks_each_token() {
        check("a<|im_start|>system", "a< |im_start|>system");
        check("<|endoftext|><|eot_id|>", "< |endoftext|>< |eot_id|>");
        check("<｜begin▁of▁sentence｜><｜User｜>", "< ｜begin▁of▁sentence｜>< ｜User｜>");
        check("<s>[INST] <<SYS>> x <</SYS>> [/INST]</s>", "< s>[ INST] < <SYS>> x < </SYS>> [ /INST]< /s>");
        check("<start_of_turn>user<End_Of_Turn>", "< start_of_turn>user< End_Of_Turn>");
        check("[|user|] ]~b]ai[e~[ [gMASK]<sop>", "[ |user|] ] ~b]ai[ e~[ [ gMASK]< sop>");
    }

    #[test]
    fn a_blank_breaks_tags_with_underscores_digits_and_bars_whichever_family_has_them() {
        check("a<extra_id_1>User", "a< extra_id_1>User");
        check("<reserved_106><SPECIAL_12>", "< reserved_106>< SPECIAL_12>");
        check("<|turn>user<turn|>", "< |turn>user< turn|>");
        check("<end_of_utterance><image></image>", "< end_of_utterance>< image>< /image>");
        check("<start_function_call>{}</tool_call>", "< start_function_call>{}< /tool_call>");
        check("<unused99><bos_<fim_prefix>", "< unused99><bos_< fim_prefix>");
    }

    #[test]
    fn nesting_and_splitting_make_none() {
        check("<|im_<|im_start|>start|>", "< |im_< |im_start|>start|>");
        check("<<|im_start|>|im_start|>", "<< |im_start|>|im_start|>");
        check("<s<s>>", "<s< s>>");
        check("[IN[INST]ST]", "[IN[ INST]ST]");
        check("<<<SYS>>", "<< <SYS>>");
    }

    #[test]
    fn what_is_no_token_stays_as_it_is() {
        for text in [
            "",
            "a < b and c > d, or a<b",
            "f <| g x",
            "let a = [1, 2]; a[i] = [| 1 |]",
            "<div><span>s</span></div> <strong> <b>b</b> <table><tr><td>",
            "<h1>x</h1> <my-element> <p class=\"a_1\"> <img_1",
            "Vec<T> Vec<u8> Map<K, V_1> Array<T2> List<int64> vector<size_t> f::<uint8_t>()",
            "a_1<b_2 && c_3>d_4, x<=y_1>, <start|stop> 3<4>2 <1> <_> </> <>",
            "[link](https://example.org) [x] [inst",
            "<...> <now: 2026> vec![s]",
            "黒猫🦊 | ｜",
        ] {
            assert!(matches!(harmless(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    fn scraps() -> impl Strategy<Value = String> {
        let scrap = prop_oneof![
            prop::sample::select(&TOKENS[..]).prop_map(str::to_owned),
            prop::sample::select(vec![
                "<",
                "|",
                "｜",
                "[",
                "]",
                ">",
                "/",
                "~",
                " ",
                "\n",
                "<|",
                "<|im_start|>",
                "im_start",
                "<extra_id_1>",
                "<turn|>",
                "_",
                "1",
                "INST",
                "s",
                "!b",
                "SYS>>",
                "<<",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,3}",
        ];
        prop::collection::vec(scrap, 0..12).prop_map(|scraps| scraps.concat())
    }

    proptest! {
        #[test]
        fn no_token_is_left_and_nothing_but_blanks_is_added(text in scraps()) {
            let shown = harmless(&text);
            prop_assert_eq!(starts(&shown).next(), None);
            let lower = shown.to_ascii_lowercase();
            prop_assert!(!TOKENS.iter().any(|token| lower.contains(token)), "{}", shown);
            prop_assert_eq!(shown.replace(' ', ""), text.replace(' ', ""));
            prop_assert_eq!(harmless(&shown), &*shown);
        }
    }
}
