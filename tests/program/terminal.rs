//! The terminal view in a real terminal (tmux): what it shows is what the simulator computes, the
//! keys do what the table says, and the terminal is as it was whatever ends the program.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::{
    PROGRAM, lifestreams, names, newest_copy, run, scratch, signal, tool, wait_for,
};
use crate::lessons::OWN_LECTURE;
use crate::own::{code_has_run, write_session_with_code};
use crate::persistence::read;
use life::{Pattern, Size};

/// Small lattices on the engine that every machine has.
const SMALL: &str = "--size 64x64 --instances 4 --device cpu";

/// A terminal with a shell in it; gone when dropped.
struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    fn start(columns: u16, rows: u16) -> Tmux {
        let tmux = Tmux { folder: scratch() };
        let mut start = tmux.command(&format!("new-session -d -x {columns} -y {rows}"));
        run(start.arg("env PS1='$ ' ENV= sh").env("LC_ALL", "C.UTF-8")).succeeds();
        tmux.wait("$");
        tmux
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut tmux = tool("tmux", self.path());
        tmux.args("-u -f /dev/null -S socket".split(' '));
        tmux.args(line.split_whitespace());
        tmux
    }

    fn tmux(&self, line: &str) -> String {
        let ended = run(&mut self.command(line));
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        ended.stdout
    }

    /// Types a line and Enter.
    fn type_line(&self, line: &str) {
        run(self.command("send-keys -l").arg(line)).succeeds();
        self.keys("Enter");
    }

    fn keys(&self, keys: &str) {
        self.tmux(&format!("send-keys {keys}"));
    }

    /// What the screen shows.
    fn screen(&self) -> String {
        self.tmux("capture-pane -p")
    }

    #[track_caller]
    fn wait(&self, text: &str) -> String {
        wait_for(text, || {
            let screen = self.screen();
            screen.contains(text).then_some(screen)
        })
    }

    /// Presses the keys of each row and waits until the screen shows all that stands behind them, with ` | `
    /// between; behind `!` stands what is gone.
    #[track_caller]
    fn walk(&self, rows: &[(&str, &str)]) {
        for (keys, seen) in rows {
            if !keys.is_empty() {
                self.keys(keys);
            }
            wait_for(&format!("{seen} after {keys}"), || {
                let screen = self.screen();
                let is_so = |part: &str| match part.strip_prefix('!') {
                    Some(gone) => !screen.contains(gone),
                    None => screen.contains(part),
                };
                seen.split(" | ").all(is_so).then_some(())
            });
        }
    }

    /// Quits by its key; the exit code must be this.
    #[track_caller]
    fn quit(&self, code: &str) {
        self.keys("C-q");
        assert_eq!(self.end(), code);
    }

    /// Starts a command between two looks at the terminal's settings; its exit code follows.
    fn begin(&self, line: &str) {
        self.type_line(&format!(
            "stty -a >before; sh -c 'echo $$ >pid; exec {line}'; echo $? >code; stty -a >after; touch over"
        ));
    }

    /// Waits for the command's end: the terminal is as it was before. Its exit code.
    #[track_caller]
    fn end(&self) -> String {
        wait_for("the end", || {
            self.path().join("over").exists().then_some(())
        });
        let read = |name: &str| fs::read_to_string(self.path().join(name)).unwrap();
        assert_eq!(read("before"), read("after"), "the terminal's settings");
        let flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag}";
        let mut ask = self.command("display-message -p");
        let said = run(ask.arg(flags)).stdout;
        assert_eq!(said.trim(), "0 1 0", "alternate screen, cursor, mouse");
        assert!(self.screen().contains("stty -a >before"), "what was there");
        read("code").trim().to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = run(&mut self.command("kill-server"));
    }
}

/// Keys before the first frame are neither an answer of the terminal nor lost.
#[test]
fn keys_that_were_typed_before_the_view_is_up_count() {
    let tmux = Tmux::start(100, 30);
    lifestreams(tmux.path(), "$ mkfifo go").succeeds();
    tmux.begin(&format!("sh -c \"cat go; exec {PROGRAM} {SMALL}\""));
    wait_for("its start", || {
        tmux.path().join("pid").exists().then_some(())
    });
    tmux.keys("Space F2 Escape ["); // the last two are the beginning of another key
    fs::write(tmux.path().join("go"), "").unwrap();
    tmux.wait("‖ PAUSED");
    tmux.wait("streams: one");
    tmux.keys("x");
    tmux.quit("0");
}

