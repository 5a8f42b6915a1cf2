//! Control tokens of chat templates: finds them in text, and rewrites text so that none is left. A model's tokenizer may act
//! on one wherever it occurs in the input.

use std::borrow::Cow;

/// Tokens of the common model families, in lower case, matched case-insensitively. Tokens that begin with `<|`, `<｜` or `[|`
/// are not listed: they are detected by these prefixes, whatever follows.
const TOKENS: [&str; 57] = [
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
    "<bos_token>",
    "<eos_token>",
    "<pad_token>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<seed:bos>",
    "<seed:eos>",
    // GLM, InternLM, Ling, MiniMax.
    "[bos]",
    "[eos]",
    "[cls]",
    "[sep]",
    "<fim_prefix>",
    "<fim_middle>",
    "<fim_suffix>",
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
    // Thoughts and tool calls of Qwen, DeepSeek and others.
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
];

/// Returns where control tokens begin. No token contains a blank, and each begins with one of `<`, `[` and `]`.
pub(crate) fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(['<', '[', ']']).map(|(at, _)| at).filter(|&at| is_token(&text[at..]))
}

fn is_token(text: &str) -> bool {
    let behind = |marks: [&str; 2]| marks.iter().find_map(|mark| text.strip_prefix(mark)?.chars().next());
    behind(["<|", "<\u{ff5c}"]).is_some_and(|c| !c.is_whitespace())
        || behind(["[|", "[\u{ff5c}"]).is_some_and(char::is_alphabetic)
        || TOKENS.iter().any(|token| {
            text.as_bytes()
                .get(..token.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(token.as_bytes()))
        })
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
            "<div><span>s</span></div> <strong>",
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
