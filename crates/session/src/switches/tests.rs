//! Every switch comes round, and what cannot be says why.

use super::*;
use engine::kernels::{KERNELS, find};

#[test]
fn every_switch_comes_round_and_is_where_it_says() {
    for kernel in &KERNELS {
        for switch in Switch::ALL {
            let mut now = Switches::DEFAULT;
            let possible = switch.choices(now, kernel);
            let possible = possible
                .iter()
                .filter(|choice| choice.unavailable.is_none())
                .count();
            for _ in 0..possible {
                if let Ok(next) = switch.next(now, kernel) {
                    now = next.switches;
                    let at = switch.position(now, kernel);
                    assert_eq!(switch.choices(now, kernel)[at].switches, now);
                }
            }
            assert_eq!(now, Switches::DEFAULT, "{switch:?} of {}", kernel.name);
        }
    }
}

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