#[test]
fn keys_work_as_in_the_window_and_quitting_restores_the_screen() {
    let tmux = Tmux::start(100, 30);
    tmux.begin(&format!("{PROGRAM} {SMALL}"));
    #[rustfmt::skip]
    tmux.walk(&[
        ("", "▶ running | sync-global | streams: per-instance | ▸0"),
        ("Space", "‖ PAUSED"),
        ("k", "sync-shared"),
        ("F2", "streams: one"),
        ("NPage", "▸1"),
        ("e", "▸1 | ! 0  "),
        ("e", "▸1 |  0  "),
        ("h", "Type to search | Step one round"),
        ("b", "shortcuts · b"),
        ("Escape", "Type to search"),
        ("Escape", "!Type to search"),
        // In the list of lessons keys switch nothing; in one, those that run the session turn its pages.
        ("F10", "lessons · Enter opens | ‖ PAUSED"),
        ("Space", "lessons · | ‖ PAUSED"),
        ("Down Down Enter", "1 of 2 | !▶ running"),
        ("Space", "2 of 2 | !▶ running"),
        ("PPage", "1 of 2 | !▶ running"),
        ("F10", "lessons ·"),
        ("Escape", "1 of 2 | !lessons ·"),
        ("Escape", "!1 of 2"),
        ("t", "overlap"),
        ("Space", "▶ running | host ■ | │0"),
        // Instances, by keys and by a field: what is wrong is said in it, and Escape closes it.
        ("C-Up", "8 lattices now"),
        ("C-Down", "4 lattices now"),
        ("/", "2 lattices now"),
        ("N", "Number of instances"),
        ("x Enter", "type a whole number from 1 to 4,096"),
        ("BSpace 3 Enter", "3 lattices now"),
        ("C-n 8", "8▏"),
        // No key acts behind a field, but those of dialogs.
        ("F2 Escape", "!Number of instances | streams: one"),
        ("z", "such as 512x512"),
        ("4 8 Enter", "The lattices are 48x48 now"),
        ("B HiLife", "did you mean HighLife?"),
        ("BSpace BSpace BSpace BSpace ghLife Enter", "Rule B36/S23"),
        ("g 7 Enter", "7 generations per round"),
        // Undone one by one, the last first: each time first back to where it was made.
        ("C-z", "just after the last edit"),
        ("C-z", "Undone: the last edit"),
        ("C-z", "just after the last edit"),
        ("C-z", "Undone: the last edit"),
        ("z", "Now 64x64."),
        ("Escape", "!Now 64x64."),
        ("B", "Now B3/S23."),
        ("Escape", "!Now B3/S23."),
        ("C-l", "Lecture  | CUDA streams in ten minutes"),
        ("Enter", "1/10 Sixteen lattices"),
        ("C-l", "!1/10"),
    ]);
    tmux.tmux("resize-window -x 140 -y 44");
    wait_for("the figures at the new foot", || {
        let screen = tmux.screen();
        let is_state = |line: &str| line.contains("▶ running") || line.contains("‖ PAUSED");
        screen.lines().skip(39).any(is_state).then_some(())
    });
    tmux.tmux("resize-window -x 20 -y 8");
    tmux.wait("too small:");
    tmux.tmux("resize-window -x 100 -y 30");
    tmux.wait("streams: ");
    tmux.quit("0");
}

#[test]
fn a_lecture_is_given_by_keys_and_kept_where_its_folder_has_gone() {
    let tmux = Tmux::start(100, 34);
    fs::write(tmux.path().join("own.toml"), OWN_LECTURE).unwrap();
    let folder = tmux.path().join("gone");
    fs::create_dir(&folder).unwrap();
    tmux.begin(&format!(
        "{PROGRAM} lecture own.toml {SMALL} --display terminal --notes gone/notes --report gone/page.html"
    ));
    tmux.walk(&[("", "1/3 Four streams"), ("2", "▸2 2× slower")]);
    fs::remove_dir_all(folder).unwrap();
    #[rustfmt::skip]
    tmux.walk(&[
        ("Right", "2/3 One stream | !▸2 2× slower | streams: one"),
        // The class interrupts.
        ("F2", "streams: default"),
        ("PPage", "1/3 Four streams | streams: per-instance"),
        ("NPage", "streams: one"),
        ("NPage", "1 of 2"),
        ("Escape", "3/3 A lecture"),
        // What closes it has all of it.
        ("Right", "A lecture · | Predicted: 2× slower"),
    ]);
    tmux.quit("2");
    let kept = tmux.path().join("state/lifestreams");
    let mut files = names(&kept).into_iter();
    let page = files.find(|name| name.starts_with("page"));
    let page = fs::read_to_string(kept.join(page.unwrap())).unwrap();
    assert!(page.contains("Predicted: 2× slower · result: "), "{page}");
}

