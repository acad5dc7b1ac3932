//! A kernel that a user wrote: reached by K, compared, saved and opened, and left when it fails.

use super::own_round::{assert_cells, size};
use super::*;
use crate::reference_kernel::{ReferenceKernel, own_kernel};
use engine::Kernel;
use engine::kernels::{GpuCode, KERNELS, OwnCode, OwnStepError, Ptx};

const OWN: SessionAction = SessionAction::UseKernel(KERNELS.len() as u8);

fn wait_for_kernel(session: &Session, kernel: &'static Kernel) -> Arc<Status> {
    wait_for(session, kernel.name, |it| it.setting.kernel == kernel)
}

#[test]
fn an_own_kernel_comes_after_the_rungs_and_its_effect_is_measured() {
    let session = Session::start(setup(2, size()), || {}).unwrap();
    wait_for(&session, "rounds", |status| status.rates.rounds > 3);
    assert_eq!(session.status().setting.own_kernel, None);
    session.act(OWN); // there is none
    let own = ReferenceKernel::new("shared").kernel;
    session.set_own_kernel(own);
    let effect = |words: &str| {
        let status = wait_for(&session, words, |status| {
            let effect = status.lab.last_effect.as_ref();
            effect.is_some_and(|it| it.finding.is_some() && it.what.to_string() == words)
        });
        assert_eq!(status.setting.own_kernel, Some(status.setting.kernel));
    };
    effect("kernel own instead of bits");
    let rate = |status: &Status| status.rates.reached.iter().any(|(name, _)| *name == "own");
    wait_for(&session, "its rate", rate);
    for (key, then) in [
        (SessionAction::NextKernel, &KERNELS[0]),
        (SessionAction::PreviousKernel, own),
    ] {
        session.act(key); // the program's choice is between them
        session.act(key);
        wait_for_kernel(&session, then);
    }
    // Another version takes its place.
    let other = ReferenceKernel::new("planar").kernel;
    session.set_own_kernel(other);
    effect("own kernel: this version instead of the one before");
    session.act(SessionAction::PreviousKernel);
    wait_for(&session, "a rung", |it| it.setting.kernel.own.is_none());
    session.act(OWN);
    wait_for_kernel(&session, other);
    assert_cells(&session, 2);
}

#[test]
fn an_own_kernel_is_set_in_the_middle_of_a_comparison() {
    let session = Session::start(setup(4, size()), || {}).unwrap();
    let [first, second] = ["shared", "bits"].map(|rung| ReferenceKernel::new(rung).kernel);
    session.set_own_kernel(first);
    session.act(SessionAction::CycleSwitch(Switch::Graphs));
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "both", |it| it.lab.comparison.is_some());
    session.set_own_kernel(second);
    let status = wait_for_kernel(&session, second);
    assert!(status.lab.comparison.is_some());
    let rounds = status.rates.rounds;
    wait_for(&session, "rounds", |it| it.rates.rounds > rounds + 4);
    session.act(SessionAction::ToggleComparison);
    wait_for(&session, "the end", |it| it.lab.comparison.is_none());
    assert_cells(&session, 4);
}

#[test]
fn an_own_kernel_that_cannot_step_the_lattices_is_refused_or_left() {
    let session = Session::start(setup(2, size()), || {}).unwrap();
    session.set_own_kernel(own_kernel("bits", None));
    wait_for_notice(&session, "your kernel was compiled for a GPU");
    let setting = &session.status().setting;
    assert_eq!((setting.kernel.name, setting.own_kernel), ("bits", None));
    // As its rung, it takes lattices up to a size.
    let own = ReferenceKernel::new("sync-shared").kernel;
    session.set_own_kernel(own);
    wait_for_kernel(&session, own);
    let large = Size::new(256, 128).unwrap();
    session.act(SessionAction::SetSize(large));
    let status = wait_for(&session, "large", |it| it.lattices.size == large);
    assert_eq!(status.setting.kernel.name, "bits");
    session.act(OWN);
    wait_for_notice(&session, "kernel 'own' supports at most 24,576 cells");
    session.act(SessionAction::SetSize(size()));
    session.act(SessionAction::SetInstances(3));
    session.act(OWN);
    wait_for_kernel(&session, own);
    session.act(SessionAction::ResetAll);
    assert_cells(&session, 3);
}

