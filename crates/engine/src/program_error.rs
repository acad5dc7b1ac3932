//! What is wrong with a program.

use crate::buffer_kernels::ArgumentType;
use crate::kernels::{Layout, Parameter};
use crate::{
    BufferId, BufferLocation, BufferOffset, DeviceId, EventId, IssuerId, LatticeId, MemoryUse,
    PreparedId, ReduceRegion, RowCopy, Slot, StreamId, Transfer, WordEdit,
};
use life::Size;

/// Something that a program or a caller refers to; kernels and their files are known by name.
#[expect(missing_docs, reason = "each is what it holds")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    Device(DeviceId),
    Stream(StreamId),
    Event(EventId),
    Lattice(LatticeId),
    Buffer(BufferId),
    Prepared(PreparedId),
    Kernel(&'static str),
    KernelFile(&'static str),
}

fn at(place: &BufferOffset) -> String {
    format!("offset {} of {:?}", place.offset, place.buffer)
}

/// What is wrong with a program that contradicts the engine's state, which is a bug in the caller. The
/// phrases say what each has.
#[expect(missing_docs, reason = "each has its phrase")]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("there is no {0:?}")]
    Unknown(Resource),
    #[error("{0:?} is not on the stream's device")]
    OnOtherDevice(Resource),
    #[error("{0:?} is not on the device")]
    NotOnDevice(BufferId),
    #[error("{0:?} cannot be used like this in {1:?}")]
    OtherLocation(BufferId, BufferLocation),
    #[error("{0:?} is not allocated in this stream")]
    NotAllocatedHere(BufferId),
    #[error("{0:?} is allocated and not freed")]
    NotFreed(BufferId),
    #[error("{0} cannot be issued by one of several threads")]
    SeveralIssuers(&'static str),
    #[error("too many contexts")]
    TooManyContexts,
    #[error("there is no memory for {0:?}")]
    NotAllocated(MemoryUse),
    #[error("{0} cannot be done here")]
    WrongOp(&'static str),
    #[error("no kernel fits these lattices and options")]
    NoKernel,
    #[error("kernel {0} has no CPU version")]
    NoCpuVersion(&'static str),
    #[error("{0:?} of a kernel has no value")]
    NoValue(Parameter),
    #[error("{0} cannot be changed: {1}")]
    Ptx(&'static str, String),
    #[error("{0} bytes: the size must be a positive multiple of 4")]
    Bytes(usize),
    #[error("{} is not a multiple of 4", at(.0))]
    Offset(BufferOffset),
    #[error("{1} bytes from {at} do not fit, it has {2} bytes", at = at(.0))]
    BeyondBuffer(BufferOffset, usize, usize),
    #[error("a device cannot copy from host to host")]
    HostToHost,
    #[error("{0} takes {1} arguments, not {2}")]
    ArgumentCount(&'static str, usize, usize),
    #[error("{0} takes {1:?}, not {2:?}")]
    ArgumentType(&'static str, ArgumentType, ArgumentType),
    #[error("{0} cannot run in {1} blocks of {2} threads")]
    Shape(&'static str, u32, u32),
    #[error("{0} cannot have a length of {1}")]
    Length(&'static str, i32),
    #[error("an upload of {1} words to {0:?}, which has {2}")]
    UploadWords(LatticeId, usize, usize),
    #[error("the words of the edits are not in order, each once")]
    EditOrder,
    #[error("{0:?} lies outside a {1} lattice")]
    EditOutside(WordEdit, Size),
    #[error("{0:?} cannot be reduced")]
    Region(ReduceRegion),
    #[error("a lattice of {1} cannot be in layout {0:?}")]
    UnsupportedLayout(Layout, Size),
    #[error("layout {0:?} is not reserved for {1:?}")]
    NotReserved(Layout, LatticeId),
    #[error("{0} needs layout {1:?}, but {2:?} is in layout {3:?}")]
    OtherLayout(&'static str, Layout, LatticeId, Layout),
    #[error("a band of {0} is too high")]
    Band(Size),
    #[error("lattices in bands have no bands or rows of their own")]
    SplitTwice,
    #[error("{0:?} cannot be copied from {1:?} to {2:?}")]
    Rows(RowCopy, LatticeId, LatticeId),
    #[error("{0:?} of {1} has no {2:?}")]
    NoRows(LatticeId, Size, Transfer),
    #[error("{0:?} has no view: reduce it first")]
    NoView(LatticeId),
    #[error("{0:?} has no i32 cells: it is in layout {1:?}")]
    NoCells(LatticeId, Layout),
    #[error("{0:?} has not been measured")]
    NotMeasured(LatticeId),
    #[error("{0:?} has no {1:?}")]
    NoSlot(LatticeId, Slot),
    #[error("{0:?} of {1:?} needs {3} words, but {2:?} has {4}")]
    SlotWords(Transfer, LatticeId, Slot, usize, usize),
    #[error("a step of a loop in {0:?}, another stream")]
    OtherStream(StreamId),
    #[error("{0} must be prepared")]
    OnlyPrepared(&'static str),
    #[error("{0} cannot be prepared")]
    Unpreparable(&'static str),
    #[error("memory that {0:?} uses was replaced since it was prepared")]
    Replaced(PreparedId),
    #[error("{0:?} was prepared from another state of {1:?}")]
    OtherState(PreparedId, LatticeId),
    #[error("{0:?} waits for {1:?}, which another issuer, {2:?}, records")]
    OtherIssuer(IssuerId, EventId, IssuerId),
}
