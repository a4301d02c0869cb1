//! The runner's image, as far as its Dockerfile tells: it is not built here.

use std::path::Path;

use crate::kit::plans;

/// What the supervisor needs of root's powers: to give files and become another user, and to end what that user runs.
const NEEDED: [&str; 7] = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID"];

fn dockerfile() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions/runner/Dockerfile");
    let text = std::fs::read_to_string(path).expect("readable");
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// The stage that becomes the image.
fn last_stage(text: &str) -> &str {
    text.rsplit("\nFROM ").next().unwrap_or_default()
}

#[test]
fn the_image_has_what_modules_and_isolation_need_and_starts_as_root() {
    let text = dockerfile();
    let image = last_stage(&text);
    for part in ["ca-certificates", " git ", "openssh-client", "util-linux"] {
        assert!(image.contains(part), "{part}");
    }
    assert!(image.contains("\nUSER root\n"));
    assert!(image.contains("ENTRYPOINT [\"/usr/local/bin/yuba-runner\"]"));
}

#[test]
fn the_engine_is_one_version_whose_archive_is_on_the_list_that_its_makers_signed() {
    let text = dockerfile();
    assert_eq!(text.matches("ARG TOFU_VERSION=").count(), 1, "a version stands in one place");
    for part in [
        "ARG TOFU_KEY=E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80\n",
        "--verify \"$sums.gpgsig\" \"$sums\"",
        "VALIDSIG .*${TOFU_KEY}\" status",
        "'$2 == archive' \"$sums\" | sha256sum --check --strict",
        "\"-euo\", \"pipefail\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for line in text.lines().filter(|line| line.starts_with("FROM ")) {
        assert!(!line.contains(":latest") && line.contains(':') || line.contains("${"), "{line}");
    }
}

#[test]
fn a_task_keeps_the_powers_that_its_supervisor_needs_and_can_write_to_its_work_alone() {
    for definition in plans().into_iter().flat_map(|plan| plan.all("aws_ecs_task_definition")) {
        let container = &definition.document("container_definitions")[0];
        let dropped = container["linuxParameters"]["capabilities"]["drop"].as_array().expect("a list");
        assert!(NEEDED.iter().all(|power| !dropped.contains(&(*power).into())), "{}", definition.address);
        assert_eq!((&container["user"], &container["readonlyRootFilesystem"]), (&"0".into(), &true.into()));
        let written: Vec<_> = container["mountPoints"].as_array().expect("a list").iter().collect();
        let paths: Vec<_> =
            written.iter().map(|mount| mount["containerPath"].as_str().expect("a path")).collect();
        assert_eq!(paths, ["/work", "/tmp"]);
    }
}
