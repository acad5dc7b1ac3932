//! What is said of kernels, also of those that a user wrote.

use std::borrow::Cow;

use engine::Kernel;
use lang::tr;
use life::Rule;

/// What is said of the kernel in use beside its name: what it is about, or that it does not step the rule.
pub fn use_of(kernel: &'static Kernel, rule: Rule) -> Cow<'static, str> {
    if kernel.stepping(rule) == kernel {
        return idea(kernel);
    }
    let rung = kernel.rung().file;
    tr!("it does not step {rule}: {rung} does instead").into()
}

/// What a kernel is about, in a few words: its idea, or the rung that the user wrote it from.
pub fn idea(kernel: &Kernel) -> Cow<'static, str> {
    match &kernel.own {
        None => lang::text(kernel.title).into(),
        Some(own) => tr!("from {file}", file = own.rung.file).into(),
    }
}

/// Why an own kernel has no block timestamps.
pub fn timestamps_of_own() -> &'static str {
    tr!("block timestamps cannot be added to the code of your kernel")
}
