//! How tofu and terraform find the provider: a filesystem mirror, and a CLI configuration that points at it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use thiserror::Error;

/// The provider's source address in code, without the registry that tofu or terraform adds.
pub const PROVIDER: &str = "yuba/toy";

/// The provider's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const BINARY: &str = "terraform-provider-toy";
const BINARY_VARIABLE: &str = "YUBA_TOY_PROVIDER";
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// Why the mirror could not be laid.
#[derive(Debug, Error)]
pub enum MirrorError {
    /// The provider has not been built.
    #[error(
        "there is no {BINARY} at {}: run `cargo build -p yuba-toy-cloud --bins` first, or name one in {BINARY_VARIABLE}",
        path.display()
    )]
    NotBuilt {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Lays a mirror with the provider in `dir`, for both registries and this machine's platform, and returns the
/// path of the CLI configuration that uses it (`TF_CLI_CONFIG_FILE`). What stands already is replaced.
pub fn mirror(dir: &Path) -> Result<PathBuf, MirrorError> {
    lay(dir, &provider_binary()?)
}

/// A mirror beside the provider's binary that all tests share, laid once for each build of it. Returns the path
/// of its CLI configuration.
pub fn shared_mirror() -> Result<PathBuf, MirrorError> {
    let binary = provider_binary()?;
    let dir = binary.with_file_name(format!("toy-mirror-{}", fingerprint(&binary)?));
    let configuration = dir.join("cli.tfrc");
    if configuration.exists() {
        return Ok(configuration);
    }
    lay(&dir, &binary)
}

/// The provider's binary: named by `YUBA_TOY_PROVIDER`, or beside the executable that runs (for a test, in
/// `target/<profile>/`).
pub fn provider_binary() -> Result<PathBuf, MirrorError> {
    #[expect(clippy::disallowed_methods, reason = "the one setting of a test kit, read in one place")]
    let path =
        std::env::var_os(BINARY_VARIABLE).map_or_else(beside_this_executable, |path| Ok(path.into()))?;
    if path.is_file() { Ok(path) } else { Err(MirrorError::NotBuilt { path }) }
}

fn beside_this_executable() -> Result<PathBuf, MirrorError> {
    let executable = std::env::current_exe().map_err(io_error("find", Path::new("this executable")))?;
    let mut dir = executable.parent().unwrap_or(&executable);
    if dir.ends_with("deps") || dir.ends_with("examples") {
        dir = dir.parent().unwrap_or(dir);
    }
    Ok(dir.join(format!("{BINARY}{}", std::env::consts::EXE_SUFFIX)))
}

/// Size and time of a build, enough to tell one from the next.
fn fingerprint(binary: &Path) -> Result<String, MirrorError> {
    let metadata = fs::metadata(binary).map_err(io_error("look at", binary))?;
    let modified = metadata.modified().map_err(io_error("look at", binary))?;
    let nanoseconds = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(format!("{:x}-{nanoseconds:x}", metadata.len()))
}

fn lay(dir: &Path, binary: &Path) -> Result<PathBuf, MirrorError> {
    let dir = &std::path::absolute(dir).map_err(io_error("resolve", dir))?;
    for registry in REGISTRIES {
        let package = dir.join("providers").join(registry).join(PROVIDER).join(VERSION).join(platform());
        fs::create_dir_all(&package).map_err(io_error("make", &package))?;
        let name = format!("{BINARY}_v{VERSION}{}", std::env::consts::EXE_SUFFIX);
        put(dir, &package.join(name), |temporary| fs::copy(binary, temporary).map(drop))?;
    }
    let configuration = dir.join("cli.tfrc");
    put(dir, &configuration, |temporary| fs::write(temporary, cli_configuration(&dir.join("providers"))))?;
    Ok(configuration)
}

/// Writes a file as a whole or not at all, so that tests that lay the same mirror at once do no harm. The
/// temporary one lies in the mirror's root: the files of its packages are hashed.
fn put(root: &Path, path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), MirrorError> {
    let temporary = root.join(format!(".{}-{:?}.new", std::process::id(), std::thread::current().id()));
    write(&temporary).map_err(io_error("write", &temporary))?;
    fs::rename(&temporary, path).map_err(io_error("put in place", path))
}

fn cli_configuration(providers: &Path) -> String {
    let path = providers.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"disable_checkpoint = true

provider_installation {{
  filesystem_mirror {{
    path    = "{path}"
    include = ["registry.terraform.io/yuba/*", "registry.opentofu.org/yuba/*"]
  }}
  direct {{
    exclude = ["registry.terraform.io/yuba/*", "registry.opentofu.org/yuba/*"]
  }}
}}
"#
    )
}

/// This machine as tofu and terraform write it, such as `linux_amd64`.
fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        arch => arch,
    };
    format!("{os}_{arch}")
}

fn io_error<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> MirrorError + 'a {
    move |source| MirrorError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MirrorError, VERSION, cli_configuration, lay, platform};

    #[test]
    fn both_registries_find_the_provider() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let binary = dir.path().join("built");
        std::fs::write(&binary, "a provider").expect("written");
        let configuration = lay(&dir.path().join("mirror"), &binary).expect("laid");
        assert!(configuration.ends_with("mirror/cli.tfrc"));
        for registry in ["registry.terraform.io", "registry.opentofu.org"] {
            let package = dir.path().join("mirror/providers").join(registry).join("yuba/toy").join(VERSION);
            let provider = package.join(platform()).join(format!("terraform-provider-toy_v{VERSION}"));
            assert_eq!(std::fs::read_to_string(&provider).expect("there"), "a provider");
        }
    }

    #[test]
    fn the_configuration_names_the_mirror() {
        insta::assert_snapshot!(cli_configuration(Path::new("/m\"m/providers")), @r#"
        disable_checkpoint = true

        provider_installation {
          filesystem_mirror {
            path    = "/m\"m/providers"
            include = ["registry.terraform.io/yuba/*", "registry.opentofu.org/yuba/*"]
          }
          direct {
            exclude = ["registry.terraform.io/yuba/*", "registry.opentofu.org/yuba/*"]
          }
        }
        "#);
    }

    #[test]
    fn a_missing_provider_says_how_to_build_it() {
        let error = MirrorError::NotBuilt { path: "target/debug/terraform-provider-toy".into() };
        insta::assert_snapshot!(error, @"there is no terraform-provider-toy at target/debug/terraform-provider-toy: run `cargo build -p yuba-toy-cloud --bins` first, or name one in YUBA_TOY_PROVIDER");
    }
}
