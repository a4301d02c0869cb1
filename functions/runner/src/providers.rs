//! Downloaded providers, kept between attempts in a way that parallel inits cannot spoil.
//!
//! Engines do not lock the directory of `TF_PLUGIN_CACHE_DIR` (tofu does since 1.10), and a lock around `init` is not
//! enough: without a matching checksum in the lock file the engine downloads the package again and writes it over the
//! cached one, whose binary another attempt may be running ("text file busy"). So each attempt has a cache directory of
//! its own. Before `init` it is lent those packages, as symbolic links, whose checksum the lock file holds: the engine
//! takes them as they are and never writes to them. After `init` the packages that it downloaded are moved into the
//! shared place, under their checksum, by one rename. Nothing there is ever changed.
//!
//! Where the engine runs as another user, a package is taken only if it has the checksum under which it is kept, and is root's
//! from then on: no stack can put a provider in another one's way. Engines check that checksum too before they use a package.
//!
//! A module without a lock file downloads its providers for each plan; its apply uses the plan's lock file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::code::LockedProvider;
use crate::package;
use crate::user::EngineUser;

/// The shared place and an attempt's own cache directory.
#[derive(Debug)]
pub(crate) struct ProviderCache<'a> {
    shared: Option<&'a Path>,
    own: PathBuf,
    user: EngineUser,
}

impl<'a> ProviderCache<'a> {
    /// A cache; without a shared place nothing is kept.
    pub(crate) fn new(shared: Option<&'a Path>, own: PathBuf, user: EngineUser) -> Self {
        Self { shared, own, user }
    }

    /// Lends the packages that the lock file pins. One that cannot be lent is downloaded.
    pub(crate) fn lend(&self, locked: &BTreeMap<String, LockedProvider>) {
        let Some(shared) = self.shared else { return };
        for (address, provider) in locked {
            let place = Path::new(address).join(&provider.version);
            let hashes = provider.hashes.iter().filter(|hash| hash.starts_with("h1:"));
            let lend = |hash: &String| {
                link_packages(&shared.join(&place).join(folder_of(hash)), &self.own.join(&place))
            };
            if let Err(error) = hashes.into_iter().try_for_each(lend) {
                tracing::warn!(%error, address, "a cached provider could not be lent");
            }
        }
    }

    /// Takes the packages that `init` downloaded. One that cannot be taken stays where it is.
    pub(crate) fn take(&self, locked: &BTreeMap<String, LockedProvider>) {
        let Some(shared) = self.shared else { return };
        for (address, provider) in locked {
            // With more than one checksum of this kind it cannot be told which is this platform's.
            let mut hashes = provider.hashes.iter().filter(|hash| hash.starts_with("h1:"));
            let (Some(hash), None) = (hashes.next(), hashes.next()) else { continue };
            let place = Path::new(address).join(&provider.version);
            let kept = shared.join(&place).join(folder_of(hash));
            if let Err(error) = self.move_packages(&place, &kept, hash) {
                tracing::warn!(%error, address, "a downloaded provider could not be kept");
            }
        }
    }

    /// Makes a package that another user wrote root's, if it is what it is to be kept as.
    fn settle(&self, package: &Path, hash: &str) -> io::Result<()> {
        if self.user == EngineUser::Ours {
            return Ok(());
        }
        if package::checksum(package)? != hash {
            return Err(io::Error::other(format!("{} does not have the checksum {hash}", package.display())));
        }
        package::settle(package)
    }

    /// Moves every package that lies in the own place itself to `kept`, and links it back.
    fn move_packages(&self, place: &Path, kept: &Path, hash: &str) -> io::Result<()> {
        let own = self.own.join(place);
        // Reached through a link, it would be another's place.
        if !own.is_dir() || fs::canonicalize(&own)? != fs::canonicalize(&self.own)?.join(place) {
            return Ok(());
        }
        for package in fs::read_dir(&own)? {
            let package = package?;
            let target = kept.join(package.file_name());
            // Where another attempt was faster its package stays, and this one serves its own attempt.
            if !package.file_type()?.is_dir() || target.exists() {
                continue;
            }
            self.settle(&package.path(), hash)?;
            fs::create_dir_all(kept)?;
            if keep(&package.path(), &target)? {
                symlink(&target, package.path())?;
            }
        }
        Ok(())
    }
}

