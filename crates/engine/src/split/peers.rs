//! Direct copies between devices.

use crate::{
    BufferId, BufferLocation, BufferOffset, BufferOp, DeviceId, Engine, HostMemory, Op, Program,
    Result, StreamSpec,
};

/// Allows direct copies between any two devices, and tries each: between some, they are possible and
/// bring wrong bytes. Those go through the host.
pub(super) fn connect(engine: &mut dyn Engine) -> Result<()> {
    let devices = engine.devices().len() as u16;
    for one in (0..devices).map(DeviceId) {
        for other in (0..one.0).map(DeviceId) {
            allow(engine, [one, other], true)?;
            let unchanged =
                arrives_unchanged(engine, one, other)? && arrives_unchanged(engine, other, one)?;
            if !unchanged {
                allow(engine, [one, other], false)?;
            }
        }
    }
    // Also the streams that the trials took.
    engine.clear()
}

/// Allows or forbids two devices to reach each other's memory.
fn allow(engine: &mut dyn Engine, [one, other]: [DeviceId; 2], is_allowed: bool) -> Result<()> {
    engine.set_peer_access(one, other, is_allowed)?;
    engine.set_peer_access(other, one, is_allowed)?;
    Ok(())
}

/// Whether a pattern that is copied from one device to another arrives there.
fn arrives_unchanged(engine: &mut dyn Engine, from: DeviceId, to: DeviceId) -> Result<bool> {
    const BYTES: usize = 1 << 16;
    let pinned = BufferLocation::Host(HostMemory::Pinned);
    let [sent, received] = [(); 2].map(|()| engine.create_buffer(from, BYTES, pinned));
    let (sent, received) = (sent?, received?);
    let [here, there] =
        [from, to].map(|on| engine.create_buffer(on, BYTES, BufferLocation::Device));
    let (here, there) = (here?, there?);
    let pattern = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9);
    engine.access(sent, &mut |words| {
        let words = words.iter_mut().enumerate();
        words.for_each(|(i, word)| *word = pattern(i));
    })?;
    for (device, source, target) in [(from, sent, here), (to, here, there), (to, there, received)] {
        let stream = engine.create_stream(device, StreamSpec::PLAIN)?;
        engine.submit(&Program::in_stream(stream, [copy(source, target, BYTES)]))?;
        engine.synchronize()?;
    }
    let mut same = false;
    engine.access(received, &mut |words| {
        same = words
            .iter()
            .enumerate()
            .all(|(i, word)| *word == pattern(i));
    })?;
    engine.drop_buffers()?;
    engine.poll(&mut Vec::new())?;
    Ok(same)
}

fn copy(from: BufferId, to: BufferId, bytes: usize) -> Op {
    let start = |buffer| BufferOffset { buffer, offset: 0 };
    BufferOp::Copy {
        from: start(from),
        to: start(to),
        bytes,
    }
    .into()
}
