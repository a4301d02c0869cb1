//! Which places of manifests a deployment has.

use yuba_core::id::ManifestSetName;
use yuba_core::manifest_root::ManifestRoot;

use crate::settings::{Variables, list};

/// Reads `YUBA_MANIFESTS`: places in Git with commas between them, as `yuba serve --manifests` takes each.
pub fn manifests(variables: &mut Variables) -> Option<Vec<ManifestSetName>> {
    let what = "where manifests are read from, `GIT_URL[@REF][//SUBDIR]`, several with commas between them";
    variables.required("YUBA_MANIFESTS", what, |text| list(text)?.into_iter().map(in_git).collect())
}

/// No directory outlives a function's environment.
fn in_git(text: String) -> Result<ManifestSetName, String> {
    let name = ManifestSetName(text);
    match ManifestRoot::of(&name) {
        ManifestRoot::Git { .. } => Ok(name),
        ManifestRoot::Directory(path) => Err(format!("`{path}` is a directory, and functions have none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ManifestSetName>, String> {
        let mut variables = Variables::new([("YUBA_MANIFESTS".to_owned(), text.to_owned())]);
        let manifests = manifests(&mut variables);
        variables.finish(manifests).map_err(|error| error.problems.concat())
    }

    #[test]
    fn manifests_lie_in_git() {
        let (one, other) = ("https://example.com/a.git@main//flux", "git@example.com:b.git");
        let names = [one, other].map(|name| ManifestSetName(name.to_owned())).to_vec();
        assert_eq!(read(&format!("{one}, {other}")), Ok(names));
        assert!(
            read("/srv/flux").unwrap_err().contains("`/srv/flux` is a directory, and functions have none")
        );
        assert!(
            read("").unwrap_err().starts_with("YUBA_MANIFESTS is not set: where manifests are read from")
        );
    }
}
