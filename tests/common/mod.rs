//! What the tests of the whole program share: starting it away from any display, waiting for it
//! no longer than is decent, and reading what it said.
#![allow(dead_code)] // each test program uses its part

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

/// The path of the program under test: the build that `scripts/test` names in `LIFESTREAMS_TESTED`
/// (an optimised one, as released), else the one that `cargo test` built.
pub(crate) const PROGRAM: &str = match option_env!("LIFESTREAMS_TESTED") {
    Some(shipped) => shipped,
    None => env!("CARGO_BIN_EXE_lifestreams"),
};

/// The longest that anything here may take on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(240);

/// A line's command in this folder, without a display and with no settings of its own, as a newcomer has it:
/// the program with these words, or behind `$ ` a line for bash, which finds the program as `lifestreams`.
pub(crate) fn command(folder: &Path, line: &str) -> Command {
    if let Some(line) = line.strip_prefix("$ ") {
        let mut bash = tool("bash", folder);
        let here = Path::new(PROGRAM).parent().unwrap().display();
        let path = format!("{here}:{}", std::env::var("PATH").unwrap());
        bash.env("PATH", path).args(["-c", line]);
        return bash;
    }
    let mut program = tool(PROGRAM, folder);
    program.args(line.split_whitespace());
    program
}

