//! What secrets, config maps and their keys may be called: as Kubernetes has it, so that what a manifest can name can be
//! stored, and so that no name leads out of the place where they lie.
//! <https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data>

use crate::id::SecretName;

/// The longest name or key, in bytes.
const LONGEST: usize = 253;

/// Why something may not be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misnamed {
    /// The namespace or the name has other letters.
    #[error(
        "`{0}` is not a name: namespace and name are of letters, digits, `-`, `_` and `.`, and begin with a letter or digit"
    )]
    Name(String),
    /// The key is empty or has other letters.
    #[error("`{0}` is not a key: a key is of letters, digits, `-`, `_` and `.`")]
    Key(String),
}

/// Refuses a name that no manifest can have.
pub fn check_name(name: &SecretName) -> Result<(), Misnamed> {
    let fits = |text: &str| is_plain(text) && text.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if fits(&name.namespace) && fits(&name.name) {
        Ok(())
    } else {
        Err(Misnamed::Name(name.to_string().escape_debug().to_string()))
    }
}

/// Refuses a key that no secret can have.
pub fn check_key(key: &str) -> Result<(), Misnamed> {
    if is_plain(key) { Ok(()) } else { Err(Misnamed::Key(key.escape_debug().to_string())) }
}

fn is_plain(text: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else_and_a_key_is_never_empty() {
        assert_eq!(check_name(&SecretName::new("infra", "db.prod-1")), Ok(()));
        for (namespace, name) in
            [("..", "x"), ("a", "../x"), ("a", ".."), ("", "x"), ("a", "b c"), ("a", ".x")]
        {
            assert!(check_name(&SecretName::new(namespace, name)).is_err(), "{namespace} {name}");
        }
        assert_eq!(check_key("tls.crt"), Ok(()));
        assert!(check_key("").is_err() && check_key("a b").is_err() && check_key("a/b").is_err());
    }
}
