//! `yuba try`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::kit::Folder;

const BACKEND: &str = "terraform {\n  required_version = \">= 1.6\"\n  backend \"s3\" {}\n}\n";
const CALL: &str = "module \"network\" {\n  source = \"../../modules/network\"\n}\n";
const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: code, namespace: infra}
spec: {url: https://git.example.com/infra, interval: 1m, ref: {branch: main}}
";

/// An engine of a known version, first on the PATH, so that texts are the same on each machine.
fn with_engine(folder: &Folder) -> impl FnOnce(&mut Command) + use<> {
    let bin = folder.beside("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("terraform");
    fs::write(&program, "#!/bin/sh\necho '{\"terraform_version\": \"1.11.4\"}'\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    move |command| {
        command.env("PATH", bin);
    }
}

fn try_it(folder: &Folder, arguments: &[&str]) -> String {
    folder.yuba_with(&[&["try"], arguments].concat(), with_engine(folder))
}

/// The lines after a text, without their indentation.
fn after(said: &str, text: &str) -> String {
    let rest = said.split_once(text).unwrap().1;
    rest.trim_start().lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn stack(name: &str, path: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\nmetadata: {{name: {name}, namespace: infra}}
spec:\n  path: ./{path}\n  interval: 1h\n  sourceRef: {{kind: GitRepository, name: code}}\n{spec}"
    )
}

/// dev and prod call one module; some docs.
fn environments() -> Folder {
    let folder = Folder::repository();
    folder.write("modules/network/main.tf", "variable \"cidr\" {\n  default = \"10.0.0.0/16\"\n}\n");
    folder.write("environments/dev/main.tf", &format!("{BACKEND}{CALL}"));
    folder.write("environments/prod/main.tf", CALL);
    folder.write("README.md", "Infra\n");
    folder
}

#[test]
fn without_manifests_root_modules_are_found() {
    let folder = environments();
    folder.commit("Begin");
    folder.write("README.md", "Infrastructure\n");
    folder.commit("Explain");
    folder.write("modules/network/main.tf", "variable \"cidr\" {}\n");
    folder.commit("Ask for the range");
    insta::assert_snapshot!(try_it(&folder, &["."]), @"
    FOLDER at 142c3eff3e: 2 stacks (no manifests; each root module that was found is taken as one)
    On the PATH: terraform 1.11.4

    STACK               ENGINE             WANTED                      BACKEND
    environments/dev    terraform 1.11.4   >= 1.6 (required_version)   s3 (code)
    environments/prod   terraform 1.11.4   any                         none

    Without a backend: environments/prod. The state would be kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan would wait for `yuba adopt`, since the real state may lie elsewhere.

    What the last 3 commits would have planned:
    142c3eff3e Ask for the range
        environments/dev
            modules/network/main.tf modified (module ../../modules/network, called from environments/dev/main.tf)
        environments/prod
            modules/network/main.tf modified (module ../../modules/network, called from environments/prod/main.tf)
    66abe07f82 Explain
        nothing: no plan depends on what changed in README.md
    d55ef3640a Begin
        environments/dev
            the root module is new
        environments/prod
            the root module is new

    No problems.

    Only commits were read: nothing was changed, locked or run, and uncommitted files were not looked at.
    ");
}

#[test]
fn manifests_say_what_the_stacks_are_and_wait_for() {
    let folder = environments();
    let elsewhere = stack("dns", "zones", "").replace("name: code", "name: dns");
    let dev = stack("dev", "environments/dev", "  approvePlan: auto\n");
    folder.write("flux/all.yaml", &[SOURCE, &dev, &elsewhere].concat());
    folder.write("flux/dns.yaml", &SOURCE.replace("name: code", "name: dns").replace("/infra,", "/dns,"));
    folder.commit("Begin");
    let prod =
        stack("prod", "environments/prod", "  targets: [module.network]\n  vars: [{name: a, value: 1}]\n");
    folder.write("flux/all.yaml", &[SOURCE, &dev, &prod, &elsewhere].concat());
    folder.commit("Add prod");
    let prod = prod.replace("value: 1", "value: 2");
    folder.write("flux/all.yaml", &[SOURCE, &dev, &prod, &elsewhere].concat());
    folder.commit("Count to two");
    let dev = dev.replace("auto", "manual");
    folder.write("flux/all.yaml", &[SOURCE, &dev, &prod, &elsewhere].concat());
    folder.commit("Ask before dev");
    insta::assert_snapshot!(try_it(&folder, &["."]), @"
    FOLDER at 75b058b60a: 2 stacks (from its manifests)
    On the PATH: terraform 1.11.4

    STACK        PATH                ENGINE             WANTED                      BACKEND
    infra/dev    environments/dev    terraform 1.11.4   >= 1.6 (required_version)   s3 (code)
    infra/prod   environments/prod   terraform 1.11.4   any                         none

    Not applied yet:
        infra/prod: spec.targets
        infra/prod would be planned only: the manifest uses what is not applied yet: spec.targets

    Without a backend: infra/prod. The state would be kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan would wait for `yuba adopt`, since the real state may lie elsewhere.

    Code in another repository (try it there):
        infra/dns (infra/dns, https://git.example.com/dns)

    What the last 4 commits would have planned:
    75b058b60a Ask before dev
        nothing: no plan depends on what changed in flux/all.yaml
    b9143ebd24 Count to two
        infra/prod
            flux/all.yaml modified (vars)
    04e4a1a556 Add prod
        infra/prod
            the stack is new: flux/all.yaml
    6ad007b4b6 Begin
        infra/dev
            the stack is new: flux/all.yaml

    No problems.
    Manifests: 3 warnings; `yuba validate` shows them.

    Only commits were read: nothing was changed, locked or run, and uncommitted files were not looked at.
    ");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let folder = Folder::repository();
    folder.write(
        "a/main.tf",
        "terraform {\n  required_version = \">= 1.12\"\n}\nmodule \"m\" {\n  source = \"../gone\"\n}\n",
    );
    folder.write("b/main.tf", "locals {\n  a = = 1\n}\n");
    folder.write("c/main.tofu", "locals {}\n");
    std::os::unix::fs::symlink("/etc", folder.path().join("c/out")).unwrap();
    folder.commit("Begin");
    let said = try_it(&folder, &["."]);
    insta::assert_snapshot!(after(&said, "Problems:"), @r#"
    a: gone: the module does not exist; it is called from a/main.tf
    a: terraform 1.11.4 does not fulfil required_version ">= 1.12"
    b: b/main.tf:2: does not parse: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit
    c: c/out: the link leaves the repository (to `/etc`), so it is not packed; remove it, or link to a path that exists inside
    c: it has .tofu files, which terraform does not read

    Only commits were read: nothing was changed, locked or run, and uncommitted files were not looked at.
    "#);
}

#[test]
fn a_directory_narrows_and_json_is_whole() {
    let folder = environments();
    folder.commit("Begin");
    let said = try_it(&folder, &["environments/dev", "-o", "json", "--commits", "1"]);
    insta::assert_snapshot!(said, @r#"
    {
      "path": "FOLDER/environments/dev",
      "head": "d55ef3640a00fe138795b187c916ff5538261318",
      "from": "root-modules",
      "engines": [
        "terraform 1.11.4"
      ],
      "items": [
        {
          "name": "environments/dev",
          "path": "environments/dev",
          "engine": "terraform 1.11.4",
          "engineWanted": [
            ">= 1.6 (required_version)"
          ],
          "backend": {
            "from": "code",
            "type": "s3"
          },
          "notAppliedYet": [],
          "plannedOnly": null,
          "problems": []
        }
      ],
      "elsewhere": [],
      "unnamed": [],
      "notReadYet": [],
      "commits": [
        {
          "id": "d55ef3640a00fe138795b187c916ff5538261318",
          "subject": "Begin",
          "stacks": [
            {
              "name": "environments/dev",
              "reasons": [
                "the root module is new"
              ]
            }
          ],
          "nothing": null
        }
      ],
      "findings": []
    }
    "#);
}

#[test]
fn a_commit_that_touches_other_stacks_alone_says_so_and_what_is_not_read_yet_is_named() {
    let folder = environments();
    folder.write("atlantis.yaml", "version: 3\n");
    folder.write("environments/prod/terragrunt.hcl", "");
    folder.commit("Begin");
    folder.write("environments/prod/main.tf", &format!("{CALL}locals {}\n", "{}"));
    folder.commit("Prod alone");
    let said = try_it(&folder, &["environments/dev", "--commits", "1"]);
    assert!(said.contains("Prod alone\n    no stack below environments/dev; 1 stack elsewhere\n"), "{said}");
    assert!(said.contains("\nSeen, and not read yet: atlantis.yaml\n"), "{said}");
    let said = try_it(&folder, &["."]);
    assert!(
        said.contains("\nSeen, and not read yet: atlantis.yaml, environments/prod/terragrunt.hcl\n"),
        "{said}"
    );
}

#[test]
fn a_shallow_clone_says_where_it_ends_and_an_empty_one_that_it_is_empty() {
    let folder = environments();
    insta::assert_snapshot!(try_it(&folder, &["."]), @"
    error: . has no commit yet; commit something, then try again
    exit code 1
    ");
    folder.commit("Begin");
    folder.commit("Do nothing");
    let from = format!("file://{}", folder.path().display());
    let clone = Folder::new();
    clone.git(&["clone", "--quiet", "--depth=1", &from, "."]);
    let said = try_it(&clone, &["."]);
    insta::assert_snapshot!(after(&said, "planned:"), @"
    c4fca68be5 Do nothing
    cannot be told: its parent is not in this clone (fetch more of the history)

    No problems.

    Only commits were read: nothing was changed, locked or run, and uncommitted files were not looked at.
    ");
    assert!(try_it(&folder, &["."]).contains("nothing: no file differs"));
    assert!(try_it(&Folder::new(), &["."]).contains("no Git repository"));
}

#[test]
fn nothing_is_changed_also_where_nothing_can_be() {
    let folder = environments();
    folder.commit("Begin");
    folder.git(&["update-index", "--refresh"]);
    let everything = |writable: bool| {
        for entry in walkdir::WalkDir::new(folder.path()).contents_first(true) {
            let path = entry.unwrap().into_path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            let mode = if writable { mode | 0o200 } else { mode & !0o222 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    everything(false);
    let before = contents(folder.path());
    assert!(try_it(&folder, &["."]).contains("2 stacks"));
    assert_eq!(contents(folder.path()), before);
    everything(true);
}

/// Every file with what it holds and when it was last changed.
fn contents(dir: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let read = |path: &Path| fs::read(path).unwrap_or_default();
    entries
        .map(|entry| {
            let changed = entry.metadata().unwrap().modified().unwrap();
            (entry.path().display().to_string(), (read(entry.path()), changed))
        })
        .collect()
}

#[test]
fn what_was_committed_first_and_what_cannot_be_read_is_said_as_it_is() {
    let folder = Folder::repository();
    folder.write("README.md", "");
    folder.commit("Say \u{1b}[31mred");
    let said = try_it(&folder, &["."]);
    assert!(said.contains("Say \\u{1b}[31mred\n    nothing: no plan depends on what it added"), "{said}");
    folder.write("providers.tf", "provider \"aws\" {}\n");
    folder.write("main.tf", "terraform {\n  backend \"s3\" {\n");
    folder.commit("Break");
    let said = try_it(&folder, &["."]);
    assert!(said.contains("unknown") && !said.contains("Without a backend"), "{said}");
    assert!(try_it(&folder, &[".", "--commits", "0"]).ends_with("exit code 64\n"));
}
