//! Processes with limits of time and memory.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a process may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run.
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
const MAX_OUTPUT: u64 = 64 << 10;

/// Runs a process to its end or its limits; then it and all that it started have ended. Returns the
/// first of its messages.
///
/// # Errors
/// It cannot be started.
pub fn run(command: Command, limits: Limits, cancel: &AtomicBool) -> io::Result<(Ended, Vec<u8>)> {
    run_into(Stdio::null(), command, limits, cancel)
}

/// Like [`run`], of a process whose output, other than its messages, goes somewhere.
///
/// # Errors
/// It cannot be started.
pub fn run_into(
    output: Stdio,
    mut command: Command,
    limits: Limits,
    cancel: &AtomicBool,
) -> io::Result<(Ended, Vec<u8>)> {
    command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::piped());
    limit(&mut command, limits.address_space);
    let mut child = command.spawn()?;
    let mut stderr = child.stderr.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut kept = Vec::new();
        let _ = (&mut stderr).take(MAX_OUTPUT).read_to_end(&mut kept);
        let _ = io::copy(&mut stderr, &mut io::sink());
        kept
    });
    let began = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Ended::ByItself(status);
        }
        if cancel.load(Ordering::Relaxed) {
            break Ended::Cancelled;
        }
        if began.elapsed() >= limits.time {
            break Ended::TooLong;
        }
        if resident(child.id()).is_some_and(|bytes| bytes > limits.resident) {
            break Ended::TooMuchMemory;
        }
        std::thread::sleep(INTERVAL);
    };
    end(&mut child);
    let output = reader.join().unwrap_or_default();
    Ok((ended, output))
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

/// Ends a process and all that it started, if it is still there.
fn end(child: &mut std::process::Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        // Its group is there as long as it or one of its children is.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Bytes of a process's memory that are in use, where the system says it.
fn resident(process: u32) -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

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
    fn messages_without_end_do_not_fill_memory() {
        let limits = Limits {
            time: Duration::from_millis(300),
            ..LIMITS
        };
        let (ended, said) = shell("yes >&2", limits);
        assert!(matches!(ended, Ended::TooLong));
        assert_eq!(said.len() as u64, MAX_OUTPUT);
    }
}
