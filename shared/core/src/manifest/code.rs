//! What the code of a stack says of its backend, where whoever reads the manifests can see the code too.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, Place, Severity};
use super::messages;
use super::set::{ManifestSet, StackManifest};
use super::stack::StackDraft;
use crate::id::SourceName;
use crate::spec::StackSpec;
use crate::state_address::{CodeBackend, StateAddress, state_address};

impl ManifestSet {
    /// Settles what the manifests leave open: whether a backend is missing (the warning goes where the code names one,
    /// and is certain where the code names none either), and whether two stacks of one source have one state.
    pub fn look_into_code(&mut self, look: impl Fn(&StackManifest) -> CodeBackend) {
        let seen: Vec<(StackManifest, CodeBackend)> =
            self.stacks.iter().map(|stack| (stack.clone(), look(stack))).collect();
        for (stack, code) in &seen {
            self.settle_backend(stack, code);
        }
        self.settle_shared_paths(&seen);
        self.settle_shared_states(&seen);
        self.findings.sort_by(|one, other| (&one.place, one.severity).cmp(&(&other.place, other.severity)));
    }

    fn settle_backend(&mut self, stack: &StackManifest, code: &CodeBackend) {
        let Some(gap) = &stack.backend_gap else { return };
        match code {
            CodeBackend::Unseen => {}
            CodeBackend::Named(block) if block.lies_beside_the_code(&stack.spec.workspace) => {
                self.settle_gap(stack, gap, (Severity::Warning, messages::backend_beside_the_code()));
            }
            CodeBackend::Named(_) => self.findings.retain(|finding| !warns_of(finding, gap)),
            CodeBackend::NotNamed => {
                let by_choice = stack.spec.state_is_new;
                let severity = if by_choice { Severity::Notice } else { Severity::Warning };
                self.settle_gap(stack, gap, (severity, messages::no_backend_anywhere()));
            }
        }
    }

    fn settle_gap(&mut self, stack: &StackManifest, gap: &Place, (severity, message): (Severity, String)) {
        let of_new = stack.spec.state_is_new.then(|| messages::of_new_state(&message)).flatten();
        let message = of_new.unwrap_or(message);
        for finding in self.findings.iter_mut().filter(|finding| warns_of(finding, gap)) {
            finding.severity = severity;
            finding.message.clone_from(&message);
        }
    }

    /// Says nothing of missing backends: only the code can tell, and whoever plans it will.
    pub fn leave_backends_to_plans(&mut self) {
        self.findings.retain(|finding| !is_gap(finding));
    }

    /// That stacks of one path may share a state is in doubt only where the address of one of them is not known.
    fn settle_shared_paths(&mut self, seen: &[(StackManifest, CodeBackend)]) {
        let key = |stack: &StackManifest| {
            let StackSpec { source, path, workspace, .. } = &stack.spec;
            (source.clone(), path.clone(), workspace.clone())
        };
        let in_doubt: BTreeSet<_> = seen
            .iter()
            .filter(|(stack, code)| matches!(state_address(&stack.spec, code), StateAddress::Perhaps(_)))
            .map(|(stack, _)| key(stack))
            .collect();
        for (stack, _) in seen.iter().filter(|(stack, _)| !in_doubt.contains(&key(stack))) {
            let doubt = messages::perhaps_same_state(&stack.name.to_string(), &stack.place);
            self.findings.retain(|finding| finding.message != doubt);
        }
    }

    /// Stacks of different sources are not compared: that the code of both is at hand is not certain.
    fn settle_shared_states(&mut self, seen: &[(StackManifest, CodeBackend)]) {
        let mut owners: BTreeMap<(SourceName, String), Vec<&StackManifest>> = BTreeMap::new();
        for (stack, code) in seen {
            let address = state_address(&stack.spec, code);
            if let Some(place) = address.place() {
                owners.entry((stack.spec.source.clone(), place.to_owned())).or_default().push(stack);
            }
        }
        let shared = owners.iter().flat_map(|((_, address), stacks)| shared(address, stacks));
        self.findings.extend(shared);
    }
}

/// What is to be said of stacks that have one address; nothing of a single one.
fn shared(address: &str, stacks: &[&StackManifest]) -> Vec<Finding> {
    let fault = |stack: &&StackManifest| {
        let other = stacks.iter().find(|other| other.name != stack.name)?;
        let place = stack.backend_gap.as_ref().unwrap_or(&stack.place).clone();
        let message = messages::same_state_in_code(&other.name.to_string(), &other.place, address);
        Some(Finding { severity: Severity::Error, place, message })
    };
    stacks.iter().filter_map(fault).collect()
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
    let no_backend = messages::no_backend();
    finding.message == no_backend
        || messages::of_new_state(&no_backend).as_ref() == Some(&finding.message)
        || finding.message == messages::no_backend_block()
}

#[cfg(test)]
mod tests {
    use super::super::{ManifestFile, read_set, render};
    use super::*;
    use crate::state_address::BackendBlock;

