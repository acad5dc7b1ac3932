//! What a history is made of: numbers, kept so that one that fails can be made shorter.

/// Numbers below what is asked for: those of a tape first, then random ones, then zeros.
pub(super) struct Choices {
    pub(super) tape: Vec<u64>,
    at: usize,
    random: Option<u64>,
    unlike: u64,
}

impl Choices {
    pub(super) fn random(seed: u64) -> Choices {
        Choices {
            tape: Vec::new(),
            at: 0,
            random: Some(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d),
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
        let Some(state) = &mut self.random else {
            return 0;
        };
        // SplitMix64.
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (z ^ (z >> 31)) % end;
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
