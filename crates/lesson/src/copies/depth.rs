//! How many pieces are on their way at once: the depth of a pipeline.

use super::chunks::{CHUNKS, alone, pieces};
use crate::prelude::*;

/// The program with room for so many pieces.
macro_rules! ring {
    ($depth:literal) => {
        concat!(
            "for (int i = 0; i < 24; i++) {\n    int room = i % ",
            $depth,
            ";
    cudaMemcpyAsync(array[room], host[i], 4 << 20,
               cudaMemcpyHostToDevice, stream[room]);
    scale<<<64, 256, 0, stream[room]>>>(array[room]);
    cudaMemcpyAsync(host[i], array[room], 4 << 20,
               cudaMemcpyDeviceToHost, stream[room]);
}
cudaDeviceSynchronize();"
        )
    };
}

pub(crate) const DEPTH: Lesson = Lesson {
    name: "depth",
    group: Group::Copies,
    title: "how many pieces should be on their way",
    source: Origin::BestPractices("Asynchronous and Overlapping Transfers with Computation"),
    intro: "96 MiB go up, are worked on, and come down in 24 pieces, as in the lesson before. But the \
            device has room for 1, 2, 3 or 6 pieces only, each with a stream: a piece takes the room of \
            one that has come down.",
    question: "Up, launch and down take about the same time: how much faster is room for three pieces \
               than for one?",
    choices: Choices::Factors(0, &[1.0, 2.0, 3.0, 6.0]),
    parts: &[
        Part {
            title: "a piece alone",
            code: "cudaMemcpyAsync(array, host, 4 << 20,
           cudaMemcpyHostToDevice, stream);
scale<<<64, 256, 0, stream>>>(array);
cudaMemcpyAsync(host, array, 4 << 20,
           cudaMemcpyDeviceToHost, stream);",
            work: PartWork::Once(alone),
        },
        Part {
            title: "room for one piece",
            code: ring!("1"),
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 1, 1)),
        },
        Part {
            title: "room for two",
            code: ring!("2"),
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 2, 2)),
        },
        Part {
            title: "room for three",
            code: ring!("3"),
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 3, 3)),
        },
        Part {
            title: "room for six",
            code: ring!("6"),
            work: PartWork::Programs(|bench| pieces(bench, CHUNKS, 6, 6)),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 3,
            label: "room for three pieces instead of one",
            faster: "While one piece goes up, another is worked on and a third comes down.",
            none: "Here copies and launches were not done at the same time.",
            slower: "More streams were only more to manage here.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "room for two pieces instead of one",
            faster: "With two pieces one of the three resources is always idle.",
            none: "Here copies and launches were not done at the same time.",
            slower: "More streams were only more to manage here.",
        },
        Compare {
            slow: 3,
            fast: 4,
            label: "room for six pieces instead of three",
            faster: "Pieces that take different times gain by more room.",
            none: "Three resources are busy with three pieces: more room brings nothing.",
            slower: "Three resources are busy with three pieces: more streams are only more to manage.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "copy engines (copies and launches share its threads)",
        on_gpu: "A GPU would show that three pieces keep three resources busy: one copy engine for each \
                 direction, and the multiprocessors. More pieces take more memory and bring nothing.",
        on_cpu: None,
    }),
    closing: Closing::Text(""),
};
