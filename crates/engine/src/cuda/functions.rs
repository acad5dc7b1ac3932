//! The functions of one GPU: the PTX that the driver has compiled, loaded on first use. They stay loaded
//! until the context ends, since a graph may have them.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use cust::link::Linker;
use cust::module::Module;
use cust::sys;

use super::driver::cust;
use super::handles::OwnedContext;
use crate::error::invalid;
use crate::kernels::instrumentation::instrument;
use crate::kernels::{Function, GpuCode, LadderFunction, OwnCode, Ptx, no_own_code};
use crate::rule_network::{RuleNetwork, specialise};
use crate::{EngineError, Result};
use lang::message;
use life::Rule;

/// The loaded functions of one context, which must be current in every call.
pub(super) struct Functions {
    known: HashMap<Key, Known>,
    modules: Vec<Module>,
    /// How long the driver took to load them, in milliseconds.
    pub(super) modules_ms: f64,
    context: Arc<OwnedContext>,
}

/// A function of a kernel file, or of a user's own code in its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    own: Option<&'static OwnCode>,
    file: &'static str,
    symbol: &'static str,
    /// The rule whose network it has; `None` for a function that takes every rule.
    rule: Option<Rule>,
    has_timestamps: bool,
}

enum Known {
    /// Another thread has the driver compile it.
    Compiling(JoinHandle<Result<Loaded>>),
    Ready(sys::CUfunction),
    /// The driver could not compile it, which is a network.
    Refused,
}

impl Key {
    /// The function with the network of a rule, if the kernel has one.
    fn of_network(function: LadderFunction, has_timestamps: bool) -> Option<Key> {
        let LadderFunction {
            kernel,
            entry,
            rule,
        } = function;
        let symbol = kernel.entries[entry].network_symbol?;
        kernel.has_network(rule).then_some(Key {
            own: None,
            file: kernel.file,
            symbol,
            rule: Some(rule),
            has_timestamps,
        })
    }

    /// Its PTX in a kernel file.
    fn ptx(self) -> Result<String> {
        let (file, symbol) = (self.file, self.symbol);
        let ptx = Ptx::find(file).ok_or_else(|| invalid(format!("there is no file {file}")))?;
        let text = ptx.only(symbol);
        let unchanged = |why| invalid(format!("{symbol} cannot be changed: {why}"));
        let text = match self.rule {
            Some(rule) => specialise(&text, &RuleNetwork::of(rule)).map_err(unchanged)?,
            None => text,
        };
        if self.has_timestamps {
            return instrument(&text).map_err(unchanged);
        }
        Ok(text)
    }
}

/// A module, the one function that it was loaded for, and how long the driver took.
struct Loaded {
    module: Module,
    function: sys::CUfunction,
    ms: f64,
}

// SAFETY: the driver's handles are valid on every thread.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Has the driver compile PTX, or take it from its cache. Calls of other threads wait meanwhile.
    /// The context must be current.
    fn new(text: &str, symbol: &str) -> Result<Loaded> {
        let began = Instant::now();
        let module = cust("cuModuleLoadDataEx", Module::from_ptx(text, &[]))?;
        Loaded::with(module, symbol, began)
    }

    /// The same by the driver's linker, which lets other threads' launches through while it
    /// compiles, but has no cache. The context must be current.
    fn by_linker(text: &str, symbol: &str) -> Result<Loaded> {
        let began = Instant::now();
        let mut linker = cust("cuLinkCreate", Linker::new())?;
        cust("cuLinkAddData", linker.add_ptx(format!("{text}\0")))?;
        let cubin = cust("cuLinkComplete", linker.complete())?;
        let module = cust("cuModuleLoadDataEx", Module::from_cubin(cubin, &[]))?;
        Loaded::with(module, symbol, began)
    }

    /// Loads a user's own code. The context must be current.
    ///
    /// # Errors
    /// Unless the context is lost or memory runs out, it is the code that the driver does not take.
    fn own(code: &GpuCode, key: Key) -> Result<Loaded> {
        let symbol = key.symbol;
        let loaded = match code {
            GpuCode::Ptx(text) if key.has_timestamps => {
                let text = instrument(text);
                let text =
                    text.map_err(|why| invalid(format!("{symbol} cannot be changed: {why}")))?;
                Loaded::new(&text, symbol)
            }
            GpuCode::Ptx(text) => Loaded::new(text, symbol),
            GpuCode::Cubin(code) => {
                let began = Instant::now();
                let module = Module::from_cubin(code, &[]);
                let module = cust("cuModuleLoadDataEx", module)?;
                Loaded::with(module, symbol, began)
            }
        };
        loaded.map_err(|error| match error {
            EngineError::Driver(fault) => EngineError::OwnCodeRefused(message!(
                "the driver does not load your kernel: {reason}",
                reason = compiler_log(code).unwrap_or_else(|| fault.reason())
            )),
            other => other,
        })
    }

    fn with(module: Module, symbol: &str, began: Instant) -> Result<Loaded> {
        let function = cust("cuModuleGetFunction", module.get_function(symbol))?.to_raw();
        Ok(Loaded {
            module,
            function,
            ms: began.elapsed().as_secs_f64() * 1e3,
        })
    }
}

/// The first line that the driver's compiler says of PTX that it refuses, such as that it uses too much
/// shared memory.
fn compiler_log(code: &GpuCode) -> Option<String> {
    const LOG_BYTES: usize = 8 << 10;
    let GpuCode::Ptx(text) = code else {
        return None;
    };
    let text = CString::new(text.as_str()).ok()?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // A size is given in the place of an address.
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with 0, and the log has as many bytes as the options say. A module is not
    // expected; it would stay.
    unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let log = String::from_utf8_lossy(&log);
    let line = log.trim_matches(['\0', '\n']).lines().next()?;
    (!line.is_empty()).then(|| line.chars().take(200).collect())
}

