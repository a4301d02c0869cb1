//! What ECS' answers mean: whether to wait, to try again, or to give up; how a task ended.
//! <https://docs.aws.amazon.com/AmazonECS/latest/developerguide/api_failures_messages.html>

use aws_sdk_ecs::types::{Container, Failure, Task};
use yuba_core::time::Span;
use yuba_ports::Remedy;

/// When to ask again where instances are full.
const INSTANCES_FULL: Span = Span::seconds(30);
/// When to ask again where AWS has no capacity, or the account's quota is used up.
const NO_CAPACITY: Span = Span::seconds(60);

/// Why a task was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotStarted {
    /// There is no room.
    NoRoom(Span),
    /// Something is wrong.
    Wrong(Remedy),
}

/// What a reason among the answer's `failures` means.
pub(super) fn of_failure(failure: &Failure) -> NotStarted {
    let reason = failure.reason().unwrap_or_default();
    if reason.starts_with("RESOURCE") {
        return NotStarted::NoRoom(INSTANCES_FULL);
    }
    if reason.contains("Capacity is unavailable") {
        return NotStarted::NoRoom(NO_CAPACITY);
    }
    NotStarted::Wrong(if reason == "AGENT" { Remedy::Transient } else { Remedy::Permanent })
}

/// What a refusal of the whole request means, where it says that there is no room.
pub(super) fn of_refusal(code: &str, message: &str) -> Option<Span> {
    let is_quota = code == "LimitExceededException"
        || message.contains("reached the limit on the number")
        || message.contains("Capacity is unavailable");
    is_quota.then_some(NO_CAPACITY)
}

/// How a task ended, for people: the exit code of its container, and what ECS says of it.
pub(super) fn how_it_ended(task: &Task) -> String {
    let container = task.containers().first();
    let code = container.and_then(Container::exit_code).map(|code| format!("exit code {code}"));
    let of_container = container.and_then(|container| container.reason()).map(str::to_owned);
    let of_task = task.stopped_reason().filter(|reason| *reason != "Essential container in task exited");
    let said: Vec<String> = code.into_iter().chain(of_container).chain(of_task.map(str::to_owned)).collect();
    if said.is_empty() { "not known".to_owned() } else { said.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_whether_to_wait_to_try_again_or_to_give_up() {
        let capacity = "Capacity is unavailable at this time. Please try again later or in a different availability zone";
        for (reason, expected) in [
            ("RESOURCE:MEMORY", NotStarted::NoRoom(INSTANCES_FULL)),
            ("RESOURCE:CPU", NotStarted::NoRoom(INSTANCES_FULL)),
            ("RESOURCE:ENI", NotStarted::NoRoom(INSTANCES_FULL)),
            (capacity, NotStarted::NoRoom(NO_CAPACITY)),
            ("AGENT", NotStarted::Wrong(Remedy::Transient)),
            ("ATTRIBUTE", NotStarted::Wrong(Remedy::Permanent)),
            ("LOCATION", NotStarted::Wrong(Remedy::Permanent)),
            ("MISSING", NotStarted::Wrong(Remedy::Permanent)),
            ("INACTIVE", NotStarted::Wrong(Remedy::Permanent)),
            ("", NotStarted::Wrong(Remedy::Permanent)),
        ] {
            assert_eq!(of_failure(&Failure::builder().reason(reason).build()), expected, "{reason}");
        }
    }

    #[test]
    fn a_quota_that_is_used_up_is_no_room() {
        let vcpus = "You've reached the limit on the number of vCPUs you can run concurrently";
        for (code, message, expected) in [
            ("ClientException", vcpus, Some(NO_CAPACITY)),
            ("ThrottlingException", vcpus, Some(NO_CAPACITY)),
            ("LimitExceededException", "", Some(NO_CAPACITY)),
            ("ClientException", "TaskDefinition not found.", None),
            ("ThrottlingException", "Rate exceeded", None),
        ] {
            assert_eq!(of_refusal(code, message), expected, "{code} {message}");
        }
    }

    #[test]
    fn how_a_task_ended_is_said_in_one_line() {
        let memory = "OutOfMemoryError: Container killed due to memory usage";
        let container = |code: Option<i32>, reason: Option<&str>| {
            Container::builder().set_exit_code(code).set_reason(reason.map(str::to_owned)).build()
        };
        let ended = |container, reason: Option<&str>| {
            how_it_ended(
                &Task::builder().containers(container).set_stopped_reason(reason.map(str::to_owned)).build(),
            )
        };
        let exited = Some("Essential container in task exited");
        assert_eq!(ended(container(Some(1), None), exited), "exit code 1");
        assert_eq!(ended(container(Some(137), Some(memory)), exited), format!("exit code 137, {memory}"));
        let pull = "CannotPullContainerError: not found";
        assert_eq!(ended(container(None, Some(pull)), None), pull);
        assert_eq!(how_it_ended(&Task::builder().build()), "not known");
    }
}
