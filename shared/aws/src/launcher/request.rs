//! The request that runs a task: the same, letter for letter, whenever it is made for an attempt.

use aws_sdk_ecs::Client;
use aws_sdk_ecs::operation::run_task::builders::RunTaskFluentBuilder;
use aws_sdk_ecs::types::{
    AssignPublicIp, AwsVpcConfiguration, CapacityProviderStrategyItem, ContainerOverride, KeyValuePair,
    NetworkConfiguration, PropagateTags, Tag, TaskOverride,
};
use secrecy::ExposeSecret;
use yuba_core::id::{InstallationId, Phase};
use yuba_core::task::environment as names;
use yuba_ports::{PortError, StartTask};

use crate::settings::{Variables, list, plain, url};

/// Where and how tasks run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherSettings {
    /// The cluster: name or ARN.
    pub cluster: String,
    /// The task definition: `family:revision` or ARN.
    pub definition: String,
    /// The container of the definition that is the runner.
    pub container: String,
    /// The subnets that tasks run in.
    pub subnets: Vec<String>,
    /// The security groups of tasks.
    pub security_groups: Vec<String>,
    /// Whether tasks need an address of their own to reach the internet.
    pub public_ip: PublicIp,
    /// What plans run on. Applies are never interrupted for capacity.
    pub plans: PlanCapacity,
    /// Where tasks reach the `tasks` function.
    pub tasks_url: String,
}

/// Whether tasks have a public address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PublicIp {
    /// Their subnets have a NAT gateway or endpoints.
    #[default]
    None,
    /// Their subnets are public ones.
    Assigned,
}

/// What plans run on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlanCapacity {
    /// As applies do.
    #[default]
    OnDemand,
    /// Spare capacity, which AWS may take back with two minutes' notice.
    Spot,
}

impl LauncherSettings {
    /// Reads `YUBA_ECS_CLUSTER`, `YUBA_TASK_DEFINITION`, `YUBA_TASK_SUBNETS`, `YUBA_TASK_SECURITY_GROUPS`,
    /// `YUBA_TASKS_URL`; and, if set, `YUBA_TASK_CONTAINER` (else `runner`), `YUBA_TASK_PUBLIC_IP` (else `none`),
    /// `YUBA_PLAN_CAPACITY` (else `on-demand`).
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let cluster = variables.required("YUBA_ECS_CLUSTER", "the cluster that tasks run in", plain);
        let definition =
            variables.required("YUBA_TASK_DEFINITION", "the task definition of the runner", plain);
        let container = "the container of the task definition that is the runner";
        let container = variables.optional("YUBA_TASK_CONTAINER", container, plain);
        let subnets =
            variables.required("YUBA_TASK_SUBNETS", "the subnets that tasks run in, with commas", list);
        let groups = "the security groups of tasks, with commas";
        let security_groups = variables.required("YUBA_TASK_SECURITY_GROUPS", groups, list);
        let public_ip = "whether tasks have a public address";
        let public_ip = variables.optional("YUBA_TASK_PUBLIC_IP", public_ip, PublicIp::read);
        let plans = variables.optional("YUBA_PLAN_CAPACITY", "what plans run on", PlanCapacity::read);
        let tasks_url = variables.required(names::URL, "where tasks reach the `tasks` function", url);
        Some(Self {
            cluster: cluster?,
            definition: definition?,
            container: container.unwrap_or_else(|| "runner".to_owned()),
            subnets: subnets?,
            security_groups: security_groups?,
            public_ip: public_ip.unwrap_or_default(),
            plans: plans.unwrap_or_default(),
            tasks_url: tasks_url?,
        })
    }
}

impl PublicIp {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "assigned" => Ok(Self::Assigned),
            _ => Err(format!("`{text}` is neither `none` nor `assigned`")),
        }
    }
}

impl PlanCapacity {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "on-demand" => Ok(Self::OnDemand),
            "spot" => Ok(Self::Spot),
            _ => Err(format!("`{text}` is neither `on-demand` nor `spot`")),
        }
    }
}

