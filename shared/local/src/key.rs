//! The installation's key: 32 random bytes in a file of mode 0600, and what is derived from it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use crate::private;

/// Reads the key; makes it where there is none.
pub(crate) fn read_or_make(path: &Path) -> io::Result<SecretString> {
    match fs::read_to_string(path) {
        Ok(text) if text.trim().len() == 64 => Ok(SecretString::from(text.trim())),
        Ok(_) => {
            Err(io::Error::new(ErrorKind::InvalidData, "it does not hold a key of 64 hexadecimal digits"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = hex::encode(rand::random::<[u8; 32]>());
            private::replace(path, key.as_bytes())?;
            Ok(SecretString::from(key))
        }
        Err(error) => Err(error),
    }
}

/// A value that nobody can make without the key, and that does not tell the key: 64 hexadecimal digits.
pub(crate) fn derive(key: &SecretString, parts: &[&[u8]]) -> String {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length (RFC 2104)")]
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes()).expect("any length is taken");
    for part in parts {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part);
    }
    hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_this_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let made = read_or_make(&path).unwrap();
        assert_eq!(read_or_make(&path).unwrap().expose_secret(), made.expose_secret());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        assert!(read_or_make(&path).is_err(), "a broken key is not replaced: tokens and digests hang on it");
    }

    #[test]
    fn what_is_derived_depends_on_where_parts_end() {
        let key = SecretString::from("key");
        assert_ne!(derive(&key, &[b"ab", b"c"]), derive(&key, &[b"a", b"bc"]));
    }
}
