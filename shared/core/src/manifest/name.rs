//! Which files are read for manifests.

/// What names of files with manifests end in, in any case.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Whether a file may hold manifests, by its path below the place that is read: it ends in `.yaml`, `.yml` or `.json`, and
/// nothing on the way begins with a dot.
pub fn is_manifest_path(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        && !path.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_told_by_their_ending_and_are_not_hidden() {
        for path in ["a.yaml", "d/e f.YML", "d/a.json"] {
            assert!(is_manifest_path(path), "{path}");
        }
        for path in [".yaml", "d/.a.yaml", ".github/a.yml", "main.tf", "yaml"] {
            assert!(!is_manifest_path(path), "{path}");
        }
    }
}
