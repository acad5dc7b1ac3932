//! Processes with limits of time and memory.

use std::io::{self, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// What a process may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run, or take to answer.
    pub time: Duration,
    /// Bytes of its memory that may be in use at once. It is measured now and then, since an address
    /// space is no measure for a process that uses CUDA.
    pub resident: u64,
    /// Bytes of its address space, and of those of its children each.
    pub address_space: Option<u64>,
}

/// How a process ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    ByItself(ExitStatus),
    /// It ran for too long.
    TooLong,
    /// It used too much memory.
    TooMuchMemory,
    /// The user did not want to wait for it.
    Cancelled,
}

/// How often a process is looked at.
const INTERVAL: Duration = Duration::from_millis(5);

/// Maximum bytes of a process's messages that are kept.
const MAX_OUTPUT: usize = 64 << 10;

/// How long messages are waited for once their process has ended: what it started and is no longer of its
/// group, such as a compiler's daemon, may hold the pipe open for good.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs a process to its end or its limits; then it and all that it started have ended. Returns the
/// first of its messages.
///
/// # Errors
/// It cannot be started.
pub fn run(
    mut command: Command,
    limits: Limits,
    cancel: &AtomicBool,
) -> io::Result<(Ended, Vec<u8>)> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut process = Process::start(command, limits)?;
    let mut stderr = process.child.stderr.take().expect("piped");
    let (sender, said) = mpsc::channel();
    let read = move || {
        let (mut chunk, mut left) = ([0; 4096], MAX_OUTPUT);
        while let Ok(count @ 1..) = stderr.read(&mut chunk) {
            let kept = &chunk[..count.min(left)];
            left -= kept.len();
            if !kept.is_empty() {
                let _ = sender.send(kept.to_vec()); // nobody waits for it any more, but its end is read
            }
        }
    };
    thread::Builder::new().spawn(read)?;
    let ended = process.watch(cancel, |child| {
        let status = child.try_wait().transpose();
        if status.is_none() {
            thread::sleep(INTERVAL);
        }
        status
    });
    drop(process);
    let until = Instant::now() + LAST_WORDS;
    let left = || until.saturating_duration_since(Instant::now());
    let next = || said.recv_timeout(left()).ok();
    let output = std::iter::from_fn(next).flatten().collect();
    let ended = match ended {
        Ok(status) => Ended::ByItself(status?),
        Err(ended) => ended,
    };
    Ok((ended, output))
}

/// A process that answers again and again. It ends with this value, and so does all that it started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// What it may take.
    pub limits: Limits,
    /// Whether nothing of it is left, so that others may have its number.
    has_ended: bool,
}

impl Process {
    /// Starts a process that is asked over its standard input and output.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn answering(mut command: Command, limits: Limits) -> io::Result<Process> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Process::start(command, limits)
    }

    fn start(mut command: Command, limits: Limits) -> io::Result<Process> {
        limit(&mut command, limits.address_space);
        let child = spawn(command)?;
        Ok(Process {
            child,
            limits,
            has_ended: false,
        })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        if !matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
        !self.has_ended
    }

    /// Has it answer: `exchange` writes to its input and reads from its output. The process ends if
    /// that fails, or at its limits, which hold for each answer anew.
    ///
    /// # Errors
    /// How it ended, which it then has.
    pub fn ask<T: Send>(
        &mut self,
        cancel: &AtomicBool,
        exchange: impl FnOnce(&mut ChildStdin, &mut ChildStdout) -> io::Result<T> + Send,
    ) -> io::Result<Result<T, Ended>> {
        let (Some(mut input), Some(mut output)) =
            (self.child.stdin.take(), self.child.stdout.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (answered, answer) = mpsc::channel();
        let exchanging = move || {
            let answer = exchange(&mut input, &mut output);
            // Nobody waits for it any more if the process reached its limits.
            let _ = answered.send(answer.map(|answer| (answer, input, output)));
        };
        thread::scope(|scope| {
            thread::Builder::new().spawn_scoped(scope, exchanging)?;
            let answer = self.watch(cancel, |_| match answer.recv_timeout(INTERVAL) {
                Ok(answer) => Some(answer),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Err(io::ErrorKind::Other.into())),
            });
            match answer {
                Ok(Ok((answer, input, output))) => {
                    self.child.stdin = Some(input);
                    self.child.stdout = Some(output);
                    Ok(Ok(answer))
                }
                Ok(Err(_)) => {
                    self.end();
                    self.child.wait().map(|status| Err(Ended::ByItself(status)))
                }
                Err(ended) => {
                    self.end();
                    Ok(Err(ended))
                }
            }
        })
    }

    /// Waits until something is done or the process reaches a limit.
    fn watch<T>(
        &mut self,
        cancel: &AtomicBool,
        mut done: impl FnMut(&mut Child) -> Option<T>,
    ) -> Result<T, Ended> {
        let began = Instant::now();
        loop {
            if let Some(done) = done(&mut self.child) {
                return Ok(done);
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(Ended::Cancelled);
            }
            if began.elapsed() >= self.limits.time {
                return Err(Ended::TooLong);
            }
            if resident(self.child.id()).is_some_and(|bytes| bytes > self.limits.resident) {
                return Err(Ended::TooMuchMemory);
            }
        }
    }

    /// Ends it and all that it started, if it is still there.
    fn end(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // Its group is there as long as it or one of its children is.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Takes this process's standard output: what else writes to it, such as a library, writes to nowhere.
///
/// # Errors
/// It is closed.
#[cfg(unix)]
pub fn take_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    let taken = io::stdout().as_fd().try_clone_to_owned()?;
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nowhere)?;
    Ok(taken.into())
}

