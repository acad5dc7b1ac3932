//! A kernel that a user wrote, where it is not compiled or has no end.

use super::*;
use crate::reference_kernel::own_kernel;
use engine::Kernel;
use engine::kernels::{GpuCode, OwnCode, Ptx};

fn wait_for_kernel(session: &Session, kernel: &'static Kernel) {
    wait_for(session, kernel.name, |it| it.setting.kernel == kernel);
}

#[test]
fn a_saved_own_kernel_gives_way_to_its_rung_where_it_is_not_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.json");
    let session = start(setup(2));
    session.set_own_kernel(own_kernel("bits", None));
    wait_for_notice(&session, "your kernel was compiled for a GPU");
    let own = ReferenceKernel::new("shared").kernel;
    session.set_own_kernel(own);
    wait_for_kernel(&session, own);
    saved(&session).save(&path).unwrap();
    let session = start(setup(2));
    let open = || session.open(SavedSession::load(&path).unwrap(), "own.json".into());
    open();
    let words = "The kernel of your own in this file is not compiled here; 02_shared takes";
    let setting = &wait_for_notice(&session, words).setting;
    assert_eq!((setting.kernel, setting.own_kernel), (own.rung(), None));
    // It is saved all the same, until another one is written; which kernel is in use, too.
    let source = own.own.as_ref().unwrap().source.as_str();
    let assert_kept = |in_use| {
        let stored = saved(&session).setup.stored_kernel.unwrap();
        assert_eq!((&*stored.source, stored.in_use), (source, in_use));
    };
    assert_kept(true);
    session.act(SessionAction::UseKernel(0));
    wait_for_kernel(&session, &kernels::KERNELS[0]);
    assert_kept(false);
    // One of this session does not take its place.
    let other = ReferenceKernel::new("planar").kernel;
    session.set_own_kernel(other);
    wait_for_kernel(&session, other);
    open();
    wait_for_kernel(&session, own.rung());
    assert_kept(true);
    // A file in which it is not that of the rung.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"shared\"", "\"global\"")).unwrap();
    let error = SavedSession::load(&path).unwrap_err().to_string();
    let why = "the kernel of your own is written from 02_shared, and 'global' is in use";
    assert!(error.contains(why), "{error}");
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
    let session = start(Setup { device, ..setup(2) });
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
