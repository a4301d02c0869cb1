//! How tofu and terraform find a provider: a filesystem mirror, and a CLI configuration that points at it.

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
const STAND_IN: &str = "stand-in";
const BINARY_VARIABLE: &str = "YUBA_TOY_PROVIDER";
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// Why the mirror could not be laid.
#[derive(Debug, Error)]
pub enum MirrorError {
    /// The provider has not been built.
    #[error(
        "there is no {} at {}: run `cargo build -p yuba-toy-cloud --bins` first, or, for the toy, name one in {BINARY_VARIABLE}",
        path.file_name().unwrap_or_default().display(),
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

/// A provider that a mirror has.
struct Package<'a> {
    /// Its source address without the registry.
    source: &'a str,
    version: &'a str,
    binary: &'a Path,
}

impl<'a> Package<'a> {
    fn toy(binary: &'a Path) -> Self {
        Self { source: PROVIDER, version: VERSION, binary }
    }

    /// Its type, the last part of its address.
    fn name(&self) -> &str {
        self.source.rsplit('/').next().unwrap_or(self.source)
    }
}

/// Lays a mirror with the provider in `dir`, for both registries and this machine's platform, and returns the
/// path of the CLI configuration that uses it (`TF_CLI_CONFIG_FILE`). What stands already is replaced.
pub fn mirror(dir: &Path) -> Result<PathBuf, MirrorError> {
    lay(dir, &Package::toy(&provider_binary()?))
}

/// A mirror beside the provider's binary that all tests share, laid once for each build of it. Returns the path
/// of its CLI configuration.
pub fn shared_mirror() -> Result<PathBuf, MirrorError> {
    shared(&Package::toy(&provider_binary()?))
}

/// As [`shared_mirror`], with the stand-in in place of a provider: `hashicorp/aws` of a version.
pub fn stand_in_mirror(source: &str, version: &str) -> Result<PathBuf, MirrorError> {
    let binary = present(beside_this_executable(STAND_IN)?)?;
    shared(&Package { source, version, binary: &binary })
}

fn shared(package: &Package<'_>) -> Result<PathBuf, MirrorError> {
    let name = format!("{}-mirror-{}-{}", package.name(), package.version, fingerprint(package.binary)?);
    let dir = package.binary.with_file_name(name);
    let configuration = dir.join("cli.tfrc");
    if configuration.exists() {
        return Ok(configuration);
    }
    lay(&dir, package)
}

/// The provider's binary: named by `YUBA_TOY_PROVIDER`, or beside the executable that runs (for a test, in
/// `target/<profile>/`).
pub fn provider_binary() -> Result<PathBuf, MirrorError> {
    #[expect(clippy::disallowed_methods, reason = "the one setting of a test kit, read in one place")]
    let path = std::env::var_os(BINARY_VARIABLE)
        .map_or_else(|| beside_this_executable(BINARY), |path| Ok(path.into()))?;
    present(path)
}

fn present(path: PathBuf) -> Result<PathBuf, MirrorError> {
    if path.is_file() { Ok(path) } else { Err(MirrorError::NotBuilt { path }) }
}

fn beside_this_executable(name: &str) -> Result<PathBuf, MirrorError> {
    let executable = std::env::current_exe().map_err(io_error("find", Path::new("this executable")))?;
    let mut dir = executable.parent().unwrap_or(&executable);
    if dir.ends_with("deps") || dir.ends_with("examples") {
        dir = dir.parent().unwrap_or(dir);
    }
    Ok(dir.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Size and time of a build, enough to tell one from the next.
fn fingerprint(binary: &Path) -> Result<String, MirrorError> {
    let metadata = fs::metadata(binary).map_err(io_error("look at", binary))?;
    let modified = metadata.modified().map_err(io_error("look at", binary))?;
    let nanoseconds = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(format!("{:x}-{nanoseconds:x}", metadata.len()))
}

fn lay(dir: &Path, package: &Package<'_>) -> Result<PathBuf, MirrorError> {
    let dir = &std::path::absolute(dir).map_err(io_error("resolve", dir))?;
    let Package { source, version, binary } = package;
    for registry in REGISTRIES {
        let folder = dir.join("providers").join(registry).join(source).join(version).join(platform());
        fs::create_dir_all(&folder).map_err(io_error("make", &folder))?;
        let name =
            format!("terraform-provider-{}_v{version}{}", package.name(), std::env::consts::EXE_SUFFIX);
        put(dir, &folder.join(name), |temporary| fs::copy(binary, temporary).map(drop))?;
    }
    let configuration = dir.join("cli.tfrc");
    let text = cli_configuration(&dir.join("providers"), source);
    put(dir, &configuration, |temporary| fs::write(temporary, text))?;
    Ok(configuration)
}

/// Writes a file as a whole or not at all, so that tests that lay the same mirror at once do no harm. The
/// temporary one lies in the mirror's root: the files of its packages are hashed.
fn put(root: &Path, path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), MirrorError> {
    let temporary = root.join(format!(".{}-{:?}.new", std::process::id(), std::thread::current().id()));
    write(&temporary).map_err(io_error("write", &temporary))?;
    fs::rename(&temporary, path).map_err(io_error("put in place", path))
}

/// Everything of the provider's owner comes from the mirror.
fn cli_configuration(providers: &Path, source: &str) -> String {
    let owner = source.split('/').next().unwrap_or(source);
    let path = providers.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"disable_checkpoint = true

provider_installation {{
  filesystem_mirror {{
    path    = "{path}"
    include = ["registry.terraform.io/{owner}/*", "registry.opentofu.org/{owner}/*"]
  }}
  direct {{
    exclude = ["registry.terraform.io/{owner}/*", "registry.opentofu.org/{owner}/*"]
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

    use super::{MirrorError, PROVIDER, Package, VERSION, cli_configuration, lay, platform};

    #[test]
    fn both_registries_find_the_provider() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let binary = dir.path().join("built");
        std::fs::write(&binary, "a provider").expect("written");
        let configuration = lay(&dir.path().join("mirror"), &Package::toy(&binary)).expect("laid");
        assert!(configuration.ends_with("mirror/cli.tfrc"));
        for registry in ["registry.terraform.io", "registry.opentofu.org"] {
            let package = dir.path().join("mirror/providers").join(registry).join("yuba/toy").join(VERSION);
            let provider = package.join(platform()).join(format!("terraform-provider-toy_v{VERSION}"));
            assert_eq!(std::fs::read_to_string(&provider).expect("there"), "a provider");
        }
    }

    #[test]
    fn the_configuration_names_the_mirror() {
        insta::assert_snapshot!(cli_configuration(Path::new("/m\"m/providers"), PROVIDER), @r#"
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
        insta::assert_snapshot!(error, @"there is no terraform-provider-toy at target/debug/terraform-provider-toy: run `cargo build -p yuba-toy-cloud --bins` first, or, for the toy, name one in YUBA_TOY_PROVIDER");
    }
}