impl Functions {
    pub(super) fn new(context: Arc<OwnedContext>) -> Functions {
        Functions {
            known: HashMap::new(),
            modules: Vec::new(),
            modules_ms: 0.0,
            context,
        }
    }

    /// The function, loading it on first use: one with block timestamps if `has_timestamps`, which takes
    /// the address of the records as an additional last argument.
    ///
    /// A function of the ladder is the one with the rule's network, if there is one and the driver
    /// compiles it, else the one that takes every rule. Compiles a network on first use, which takes
    /// up to a second; while one is compiled in the background, the function that takes every rule
    /// serves, if that is loaded.
    pub(super) fn get(
        &mut self,
        function: Function,
        has_timestamps: bool,
    ) -> Result<sys::CUfunction> {
        let mut network = None;
        let (own, file, symbol) = match function {
            Function::Support(kernel) => {
                let row = kernel.row();
                (None, row.file, row.symbol)
            }
            Function::Buffer(kernel) => (kernel.own, kernel.name, kernel.name),
            Function::Ladder(function) => {
                network = Key::of_network(function, has_timestamps);
                let LadderFunction { kernel, entry, .. } = function;
                (
                    kernel.own.as_ref(),
                    kernel.file,
                    kernel.entries[entry].symbol,
                )
            }
        };
        let key = Key {
            own,
            file,
            symbol,
            rule: None,
            has_timestamps,
        };
        if let Some(network) = network {
            let plain = Key {
                has_timestamps: false,
                ..key
            };
            let is_ready = match self.known.get(&network) {
                Some(Known::Compiling(thread)) => {
                    thread.is_finished() || !self.known.contains_key(&plain)
                }
                Some(Known::Ready(_) | Known::Refused) => true,
                None => {
                    if self.known.len() < MAX_FUNCTIONS {
                        let text = network.ptx();
                        let loaded = text.and_then(|text| Loaded::new(&text, network.symbol));
                        self.keep_network(network, loaded);
                    }
                    true
                }
            };
            if is_ready && let Some(function) = self.network(network) {
                return Ok(function);
            }
        }
        if let Some(Known::Ready(function)) = self.known.get(&key) {
            return Ok(*function);
        }
        let loaded = match own {
            None => Loaded::new(&key.ptx()?, symbol),
            Some(own) => match &own.gpu {
                Some(code) => Loaded::own(code, key),
                None => Err(no_own_code(true)),
            },
        }?;
        let function = loaded.function;
        self.keep(key, loaded);
        Ok(function)
    }

    /// Starts to compile the function with the network of a rule, if there is one and it is not
    /// known.
    pub(super) fn compile_in_background(&mut self, function: LadderFunction) -> Result<()> {
        let Some(key) = Key::of_network(function, false) else {
            return Ok(());
        };
        if self.known.contains_key(&key) || self.known.len() >= MAX_FUNCTIONS {
            return Ok(());
        }
        let context = self.context.clone();
        let compile = move || {
            context.make_current()?;
            Loaded::by_linker(&key.ptx()?, key.symbol)
        };
        let thread = thread::Builder::new()
            .name("compiler".into())
            .spawn(compile);
        let thread = thread.map_err(|_| EngineError::NoThread)?;
        self.known.insert(key, Known::Compiling(thread));
        Ok(())
    }

    /// Waits until a function that is being compiled is loaded.
    pub(super) fn finish_compiling(&mut self, function: LadderFunction) {
        if let Some(key) = Key::of_network(function, false) {
            self.network(key);
        }
    }

    /// The function with the network of a rule, waiting for it if it is being compiled; `None` if it
    /// was not asked for or the driver cannot compile it.
    fn network(&mut self, key: Key) -> Option<sys::CUfunction> {
        if matches!(self.known.get(&key), Some(Known::Compiling(_)))
            && let Some(Known::Compiling(thread)) = self.known.remove(&key)
        {
            let loaded = thread.join();
            let loaded = loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.keep_network(key, loaded);
        }
        match self.known.get(&key) {
            Some(Known::Ready(function)) => Some(*function),
            _ => None,
        }
    }

    /// Keeps a network. If the driver could not compile it, logs why.
    fn keep_network(&mut self, key: Key, loaded: Result<Loaded>) {
        match loaded {
            Ok(loaded) => self.keep(key, loaded),
            Err(why) => {
                let (symbol, why) = (key.symbol, lang::english(why));
                let rule = key.rule.unwrap_or(Rule::LIFE);
                tracing::warn!("{symbol} is not compiled for {rule}, its table is used: {why}");
                self.known.insert(key, Known::Refused);
            }
        }
    }

    fn keep(&mut self, key: Key, loaded: Loaded) {
        self.modules_ms += loaded.ms;
        self.modules.push(loaded.module);
        self.known.insert(key, Known::Ready(loaded.function));
    }

    /// Waits for functions that are still being compiled and unloads them.
    pub(super) fn stop_compiling(&mut self) {
        for (_, known) in self.known.drain() {
            if let Known::Compiling(thread) = known {
                drop(thread.join());
            }
        }
    }
}

/// Maximum functions before no more networks are loaded: each takes some hundred kilobytes of the
/// device's memory.
const MAX_FUNCTIONS: usize = 1024;