/// Another command with the same environment.
pub(crate) fn tool(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    // English, whatever the language here.
    let ours = [
        "LIFESTREAMS_",
        "FAKE_CUDA_",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "LC_",
        "LANG",
    ];
    for (name, _) in std::env::vars() {
        if ours.iter().any(|ours| name.starts_with(ours)) {
            command.env_remove(name);
        }
    }
    // A desktop's session sets the folder; Mesa says so on stderr where it is missing. A panic or an error
    // that shows its insides shall be seen.
    command.env("LANG", "C.UTF-8").env("RUST_BACKTRACE", "1");
    command.env("XDG_RUNTIME_DIR", folder);
    for name in ["config", "state", "data"] {
        let variable = format!("XDG_{}_HOME", name.to_uppercase());
        command.env(variable, folder.join(name));
    }
    command
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it, if one did.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A program under way; killed when dropped.
pub(crate) struct Running {
    child: Child,
    /// What it writes.
    stdout: NamedTempFile,
    stderr: NamedTempFile,
}

impl Running {
    /// Starts a command and collects what it says.
    pub(crate) fn start(command: &mut Command) -> Running {
        let [stdout, stderr] = [0, 1].map(|_| NamedTempFile::new().unwrap());
        command
            .stdout(stdout.reopen().unwrap())
            .stderr(stderr.reopen().unwrap());
        Running {
            child: spawn(command),
            stdout,
            stderr,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// What it has printed so far.
    pub(crate) fn printed(&self) -> String {
        text(&self.stdout)
    }

    /// What it has said on stderr so far.
    pub(crate) fn said(&self) -> String {
        text(&self.stderr)
    }

    /// Waits until it has printed this or said it on stderr.
    #[track_caller]
    pub(crate) fn wait(&self, text: &str) {
        let is_there = || self.printed().contains(text) || self.said().contains(text);
        wait_for(text, || is_there().then_some(()));
    }

    /// Sends a signal by its name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for its end, which must come within `limit` from now.
    pub(crate) fn end(mut self, limit: Duration) -> Ended {
        let until = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(
                Instant::now() < until,
                "it has not ended within {limit:?}; it said: {}",
                self.said()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        Ended {
            code: status.code(),
            signal: status.signal(),
            stdout: self.printed(),
            stderr: self.said(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let said = self.said();
            let without_frames = said.lines().filter(|line| !line.ends_with(" presented"));
            let lines: Vec<_> = without_frames.collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            eprintln!("the last of what the program said:\n{}", last.join("\n"));
        }
    }
}

fn text(file: &NamedTempFile) -> String {
    String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned()
}

/// Starts a command, or names it.
#[track_caller]
pub(crate) fn spawn(command: &mut Command) -> Child {
    let child = command.spawn();
    child.unwrap_or_else(|error| {
        panic!("{command:?}: {error}; scripts/test installs what tests need")
    })
}

/// Sends a process a signal by its name.
pub(crate) fn signal(id: u32, name: &str) {
    let line = format!("kill -{name} {id}");
    let sent = Command::new("sh").args(["-c", &line]).status().unwrap();
    assert!(sent.success(), "{line}");
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    Running::start(command).end(TIMEOUT)
}

/// Runs a line in this folder to its end.
pub(crate) fn lifestreams(folder: &Path, line: &str) -> Ended {
    run(&mut command(folder, line))
}

/// The same with these variables.
pub(crate) fn lifestreams_with(folder: &Path, variables: &[(&str, &str)], line: &str) -> Ended {
    run(command(folder, line).envs(variables.iter().copied()))
}

impl Ended {
    /// It ended with 0.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Ended {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with 0 and said nothing on stderr.
    #[track_caller]
    pub(crate) fn done(self) -> Ended {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self
    }

    /// It ended with this code after one sentence on stderr that has all parts of `said` in it, and printed
    /// nothing.
    #[track_caller]
    pub(crate) fn refuses(&self, code: i32, said: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.says_one_sentence(said);
    }

    /// Stderr is one sentence that has all parts of `said` in it; no panic, no backtrace.
    #[track_caller]
    pub(crate) fn says_one_sentence(&self, said: &str) {
        says(&self.stderr, said, "stderr");
        for word in ["panicked", "backtrace", "src/", ".rs:", "\u{1b}"] {
            assert!(!self.stderr.contains(word), "'{word}': {self:?}");
        }
        let mut lines = self.stderr.lines().filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        // Behind the argument parser's sentence stand the values or the usage, and where to find help.
        let starts = ["  ", "Usage:", "For more"];
        let is_of_parser = |line: &str| starts.iter().any(|start| line.starts_with(start));
        let is_one = if first.starts_with("error: ") {
            lines.all(is_of_parser)
        } else {
            first.starts_with("lifestreams: ") && lines.next().is_none()
        };
        assert!(is_one, "{self:?}");
    }
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The newest copy of a session in its file.
pub(crate) fn newest_copy(session: &serde_json::Value) -> &serde_json::Value {
    let copies = session["timeline"]["copies"].as_array().unwrap();
    copies.last().unwrap()
}

/// The cells of an RLE text, without what stands before them: a session's file says the rule elsewhere.
pub(crate) fn cells_of(rle: &str) -> String {
    let is_before = |line: &&str| line.starts_with(['#', 'x']);
    rle.lines().skip_while(is_before).collect()
}

/// The picture of a PNG.
pub(crate) fn picture_of(png: &Path) -> (png::OutputInfo, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(png).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info, bytes)
}

/// The pictures of a GIF, as RGBA.
pub(crate) fn frames_of(gif: &Path) -> impl Iterator<Item = Vec<u8>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let file = std::fs::File::open(gif).unwrap();
    let mut reader = options.read_info(file).unwrap();
    std::iter::from_fn(move || Some(reader.read_next_frame().unwrap()?.buffer.to_vec()))
}

/// Waits until `question` has an answer; says what was waited for if there is none in time.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut question: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + TIMEOUT;
    loop {
        if let Some(answer) = question() {
            return answer;
        }
        assert!(Instant::now() < until, "{what}: not within {TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder of its own for a test, gone with the answer.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("lifestreams-test-")
        .tempdir()
        .unwrap()
}

/// A line, its exit code, and what it says with ` | ` between the parts.
pub(crate) type Row<'a> = (&'a str, i32, &'a str);

/// Runs the rows in this folder. What is refused says one sentence, prints nothing and leaves the folder's
/// files as they were.
#[track_caller]
pub(crate) fn hold(folder: impl AsRef<Path>, rows: &[Row]) {
    hold_with(folder, &[], rows);
}

/// The same with these variables.
#[track_caller]
pub(crate) fn hold_with(folder: impl AsRef<Path>, variables: &[(&str, &str)], rows: &[Row]) {
    let folder = folder.as_ref();
    for &(line, code, said) in rows {
        let before = names(folder);
        let ended = lifestreams_with(folder, variables, line);
        if code == 0 {
            let ended = ended.succeeds();
            says(&format!("{}{}", ended.stdout, ended.stderr), said, line);
        } else {
            ended.refuses(code, said);
            assert_eq!(names(folder), before, "{line}");
        }
    }
}

/// All parts of a row's words stand in this text.
#[track_caller]
pub(crate) fn says(text: &str, said: &str, line: &str) {
    for part in said.split(" | ") {
        assert!(text.contains(part), "{line}: no '{part}' in: {text}");
    }
}
