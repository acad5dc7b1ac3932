//! What is wrong with a file, in words about sessions: which field, what it has and must have. The
//! parser's own words are about Rust's types, and they do not name the field that has the value.

use lang::tr;
use serde_json::error::Category;

/// The reason why a text was refused, as a sentence that names the field.
pub(super) fn plain_reason(error: &serde_json::Error, text: &[u8]) -> String {
    match error.classify() {
        Category::Eof => {
            tr!("the file was cut off here; restore a copy of it, or name another file").into()
        }
        Category::Syntax => damaged(),
        Category::Data | Category::Io => {
            let located = format!(" at line {} column {}", error.line(), error.column());
            let reason = error.to_string();
            let reason = reason.strip_suffix(&located).unwrap_or(&reason);
            in_words(reason, &field_at(text, error.line(), error.column()))
        }
    }
}

fn damaged() -> String {
    tr!(
        "this is not a session that lifestreams saved, or it is damaged here; restore a copy of it, or name another file"
    )
    .into()
}

/// The parser's reason in plain words; `field` is where it came up.
fn in_words(reason: &str, field: &str) -> String {
    let quoted = || reason.split('`').nth(1).unwrap_or_default();
    if reason.starts_with("missing field `") {
        let field = joined(field, quoted());
        return tr!("the field '{field}' is missing; add it", field = field);
    }
    if reason.starts_with("unknown field `") {
        let field = quoted();
        return tr!(
            "there is no field '{field}' in a session; correct its name or remove it",
            field = field
        );
    }
    if reason.starts_with("duplicate field `") {
        let field = quoted();
        return tr!(
            "the field '{field}' is there twice; remove one of them",
            field = field
        );
    }
    if reason.starts_with("unknown variant `") {
        let names: Vec<&str> = reason.split('`').skip(3).step_by(2).collect();
        return tr!(
            "'{field}' is '{value}'; write one of {names}",
            field = field,
            value = quoted(),
            names = names.join(", ")
        );
    }
    let is_wrong = ["invalid type: ", "invalid value: ", "invalid length "];
    let wrong = is_wrong.iter().find_map(|it| reason.strip_prefix(it));
    match wrong.and_then(|wrong| wrong.split_once(", expected ")) {
        Some((_, "a session that lifestreams saved")) => {
            tr!("this is not a session that lifestreams saved; name another file").into()
        }
        Some(_) if field.is_empty() => damaged(),
        Some((found, expected)) => tr!(
            "'{field}' is {found}; write {expected}",
            field = field,
            found = self::found(found),
            expected = self::expected(expected)
        ),
        // The program's own words.
        None if field.is_empty() => reason.into(),
        None => tr!(
            "'{field}' is wrong: {reason}",
            field = field,
            reason = reason
        ),
    }
}

/// The most characters of a text that are repeated: a lattice may have millions.
const MAX_SHOWN: usize = 40;

/// A value as the parser names it, such as `integer `5``.
fn found(value: &str) -> String {
    match value.split_once(' ') {
        Some(("integer" | "floating", rest)) => {
            let number = rest.trim_start_matches("point ").trim_matches('`');
            tr!("the number {number}", number = number)
        }
        Some(("string", text)) => {
            let is_long = text.chars().nth(MAX_SHOWN).is_some();
            let end = if is_long { "…" } else { "" };
            let shown: String = text.chars().take(MAX_SHOWN).collect();
            tr!("the text {text}", text = shown + end)
        }
        Some(("boolean", value)) => value.trim_matches('`').into(),
        _ if value == "sequence" => tr!("a list").into(),
        _ if value == "map" => tr!("a group of fields").into(),
        _ if value == "null" || value == "unit value" => "null".into(),
        _ => match value.parse::<usize>() {
            Ok(length) => tr!("a list of {length}", length = length),
            Err(_) => tr!("something else").into(),
        },
    }
}

/// What the parser expects, which it says in Rust's types.
fn expected(what: &str) -> String {
    match what {
        "u32" => tr!("a whole number from 0 to {most}", most = u32::MAX),
        "u64" | "usize" => tr!("a whole number, 0 or more").into(),
        _ if what.contains("nonzero") => tr!("a whole number, 1 or more").into(),
        "f32" | "f64" => tr!("a number").into(),
        "a boolean" => tr!("true or false").into(),
        "a string" => tr!("a text in quotation marks").into(),
        "a sequence" => tr!("a list in square brackets").into(),
        "an array of length 2" | "a tuple of size 2" => {
            tr!("a list of two numbers, such as [3, 4]").into()
        }
        _ if what.starts_with("struct ") => tr!("a group of fields in curly brackets").into(),
        _ => tr!("what lifestreams writes there").into(),
    }
}

fn joined(path: &str, field: &str) -> String {
    match path {
        "" => field.into(),
        path => format!("{path}.{field}"),
    }
}

