//! In Chinese no English is left but names: what is painted is looked at, word by word.

use std::collections::BTreeSet;

use egui::{FontFamily, Shape};

use crate::view::gallery::each_painted;
use engine::kernels::KERNELS;
use lang::Language;

/// Names, units and marks that are the same in every language.
const SAME: &str = "
    cuda CUDA sm sm_ GPU NVIDIA GeForce RTX Laptop driver Vulkan llvmpipe LLVM bits Tcell cell KiB MiB
    auto bits view i32 on off per instance one default batch pinned pageable poll each all depth
    breadth kernel commit Esc Enter Ctrl Shift Space Tab Backspace Delete PgUp PgDn Home End wheel
    amber cividis hues phosphor paper saved lifestreams png PNG Rust cust RLE rle cells lif json mod
    English Chinese Gcell GiB done end query session bench ladder __syncthreads syncthreads sync SM
    rhai round FILE cpu own Day Night HighLife Life Maze Replicator Seeds
    CPU Test Unknown HBM abcd CUDA_ERROR_ILLEGAL_ADDRESS xyzzy rotate HiLife EACCES gif
";

/// Screens with what a user wrote or that keeps its English names: code, patterns, lessons.
const WRITTEN: [&str; 8] = [
    "camera-theme-paper-",
    "editor",
    "ladder-source",
    "lecture",
    "lesson",
    "odd-lesson",
    "palette-refused",
    "shelf",
];

fn is_same(word: &str) -> bool {
    SAME.split_whitespace().any(|it| it == word)
        || KERNELS
            .iter()
            .any(|kernel| kernel.name.split('-').any(|part| part == word))
}

/// The English words of a text, but for names and paths.
fn english(text: &str) -> Vec<&str> {
    let texts = text
        .split_whitespace()
        .filter(|it| !it.starts_with(['/', '~']));
    texts
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic() && c != '_'))
        .filter(|word| word.len() > 2 && !word.starts_with("cu") && !is_same(word))
        .collect()
}

fn note<'a>(shapes: impl IntoIterator<Item = &'a Shape>, left: &mut BTreeSet<String>) {
    for shape in shapes {
        match shape {
            Shape::Vec(inner) => note(inner, left),
            Shape::Text(text) => {
                let galley = &text.galley;
                // Code, but for its remarks, is the same.
                let mut families = galley
                    .job
                    .sections
                    .iter()
                    .map(|it| &it.format.font_id.family);
                let code = families.any(|family| *family == FontFamily::Monospace);
                let text = galley.text();
                let code = code && !text.trim_start().starts_with("//");
                let cut = text.ends_with('…');
                if !code && !cut && !english(text).is_empty() {
                    left.insert(text.to_owned());
                }
            }
            _ => {}
        }
    }
}

#[test]
fn no_english_is_left_on_any_screen() {
    let mut left = BTreeSet::new();
    each_painted(Language::Chinese, 0, |name, _, shapes| {
        let is_written = WRITTEN.iter().any(|start| name.starts_with(start));
        if !is_written {
            let mut found = BTreeSet::new();
            note(shapes.iter().map(|clipped| &clipped.shape), &mut found);
            left.extend(found.into_iter().map(|text| format!("{name}: {text}")));
        }
    });
    assert!(left.is_empty(), "{left:#?}");
}