/// Whoever ends it, the terminal is as it was, and what is wrong is said on it.
#[test]
fn whatever_ends_it_restores_the_screen() {
    let wrong =
        format!("env LIFESTREAMS_LIBCUDA=/nowhere {PROGRAM} --display terminal --device cuda:77");
    let tests = std::env::current_exe().unwrap().display().to_string();
    let panics = "--exact terminal::panics_in_a_terminal --ignored --nocapture";
    let long = "run -g 1000000000000000 --size 64 --instances 1 --device cpu";
    let running = "▶ running";
    #[rustfmt::skip]
    let rows = [
        (format!("{PROGRAM} --display terminal {SMALL}"), running, "TERM", "0", ""),
        (format!("{PROGRAM} --display terminal {SMALL}"), running, "HUP", "0", ""),
        (format!("{PROGRAM} {SMALL}"), running, "C-c", "0", ""),
        (format!("{PROGRAM} {long}"), "of 1,000,000,000,000,000 generations", "C-c", "130", " alive"),
        (format!("{PROGRAM} --frames 5 {SMALL}"), "", "", "0", "shown in this terminal"),
        (format!("{PROGRAM} --rounds 3 {SMALL}"), "", "", "0", ""),
        // Such as Emacs' shell: what is said there stands on no other screen.
        (format!("env TERM=dumb {PROGRAM} --display terminal --rounds 3 {SMALL}"), "", "", "0", "generation 3"),
        (wrong, "", "", "3", "lifestreams: "),
        // The library of the terminal waits for ever where it can open no file.
        (format!("sh -c \"ulimit -n 12; exec {PROGRAM} --display terminal\""), "", "", "3", "cannot open 16 more files"),
        (format!("env RUST_BACKTRACE=0 {tests} {panics}"), "", "", "101", "as it was told to"),
    ];
    for (line, shown, by, code, said) in rows {
        let tmux = Tmux::start(200, 30);
        tmux.begin(&line);
        tmux.wait(shown);
        match by {
            "" => {}
            "C-c" => tmux.keys(by),
            _ => {
                let pid = fs::read_to_string(tmux.path().join("pid")).unwrap();
                signal(pid.trim().parse().unwrap(), by);
            }
        }
        assert_eq!(tmux.end(), code, "{line}, {by}");
        let screen = tmux.screen();
        assert!(
            screen.contains(said) && !screen.contains(" left"),
            "{line}: {screen}"
        );
    }
    // A panic of the session's thread that is caught is said in the view.
    let tmux = Tmux::start(100, 30);
    tmux.begin(&format!("env WAKE_PANICS=1 {tests} {panics}"));
    tmux.wait("internal: as it was told to");
}

/// What a session's file goes on from is whole.
fn goes_on(folder: &Path) {
    let line = "--display none --rounds 0 --session kept.json";
    lifestreams(folder, line).succeeds();
}

#[test]
fn what_is_pasted_is_a_pattern_or_stands_in_the_open_field() {
    let tmux = Tmux::start(100, 30);
    let start = "--size 40x34 --instances 1 --density 0 --device cpu --session kept.json";
    tmux.begin(&format!("{PROGRAM} {start}"));
    tmux.walk(&[("", "▶ running"), ("Space", "‖ PAUSED")]);
    let glider = "bo$2bo$3o!";
    for (key, text, said) in [
        ("Up", "x = 50, y = 1\n50o!", "larger than the lattice 40x34"),
        ("Up", glider, "Pasted 3 × 3 cells"),
        ("z", "99x0", "99x0"),
    ] {
        tmux.keys(key);
        run(tmux.command("set-buffer").arg(text)).succeeds();
        tmux.tmux("paste-buffer -p");
        tmux.wait(said);
    }
    tmux.walk(&[("Escape", "!99x0")]);
    tmux.quit("0");
    let session = read(&tmux.path().join("kept.json"));
    let kept = newest_copy(&session)["lattices"][0].as_str().unwrap();
    let [kept, glider] = [kept, glider].map(|text| {
        let pattern = Pattern::from_text("a.rle", text).unwrap();
        pattern.centred_in(Size::new(40, 34).unwrap()).unwrap()
    });
    assert_eq!(kept, glider);
}

