//! What a history is made of: numbers, kept so that one that fails can be made shorter.

use life::SplitMix64;

/// Numbers below what is asked for: those of a tape first, then random ones, then zeros.
pub(super) struct Choices {
    pub(super) tape: Vec<u64>,
    at: usize,
    random: Option<SplitMix64>,
    unlike: u64,
}

impl Choices {
    pub(super) fn random(seed: u64) -> Choices {
        Choices {
            tape: Vec::new(),
            at: 0,
            random: Some(SplitMix64(seed)),
            unlike: 0,
        }
    }

    pub(super) fn from_tape(tape: &[u64]) -> Choices {
        Choices {
            tape: tape.to_vec(),
            at: 0,
            random: None,
            unlike: 0,
        }
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        if let Some(&number) = self.tape.get(self.at) {
            self.at += 1;
            return number % end;
        }
        let Some(random) = &mut self.random else {
            return 0;
        };
        let number = random.below(end);
        self.tape.push(number);
        self.at += 1;
        number
    }

    /// A number that is never the same.
    pub(super) fn unlike_any_other(&mut self) -> u64 {
        self.unlike += 1;
        self.unlike
    }
}

/// The shortest tape with the smallest numbers that still fails, as far as small changes lead.
pub(super) fn shrunk(mut tape: Vec<u64>, fails: impl Fn(&[u64]) -> bool) -> Vec<u64> {
    let mut length = tape.len();
    while length > 0 {
        let mut at = 0;
        while at < tape.len() {
            let mut shorter = tape.clone();
            shorter.drain(at..(at + length).min(tape.len()));
            if fails(&shorter) {
                tape = shorter;
            } else {
                at += length;
            }
        }
        length /= 2;
    }
    for at in 0..tape.len() {
        for smaller in [0, tape[at] / 2, tape[at].saturating_sub(1)] {
            let mut other = tape.clone();
            other[at] = smaller;
            if smaller < tape[at] && fails(&other) {
                tape = other;
            }
        }
    }
    tape
}
