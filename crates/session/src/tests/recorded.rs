//! Sessions that show what was recorded on a GPU, while the CPU steps the lattices.

use super::*;
use crate::Source;
use crate::recording::Recording;

/// A session of the lattices that were recorded, with the kernel of the default.
fn recorded(instances: usize, device: DeviceChoice) -> Session {
    let kernel = kernels::find("sync-global").unwrap();
    let setup = Setup {
        kernel,
        device,
        ..setup(instances, Size::new(1024, 1024).unwrap())
    };
    let session = Session::start(setup, || {}).unwrap();
    session.watch_overlap(true);
    session
}

/// Whether recorded rounds are shown, with the times of their ops.
fn is_shown(status: &Status) -> bool {
    has_setting(status) == Some(true) && status.lab.isolated.is_some()
}

fn has_setting(status: &Status) -> Option<bool> {
    Some(status.lab.recording.as_ref()?.has_setting)
}

/// The round that is drawn is one of the setting that the status tells, and the figures beside it are of
/// that recording.
fn assert_drawn(session: &Session, status: &Status) {
    let trace = session.trace();
    let round = trace.drawn().expect("a recorded round");
    let setting = &status.setting;
    assert_eq!(round.switches, setting.switches);
    let launches = round
        .steps
        .iter()
        .filter(|step| step.label == setting.kernel.name);
    let stepped: u32 = launches.map(|step| step.instances).sum();
    let each = status.lab.comparison.as_ref().map(|it| it.each);
    assert_eq!(stepped as usize, each.unwrap_or(status.lattices.instances));
    assert!(status.rates.round_us.is_some() && status.rates.launch_us.is_some());
    assert!(!status.engine.is_cpu());
    assert!(ran_alone(round, status), "its ops were timed alone");
}

#[test]
fn every_switch_of_the_default_has_its_recorded_effect() {
    let session = recorded(4, DeviceChoice::Recorded);
    let status = wait_for(&session, "a recorded round", is_shown);
    assert_drawn(&session, &status);
    assert_eq!(status.engine.name, "recorded");
    assert_eq!(status.engine.devices, [Recording::shipped().device.clone()]);
    let (now, kernel) = (status.setting.switches, status.setting.kernel);
    for switch in Switch::ALL {
        let own = switch.position(now, kernel);
        let choices = switch.choices(now, kernel).into_iter().enumerate();
        for (at, choice) in choices.filter(|(_, choice)| choice.unavailable.is_none()) {
            for (position, switches) in [(at, choice.switches), (own, now)] {
                let act = SessionAction::SetSwitch(switch, position as u8);
                session.act(act);
                let status = wait_for(&session, "a switch", |it| {
                    it.setting.switches == switches && is_shown(it)
                });
                assert_drawn(&session, &status);
                if at == own {
                    continue;
                }
                let effect = status.lab.last_effect.clone().expect("it is recorded");
                assert!(effect.finding.is_some(), "{}", effect.what);
                assert!(matches!(effect.source, Source::RecordedOn(_)));
                let before = session.trace().drawn_before().cloned();
                assert_ne!(before.expect("the round before").switches, switches);
            }
        }
    }
    session.act(SessionAction::SetSwitch(Switch::Streams, 1));
    let is_one = |it: &Status| it.setting.switches.streams == Streams::One;
    let status = wait_for(&session, "one stream", is_one);
    let effect = status.lab.last_effect.clone().unwrap();
    assert!(effect.finding.unwrap().is_slower(), "{}", effect.in_words());
}

#[test]
fn the_cells_are_those_of_the_reference_whatever_is_shown() {
    let session = recorded(2, DeviceChoice::Recorded);
    for action in [
        SessionAction::NextKernel,
        SessionAction::CycleSwitch(Switch::Transfer),
        SessionAction::CycleSwitch(Switch::Graphs),
        SessionAction::DoubleInstances,
        SessionAction::ToggleRecorded,
        SessionAction::ToggleRecorded,
        SessionAction::HalveInstances,
    ] {
        session.act(action);
    }
    wait_for(&session, "rounds", |it| {
        it.clock.generation >= 20 && it.lattices.instances == 2 && it.lab.recording.is_some()
    });
    let generation = pause(&session);
    for (i, lattice) in newest_lattices(&session).iter().enumerate() {
        let start = soup(Size::new(1024, 1024).unwrap(), 0.4, 3, i as u64);
        let expected = reference::run(&start, Rule::LIFE, generation);
        assert!(**lattice == expected, "instance {i}");
    }
}

#[test]
fn a_and_b_are_compared_as_recorded_with_half_of_the_instances() {
    let session = recorded(4, DeviceChoice::Recorded);
    session.act(SessionAction::ToggleComparison);
    let status = wait_for(&session, "a comparison", |it| {
        it.lab.comparison.is_some() && is_shown(it)
    });
    let ab = status.lab.comparison.clone().unwrap();
    assert_eq!((ab.each, ab.switches[1].streams), (2, Streams::One));
    assert!(matches!(ab.source, Source::RecordedOn(_)));
    assert!(ab.finding.expect("a finding").is_slower());
    assert_drawn(&session, &status);
    let before = session.trace().drawn_before().cloned();
    assert_eq!(before.expect("A's round").switches, ab.switches[0]);
    wait_for(&session, "the same cells", |it| {
        let ab = it.lab.comparison.as_ref();
        ab.and_then(|it| it.differing)
            .is_some_and(|(cells, generation)| cells == 0 && generation > 2)
    });
    session.act(SessionAction::ToggleComparison);
    let status = wait_for(&session, "its end", |it| it.lab.comparison.is_none());
    assert_eq!(status.setting.switches.streams, Streams::PerInstance);
}

#[test]
fn a_key_shows_what_is_recorded_and_measures_again() {
    let session = recorded(2, DeviceChoice::Cpu);
    wait_for(&session, "a measured round", |it| {
        it.rates.launch_us.is_some()
    });
    session.act(SessionAction::ToggleRecorded);
    let status = wait_for(&session, "a recorded one", is_shown);
    assert_drawn(&session, &status);
    session.act(SessionAction::ToggleBlockTimestamps);
    session.act(SessionAction::ToggleRecorded);
    let status = wait_for(&session, "measuring again", |it| {
        it.lab.recording.is_none() && it.rates.launch_us.is_some() && it.lab.isolated.is_some()
    });
    assert!(!status.lab.block_timestamps && status.engine.is_cpu());
    session.act(SessionAction::CycleSwitch(Switch::Order));
    let status = wait_for(&session, "an effect", |it| it.lab.last_effect.is_some());
    let effect = status.lab.last_effect.clone().unwrap();
    assert!(matches!(effect.source, Source::MeasuredHere(_)));
}
