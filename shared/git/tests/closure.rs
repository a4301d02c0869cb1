//! Which stacks a change touches, and why; over repositories made by the real git.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use std::collections::BTreeMap;

use kit::Origin;
use yuba_core::id::StackName;
use yuba_git::Repository;
use yuba_git::closure::{ClosureProblem, Closures, Index, StackPaths};

/// Stacks of one source, named by their directory.
struct World {
    origin: Origin,
    stacks: BTreeMap<StackName, StackPaths>,
}

fn name(path: &str) -> StackName {
    StackName::new("default", path.replace('/', "-"))
}

impl World {
    fn new(stacks: &[&str], files: &[(&str, &str)]) -> Self {
        let mut world = Self { origin: Origin::with(files), stacks: BTreeMap::new() };
        for path in stacks {
            world.stack(StackPaths { path: (*path).to_owned(), ..StackPaths::default() });
        }
        world
    }

    fn stack(&mut self, paths: StackPaths) {
        self.stacks.insert(name(&paths.path), paths);
    }

    fn repository(&self) -> Repository {
        Repository::discover(&self.origin.path()).unwrap()
    }

    fn closures(&self) -> Closures {
        let repository = self.repository();
        let head = repository.commit(&repository.resolve("HEAD").unwrap()).unwrap();
        Index::new().closures(&repository, &head.tree, &self.stacks).unwrap()
    }

