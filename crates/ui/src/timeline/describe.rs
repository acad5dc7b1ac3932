//! What a bar of the timeline stands for, in words: made when someone points at it, for there may be
//! thousands of bars.

use engine::Span;
use lang::tr;
use session::trace::{StepFacts, StepKind};

use crate::numbers::{bytes, grouped, si, time_us};
use crate::timeline::BarKind;
use crate::timeline::lanes::{Bar, Chart};

impl Chart {
    fn facts(&self, bar: &Bar) -> Option<&StepFacts> {
        self.round.steps.get(bar.step as usize)
    }

    /// The name of the op of a bar.
    pub fn name(&self, bar: &Bar) -> &'static str {
        match self.facts(bar) {
            Some(facts) => lang::text(facts.label),
            None if self.round.replayed => tr!("graph launch"),
            None => tr!("submit"),
        }
    }

    /// The names of bars, each with its time.
    pub fn list(&self, bars: &[Bar]) -> String {
        let each = bars.iter().map(|bar| {
            let time = time_us((bar.end - bar.start) / 1e3);
            format!("{} {time}", self.name(bar))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// A bar in words, line by line.
    pub fn describe(&self, bar: &Bar) -> Vec<String> {
        let when = tr!(
            "from {} · for {}",
            time_us(bar.start / 1e3),
            time_us((bar.end - bar.start) / 1e3)
        );
        let Some(facts) = self.facts(bar) else {
            let title = match bar.step {
                Span::WHOLE if self.round.replayed => tr!("host: launches the round's graph"),
                Span::WHOLE => tr!("host: submits the round"),
                _ => tr!("host call"),
            };
            return vec![title.into(), when];
        };
        let number = |id| self.data.number_of(id);
        let instance = facts.instance.map(number).map(|id| match facts.instances {
            0 | 1 => tr!(" · instance {id}", id = id),
            n => tr!(" · instances {id} to {}", id + n - 1, id = id),
        });
        let place = self.data.stream_name(facts.stream) + instance.unwrap_or_default().as_str();
        if matches!(bar.kind, BarKind::Host | BarKind::Wait) {
            let what = match bar.kind {
                BarKind::Wait => tr!("host: waiting").into(),
                _ => tr!("host: inside the call for {}", lang::text(facts.label)),
            };
            return vec![what, place, when];
        }
        let amount = match facts.kind {
            StepKind::Upload | StepKind::Download | StepKind::DeviceCopy => {
                let rate = facts.bytes as f64 / (bar.end - bar.start).max(1.0) * 1e9;
                format!("{} · {}B/s", bytes(facts.bytes), si(rate))
            }
            StepKind::Launch => grouped(facts.cells) + tr!(" cells stepped"),
            StepKind::Support => grouped(facts.cells) + tr!(" cells"),
            StepKind::Event | StepKind::Wait => String::new(),
        };
        let meaning = bar.kind.meaning().into();
        let lines = [lang::text(facts.label).into(), place, when, amount, meaning];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fixtures::timed_round;
    use engine::{Nanos, StreamId};

    #[test]
    fn a_call_for_the_whole_round_is_a_graph_launch_only_where_there_is_a_graph() {
        let mut round = timed_round(2);
        round.host = vec![Span {
            step: Span::WHOLE,
            stream: StreamId(0),
            start: Nanos(1_000_000),
            end: Nanos(1_003_000),
        }];
        for (replayed, short, long) in [
            (false, "submit", "host: submits the round"),
            (true, "graph launch", "host: launches the round's graph"),
        ] {
            round.replayed = replayed;
            let chart = Chart::new(Arc::new(round.clone()));
            assert_eq!(chart.name(&chart.data.host[0]), short);
            assert_eq!(chart.describe(&chart.data.host[0])[0], long);
        }
    }
}
