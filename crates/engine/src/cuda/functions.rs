//! The functions of one GPU: the PTX that the driver has compiled, loaded on first use. They stay loaded
//! until the context ends, since a graph may have them.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use cust::link::Linker;
use cust::module::Module;
use cust::sys;

use super::driver::cust;
use super::handles::OwnedContext;
use crate::error::invalid;
use crate::kernels::instrumentation::instrument;
use crate::kernels::{Function, GpuCode, Ptx, no_own_code};
use crate::rule_network::{RuleNetwork, specialise};
use crate::{EngineError, Result};
use lang::message;
use life::Rule;

/// The loaded functions of one context, which must be current in every call.
pub(super) struct Functions {
    known: HashMap<Key, Known>,
    modules: Vec<Module>,
    context: Arc<OwnedContext>,
}

/// A function, and whether block timestamps are added to it.
type Key = (Function, bool);

enum Known {
    /// Another thread has the driver compile it.
    Compiling(JoinHandle<Result<Loaded>>),
    Ready(sys::CUfunction),
    /// The driver could not compile it, which is a network.
    Refused,
}

/// The PTX of a function: of a user's own code, or of a kernel file.
fn ptx((function, has_timestamps): Key) -> Result<String> {
    let (file, symbol, own) = function.place();
    let text = match own.and_then(|own| own.gpu.as_ref()) {
        Some(GpuCode::Ptx(text)) => text.clone(),
        _ => {
            let ptx = Ptx::find(file).ok_or_else(|| invalid!("there is no file {file}"))?;
            ptx.only(&symbol)
        }
    };
    let unchanged = |why| invalid!("{symbol} cannot be changed: {why}");
    let text = match function.network() {
        Some(rule) => specialise(&text, &RuleNetwork::of(rule)).map_err(unchanged)?,
        None => text,
    };
    if has_timestamps {
        return instrument(&text).map_err(unchanged);
    }
    Ok(text)
}

/// A module, and the one function that it was loaded for.
struct Loaded {
    module: Module,
    function: sys::CUfunction,
}

// SAFETY: the driver's handles are valid on every thread.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Loads a function of the module that `load` has the driver make. The context must be current.
    fn new(key: Key, load: impl FnOnce() -> Result<Module>) -> Result<Loaded> {
        let module = load()?;
        let (_, symbol, _) = key.0.place();
        let function = cust("cuModuleGetFunction", module.get_function(&*symbol))?.to_raw();
        Ok(Loaded { module, function })
    }

    /// Has the driver compile PTX, or take it from its cache. Calls of other threads wait meanwhile.
    fn of_ptx(key: Key) -> Result<Loaded> {
        let text = ptx(key)?;
        Loaded::new(key, || {
            cust("cuModuleLoadDataEx", Module::from_ptx(text, &[]))
        })
    }

    /// As [`Loaded::of_ptx`] by the driver's linker, which lets other threads' launches through while
    /// it compiles, but has no cache.
    fn by_linker(key: Key) -> Result<Loaded> {
        let text = ptx(key)? + "\0";
        Loaded::new(key, || {
            let mut linker = cust("cuLinkCreate", Linker::new())?;
            cust("cuLinkAddData", linker.add_ptx(text))?;
            let cubin = cust("cuLinkComplete", linker.complete())?;
            cust("cuModuleLoadDataEx", Module::from_cubin(cubin, &[]))
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
        let mut key = (function, has_timestamps);
        if function.network().is_some() {
            let any_rule = function.of_every_rule();
            let is_ready = match self.known.get(&key) {
                Some(Known::Compiling(thread)) => {
                    thread.is_finished() || !self.known.contains_key(&(any_rule, false))
                }
                Some(Known::Ready(_) | Known::Refused) => true,
                None => {
                    if self.known.len() < MAX_FUNCTIONS {
                        self.keep_network(key, Loaded::of_ptx(key));
                    }
                    true
                }
            };
            if is_ready && let Some(function) = self.network(key) {
                return Ok(function);
            }
            key.0 = any_rule;
        }
        if let Some(Known::Ready(function)) = self.known.get(&key) {
            return Ok(*function);
        }
        let (_, _, own) = function.place();
        let code = own.map(|own| own.gpu.as_ref().ok_or_else(|| no_own_code(true)));
        let code = code.transpose()?;
        let loaded = match code {
            Some(GpuCode::Cubin(code)) => Loaded::new(key, || {
                cust("cuModuleLoadDataEx", Module::from_cubin(code, &[]))
            }),
            _ => Loaded::of_ptx(key),
        };
        // Unless the context is lost or memory runs out, it is a user's code that the driver does not
        // take.
        let loaded = loaded.map_err(|error| match (code, error) {
            (Some(code), EngineError::Driver(fault)) => EngineError::OwnCodeRefused(message!(
                "the driver does not load your kernel: {reason}",
                reason = compiler_log(code).unwrap_or_else(|| fault.reason())
            )),
            (_, other) => other,
        })?;
        let function = loaded.function;
        self.keep(key, loaded);
        Ok(function)
    }

    /// Starts to compile a function with the network of a rule, if it is one and not known.
    pub(super) fn compile_in_background(&mut self, function: Function) -> Result<()> {
        let key = (function, false);
        if function.network().is_none()
            || self.known.contains_key(&key)
            || self.known.len() >= MAX_FUNCTIONS
        {
            return Ok(());
        }
        let context = self.context.clone();
        let compile = move || {
            context.make_current()?;
            Loaded::by_linker(key)
        };
        let thread = thread::Builder::new()
            .name("compiler".into())
            .spawn(compile);
        let thread = thread.map_err(|_| EngineError::NoThread)?;
        self.known.insert(key, Known::Compiling(thread));
        Ok(())
    }

    /// Waits until a function is loaded, if it is being compiled.
    pub(super) fn finish_compiling(&mut self, function: Function) {
        self.network((function, false));
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
                let ((_, symbol, _), why) = (key.0.place(), lang::english(why));
                let rule = key.0.network().unwrap_or(Rule::LIFE);
                tracing::warn!("{symbol} is not compiled for {rule}, its table is used: {why}");
                self.known.insert(key, Known::Refused);
            }
        }
    }

    fn keep(&mut self, key: Key, loaded: Loaded) {
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
