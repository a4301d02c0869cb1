//! Charts of Helm among manifests. What Helm fills in is no manifest before it has, and is told instead of read.

use std::collections::BTreeSet;

use super::document::Identity;
use super::messages;
use super::set::ManifestFile;

/// The file that makes a directory a chart.
const CHART: &str = "Chart.yaml";

/// Where a chart's templates lie, below it.
const TEMPLATES: &str = "templates";

/// API groups of Yuba and of what it reads of Flux's.
const GROUPS: [&str; 4] =
    ["yuba.dev/", "infra.contrib.fluxcd.io/", "source.toolkit.fluxcd.io/", "notification.toolkit.fluxcd.io/"];

/// Their kinds.
const KINDS: [&str; 7] = ["Stack", "Terraform", "GitRepository", "Context", "Policy", "Team", "Freeze"];

/// The charts in a set of files, by directory; empty for the one at the top.
pub(super) struct Charts<'files>(BTreeSet<&'files str>);

impl<'files> Charts<'files> {
    /// Finds them.
    pub(super) fn of(files: &'files [ManifestFile]) -> Self {
        Self(files.iter().filter_map(|file| chart(&file.path)).collect())
    }

    /// Why a file is not read, where it belongs to a chart.
    pub(super) fn claim(&self, file: &ManifestFile) -> Option<String> {
        if chart(&file.path).is_some() {
            return Some(messages::chart());
        }
        let above = file.path.match_indices('/').filter_map(|(end, _)| file.path.get(..end));
        let mut charts = above.filter(|folder| name(folder) == TEMPLATES).map(parent);
        let is_template = has_actions(&file.text) && charts.any(|chart| self.0.contains(chart));
        is_template.then(messages::template)
    }
}

/// Whether a text that is not YAML is a template of something that Yuba does not read. A stack is never passed over: it would
/// seem to have vanished.
pub(super) fn is_foreign_template(text: &str) -> bool {
    let is_read = GROUPS.iter().any(|group| text.contains(group))
        || KINDS.contains(&Identity::guess(text).kind.as_str());
    has_actions(text) && !is_read
}

fn has_actions(text: &str) -> bool {
    text.contains("{{")
}

/// The directory that a file makes a chart of.
fn chart(path: &str) -> Option<&str> {
    (name(path) == CHART).then(|| parent(path))
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(path: &str, text: &str) -> bool {
        let file = |path: &str, text: &str| ManifestFile { path: path.to_owned(), text: text.to_owned() };
        let files = [file("Chart.yaml", ""), file("a/b/Chart.yaml", ""), file(path, text)];
        Charts::of(&files).claim(&files[2]).is_some()
    }

    #[test]
    fn a_chart_claims_itself_and_its_templates() {
        let action = "name: {{ .Release.Name }}";
        for path in ["templates/a.yaml", "templates/b/a.yaml", "a/b/templates/c.yaml", "a/b/Chart.yaml"] {
            assert!(claimed(path, action), "{path}");
        }
        for path in ["a/templates/c.yaml", "a/b/c.yaml", "a/b/nottemplates/c.yaml", "a/b/my-Chart.yaml"] {
            assert!(!claimed(path, action), "{path}");
        }
        assert!(!claimed("templates/a.yaml", "kind: ConfigMap"), "nothing in it is filled in");
    }
}
