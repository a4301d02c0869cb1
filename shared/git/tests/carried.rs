//! An index that has seen the tree before says the same as one that knows nothing, whatever changes in between.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use std::collections::BTreeMap;
use std::fs;

use kit::Origin;
use yuba_core::id::{StackName, TreeId};
use yuba_git::Repository;
use yuba_git::closure::{Before, Closures, Index, StackPaths};

/// What happens between two looks.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(&'static str, &'static str),
    Remove(&'static str),
    Link(&'static str, &'static str),
    Stack(&'static str, &'static [&'static str]),
    Unstack(&'static str),
}
use Step::{Link, Remove, Stack, Unstack, Write};

/// Each kind of path that a closure can depend on, coming, changing and going.
const STEPS: &[Step] = &[
    Write("envs/dev/main.tf", "module \"m\" {\n  source = \"../../modules/a\"\n}\n"),
    Write("modules/a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\n"),
    Write(
        "modules/b/main.tf",
        "locals {\n  t = templatefile(\"${path.module}/../../shared/t.tpl\", {})\n}\n",
    ),
    Write("shared/t.tpl", "one"),
    Write("shared/t.tpl", "two"),
    Write("shared/beside.tpl", "nobody's"),
    Write("envs/prod/main.tf", "locals {\n  all = fileset(\"${path.root}/../../policies\", \"**\")\n}\n"),
    Write("policies/deep/p.json", "{}"),
    Remove("policies"),
    Write("README.md", "of nobody"),
    Stack("envs/dev", &[]),
    Stack("envs/prod", &["docs/**/*.md"]),
    Stack("envs", &[]),
    Write("docs/a/x.md", "x"),
    Write("docs/a/x.txt", "x"),
    Write("envs/notes.txt", "of the outer stack"),
    Stack("envs/prod/inner", &[]),
    Write("envs/prod/inner/main.tf", "module \"up\" {\n  source = \"../..\"\n}\n"),
    Write("envs/late.tf", "locals {\n  l = file(\"../README.md\")\n}\n"),
    Unstack("envs/dev"),
    Link("envs/prod/linked.tf", "../../modules/b/main.tf"),
    Write("modules/b/main.tf", "# nothing"),
    Remove("modules/b"),
    Link("modules/b", "../shared"),
    Write("shared/new.tf", "locals {\n  n = file(\"${path.module}/t.tpl\")\n}\n"),
    Write(".gitattributes", "*.bin filter=lfs\n"),
    Write("envs/prod/x.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
    Remove(".gitattributes"),
    Stack("any", &[]),
    Write("any/main.tf", "module \"m\" {\n  source = \"../modules/${var.which}\"\n}\n"),
    Write("modules/c/main.tf", "module \"d\" {\n  source = \"../../shared/d\"\n}\n"),
    Write("shared/d/main.tf", "variable \"x\" {}\n"),
    Write("any/main.tf", "module \"m\" {\n  source = \"../${var.which}\"\n}\n"),
    Write("modules", "a file where a directory was"),
    Stack("", &[]),
    Write("main.tf", "module \"m\" {\n  source = \"./modules\"\n}\n"),
    Remove("envs"),
    Unstack(""),
];

struct World {
    origin: Origin,
    stacks: BTreeMap<StackName, StackPaths>,
}

fn name(path: &str) -> StackName {
    StackName::new("default", format!("stack-{}", path.replace('/', "-")))
}

impl World {
    fn take(&mut self, step: Step) {
        let path = |relative: &str| self.origin.path().join(relative);
        match step {
            Write(relative, text) => {
                clear_the_way(&self.origin, relative);
                self.origin.write(&[(relative, text)]);
            }
            Remove(relative) => remove(&path(relative)),
            Link(relative, target) => {
                clear_the_way(&self.origin, relative);
                self.origin.link(relative, target);
            }
            Stack(relative, triggers) => {
                let triggers = triggers.iter().map(|glob| (*glob).to_owned()).collect();
                let paths = StackPaths { path: relative.to_owned(), triggers, ..StackPaths::default() };
                self.stacks.insert(name(relative), paths);
            }
            Unstack(relative) => drop(self.stacks.remove(&name(relative))),
        }
        self.origin.commit("step", &[]);
    }

    fn head(&self) -> (Repository, TreeId) {
        let repository = Repository::discover(&self.origin.path()).unwrap();
        let tree = repository.commit(&repository.resolve("HEAD").unwrap()).unwrap().tree;
        (repository, tree)
    }
}

/// Removes whatever stands where a file or one of its directories is to be.
fn clear_the_way(origin: &Origin, relative: &str) {
    let place = origin.path().join(relative);
    remove(&place);
    let inside = place.ancestors().skip(1).take_while(|above| *above != origin.path());
    for above in inside.filter(|above| fs::symlink_metadata(above).is_ok_and(|there| !there.is_dir())) {
        remove(above);
    }
}

fn remove(place: &std::path::Path) {
    match fs::symlink_metadata(place) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(place).unwrap(),
        Ok(_) => fs::remove_file(place).unwrap(),
        Err(_) => {}
    }
}

fn walk(steps: impl Iterator<Item = Step>) {
    let mut world = World { origin: Origin::with(&[("a", "")]), stacks: BTreeMap::new() };
    let mut index = Index::new();
    let mut seen: Option<Closures> = None;
    for (number, step) in steps.enumerate() {
        world.take(step);
        let (repository, tree) = world.head();
        let closures = Index::new().closures(&repository, &tree, &world.stacks).unwrap();
        let former = seen.take();
        let digests = former.iter().flat_map(|former| former.by_stack.iter());
        let before = Before {
            tree: former.as_ref().map(|former| former.tree.clone()),
            digests: digests.map(|(name, closure)| (name.clone(), closure.digest)).collect(),
        };
        index = Index::from_bytes(&index.to_bytes());
        let news = index.since(&repository, &before, &tree, &world.stacks).unwrap();
        let mut expected = closures.by_stack.clone();
        expected.retain(|name, closure| before.digests.get(name) != Some(&closure.digest));
        assert_eq!(news.closures.by_stack, expected, "step {number}: {step:?}");
        seen = Some(closures);
    }
}

#[test]
fn what_is_carried_over_is_what_would_be_worked_out_anew() {
    walk(STEPS.iter().copied());
}

#[test]
fn so_in_the_opposite_order() {
    walk(STEPS.iter().rev().copied());
}

#[test]
fn so_in_leaps() {
    let leaps = (0..STEPS.len() * 2).filter_map(|number| STEPS.get(number * 11 % STEPS.len()));
    walk(leaps.copied());
}

#[test]
fn a_push_that_touches_one_stack_brings_that_stack_alone_and_says_why() {
    let files = [("a/main.tf", ""), ("b/main.tf", "")];
    let mut world = World { origin: Origin::with(&files), stacks: BTreeMap::new() };
    for path in ["a", "b"] {
        world.take(Stack(path, &[]));
    }
    let (repository, tree) = world.head();
    let mut index = Index::new();
    let first = index.since(&repository, &Before::default(), &tree, &world.stacks).unwrap();
    assert_eq!((first.closures.by_stack.len(), first.changed), (2, None));
    world.take(Write("a/main.tf", "#"));
    let (repository, next) = world.head();
    let digests: BTreeMap<_, _> =
        first.closures.by_stack.iter().map(|(name, closure)| (name.clone(), closure.digest)).collect();
    for (tree, digests) in [(tree.clone(), digests), (tree, BTreeMap::new())] {
        let before = Before { tree: Some(tree), digests };
        let news = index.since(&repository, &before, &next, &world.stacks).unwrap();
        let lines = news.changed.unwrap_or_default().into_iter();
        let lines: Vec<String> = lines
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(stack, paths)| {
                format!("{stack}: {}", paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            })
            .collect();
        assert_eq!(lines, ["default/stack-a: a/main.tf modified (stack directory)"]);
    }
}