#[test]
fn a_terminal_asks_before_code_in_a_session_s_file_runs() {
    for (answer, runs) in [("no", false), ("yes", true)] {
        let tmux = Tmux::start(160, 150);
        write_session_with_code(tmux.path());
        tmux.begin(&format!("{PROGRAM} --display terminal --session s.json"));
        let screen = tmux.wait("Type yes and Enter to run it");
        assert!(screen.contains("s.json has this kernel ("), "{screen}");
        assert!(screen.contains("static void at_once()"), "{screen}");
        assert!(!code_has_run(tmux.path()));
        tmux.keys(&format!("{answer} Enter"));
        tmux.walk(&[("", "!Type yes and Enter")]);
        tmux.quit("0");
        assert_eq!(code_has_run(tmux.path()), runs);
    }
}

/// As a connection by SSH that breaks: with a signal, or, in a session of its own, with nothing but
/// reads of nothing and writes that fail.
#[test]
fn a_terminal_that_hangs_up_leaves_a_saved_session() {
    for (display, shown) in [("terminal", "▶ running"), ("none", "generation ")] {
        // The shell outlives the terminal to tell the exit code; what it ignores, its child does too.
        for (trap, before) in [(":", ""), ("\"\"", "setsid --wait ")] {
            let tmux = Tmux::start(80, 24);
            let program = format!("{PROGRAM} --display {display} --session kept.json {SMALL}");
            tmux.type_line(&format!(
                "exec sh -c 'trap {trap} HUP; {before}{program}; echo $? >code'"
            ));
            tmux.wait(shown);
            tmux.tmux("kill-server");
            let code = wait_for("the end of it", || {
                let code = fs::read_to_string(tmux.path().join("code")).ok()?;
                code.ends_with('\n').then_some(code)
            });
            assert_eq!(code.trim(), "0", "--display {display}, {before}");
            goes_on(tmux.path());
        }
    }
}

/// As a connection that stands still: nothing that is written arrives, and whoever writes waits.
#[test]
fn a_terminal_that_takes_nothing_holds_up_no_signal() {
    let tmux = Tmux::start(80, 24);
    let program = format!("{PROGRAM} --display terminal --session kept.json {SMALL}");
    tmux.type_line(&format!("sh -c 'echo $$ >pid; exec {program}'"));
    tmux.wait("▶ running");
    let id = fs::read_to_string(tmux.path().join("pid")).unwrap();
    let (id, mut ask) = (id.trim(), tmux.command("display-message -p"));
    let server = run(ask.arg("#{pid}")).stdout.trim().parse().unwrap();
    signal(server, "STOP");
    std::thread::sleep(Duration::from_secs(4)); // until what is written fills what is between them
    signal(id.parse().unwrap(), "TERM");
    // One that nobody has asked after yet is over, too.
    let is_over = || {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    wait_for("the end of it", || is_over().then_some(()));
    signal(server, "CONT");
    goes_on(tmux.path());
}

/// Not a test of its own: it is run in a terminal by the next one, and panics.
#[test]
#[ignore]
fn panics_in_a_terminal() {
    use life::Size;
    use session::Session;
    use session::{DeviceChoice, Setup};
    use terminal::{Glyphs, run};

    let start = |wake_view: ui::Wake| {
        let kernel = engine::kernels::find("bits").unwrap();
        let setup = Setup::new(1, Size::new(32, 32).unwrap(), kernel, DeviceChoice::Cpu);
        // The session's thread calls this; it answers on.
        if std::env::var_os("WAKE_PANICS").is_some() {
            let calls = std::sync::atomic::AtomicU64::new(0);
            let call = move || calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let wake = move || {
                assert!(call() != 9, "as it was told to");
                wake_view();
            };
            return Ok(Session::start(setup, wake)?);
        }
        let session = Session::start(setup, || {})?;
        // This thread's next message in the log is that a frame has been written.
        let log = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
        let log = log.with_writer(|| -> std::io::Stderr { panic!("as it was told to") });
        std::mem::forget(tracing::subscriber::set_default(log.finish()));
        Ok(session)
    };
    let _ = run(start, ui::AppOptions::default(), Glyphs::Auto);
}
