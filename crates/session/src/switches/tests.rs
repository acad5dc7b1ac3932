//! What cannot be says why. That every switch comes round is what `worker::tests::oracle` shows.

use super::*;
use engine::kernels::find;

#[test]
fn pairs_that_cannot_be_say_why() {
    let kernel = find("bits").unwrap();
    let graphs = Switches {
        graphs: true,
        ..Switches::DEFAULT
    };
    assert_eq!(graphs.incompatibility(kernel), None);
    for (switch, at) in [
        (Switch::Streams, 2),
        (Switch::Wait, 1),
        (Switch::HostMemory, 1),
    ] {
        let choice = &switch.choices(graphs, kernel)[at];
        assert!(choice.unavailable.is_some(), "{choice:?}");
        // From the other side, too.
        let eager = Switches {
            graphs: false,
            ..choice.switches
        };
        assert_eq!(eager.incompatibility(kernel), None);
        assert!(
            Switch::Graphs
                .next(eager, kernel)
                .unwrap_err()
                .contains("graphs on")
        );
    }
    let cells = Switches {
        transfer: TransferChoice::Cells,
        ..Switches::DEFAULT
    };
    assert!(cells.incompatibility(kernel).unwrap().contains("bits"));
    assert_eq!(cells.incompatibility(find("global").unwrap()), None);
}