/// An object or a list that is open, and the field of it that was read last.
#[derive(Default)]
struct Open {
    field: Option<String>,
}

/// The path of the field that a text has just before a line and column (both from 1), such as
/// `settings.pace`.
fn field_at(text: &[u8], line: usize, column: usize) -> String {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let text = &text[..(before + column).min(text.len())];
    let mut open: Vec<Open> = Vec::new();
    let mut string: Option<&[u8]> = None;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let end = end_of_string(text, at + 1);
                string = Some(&text[at + 1..end]);
                at = end;
            }
            b':' => {
                if let (Some(last), Some(name)) = (open.last_mut(), string.take()) {
                    last.field = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            b'{' | b'[' => open.push(Open::default()),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
        at += 1;
    }
    let fields: Vec<String> = open.into_iter().filter_map(|it| it.field).collect();
    fields.join(".")
}

/// Where a string that begins here ends: its closing quotation mark, or the end of the text.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::num::NonZeroU32;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase", deny_unknown_fields)]
    #[allow(dead_code)]
    enum Kind {
        Soup,
        Lattices,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Inner {
        instances: NonZeroU32,
        at: [u32; 2],
        kind: Kind,
        pace: Option<f64>,
        alive: bool,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Outer {
        #[serde(rename = "a \" b")]
        name: String,
        inner: Inner,
        all: Vec<u64>,
    }

    const GOOD: &str = r#"{
  "a \" b": "{[\\",
  "inner": {"instances": 4, "at": [1, 2], "kind": "soup", "pace": null, "alive": true},
  "all": [1, 2]
}"#;

    fn said(text: &str) -> String {
        let error = serde_json::from_str::<Outer>(text).unwrap_err();
        plain_reason(&error, text.as_bytes())
    }

    #[test]
    fn a_wrong_field_is_named_with_what_it_has_and_must_have() {
        serde_json::from_str::<Outer>(GOOD).unwrap();
        for (from, to, words) in [
            (
                "4,",
                "0,",
                "'inner.instances' is the number 0; write a whole number, 1 or more",
            ),
            (
                "4,",
                "\"4\",",
                "'inner.instances' is the text \"4\"; write a whole number, 1 or more",
            ),
            (
                "[1, 2], \"kind\"",
                "[1], \"kind\"",
                "'inner.at' is a list of 1; write a list of two numbers, such as [3, 4]",
            ),
            (
                "[1, 2], \"kind\"",
                "7, \"kind\"",
                "'inner.at' is the number 7; write a list of two numbers, such as [3, 4]",
            ),
            (
                "\"soup\"",
                "\"stew\"",
                "'inner.kind' is 'stew'; write one of soup, lattices",
            ),
            ("null", "[]", "'inner.pace' is a list; write a number"),
            (
                "null",
                "{}",
                "'inner.pace' is a group of fields; write a number",
            ),
            (
                "true",
                "1.5",
                "'inner.alive' is the number 1.5; write true or false",
            ),
            ("true", "null", "'inner.alive' is null; write true or false"),
            (
                "\"pace\"",
                "\"pac\"",
                "there is no field 'pac' in a session; correct its name or remove it",
            ),
            (
                ", \"alive\": true",
                "",
                "the field 'inner.alive' is missing; add it",
            ),
            (
                "\"alive\": true",
                "\"alive\": true, \"alive\": true",
                "the field 'alive' is there twice; remove one of them",
            ),
            (
                ",\n  \"all\": [1, 2]",
                "",
                "the field 'all' is missing; add it",
            ),
            (
                "[1, 2]\n",
                "true\n",
                "'all' is true; write a list in square brackets",
            ),
            (
                "[1, 2]\n",
                "[1, -2]\n",
                "'all' is the number -2; write a whole number, 0 or more",
            ),
            (
                "\"{[\\\\\"",
                "3",
                "'a \\\" b' is the number 3; write a text in quotation marks",
            ),
        ] {
            assert!(GOOD.contains(from), "{from}");
            assert_eq!(said(&GOOD.replacen(from, to, 1)), words);
        }
        let long = said(&GOOD.replacen("4,", &format!("\"{}\",", "ab".repeat(999)), 1));
        assert!(long.contains("ab"), "{long}");
        assert!(long.chars().count() < 120, "{long}");
        assert_eq!(
            said(&GOOD[..40]),
            "the file was cut off here; restore a copy of it, or name another file"
        );
    }

    #[test]
    fn nothing_of_rust_is_left_in_what_is_said() {
        for type_name in [
            "u64",
            "u32",
            "usize",
            "f64",
            "a nonzero u32",
            "struct Inner",
            "enum Kind",
        ] {
            let said = in_words(&format!("invalid type: map, expected {type_name}"), "x");
            assert!(!said.contains(type_name), "{said}");
        }
    }
}
