//! Which kind of document this is: by `apiVersion` and `kind` alone.

use super::fields::Since;
use super::finding::{Severity, Spot};
use super::messages;
use super::report::Report;
use super::yaml::Node;

/// What is done with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `Terraform` or `Stack`.
    Stack(Since),
    /// `GitRepository`.
    Source,
    /// `ServiceAccount`.
    ServiceAccount,
    /// `ConfigMap`.
    ConfigMap,
    /// `Secret`.
    Secret,
    /// `Provider`.
    Provider,
    /// `Alert`.
    Alert,
    /// `Context`: does not work yet.
    Context,
    /// `Team`: a faulty one holds the whole set back.
    Team,
    /// `Freeze`: a faulty one holds the whole set back.
    Freeze,
    /// `Policy` or `Freeze`: does not work yet; a faulty one holds the whole set back.
    Restriction,
    /// A list of documents, as `kubectl get -o yaml` writes it.
    List,
    /// Nothing that Yuba reads; it has been said.
    Ignored,
    /// Neither read nor ignored; it has been said why.
    Faulty,
}

const STACK: &str = "yuba.dev/v1";
const TERRAFORM: &[&str] = &["infra.contrib.fluxcd.io/v1alpha2", "infra.contrib.fluxcd.io/v1alpha1"];
const SOURCE: &[&str] =
    &["source.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1beta1"];
const NOTIFICATION: &[&str] = &[
    "notification.toolkit.fluxcd.io/v1",
    "notification.toolkit.fluxcd.io/v1beta3",
    "notification.toolkit.fluxcd.io/v1beta2",
    "notification.toolkit.fluxcd.io/v1beta1",
];
/// Kinds of Flux's source controller that Yuba does not read.
const OTHER_SOURCES: &[&str] =
    &["HelmRepository", "HelmChart", "OCIRepository", "Bucket", "ExternalArtifact", "ArtifactGenerator"];
/// Groups that belong to Flux's own installation as a whole.
const FLUX_GROUPS: &[&str] = &[
    "helm.toolkit.fluxcd.io",
    "kustomize.toolkit.fluxcd.io",
    "image.toolkit.fluxcd.io",
    "kustomize.config.k8s.io",
];

/// Says what a document is; where that is nothing Yuba reads, it is reported.
pub(super) fn classify(root: &Node, report: &mut Report<'_>) -> Class {
    let (api_version, kind) = match (root.text("apiVersion"), root.text("kind")) {
        (Some(api_version), Some(kind)) => (api_version, kind),
        (None, None) => return said(report, Severity::Notice, root.spot, messages::no_kind()),
        (given, _) => {
            let field = if given.is_none() { "apiVersion" } else { "kind" };
            return said(report, Severity::Error, root.spot, messages::half_a_kind(field));
        }
    };
    let header = Header { root, api_version, kind };
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    match group {
        "" => header.of_kubernetes(report),
        "yuba.dev" => header.of_yuba(report),
        "infra.contrib.fluxcd.io" => header.of_terraform(report),
        "source.toolkit.fluxcd.io" => header.of_sources(report),
        "notification.toolkit.fluxcd.io" => header.of_notification(report),
        _ if FLUX_GROUPS.contains(&group) => header.flux(report),
        _ => header.foreign(report),
    }
}

fn said(report: &mut Report<'_>, severity: Severity, spot: Spot, message: String) -> Class {
    report.say(severity, spot, message);
    if severity == Severity::Error { Class::Faulty } else { Class::Ignored }
}

struct Header<'document> {
    root: &'document Node,
    api_version: &'document str,
    kind: &'document str,
}

impl Header<'_> {
    fn name(&self) -> &str {
        self.root.get("metadata").and_then(|metadata| metadata.text("name")).unwrap_or("?")
    }

    fn flux(&self, report: &mut Report<'_>) -> Class {
        let message = messages::ignored_of_flux(self.kind, self.name());
        said(report, Severity::Notice, self.root.spot, message)
    }

    fn of_kubernetes(&self, report: &mut Report<'_>) -> Class {
        match self.kind {
            "ServiceAccount" => Class::ServiceAccount,
            "ConfigMap" => Class::ConfigMap,
            "Secret" => Class::Secret,
            "List" => Class::List,
            _ => self.foreign(report),
        }
    }

    fn of_yuba(&self, report: &mut Report<'_>) -> Class {
        const KINDS: &[&str] = &["Stack", "Context", "Policy", "Team", "Freeze"];
        let class = match self.kind {
            "Stack" => Class::Stack(Since::Stack),
            "Context" => Class::Context,
            "Team" => Class::Team,
            "Freeze" => Class::Freeze,
            "Policy" => Class::Restriction,
            _ => return self.unknown_kind(KINDS, report),
        };
        self.in_version(&[STACK], class, report)
    }

    fn of_terraform(&self, report: &mut Report<'_>) -> Class {
        if self.kind != "Terraform" {
            return self.unknown_kind(&["Terraform"], report);
        }
        let old = self.api_version.ends_with("/v1alpha1");
        self.in_version(TERRAFORM, Class::Stack(if old { Since::V1Alpha1 } else { Since::V1Alpha2 }), report)
    }

    fn of_sources(&self, report: &mut Report<'_>) -> Class {
        match self.kind {
            "GitRepository" => self.in_version(SOURCE, Class::Source, report),
            kind if OTHER_SOURCES.contains(&kind) => self.flux(report),
            _ => self.unknown_kind(&["GitRepository"], report),
        }
    }

    fn of_notification(&self, report: &mut Report<'_>) -> Class {
        match self.kind {
            "Provider" => self.in_version(NOTIFICATION, Class::Provider, report),
            "Alert" => self.in_version(NOTIFICATION, Class::Alert, report),
            "Receiver" => {
                said(report, Severity::Notice, self.root.spot, messages::ignored_receiver(self.name()))
            }
            _ => self.unknown_kind(&["Provider", "Alert", "Receiver"], report),
        }
    }

    fn in_version(&self, known: &[&str], class: Class, report: &mut Report<'_>) -> Class {
        if known.contains(&self.api_version) {
            return class;
        }
        let message = messages::wrong_version(self.api_version, self.kind, known);
        said(report, Severity::Error, self.root.spot_of("apiVersion"), message);
        Class::Faulty
    }

    fn unknown_kind(&self, known: &[&str], report: &mut Report<'_>) -> Class {
        let message = messages::wrong_kind(self.api_version, self.kind, known);
        said(report, Severity::Error, self.root.spot_of("kind"), message)
    }

    /// A kind of some other software; or one of ours under a group that is misspelt.
    fn foreign(&self, report: &mut Report<'_>) -> Class {
        let homes: &[&str] = match self.kind {
            "Terraform" => TERRAFORM,
            "GitRepository" => SOURCE,
            "Stack" | "Policy" | "Team" | "Freeze" | "Context" => &[STACK],
            _ => &[],
        };
        if messages::nearest(self.api_version, homes).is_some() {
            let message = messages::wrong_group(self.api_version, self.kind, homes);
            return said(report, Severity::Error, self.root.spot_of("apiVersion"), message);
        }
        let flux = self.kind == "Namespace" || self.kind == "CustomResourceDefinition";
        if flux {
            return self.flux(report);
        }
        let message = messages::ignored_kind(self.api_version, self.kind, self.name());
        said(report, Severity::Notice, self.root.spot, message)
    }
}