    fn stack(name: &str, path: &str) -> String {
        format!(
            "apiVersion: yuba.dev/v1\nkind: Stack\nmetadata: {{name: {name}, namespace: b}}\nspec: {{path: {path}, \
             interval: 1h, sourceRef: {{kind: GitRepository, name: s}}}}\n---\n"
        )
    }

    fn after_looking(stacks: &str, look: impl Fn(&StackManifest) -> CodeBackend) -> String {
        let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s, namespace: b}\nspec: \
                      {url: https://h/r, interval: 1m}\n";
        let text = format!("{stacks}{source}");
        let mut set = read_set(&[ManifestFile { path: "f".to_owned(), text }]);
        set.look_into_code(look);
        render(&set.findings)
    }

    fn s3(key: &str) -> CodeBackend {
        let settings = [("bucket", "b"), ("key", key)];
        let settings = settings.map(|(name, text)| (name.to_owned(), Some(text.to_owned())));
        CodeBackend::Named(BackendBlock::new("s3", settings))
    }

    #[test]
    fn the_code_settles_whether_a_backend_is_missing() {
        insta::assert_snapshot!(after_looking(&stack("a", "x"), |_| s3("k")), @"no errors, no warnings, no notices");
        insta::assert_snapshot!(after_looking(&stack("a", "x"), |_| CodeBackend::NotNamed), @r"
        f:4:7: warning: spec.backendConfig: names no backend, and the code names none either; the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
        no errors, 1 warning, no notices
        ");
        let beside = |_: &StackManifest| CodeBackend::Named(BackendBlock::new("local", []));
        insta::assert_snapshot!(after_looking(&stack("a", "x"), beside), @r"
        f:4:7: warning: spec.backendConfig: the local backend has no absolute path, so its state would vanish with the run; the state is kept in Yuba's data directory, and the first plan waits for `yuba adopt`
        no errors, 1 warning, no notices
        ");
        assert!(after_looking(&stack("a", "x"), |_| CodeBackend::Unseen).contains("unless the code does"));
    }

    #[test]
    fn that_the_first_plan_waits_is_said_only_where_it_does() {
        let new =
            stack("a", "x").replace("namespace: b}", "namespace: b, annotations: {yuba.dev/state: new}}");
        insta::assert_snapshot!(after_looking(&new, |_| CodeBackend::Unseen), @r"
        f:4:7: notice: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and begins empty (`yuba.dev/state: new`)
        no errors, no warnings, 1 notice
        ");
        insta::assert_snapshot!(after_looking(&new, |_| CodeBackend::NotNamed), @r"
        f:4:7: notice: spec.backendConfig: names no backend, and the code names none either; the state is kept in Yuba's data directory, and begins empty (`yuba.dev/state: new`)
        no errors, no warnings, 1 notice
        ");
        let beside = |_: &StackManifest| CodeBackend::Named(BackendBlock::new("local", []));
        insta::assert_snapshot!(after_looking(&new, beside), @r"
        f:4:7: warning: spec.backendConfig: the local backend has no absolute path, so its state would vanish with the run; the state is kept in Yuba's data directory, and begins empty (`yuba.dev/state: new`)
        no errors, 1 warning, no notices
        ");
    }

    #[test]
    fn whoever_only_reads_manifests_may_leave_it_to_the_plans_whether_a_backend_is_missing() {
        let text = stack("a", "x");
        let mut set = read_set(&[ManifestFile { path: "f".to_owned(), text }]);
        let missing = |set: &ManifestSet| render(&set.findings).contains("names no backend");
        assert!(missing(&set));
        set.leave_backends_to_plans();
        assert!(!missing(&set));
    }

    #[test]
    fn the_code_settles_whether_two_stacks_have_one_state() {
        let two = stack("a", "x") + &stack("b", "x");
        assert!(after_looking(&two, |_| CodeBackend::Unseen).contains("they may share one state"));
        assert!(
            !after_looking(&two, |_| CodeBackend::NotNamed).contains("share one state"),
            "each has its own"
        );
        insta::assert_snapshot!(after_looking(&two, |_| s3("k")), @r"
        f:4:7: error: spec.path: by what the code names, the state (s3 bucket=b key=k, workspace default) is that of stack `b/b` too (f:6:1); each stack needs its own, and neither would be applied
        f:9:7: error: spec.path: by what the code names, the state (s3 bucket=b key=k, workspace default) is that of stack `b/a` too (f:1:1); each stack needs its own, and neither would be applied
        2 errors, no warnings, no notices
        ");
        let apart = stack("a", "x") + &stack("b", "y");
        insta::assert_snapshot!(
            after_looking(&apart, |stack| s3(&stack.spec.path)),
            @"no errors, no warnings, no notices"
        );
        assert_eq!(after_looking(&apart, |_| s3("k")).matches("neither would be applied").count(), 2);
    }
}
