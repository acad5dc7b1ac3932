//! The functions of one GPU: the PTX that the driver has compiled, loaded on first use. They stay loaded
//! until the context ends, since a graph may have them.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use cust::link::Linker;
use cust::module::Module;
use cust::sys;

use super::driver::cust;
use super::handles::OwnedContext;
use crate::error::invalid;
use crate::kernels::instrumentation;
use crate::kernels::{Function, GpuCode, LadderFunction, OwnCode, Ptx, no_own_code};
use crate::rule_network::{self, RuleNetwork};
use crate::{EngineError, Result};
use lang::message;
use life::Rule;

/// The loaded functions of one context, which must be current in every call.
pub(super) struct Functions {
    /// Functions without the network of a rule.
    any_rule: HashMap<FunctionKey, sys::CUfunction>,
    /// Functions with the network of a rule.
    networks: HashMap<NetworkKey, Network>,
    modules: Vec<Module>,
    /// How long the driver took to load them, in milliseconds.
    pub(super) modules_ms: f64,
    context: Arc<OwnedContext>,
}

/// A user's own code or none, the symbol, and whether the function has block timestamps.
type FunctionKey = (Option<&'static OwnCode>, &'static str, bool);

/// The symbol of a function with a network, the rule, and whether it has block timestamps.
type NetworkKey = (&'static str, Rule, bool);

/// A function with the network of a rule.
enum Network {
    /// Another thread has the driver compile it.
    Compiling(JoinHandle<Result<Loaded>>),
    Ready(sys::CUfunction),
    /// The driver could not compile it.
    Refused,
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
    fn own(code: &GpuCode, symbol: &'static str, instrumented: bool) -> Result<Loaded> {
        let loaded = match code {
            GpuCode::Ptx(text) if instrumented => {
                Loaded::new(&with_timestamps(text, symbol)?, symbol)
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
                reason = fault.reason()
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

impl Functions {
    pub(super) fn new(context: Arc<OwnedContext>) -> Functions {
        Functions {
            any_rule: HashMap::new(),
            networks: HashMap::new(),
            modules: Vec::new(),
            modules_ms: 0.0,
            context,
        }
    }

    /// The function, loading it on first use: one with block timestamps if `instrumented`, which takes
    /// the address of the records as an additional last argument.
    ///
    /// A function of the ladder is the one with the rule's network, if there is one and the driver
    /// compiles it, else the one that takes every rule. Compiles a network on first use, which takes
    /// up to a second; while one is compiled in the background, the function that takes every rule
    /// serves, if that is loaded.
    pub(super) fn get(
        &mut self,
        function: Function,
        instrumented: bool,
    ) -> Result<sys::CUfunction> {
        match function {
            Function::Support(kernel) => {
                let row = kernel.row();
                self.any_rule(None, row.file, row.symbol, instrumented)
            }
            Function::Buffer(kernel) => self.any_rule(None, kernel.name, kernel.name, instrumented),
            Function::Ladder(function) => {
                let entry = &function.kernel.entries[function.entry];
                if let Some(key) = network_key(function, instrumented) {
                    let is_ready = match self.networks.get(&key) {
                        Some(Network::Compiling(thread)) => {
                            thread.is_finished()
                                || !self.any_rule.contains_key(&(None, entry.symbol, false))
                        }
                        Some(Network::Ready(_) | Network::Refused) => true,
                        None => {
                            self.load_network(function.kernel.file, key);
                            true
                        }
                    };
                    if is_ready && let Some(function) = self.network(key) {
                        return Ok(function);
                    }
                }
                let own = function.kernel.own.as_ref();
                self.any_rule(own, function.kernel.file, entry.symbol, instrumented)
            }
        }
    }

    /// A function that needs no rule's network: of a user's own code, or of a kernel file.
    fn any_rule(
        &mut self,
        own: Option<&'static OwnCode>,
        file: &'static str,
        symbol: &'static str,
        instrumented: bool,
    ) -> Result<sys::CUfunction> {
        let key = (own, symbol, instrumented);
        if let Some(&function) = self.any_rule.get(&key) {
            return Ok(function);
        }
        let loaded = match own {
            Some(OwnCode { gpu: None, .. }) => Err(no_own_code(true)),
            Some(OwnCode {
                gpu: Some(code), ..
            }) => Loaded::own(code, symbol, instrumented),
            None => {
                let text = ptx_of(file)?.only(symbol);
                let text = if instrumented {
                    with_timestamps(&text, symbol)?
                } else {
                    text
                };
                Loaded::new(&text, symbol)
            }
        };
        let function = self.keep(loaded?);
        self.any_rule.insert(key, function);
        Ok(function)
    }

    /// Starts to compile the function with the network of a rule, if there is one and it is not
    /// known.
    pub(super) fn compile_in_background(&mut self, function: LadderFunction) -> Result<()> {
        let Some(key) = network_key(function, false) else {
            return Ok(());
        };
        if self.networks.contains_key(&key) || self.networks.len() >= MAX_NETWORKS {
            return Ok(());
        }
        let (file, context) = (function.kernel.file, self.context.clone());
        let compile = move || {
            context.make_current()?;
            Loaded::by_linker(&with_network(file, key)?, key.0)
        };
        let thread = thread::Builder::new()
            .name("compiler".into())
            .spawn(compile);
        let thread = thread.map_err(|_| EngineError::NoThread)?;
        self.networks.insert(key, Network::Compiling(thread));
        Ok(())
    }

    /// Waits until a function that is being compiled is loaded.
    pub(super) fn finish_compiling(&mut self, function: LadderFunction) {
        if let Some(key) = network_key(function, false) {
            self.network(key);
        }
    }

    /// The function with the network of a rule, waiting for it if it is being compiled; `None` if it
    /// was not asked for or the driver cannot compile it.
    fn network(&mut self, key: NetworkKey) -> Option<sys::CUfunction> {
        let compiled = match self.networks.remove(&key)? {
            Network::Compiling(thread) => {
                let loaded = thread.join();
                let loaded = loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                self.keep_network(key, loaded)
            }
            known => known,
        };
        let function = match compiled {
            Network::Ready(function) => Some(function),
            Network::Refused | Network::Compiling(_) => None,
        };
        self.networks.insert(key, compiled);
        function
    }

    /// Loads a function with the network of a rule, unless there are very many already.
    fn load_network(&mut self, file: &'static str, key: NetworkKey) {
        if self.networks.len() < MAX_NETWORKS {
            let loaded = with_network(file, key).and_then(|text| Loaded::new(&text, key.0));
            let network = self.keep_network(key, loaded);
            self.networks.insert(key, network);
        }
    }

    /// Keeps the module of a network. If the driver could not compile it, logs why.
    fn keep_network(&mut self, key: NetworkKey, loaded: Result<Loaded>) -> Network {
        match loaded {
            Ok(loaded) => Network::Ready(self.keep(loaded)),
            Err(why) => {
                let (symbol, rule, _) = key;
                let why = lang::english(why);
                tracing::warn!("{symbol} is not compiled for {rule}, its table is used: {why}");
                Network::Refused
            }
        }
    }

    fn keep(&mut self, loaded: Loaded) -> sys::CUfunction {
        self.modules_ms += loaded.ms;
        self.modules.push(loaded.module);
        loaded.function
    }

    /// Waits for functions that are still being compiled and unloads them.
    pub(super) fn stop_compiling(&mut self) {
        for (_, network) in self.networks.drain() {
            if let Network::Compiling(thread) = network {
                drop(thread.join());
            }
        }
    }
}

/// Maximum functions with networks: each takes some hundred kilobytes of the device's memory.
const MAX_NETWORKS: usize = 1024;

/// The function with the network of a rule, if the kernel has one.
fn network_key(function: LadderFunction, instrumented: bool) -> Option<NetworkKey> {
    let LadderFunction {
        kernel,
        entry,
        rule,
    } = function;
    let symbol = kernel.entries[entry].network_symbol?;
    kernel
        .has_network(rule)
        .then_some((symbol, rule, instrumented))
}

/// The PTX of a function with the network of a rule.
fn with_network(file: &'static str, (symbol, rule, is_instrumented): NetworkKey) -> Result<String> {
    let text = ptx_of(file)?.only(symbol);
    let network = RuleNetwork::of(rule);
    let text = rule_network::specialise(&text, &network)
        .map_err(|why| invalid(format!("{symbol} cannot be changed: {why}")))?;
    if is_instrumented {
        with_timestamps(&text, symbol)
    } else {
        Ok(text)
    }
}

/// The PTX with block timestamps.
fn with_timestamps(text: &str, symbol: &'static str) -> Result<String> {
    instrumentation::instrument(text)
        .map_err(|why| invalid(format!("{symbol} cannot be changed: {why}")))
}

fn ptx_of(file: &'static str) -> Result<&'static Ptx> {
    Ptx::find(file).ok_or_else(|| invalid(format!("there is no file {file}")))
}
