//! What rounds do on the CPU engine.

use session::DeviceChoice;

#[test]
fn rounds_step_and_are_ordered_as_their_settings_say() {
    let mut checks = 0;
    conformance::verify_rounds(DeviceChoice::Cpu, true, &mut |report| {
        let outcome = report.outcome?;
        assert_eq!(outcome.wrong, Vec::<String>::new(), "{}", report.name);
        assert!(outcome.cases > 0, "{}", report.name);
        checks += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(checks, 2);
}