#[test]
fn a_saved_own_kernel_goes_on_or_gives_way_to_its_rung() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let session = Session::start(setup(2, size()), || {}).unwrap();
    let own = ReferenceKernel::new("shared").kernel;
    session.set_own_kernel(own);
    wait_for_kernel(&session, own);
    session
        .saved()
        .recv_timeout(TIMEOUT)
        .unwrap()
        .save(&path)
        .unwrap();
    let load = || SavedSession::load(&path).unwrap();
    let stored = load().setup.stored_kernel.unwrap();
    assert!(stored.in_use);
    let source = own.own.as_ref().unwrap().source.as_str();
    assert_eq!(&*stored.source, source);
    assert_eq!(load().setup.kernel, own.rung());
    // Here it is compiled already, whatever is in use.
    session.act(SessionAction::UseKernel(0));
    wait_for_kernel(&session, &KERNELS[0]);
    session.open(load(), "own.json".into());
    wait_for_kernel(&session, own);
    drop(session);
    // There it is not.
    let session = Session::start(setup(2, size()), || {}).unwrap();
    session.open(load(), "own.json".into());
    let words = "The kernel of your own in this file is not compiled here; 02_shared takes";
    wait_for_notice(&session, words);
    let setting = &session.status().setting;
    assert_eq!((setting.kernel, setting.own_kernel), (own.rung(), None));
    // It is saved all the same, until another one is written; which kernel is in use, too.
    let kept = |session: &Session| {
        let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
        let stored = saved.setup.stored_kernel.unwrap();
        (stored.source.to_string(), stored.in_use)
    };
    assert_eq!(kept(&session), (source.to_owned(), true));
    session.act(SessionAction::NextKernel);
    wait_for(&session, "a rung", |it| it.setting.kernel != own.rung());
    assert_eq!(kept(&session), (source.to_owned(), false));
    // One of this session does not take its place.
    let other = ReferenceKernel::new("planar").kernel;
    session.set_own_kernel(other);
    wait_for_kernel(&session, other);
    session.open(load(), "own.json".into());
    wait_for_kernel(&session, own.rung());
    assert_eq!(kept(&session), (source.to_owned(), true));
    drop(session);
    // Whoever starts a session with the file compiles it.
    let compiled = ReferenceKernel::new("shared").kernel;
    let saved = load();
    let start = Setup {
        kernel: compiled,
        own_kernel: Some(compiled),
        stored_kernel: None,
        ..saved.setup.clone()
    };
    let file = SessionFile {
        from: Some(saved),
        ..SessionFile::default()
    };
    let session = Session::start_from(start, file, || {}).unwrap();
    wait_for_kernel(&session, compiled);
    let rounds = session.status().rates.rounds;
    wait_for(&session, "rounds", |it| it.rates.rounds > rounds + 2);
    assert_cells(&session, 2);
    // A file in which it is not that of the rung.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"shared\"", "\"global\"")).unwrap();
    let error = SavedSession::load(&path).unwrap_err().to_string();
    let why = "the kernel of your own is written from 02_shared, and 'global' is in use";
    assert!(error.contains(why), "{error}");
}

#[test]
fn an_own_kernel_that_fails_gives_way_to_its_rung_and_no_cell_is_lost() {
    let session = Session::start(setup(2, size()), || {}).unwrap();
    // More often than an engine may be lost in a row.
    for turn in 0..6 {
        let own = ReferenceKernel::new("shared");
        session.set_own_kernel(own.kernel);
        let status = wait_for_kernel(&session, own.kernel);
        let rounds = status.rates.rounds;
        wait_for(&session, "rounds", |it| it.rates.rounds > rounds + 2);
        let (error, why) = match turn % 2 {
            0 => (OwnStepError::TooLong, "it took too long"),
            _ => (OwnStepError::Crashed, "it crashed"),
        };
        own.fail(Some(error));
        let status = wait_for_kernel(&session, own.kernel.rung());
        assert_eq!(status.setting.own_kernel, None);
        let words = format!("Your kernel failed ({why}); 02_shared takes its place");
        wait_for_notice(&session, &words);
        let saved = session.saved().recv_timeout(TIMEOUT).unwrap();
        let source = saved.setup.stored_kernel.unwrap().source.clone();
        assert_eq!(*source, *own.kernel.own.as_ref().unwrap().source);
        session.act(OWN);
    }
    let status = session.status();
    assert_eq!(
        (status.failed.as_ref(), status.setting.kernel.name),
        (None, "shared")
    );
    assert_cells(&session, 2);
}

/// The tests' driver has no kernel without an end: a GPU must be there.
#[test]
#[ignore = "needs a GPU"]
fn an_own_kernel_without_an_end_on_a_gpu_gives_way_on_the_cpu() {
    let bits = kernels::find("bits").unwrap();
    let text = Ptx::find(bits.file).unwrap().only("life_bits");
    let endless = text.replacen("\tret;", "$ENDLESS:\n\tbra.uni \t$ENDLESS;\n\tret;", 1);
    let code = OwnCode {
        rung: bits,
        source: String::new(),
        rules: None,
        gpu: Some(GpuCode::Ptx(endless)),
        cpu: None,
    };
    let device = DeviceChoice::Cuda;
    let start = Setup {
        device,
        ..setup(2, size())
    };
    let session = Session::start(start, || {}).unwrap();
    wait_for(&session, "rounds", |status| status.rates.rounds > 3);
    session.set_own_kernel(Kernel::own(code, bits.block()));
    wait_for_notice(
        &session,
        "Your kernel failed (it took too long); 05_bits takes",
    );
    let status = wait_for(&session, "the CPU", |it| it.engine.is_cpu());
    assert_eq!(status.setting.kernel, bits);
    let rounds = status.rates.rounds;
    wait_for(&session, "rounds", |it| it.rates.rounds > rounds + 3);
    assert_cells(&session, 2);
}
