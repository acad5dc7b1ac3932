//! A kernel of a user's own for tests: it steps as the reference does, and fails when a test says so.

use std::sync::{Arc, Mutex};

use engine::Kernel;
use engine::kernels::{self, GpuCode, OwnCode, OwnStepError, OwnStepper, Ptx};
use life::{Lattice, Rule, Size, reference};

/// See the module. It has code for the CPU, and for a GPU that of its rung.
pub(crate) struct ReferenceKernel {
    /// The kernel.
    pub kernel: &'static Kernel,
    failure: Arc<Mutex<Option<OwnStepError>>>,
}

impl ReferenceKernel {
    /// In the place of the rung of this name.
    pub(crate) fn new(rung: &str) -> ReferenceKernel {
        let failure = Arc::new(Mutex::new(None));
        let stepper = ReferenceStepper {
            failure: failure.clone(),
        };
        let kernel = own_kernel(rung, Some(Box::new(stepper)));
        ReferenceKernel { kernel, failure }
    }

    /// Fails at the next step, or no longer.
    pub(crate) fn fail(&self, error: Option<OwnStepError>) {
        *self.failure.lock().unwrap() = error;
    }
}

/// A kernel of a user's own in the place of the rung of this name: with this code for the CPU, and for a
/// GPU with that of the rung.
pub(crate) fn own_kernel(rung: &str, cpu: Option<Box<dyn OwnStepper>>) -> &'static Kernel {
    let rung = kernels::find(rung).unwrap();
    let ptx = Ptx::find(rung.file).unwrap();
    let code = OwnCode {
        rung,
        source: format!("// from: {}\n{}", rung.file, ptx.source),
        rules: None,
        gpu: Some(GpuCode::Ptx(ptx.only(rung.entries[0]))),
        cpu,
    };
    Kernel::own(code, rung.block())
}

#[derive(Debug)]
struct ReferenceStepper {
    failure: Arc<Mutex<Option<OwnStepError>>>,
}

impl OwnStepper for ReferenceStepper {
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError> {
        if let Some(error) = self.failure.lock().unwrap().take() {
            return Err(error);
        }
        let lattice = Lattice::from_words(size, words.to_vec());
        let later = reference::run(&lattice, rule, generations.into());
        words.copy_from_slice(later.words());
        Ok(())
    }
}
