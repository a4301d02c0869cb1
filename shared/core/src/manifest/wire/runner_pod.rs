//! The pod of tofu-controller, of which the image's tag is read.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The pod that tofu-controller runs tofu in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunnerPodTemplate {
    /// Labels and annotations of the pod.
    pub metadata: Option<Value>,
    /// The pod.
    pub spec: Option<RunnerPod>,
}

/// The pod itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunnerPod {
    /// The image, whose tag names the preferred engine: `…-tofu1.6.2`, `tf-1.5.7`.
    pub image: Option<String>,
    /// Environment variables.
    pub env: Option<Vec<Value>>,
    /// Environment variables from secrets and config maps.
    pub env_from: Option<Vec<Value>>,
    /// Where the pod may run.
    pub node_selector: Option<Value>,
    /// Where the pod may run.
    pub affinity: Option<Value>,
    /// Where the pod may run.
    pub tolerations: Option<Vec<Value>>,
    /// Volumes of the pod.
    pub volumes: Option<Vec<Value>>,
    /// Volumes of the container.
    pub volume_mounts: Option<Vec<Value>>,
    /// Containers that run before tofu.
    pub init_containers: Option<Vec<Value>>,
    /// Entries of `/etc/hosts`.
    pub host_aliases: Option<Vec<Value>>,
    /// The pod's priority.
    pub priority_class_name: Option<String>,
    /// The pod's rights.
    pub security_context: Option<Value>,
    /// Memory and processors.
    pub resources: Option<Value>,
}
