//! What the code of a stack says of its backend, where whoever reads the manifests can see the code too.

use std::collections::BTreeSet;

use super::finding::{Finding, Place};
use super::messages;
use super::set::{ManifestSet, StackManifest};
use super::stack::StackDraft;

/// What the code of a stack says of the backend that its manifest does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeBackend {
    /// The code cannot be seen from here.
    Unseen,
    /// The code names one.
    Named,
    /// The code names none either.
    NotNamed,
}

impl ManifestSet {
    /// Settles, for stacks whose manifests name no backend, whether that is a fault: the warning goes where the code
    /// names one, and is certain where the code names none either.
    pub fn look_into_code(&mut self, look: impl Fn(&StackManifest) -> CodeBackend) {
        for stack in &self.stacks {
            let Some(gap) = &stack.backend_gap else { continue };
            match look(stack) {
                CodeBackend::Unseen => {}
                CodeBackend::Named => self.findings.retain(|finding| !warns_of(finding, gap)),
                CodeBackend::NotNamed => {
                    let warnings = self.findings.iter_mut().filter(|finding| warns_of(finding, gap));
                    warnings.for_each(|finding| finding.message = messages::no_backend_anywhere());
                }
            }
        }
    }
}

/// The places at which it was said that a manifest names no backend.
pub(super) fn backend_gaps(findings: &[Finding]) -> BTreeSet<Place> {
    findings.iter().filter(|finding| is_gap(finding)).map(|finding| finding.place.clone()).collect()
}

/// Where it was said that a stack's manifest names no backend.
pub(super) fn backend_gap(draft: &StackDraft, gaps: &BTreeSet<Place>) -> Option<Place> {
    let places = ["spec", "spec.backendConfig.customConfiguration"]
        .map(|path| draft.root.spot_of(path).in_file(&draft.file));
    places.into_iter().find(|place| gaps.contains(place))
}

fn warns_of(finding: &Finding, gap: &Place) -> bool {
    finding.place == *gap && is_gap(finding)
}

fn is_gap(finding: &Finding) -> bool {
    finding.message == messages::no_backend() || finding.message == messages::no_backend_block()
}

#[cfg(test)]
mod tests {
    use super::super::{ManifestFile, read_set, render};
    use super::*;

    fn after_looking(found: CodeBackend) -> String {
        let text = "apiVersion: yuba.dev/v1\nkind: Stack\nmetadata: {name: a, namespace: b}\nspec: {path: ./x, interval: 1h, \
                    sourceRef: {kind: GitRepository, name: s}}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: \
                    GitRepository\nmetadata: {name: s, namespace: b}\nspec: {url: https://h/r, interval: 1m}\n";
        let mut set = read_set(&[ManifestFile { path: "f".to_owned(), text: text.to_owned() }]);
        set.look_into_code(|stack| if stack.spec.path == "x" { found } else { CodeBackend::Unseen });
        render(&set.findings)
    }

    #[test]
    fn the_code_settles_whether_a_backend_is_missing() {
        insta::assert_snapshot!(after_looking(CodeBackend::Named), @"no errors, no warnings, no notices");
        insta::assert_snapshot!(after_looking(CodeBackend::NotNamed), @r"
        f:4:7: warning: spec.backendConfig: names no backend, and the code names none either; the state is kept in Yuba's data directory, and the first plan waits for `yuba adopt`
        no errors, 1 warning, no notices
        ");
        assert!(after_looking(CodeBackend::Unseen).contains("unless the code does"));
    }
}
