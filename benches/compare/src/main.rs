//! `compare FILE LOG2`: steps a pattern by 2^LOG2 generations with smeagol; prints the seconds,
//! and the population then.

use std::time::Instant;

use smeagol::Life;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a pattern file");
    let log_2 = arguments.next().and_then(|text| text.parse().ok());
    let mut life = Life::from_rle_file(file).expect("a pattern");
    life.set_step_log_2(log_2.expect("a power of two"));
    let began = Instant::now();
    life.step();
    let seconds = began.elapsed().as_secs_f64();
    println!("{seconds} {}", life.population());
}
