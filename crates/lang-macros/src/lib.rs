//! Lets the texts of `lang`'s `tr!` name variables, as those of `format!` do.

use proc_macro::{Group, Ident, Punct, Spacing, TokenStream, TokenTree};

/// Adds the values that the text of a call names and that are not given to its other arguments:
/// `capture!(translate!("{n} of {all}", n = 3))` is `translate!("{n} of {all}", n = 3, all = all)`.
#[proc_macro]
pub fn capture(call: TokenStream) -> TokenStream {
    let with_captured = |token| match token {
        TokenTree::Group(arguments) => {
            let all = captured(arguments.stream().into_iter().collect());
            Group::new(arguments.delimiter(), all).into()
        }
        other => other,
    };
    call.into_iter().map(with_captured).collect()
}

fn captured(mut arguments: Vec<TokenTree>) -> TokenStream {
    let Some(TokenTree::Literal(text)) = arguments.first().cloned() else {
        return arguments.into_iter().collect();
    };
    let is_sign = |token: &TokenTree, sign: char| matches!(token, TokenTree::Punct(it) if it.as_char() == sign && it.spacing() == Spacing::Alone);
    let mut known: Vec<String> = arguments
        .windows(3)
        .filter(|it| is_sign(&it[0], ',') && is_sign(&it[2], '='))
        .map(|it| it[1].to_string())
        .collect();
    for name in names(&text.to_string()) {
        if known.contains(&name) {
            continue;
        }
        if arguments.last().is_none_or(|last| !is_sign(last, ',')) {
            arguments.push(Punct::new(',', Spacing::Alone).into());
        }
        let variable = Ident::new(&name, text.span());
        arguments.push(variable.clone().into());
        arguments.push(Punct::new('=', Spacing::Alone).into());
        arguments.push(variable.into());
        known.push(name);
    }
    arguments.into_iter().collect()
}

/// The names in braces of a literal, as the code has it: `{{` is a brace, and `\u{e9}` a letter.
fn names(literal: &str) -> Vec<String> {
    let text = literal.replace("{{", "").replace("\\u{", "");
    let braces = text.split('{').skip(1);
    let name = |it: &str| it.split(['}', ':']).next().unwrap_or_default().to_owned();
    let is_name = |it: &String| it.starts_with(|first: char| first.is_alphabetic());
    braces.map(name).filter(is_name).collect()
}