/// What `rename` says where a directory that is not empty is there already: file systems may choose, rename(2).
const IS_THERE: [io::ErrorKind; 2] = [io::ErrorKind::DirectoryNotEmpty, io::ErrorKind::AlreadyExists];

/// Moves a package to where it is kept; `false` where another attempt put it there in the meantime.
fn keep(package: &Path, target: &Path) -> io::Result<bool> {
    match fs::rename(package, target) {
        Err(error) if IS_THERE.contains(&error.kind()) => Ok(false),
        moved => moved.map(|()| true),
    }
}

/// Links every package in `kept` into `own`; nothing happens where there is none.
fn link_packages(kept: &Path, own: &Path) -> io::Result<()> {
    if !kept.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(own)?;
    for package in fs::read_dir(kept)? {
        let package = package?;
        symlink(package.path(), own.join(package.file_name()))?;
    }
    Ok(())
}

/// A checksum as a folder's name: base64 holds slashes.
fn folder_of(hash: &str) -> String {
    hash.replace('/', "_").replace(':', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(hashes: &[&str]) -> BTreeMap<String, LockedProvider> {
        let hashes = hashes.iter().map(|hash| (*hash).to_owned()).collect();
        [("host/a/b".to_owned(), LockedProvider { version: "1.0.0".to_owned(), hashes })].into()
    }

    #[test]
    fn a_package_that_another_attempt_kept_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [mine, theirs] = ["mine", "theirs"].map(|name| folder.path().join(name));
        for (package, content) in [(&mine, "1"), (&theirs, "2")] {
            fs::create_dir(package).unwrap();
            fs::write(package.join("provider"), content).unwrap();
        }
        assert!(!keep(&mine, &theirs).unwrap());
        assert_eq!(fs::read_to_string(theirs.join("provider")).unwrap(), "2");
        assert!(keep(&mine, &folder.path().join("new")).unwrap());
    }

    #[test]
    fn a_package_is_taken_once_and_lent_to_whoever_pins_its_checksum() {
        let shared = tempfile::tempdir().unwrap();
        let package = Path::new("host/a/b/1.0.0/linux_amd64");
        for content in ["first", "second"] {
            let own = tempfile::tempdir().unwrap();
            fs::create_dir_all(own.path().join(package)).unwrap();
            fs::write(own.path().join(package).join("provider"), content).unwrap();
            let cache = ProviderCache::new(Some(shared.path()), own.path().to_owned(), EngineUser::Ours);
            cache.take(&locked(&["h1:x/y=", "zh:z"]));
            assert_eq!(fs::read_to_string(own.path().join(package).join("provider")).unwrap(), content);
        }
        let lent = |hash: &str| {
            let own = tempfile::tempdir().unwrap();
            ProviderCache::new(Some(shared.path()), own.path().to_owned(), EngineUser::Ours)
                .lend(&locked(&[hash]));
            fs::read_to_string(own.path().join(package).join("provider")).ok()
        };
        assert_eq!(lent("h1:x/y="), Some("first".to_owned()));
        assert_eq!(lent("h1:other"), None);
    }

    #[test]
    fn a_package_that_another_user_made_is_kept_under_its_true_checksum_alone() {
        let shared = tempfile::tempdir().unwrap();
        let package = Path::new("host/a/b/1.0.0/linux_amd64");
        let offer = |content: &str, hash: &str| {
            let own = tempfile::tempdir().unwrap();
            fs::create_dir_all(own.path().join(package)).unwrap();
            fs::write(own.path().join(package).join("provider"), content).unwrap();
            let user = EngineUser::Own { id: 0x7000_0009, setpriv: "" };
            ProviderCache::new(Some(shared.path()), own.path().to_owned(), user).take(&locked(&[hash]));
        };
        // Of a package whose file `provider` holds `good`, by `sha256sum`.
        let true_one = "h1:0hxsU8d2Je6c9m2TMYnuQ6M70segozb6G+stdQ9+b8Y=";
        offer("evil", true_one);
        let kept = |hash: &str| {
            shared.path().join("host/a/b/1.0.0").join(folder_of(hash)).join("linux_amd64/provider")
        };
        assert!(!kept(true_one).exists());
        offer("good", true_one);
        assert_eq!(fs::read_to_string(kept(true_one)).unwrap(), "good");
    }
}
