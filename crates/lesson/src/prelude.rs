//! What most lessons are written with.

pub(crate) use crate::bench::{Bench, DEVICE, Ran, at, call, copy, copy_between, ms_since, place};
pub(crate) use crate::data;
pub(crate) use crate::outcome::{LessonImage, Measured};
pub(crate) use crate::question::{Choices, Origin};
pub(crate) use crate::work::{
    BenchLattices, DENSITY, GENERATION, PartWork, Programs, Rounds, SEED, kernel, scaled, square,
    wall,
};
pub(crate) use crate::{Closing, Compare, Group, Lesson, Missing, Part, Result};
pub(crate) use engine::{
    Argument, BufferId, BufferLocation, BufferOp, DeviceId, HostMemory, LatticeOp, MemoryOp, Op,
    OrderOp, Program, Scope, StreamId, StreamKind, StreamSpec,
};
pub(crate) use lang::{mark, tr};
