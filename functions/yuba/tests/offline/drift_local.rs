//! `yuba drift check --local`, with the real engine. What is changed outside is told in `tests/end-to-end`.

use std::fs;

use crate::kit::Folder;

const CODE: &str =
    "variable \"size\" {\n  default = 1\n}\nresource \"terraform_data\" \"a\" {\n  input = var.size\n}\n";

/// A directory whose code has been applied, its state beside it.
fn applied() -> Folder {
    let folder = Folder::new();
    folder.write("a/main.tf", CODE);
    let data = folder.beside("data").display().to_string();
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        folder.run("terraform", &[&["-chdir=a"], arguments].concat(), &[("TF_DATA_DIR", &data)]);
    }
    folder
}

/// What was said, without the engine's version.
fn check(folder: &Folder, arguments: &[&str]) -> String {
    let said = folder.yuba(&[&["drift", "check", "--local"], arguments].concat());
    let engine = said.split_once("(terraform ").and_then(|(_, rest)| rest.split_once([')', ';']));
    engine.map_or(said.clone(), |(version, _)| said.replace(version, "1.x"))
}

#[test]
fn a_directory_that_is_as_its_code_says_has_no_drift() {
    let folder = applied();
    let before = fs::read_dir(folder.path().join("a")).unwrap().count();
    insta::assert_snapshot!(check(&folder, &["a"]), @"a: No drift (terraform 1.x)");
    assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), before);
}

#[test]
fn what_the_code_wants_is_told_apart() {
    let folder = applied();
    folder.write("a/main.tf", &CODE.replace("= 1", "= 2"));
    folder.write("b/main.tf", CODE);
    insta::assert_snapshot!(check(&folder, &["a", "b"]), @"
    a: Drift detected: 1 resource (terraform 1.x)
      What the code wants, and nothing outside explains:
        ~ terraform_data.a will be updated in place
            ~ input: 1 → 2
            ~ output: 1 → (known after apply)

    b: Drift detected: 1 resource (terraform 1.x; the state holds nothing, so it may be another state that is meant)
      What the code wants, and nothing outside explains:
        + terraform_data.a will be created
            + id: (known after apply)
            + input: 1
            + output: (known after apply)
    exit code 2
    ");
}

#[test]
fn a_directory_that_cannot_be_checked_fails_the_whole() {
    let folder = applied();
    folder.write("empty/README.md", "");
    folder.write("broken/main.tf", "resource \"terraform_data\" \"a\" {\n  nothing = 1\n}\n");
    insta::assert_snapshot!(check(&folder, &["a", "broken", "nowhere", "a/main.tf", "empty"]), @r#"
    a: No drift (terraform 1.x)

    broken: cannot be checked: main.tf:2: Unsupported argument: An argument named "nothing" is not expected here.
        Error: Unsupported argument
          on main.tf:2
        An argument named "nothing" is not expected here.

    nowhere: cannot be checked: it cannot be read: No such file or directory (os error 2)

    a/main.tf: cannot be checked: it is not a directory

    empty: cannot be checked: it holds no .tf files
    exit code 1
    "#);
}

#[test]
fn a_server_is_not_asked_and_both_at_once_are_refused() {
    let folder = Folder::new();
    assert!(folder.yuba(&["drift", "check"]).ends_with("exit code 64\n"));
    assert!(folder.yuba(&["drift", "check", "a", "--local", "b"]).ends_with("exit code 64\n"));
}
