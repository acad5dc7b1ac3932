//! Lectures: steps, each with a setting of the session, a lesson, texts, and a question about the change
//! that the next step makes. The command line reads them from files.

use engine::kernels::Kernel;
use lang::Message;
use life::Size;
use session::{Setup, Switches};

/// A lecture.
#[derive(Clone, Debug)]
pub struct Lecture {
    /// Its title.
    pub title: Message,
    /// At least one step.
    pub steps: Vec<LectureStep>,
}

/// A step of a lecture.
#[derive(Clone, Debug)]
pub struct LectureStep {
    /// The whole setting of the session in this step, but for the size on a CPU. Of how it starts, only
    /// the density counts.
    pub setup: Setup,
    /// The lattices' size where the CPU computes, if it is another one there.
    pub size_on_cpu: Option<Size>,
    /// What is shown beside the panels; `None` leaves what is shown.
    pub shows: Option<Vec<LecturePanel>>,
    /// The lesson that is open, by its place in [`LESSONS`](lesson::LESSONS).
    pub lesson: Option<usize>,
    /// What the class reads.
    pub text: Option<Message>,
    /// What the class is asked.
    pub question: Option<Message>,
    /// What it may say: by what factor the next step makes a round faster; less than 1 is slower.
    pub choices: Vec<f64>,
    /// What the speaker reads.
    pub note: Option<Message>,
}

/// Something that a step shows beside the panels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LecturePanel {
    /// The timeline of the streams.
    Timeline,
    /// The lab.
    Lab,
    /// The ladder of kernels.
    Ladder,
}

impl LectureStep {
    /// The whole setting of the session, where the CPU computes or not.
    pub fn setup_where(&self, cpu_computes: bool) -> Setup {
        let mut setup = self.setup.clone();
        if let (true, Some(size)) = (cpu_computes, self.size_on_cpu) {
            setup.size = size;
        }
        setup
    }

    /// The kernel and the switches, by which the times of rounds are compared.
    pub fn measured(&self) -> (&'static Kernel, Switches) {
        let setting = &self.setup.setting;
        (setting.kernel, setting.switches)
    }

    /// Whether another step differs in one switch or in the kernel, and in nothing else: the session
    /// then measures what that does to a round.
    pub fn is_one_change_from(&self, other: &LectureStep) -> bool {
        let (a, b) = (&self.setup, &other.setup);
        let (its, others) = (a.setting.switches, b.setting.switches);
        let changed = [
            a.setting.kernel.name != b.setting.kernel.name,
            its.streams != others.streams,
            its.host_memory != others.host_memory,
            its.wait != others.wait,
            its.order != others.order,
            its.graphs != others.graphs,
            its.transfer != others.transfer,
            its.block != others.block,
        ];
        let is_same_otherwise = a.instances == b.instances
            && a.size == b.size
            && self.size_on_cpu == other.size_on_cpu
            && a.rule == b.rule
            && a.start == b.start
            && a.generations_per_round == b.generations_per_round
            && a.pace == b.pace;
        is_same_otherwise && changed.into_iter().filter(|it| *it).count() == 1
    }
}