    /// Commits what `change` does and says which stacks it touches.
    fn push(&self, change: impl FnOnce(&Origin)) -> String {
        let old = self.closures();
        change(&self.origin);
        self.origin.commit("next", &[]);
        let affected = Index::affected(&self.repository(), &old, &self.closures()).unwrap();
        let lines = affected
            .iter()
            .flat_map(|(stack, paths)| paths.iter().map(move |path| format!("{}: {path}", stack.name)));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn problems(&self) -> String {
        let closures = self.closures();
        let lines = closures.by_stack.iter().flat_map(|(stack, closure)| {
            closure
                .problems
                .iter()
                .map(move |problem| format!("{}: {}: {problem}", stack.name, weight(problem)))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn weight(problem: &ClosureProblem) -> &'static str {
    if problem.is_fatal() { "fatal" } else { "notice" }
}

fn write(files: &'static [(&'static str, &'static str)]) -> impl FnOnce(&Origin) {
    |origin| origin.write(files)
}

const CALL_A: &str = "module \"a\" {\n  source = \"./modules/a\"\n}\n";

#[test]
fn a_module_below_the_stack_touches_it() {
    let world = World::new(&["stack"], &[("stack/main.tf", CALL_A), ("stack/modules/a/variables.tf", "")]);
    insta::assert_snapshot!(world.push(write(&[("stack/modules/a/variables.tf", "#")])), @"stack: stack/modules/a/variables.tf modified (module ./modules/a, called from stack/main.tf)");
}

#[test]
fn modules_are_reached_through_modules_in_every_form() {
    let world = World::new(
        &["environments/prod", "environments/dev"],
        &[
            ("environments/prod/main.tf", "module \"net\" { source = \"../../modules/net\" }"),
            ("environments/dev/main.tf", ""),
            ("modules/net/main.tofu", "module \"x\" { source = \"../..//modules//dns/\" }"),
            ("modules/dns/main.tf.json", r#"{"module": {"y": {"source": "../base"}}}"#),
            ("modules/base/main.tofu.json", r#"{"module": {"z": {"source": "../net"}}}"#),
            ("modules/other/main.tf", ""),
        ],
    );
    insta::assert_snapshot!(world.push(write(&[("modules/base/x", "1"), ("modules/other/main.tf", "#")])), @"environments-prod: modules/base/x added (module ../base, called from modules/dns/main.tf.json)");
    insta::assert_snapshot!(world.push(write(&[("modules/net/main.tofu", "")])), @r"
    environments-prod: modules/base is reached no more (module ../base, called from modules/dns/main.tf.json)
    environments-prod: modules/dns is reached no more (module ../..//modules//dns/, called from modules/net/main.tofu)
    environments-prod: modules/net/main.tofu modified (module ../../modules/net, called from environments/prod/main.tf)
    ");
}

/// Git sorts the directory `net` behind `net-old` and `net.tf`, as if it were named `net/`.
#[test]
fn names_that_begin_alike_are_told_apart() {
    let module = "module \"old\" {\n  source = \"../modules/net-old\"\n}\n";
    let world = World::new(
        &["s", "net", "net-x"],
        &[
            ("s/main.tf", module),
            ("modules/net/main.tf", ""),
            ("modules/net-old/main.tf", ""),
            ("modules/net.tf", ""),
            ("net/main.tf", ""),
            ("net-x/main.tf", ""),
            ("net.tf", ""),
        ],
    );
    assert_eq!(world.problems(), "");
    let touched =
        world.push(write(&[("modules/net-old/main.tf", "locals {}\n"), ("net-x/main.tf", "locals {}\n")]));
    let stacks: Vec<&str> = touched.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(stacks, ["net-x", "s"], "{touched}");
    assert_eq!(world.push(write(&[("README.md", "nothing\n")])), "");
}

#[test]
fn files_of_any_kind_below_a_stack_touch_it() {
    let root = "locals { x = file(\"${path.root}/jobs/x.nomad\") }";
    let world = World::new(&["a"], &[("a/main.tf", root), ("a/jobs/x.nomad", "1"), ("a/notes/n", "1")]);
    insta::assert_snapshot!(world.push(write(&[("a/jobs/x.nomad", "2"), ("a/notes/n", "2")])), @r"
    a: a/jobs/x.nomad modified (read by file() in a/main.tf)
    a: a/notes/n modified (stack directory)
    ");
}

#[test]
fn a_file_belongs_to_its_nearest_stack() {
    let world = World::new(&["", "dev"], &[("main.tf", ""), ("dev/main.tf", ""), ("docs/a.md", "")]);
    insta::assert_snapshot!(world.push(write(&[("dev/main.tf", "#")])), @"dev: dev/main.tf modified (stack directory)");
    insta::assert_snapshot!(world.push(write(&[("docs/a.md", "#")])), @": docs/a.md modified (stack directory)");
}

#[test]
fn a_stack_added_inside_another_does_not_touch_the_outer_one() {
    let mut world = World::new(&["a"], &[("a/main.tf", ""), ("a/b/c.txt", "")]);
    let before = world.closures().by_stack[&name("a")].digest;
    world.origin.commit("inner", &[("a/b/inner/main.tf", "")]);
    assert_ne!(world.closures().by_stack[&name("a")].digest, before);
    world.stack(StackPaths { path: "a/b/inner".to_owned(), ..StackPaths::default() });
    assert_eq!(world.closures().by_stack[&name("a")].digest, before);
}

#[test]
fn a_stack_that_is_called_as_a_module_is_part_of_its_caller() {
    let call = "module \"b\" { source = \"./b\" }";
    let world = World::new(&["a", "a/b"], &[("a/main.tf", call), ("a/b/main.tf", "")]);
    insta::assert_snapshot!(world.push(write(&[("a/b/main.tf", "#")])), @r"
    a: a/b/main.tf modified (module ./b, called from a/main.tf)
    a-b: a/b/main.tf modified (stack directory)
    ");
}

#[test]
fn a_module_above_the_stack_brings_its_own_files_and_not_what_lies_beside_the_stack() {
    let world = World::new(
        &["examples/basic"],
        &[
            ("examples/basic/main.tf", "module \"all\" { source = \"../../\" }"),
            (
                "main.tf",
                "module \"sub\" { source = \"./modules/sub\" }\nlocals { t = \"${path.module}/t/x\" }",
            ),
            ("modules/sub/main.tf", ""),
            ("docs/a.md", ""),
            ("t/x", ""),
        ],
    );
    insta::assert_snapshot!(world.push(write(&[("docs/a.md", "#")])), @"");
    insta::assert_snapshot!(world.push(write(&[("main.tf", "#"), ("t/x", "#")])), @r"
    examples-basic: main.tf modified (module ../../, called from examples/basic/main.tf)
    examples-basic: modules/sub is reached no more (module ./modules/sub, called from main.tf)
    examples-basic: t/x is reached no more (path named in main.tf)
    ");
}

#[test]
fn triggers_and_tfvars_files_touch_their_stack_alone() {
    let files = [("s/main.tf", ""), ("o/main.tf", ""), ("config/env/x.yaml", ""), ("vars/p ü.tfvars", "")];
    let mut world = World::new(&["o"], &files);
    world.stack(StackPaths {
        path: "s".to_owned(),
        tf_vars_files: vec!["vars/p ü.tfvars".to_owned()],
        triggers: vec!["config/**/*.yaml".to_owned(), "shared".to_owned(), "a[".to_owned()],
    });
    let push =
        write(&[("config/env/x.yaml", "1"), ("config/y", "1"), ("vars/p ü.tfvars", "a=1"), ("shared/z", "")]);
    insta::assert_snapshot!(world.push(push), @r"
    s: config/env/x.yaml modified (trigger config/**/*.yaml)
    s: shared added (trigger shared)
    s: vars/p ü.tfvars modified (tfvars file)
    ");
    insta::assert_snapshot!(world.problems(), @"s: notice: trigger `a[` is no glob: unclosed character class; missing ']'");
}

#[test]
fn deleted_directories_outside_every_stack_are_nobodys() {
    let world = World::new(&["s1"], &[("s1/main.tf", ""), ("s1/sub/x", ""), ("docs/a.md", "")]);
    let push = |origin: &Origin| drop(origin.git(&["rm", "-r", "--quiet", "docs", "s1/sub"]));
    insta::assert_snapshot!(world.push(push), @"s1: s1/sub/x deleted (stack directory)");
}

#[test]
fn a_link_is_anchored_where_it_lies_and_its_target_is_one_more_input() {
    let world = World::new(
        &["s1"],
        &[
            ("config/common.tf", "module \"m\" { source = \"./m\" }"),
            ("config/m/main.tf", ""),
            ("s1/m/main.tf", ""),
            ("shared/dir/x", ""),
        ],
    );
    world.origin.link("s1/common.tf", "../config/common.tf");
    world.origin.link("s1/dir", "../shared/dir");
    world.origin.commit("links", &[]);
    insta::assert_snapshot!(world.push(write(&[("config/m/main.tf", "#"), ("shared/dir/x", "1")])), @"s1: shared/dir/x modified (target of the link s1/dir)");
    insta::assert_snapshot!(world.push(write(&[("config/common.tf", "")])), @"s1: config/common.tf modified (target of the link s1/common.tf)");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let world = World::new(
        &["s", "gone", "file"],
        &[
            (
                "s/main.tf",
                "module \"a\" { source = \"./none\" }\nmodule \"b\" { source = \"../../out\" }\n\
                 locals {\n  f = file(\"${path.module}/none.txt\")\n  g = fileexists(\"../no\")\n}\n",
            ),
            ("s/broken.tf", "a = 1\nb = = 2\n"),
            ("file", ""),
        ],
    );
    world.origin.link("s/loop", "loop");
    world.origin.link("s/out", "../../etc/passwd");
    world.origin.link("s/abs", "/etc/passwd");
    world.origin.link("s/dangling", "nothing");
    world.origin.commit("links", &[]);
    insta::assert_snapshot!(world.problems(), @r#"
    file: fatal: file: the stack's path is a file; `path` must name a directory
    gone: fatal: gone: the stack's directory does not exist in this revision; correct `path`
    s: fatal: ../../out: the module lies outside the repository; it is called from s/main.tf. Move it into the repository or call it by its Git address
    s: fatal: s/abs: the link leaves the repository (to `/etc/passwd`), so it is not packed; remove it, or link to a path that exists inside
    s: notice: s/broken.tf:2: does not parse: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit
    s: fatal: s/dangling: the link leads to nothing (to `nothing`), so it is not packed; remove it, or link to a path that exists inside
    s: fatal: s/loop: the link leads in a circle (to `loop`), so it is not packed; remove it, or link to a path that exists inside
    s: fatal: s/none: the module does not exist; it is called from s/main.tf
    s: notice: s/none.txt: no such file; read by file() in s/main.tf
    s: fatal: s/out: the link leaves the repository (to `../../etc/passwd`), so it is not packed; remove it, or link to a path that exists inside
    "#);
}

#[test]
fn a_module_that_was_missing_touches_its_caller_when_it_comes() {
    let world = World::new(&["s"], &[("s/main.tf", "module \"a\" { source = \"../none\" }")]);
    insta::assert_snapshot!(world.push(write(&[("none/main.tf", "")])), @"s: none added (module ../none, called from s/main.tf)");
}

#[test]
fn submodules_and_lfs_pointers_are_reported() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let world = World::new(
        &["s", "clean"],
        &[
            ("s/main.tf", ""),
            ("s/big.tpl", pointer),
            ("clean/main.tf", ""),
            (".gitattributes", "*.tpl filter=lfs"),
        ],
    );
    let head = world.origin.head();
    world.origin.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},s/vendor")]);
    world.origin.git(&["commit", "--quiet", "-m", "submodule"]);
    insta::assert_snapshot!(world.problems(), @r"
    s: fatal: s/big.tpl: a Git LFS pointer; LFS is not fetched, so the file's content is missing
    s: fatal: s/vendor: a Git submodule; submodules are not fetched, so its files are missing
    ");
}

#[test]
fn a_link_into_the_directory_that_holds_it_ends() {
    let world = World::new(&["s"], &[("s/main.tf", ""), ("s/a/x", "")]);
    world.origin.link("s/a/up", "..");
    world.origin.link("s/a/root", "../..");
    world.origin.commit("links", &[]);
    assert_eq!(world.problems(), "");
}

#[test]
fn an_index_that_was_stored_gives_the_same_closures() {
    let world = World::new(&["s"], &[("s/main.tf", CALL_A), ("s/modules/a/x.tf", "a = = 1")]);
    let repository = world.repository();
    let head = repository.commit(&repository.resolve("HEAD").unwrap()).unwrap();
    let mut index = Index::new();
    let fresh = index.closures(&repository, &head.tree, &world.stacks).unwrap();
    let mut restored = Index::from_bytes(&index.to_bytes());
    assert_eq!(restored.to_bytes(), index.to_bytes());
    assert_eq!(restored.closures(&repository, &head.tree, &world.stacks).unwrap(), fresh);
    for damaged in [&b""[..], b"garbage", &index.to_bytes()[..20]] {
        let closures = Index::from_bytes(damaged).closures(&repository, &head.tree, &world.stacks).unwrap();
        assert_eq!(closures, fresh, "a damaged index only costs time");
    }
}

#[test]
fn what_two_files_of_a_module_read_counts_once_and_each_is_named_where_it_is_missing() {
    let read = "locals {\n  x = file(\"${path.module}/../t/x\")\n  y = file(\"${path.module}/none\")\n}\n";
    let named = "locals {\n  z = \"${path.module}/../t/x\"\n}\n";
    let files = [("s/a.tf", named), ("s/b.tf", read), ("s/c.tf", read), ("t/x", "")];
    let world = World::new(&["s"], &files);
    insta::assert_snapshot!(world.push(write(&[("t/x", "1")])), @"s: t/x modified (path named in s/a.tf)");
    insta::assert_snapshot!(world.problems(), @r"
    s: notice: s/none: no such file; read by file() in s/b.tf
    s: notice: s/none: no such file; read by file() in s/c.tf
    ");
}