/// The request that runs the task of an attempt.
pub(super) fn run_task(
    client: &Client,
    settings: &LauncherSettings,
    installation: &InstallationId,
    start: &StartTask,
) -> Result<RunTaskFluentBuilder, PortError> {
    let attempt = start.attempt.to_string();
    let tag = |key: &str, value: &str| Tag::builder().key(key).value(value).build();
    Ok(client
        .run_task()
        .cluster(&settings.cluster)
        .task_definition(&settings.definition)
        .count(1)
        .client_token(&attempt)
        .started_by(&attempt)
        .tags(tag("yuba:installation", &installation.to_string()))
        .tags(tag("yuba:run", &start.attempt.run.to_string()))
        .tags(tag("yuba:attempt", &attempt))
        .propagate_tags(PropagateTags::TaskDefinition)
        .capacity_provider_strategy(capacity(settings, start.attempt.phase)?)
        .network_configuration(network(settings)?)
        .overrides(overrides(settings, start)))
}

fn capacity(settings: &LauncherSettings, phase: Phase) -> Result<CapacityProviderStrategyItem, PortError> {
    CapacityProviderStrategyItem::builder()
        .capacity_provider(provider(settings.plans, phase))
        .build()
        .map_err(unbuilt)
}

/// The capacity provider for a phase.
fn provider(plans: PlanCapacity, phase: Phase) -> &'static str {
    match (plans, phase) {
        (PlanCapacity::Spot, Phase::Plan) => "FARGATE_SPOT",
        (PlanCapacity::OnDemand, Phase::Plan) | (_, Phase::Apply) => "FARGATE",
    }
}

fn network(settings: &LauncherSettings) -> Result<NetworkConfiguration, PortError> {
    let public_ip = match settings.public_ip {
        PublicIp::None => AssignPublicIp::Disabled,
        PublicIp::Assigned => AssignPublicIp::Enabled,
    };
    let vpc = AwsVpcConfiguration::builder()
        .set_subnets(Some(settings.subnets.clone()))
        .set_security_groups(Some(settings.security_groups.clone()))
        .assign_public_ip(public_ip)
        .build()
        .map_err(unbuilt)?;
    Ok(NetworkConfiguration::builder().awsvpc_configuration(vpc).build())
}

/// What the task is told: whom to ask what it is to do. ECS takes 8,192 characters of it at most, and what is to be done
/// has no such bound.
fn overrides(settings: &LauncherSettings, start: &StartTask) -> TaskOverride {
    let attempt = start.attempt.to_string();
    let variables = [
        (names::URL, settings.tasks_url.as_str()),
        (names::TOKEN, start.token.expose_secret()),
        (names::ATTEMPT, &attempt),
    ];
    let pair = |(name, value): (&str, &str)| KeyValuePair::builder().name(name).value(value).build();
    let runner = ContainerOverride::builder()
        .name(&settings.container)
        .set_environment(Some(variables.map(pair).to_vec()))
        .build();
    TaskOverride::builder().container_overrides(runner).build()
}

fn unbuilt(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PortError {
    PortError::permanent("the request for a task could not be built").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apply_never_runs_on_spot() {
        assert_eq!(provider(PlanCapacity::Spot, Phase::Plan), "FARGATE_SPOT");
        assert_eq!(provider(PlanCapacity::Spot, Phase::Apply), "FARGATE");
        assert_eq!(provider(PlanCapacity::OnDemand, Phase::Plan), "FARGATE");
        assert_eq!(provider(PlanCapacity::OnDemand, Phase::Apply), "FARGATE");
    }

    #[test]
    fn all_settings_that_are_missing_are_told() {
        let mut variables = Variables::new([("YUBA_PLAN_CAPACITY".to_owned(), "cheap".to_owned())]);
        let settings = LauncherSettings::read(&mut variables);
        let problems = variables.finish(settings).unwrap_err().problems;
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.contains("`cheap` is neither")), "{problems:?}");
    }
}
