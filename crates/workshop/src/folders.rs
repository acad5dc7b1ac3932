//! The folders in which CUDA toolkits and Python's packages have their libraries.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a toolkit has its files.
#[derive(Clone, Debug)]
pub(crate) struct Toolkit {
    /// What is found below it.
    pub root: PathBuf,
    /// Folders of libraries, below the root.
    pub libraries: &'static [&'static str],
}

impl Toolkit {
    /// Its folders of libraries; conda has them below `targets`.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = PathBuf> {
        let targets = children(&self.root.join("targets"), "").into_iter();
        let own = self.libraries.iter().map(|folder| self.root.join(folder));
        own.chain(targets.map(|target| target.join("lib")))
    }
}

/// Folders that may have a toolkit, or a part of one: those that `$CUDA_HOME` and `$CUDA_PATH` name,
/// `/usr/local/cuda*`, conda's environment, and Python's packages from PyPI.
pub(crate) fn toolkits() -> Vec<Toolkit> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(folder_of);
    let usual = children(Path::new("/usr/local"), "cuda");
    let conda = folder_of("CONDA_PREFIX").into_iter().chain(of_python());
    let roots = named.chain(usual).chain(conda).map(|root| Toolkit {
        root,
        libraries: &["lib64", "lib", "bin"],
    });
    let wheels = packages().into_iter().map(|root| Toolkit {
        root: root.join("nvidia"),
        libraries: &[
            "cu13/lib",
            "cuda_nvrtc/lib",
            "cu13/bin/x86_64",
            "cuda_nvrtc/bin",
        ],
    });
    roots.chain(wheels).collect()
}

/// The folder of the Python on the `PATH`, of which it is `bin/python3`.
fn of_python() -> Option<PathBuf> {
    let python = crate::compiler::find_program(Path::new("python3"))?;
    Some(python.parent()?.parent()?.to_owned())
}

/// Folders where Python finds packages: those of `$PYTHONPATH`, of the virtual environment, of the user,
/// of the Python on the `PATH`, and of every Python of pyenv, whose `python3` on the `PATH` is a script.
fn packages() -> Vec<PathBuf> {
    let named = env::var_os("PYTHONPATH").unwrap_or_default();
    let of_user = env::home_dir().map(|home| home.join(".local"));
    let pyenv = folder_of("PYENV_ROOT").or_else(|| Some(env::home_dir()?.join(".pyenv")));
    let of_pyenv = pyenv.map(|root| children(&root.join("versions"), ""));
    let prefixes = [folder_of("VIRTUAL_ENV"), folder_of("CONDA_PREFIX"), of_user]
        .into_iter()
        .flatten()
        .chain(of_python())
        .chain(of_pyenv.into_iter().flatten())
        .chain(["/usr/local", "/usr"].map(PathBuf::from));
    packages_below(env::split_paths(&named).collect(), prefixes)
}

/// These folders, and those of packages below the folders of Pythons; each that is there once.
fn packages_below(
    mut found: Vec<PathBuf>,
    prefixes: impl Iterator<Item = PathBuf>,
) -> Vec<PathBuf> {
    for library in prefixes.map(|prefix| prefix.join("lib")) {
        for python in children(&library, "python3") {
            found.extend(["site-packages", "dist-packages"].map(|name| python.join(name)));
        }
    }
    let mut seen = Vec::new();
    found.retain(|folder| {
        let is_new = folder.is_dir() && !seen.contains(folder);
        seen.push(folder.clone());
        is_new
    });
    found
}

/// The folder that a variable names.
fn folder_of(variable: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).filter(|named| !named.is_empty())?;
    Some(named.into())
}

/// What a folder has whose names begin so, the last by name first.
pub(crate) fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_conda_and_packages_of_pyenv_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let site = root.join("versions/3.12.1/lib/python3.12/site-packages");
        let target = root.join("targets/x86_64-linux/lib");
        fs::create_dir_all(&site).unwrap();
        fs::create_dir_all(&target).unwrap();
        let pythons = children(&root.join("versions"), "").into_iter();
        assert_eq!(packages_below(Vec::new(), pythons), [site]);
        let toolkit = Toolkit {
            root: root.to_owned(),
            libraries: &["lib"],
        };
        assert!(toolkit.libraries().eq([root.join("lib"), target]));
    }
}