/// Takes this process's standard output.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn take_stdout() -> io::Result<impl io::Write> {
    Ok(io::stdout())
}

/// Starts a process from a thread that never ends: on Linux a process ends with the thread that started
/// it (see `limit`), and many of these outlive the thread that asked for them.
fn spawn(command: Command) -> io::Result<Child> {
    type Job = (Command, Sender<io::Result<Child>>);
    static STARTER: LazyLock<Sender<Job>> = LazyLock::new(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        let start = move || {
            for (mut command, started) in jobs {
                let _ = started.send(command.spawn());
            }
        };
        // Without this thread, sending fails.
        let _ = thread::Builder::new().name("processes".into()).spawn(start);
        sender
    });
    let (sender, started) = mpsc::channel();
    let no_thread = || io::Error::from(io::ErrorKind::OutOfMemory);
    STARTER.send((command, sender)).map_err(|_| no_thread())?;
    started.recv().map_err(|_| no_thread())?
}

#[cfg(unix)]
fn limit(command: &mut Command, address_space: Option<u64>) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    use std::os::unix::process::CommandExt;
    command.process_group(0); // so that all that it starts can be ended, too
    let set = move |resource, most| {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)
    };
    // SAFETY: between fork and exec it makes system calls alone.
    unsafe {
        command.pre_exec(move || {
            set(Resource::Core, 0)?;
            if let Some(most) = address_space {
                set(Resource::As, most)?;
            }
            #[cfg(target_os = "linux")]
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            Ok(())
        });
    }
}

#[cfg(not(unix))]
fn limit(_: &mut Command, _: Option<u64>) {}

/// Bytes of a process's memory that are in use, where the system says it.
fn resident(process: u32) -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

#[cfg(unix)] // they run a shell
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(10),
        resident: 64 << 20,
        address_space: None,
    };

    fn shell(script: &str, limits: Limits) -> (Ended, Vec<u8>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limits, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn what_ends_by_itself_is_heard() {
        let (ended, said) = shell("echo hello >&2; exit 3", LIMITS);
        assert!(matches!(ended, Ended::ByItself(status) if status.code() == Some(3)));
        assert_eq!(said, b"hello\n");
    }

    #[test]
    fn what_takes_too_long_ends_with_its_children() {
        let limits = Limits {
            time: Duration::from_millis(200),
            ..LIMITS
        };
        let began = Instant::now();
        let (ended, _) = shell("sleep 30 & sleep 30", limits);
        assert!(matches!(ended, Ended::TooLong));
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "the pipe is closed by both"
        );
    }

    #[test]
    fn a_daemon_that_holds_the_pipe_is_not_waited_for() {
        // It has left the group once the file has a line.
        let script = "f=$(mktemp); setsid sh -c \"echo > $f; exec sleep 60\" & echo $! >&2; \
                      until [ -s $f ]; do sleep 0.01; done; rm $f; exit 3";
        let (ended, said) = shell(script, LIMITS);
        assert!(matches!(ended, Ended::ByItself(status) if status.code() == Some(3)));
        let daemon = String::from_utf8(said).unwrap();
        let ended = Command::new("kill").arg(daemon.trim()).status();
        assert!(ended.unwrap().success(), "{daemon} was waited for");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_takes_too_much_memory_ends() {
        let (ended, _) = shell(
            "exec dd if=/dev/zero of=/dev/null bs=300M count=1000",
            LIMITS,
        );
        assert!(matches!(ended, Ended::TooMuchMemory), "{ended:?}");
    }

    #[test]
    fn a_process_answers_until_it_ends() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "while read line; do [ $line = end ] && exit 4; echo $line; done",
        ]);
        // The thread that starts it ends before it is asked.
        let start = thread::spawn(|| Process::answering(command, LIMITS).unwrap());
        let mut process = start.join().unwrap();
        let mut ask = |line: &str| {
            let exchange = |input: &mut ChildStdin, output: &mut ChildStdout| {
                writeln!(input, "{line}")?;
                let mut answer = vec![0; line.len() + 1];
                output.read_exact(&mut answer).map(|()| answer)
            };
            process.ask(&AtomicBool::new(false), exchange).unwrap()
        };
        assert_eq!(ask("one").unwrap(), b"one\n");
        assert_eq!(ask("two").unwrap(), b"two\n");
        let ended = ask("end").unwrap_err();
        assert!(matches!(ended, Ended::ByItself(_)), "{ended:?}");
        assert!(!process.is_running());
    }

    #[test]
    fn a_process_that_does_not_answer_ends_when_asked_to() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 30 & sleep 30"]);
        let mut process = Process::answering(command, LIMITS).unwrap();
        let read = |_: &mut ChildStdin, output: &mut ChildStdout| output.read_exact(&mut [0]);
        let ended = process.ask(&AtomicBool::new(true), read).unwrap();
        assert!(matches!(ended, Err(Ended::Cancelled)), "{ended:?}");
        assert!(!process.is_running());
    }

    #[test]
    fn messages_without_end_do_not_fill_memory() {
        let limits = Limits {
            time: Duration::from_millis(300),
            ..LIMITS
        };
        let (ended, said) = shell("yes >&2", limits);
        assert!(matches!(ended, Ended::TooLong));
        assert_eq!(said.len(), MAX_OUTPUT);
    }
}
