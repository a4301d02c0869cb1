//! Generates a monorepo (10,000 stacks, 1,000 modules, 100,000 files) and prints how long it takes to find the stacks
//! that a push to one module affects: with nothing known, and with the previous revision known.
//!
//! `cargo run --release -p yuba-git --example monorepo [DIRECTORY]`; a directory that exists is used again.
#![expect(clippy::print_stdout, reason = "the program prints its measurements")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use yuba_core::id::{StackName, TreeId};
use yuba_git::Repository;
use yuba_git::closure::{Before, Index, StackPaths};

const STACKS: usize = 10_000;
const MODULES: usize = 1_000;
/// 8 files a stack, 20 a module: 100,000 files.
const STACK_FILES: usize = 8;
const MODULE_FILES: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let kept = std::env::args().nth(1).map(PathBuf::from);
    let temporary = tempfile::TempDir::new()?;
    let directory = kept.unwrap_or_else(|| temporary.path().join("monorepo"));
    if !directory.join("HEAD").exists() {
        generate(&directory)?;
    }
    let repository = Repository::open(&directory)?;
    let tree = |name: &str| -> Result<TreeId, Box<dyn Error>> {
        Ok(repository.commit(&repository.resolve(name)?)?.tree)
    };
    let (old, new) = (tree("main~1")?, tree("main")?);
    let stacks = stacks();

    let started = Instant::now();
    let mut index = Index::new();
    let before = index.since(&repository, &Before::default(), &old, &stacks)?.closures;
    let digests = before.by_stack.iter().map(|(name, closure)| (name.clone(), closure.digest)).collect();
    let problems: usize = before.by_stack.values().map(|closure| closure.problems.len()).sum();
    let bytes = index.to_bytes();
    let before = Before { tree: Some(old), digests };
    let affected =
        index.since(&repository, &before, &new, &stacks)?.changed.ok_or("the old tree is there")?;
    let unknown = started.elapsed();

    let started = Instant::now();
    let mut index = Index::from_bytes(&bytes);
    let restored = started.elapsed();
    let again = index.since(&repository, &before, &new, &stacks)?.changed.ok_or("the old tree is there")?;
    let known = started.elapsed();
    let full = Index::new().closures(&repository, &new, &stacks)?;
    let differ =
        full.by_stack.iter().filter(|(name, closure)| before.digests.get(*name) != Some(&closure.digest));
    if differ.map(|(name, _)| name).ne(again.keys()) {
        return Err("what was carried over differs from what is worked out anew".into());
    }

    println!("stacks {STACKS}, modules {MODULES}, files {}", STACKS * STACK_FILES + MODULES * MODULE_FILES);
    println!("affected stacks: {} (again: {}), problems: {problems}", affected.len(), again.len());
    println!("previous revision unknown: {:>6} ms (limit 6000)", unknown.as_millis());
    println!("previous revision known:   {:>6} ms (limit 1000)", known.as_millis());
    println!(
        "  of which reading the stored index of {} KiB: {} ms",
        bytes.len() / 1024,
        restored.as_millis()
    );
    Ok(())
}

fn stack_path(number: usize) -> String {
    format!(
        "environments/{}/team-{:02}/stack-{number:05}",
        ["dev", "staging", "prod"].get(number % 3).copied().unwrap_or_default(),
        number % 50
    )
}

fn stacks() -> BTreeMap<StackName, StackPaths> {
    (0..STACKS)
        .map(|number| {
            let paths = StackPaths { path: stack_path(number), ..StackPaths::default() };
            (StackName::new("default", format!("stack-{number:05}")), paths)
        })
        .collect()
}

fn generate(directory: &Path) -> Result<(), Box<dyn Error>> {
    git(
        directory.parent().unwrap_or(directory),
        &["init", "--quiet", "--bare", "-b", "main", &directory.display().to_string()],
        "",
    )?;
    let mut stream = String::new();
    commit(&mut stream, "generate")?;
    for number in 0..STACKS {
        stack(&mut stream, number)?;
    }
    for number in 0..MODULES {
        module(&mut stream, number)?;
    }
    commit(&mut stream, "touch one module")?;
    file(&mut stream, "modules/module-0007/main.tf", "variable \"name\" {\n  default = \"changed\"\n}\n")?;
    git(directory, &["fast-import", "--quiet"], &stream)
}

fn commit(stream: &mut String, message: &str) -> std::fmt::Result {
    writeln!(stream, "commit refs/heads/main\ncommitter Yuba <yuba@example.org> 1767323045 +0000")?;
    writeln!(stream, "data {}\n{message}", message.len())
}

fn file(stream: &mut String, path: &str, text: &str) -> std::fmt::Result {
    writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len())
}

/// Three modules a stack, one of them the same for a hundredth of all; its own resources; templates.
fn stack(stream: &mut String, number: usize) -> std::fmt::Result {
    let path = stack_path(number);
    let mut main = String::new();
    for (slot, module) in [number % MODULES, (number * 7 + 3) % MODULES, number % 100].into_iter().enumerate()
    {
        let source = format!("../../../../modules/module-{module:04}");
        writeln!(
            main,
            "module \"part_{slot}\" {{\n  source = \"{source}\"\n  name   = \"stack-{number}-{slot}\"\n}}\n"
        )?;
    }
    file(stream, &format!("{path}/main.tf"), &main)?;
    file(stream, &format!("{path}/resources.tf"), &resources(&format!("stack_{number}"))?)?;
    file(
        stream,
        &format!("{path}/variables.tf"),
        &format!("variable \"region\" {{\n  default = \"r{number}\"\n}}\n"),
    )?;
    file(
        stream,
        &format!("{path}/outputs.tf"),
        &format!("output \"id\" {{\n  value = \"stack-{number}\"\n}}\n"),
    )?;
    file(stream, &format!("{path}/terraform.tfvars"), &format!("region = \"r{number}\"\n"))?;
    file(stream, &format!("{path}/policies/policy.json"), &format!("{{\"id\": {number}}}\n"))?;
    file(stream, &format!("{path}/templates/t.tpl"), &format!("#!/bin/sh\necho {number}\n"))?;
    file(stream, &format!("{path}/README.md"), &format!("# Stack {number}\n"))
}

/// Every third module calls the one after it.
fn module(stream: &mut String, number: usize) -> std::fmt::Result {
    let path = format!("modules/module-{number:04}");
    let mut main = "variable \"name\" {}\n".to_owned();
    if number.is_multiple_of(3) && number + 1 < MODULES {
        writeln!(
            main,
            "module \"base\" {{\n  source = \"../module-{:04}\"\n  name = var.name\n}}",
            number + 1
        )?;
    }
    file(stream, &format!("{path}/main.tf"), &main)?;
    for part in 1..MODULE_FILES - 1 {
        file(stream, &format!("{path}/part-{part:02}.tf"), &resources(&format!("m{number}_{part}"))?)?;
    }
    file(stream, &format!("{path}/templates/t.tpl"), &format!("{number}\n"))
}

fn resources(name: &str) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for number in 0..3 {
        writeln!(
            text,
            "resource \"toy_bucket\" \"{name}_{number}\" {{\n  name = \"${{var.name}}-{name}-{number}\"\n  tags = {{\n    \
             team = \"platform\"\n    tier = lookup(local.tiers, \"{name}\", \"small\")\n  }}\n  \
             policy = file(\"${{path.module}}/templates/t.tpl\")\n  depends_on = [toy_network.main]\n}}\n"
        )?;
    }
    Ok(text)
}

#[expect(
    clippy::disallowed_methods,
    reason = "makes the repository to measure; not part of what is measured"
)]
fn git(directory: &Path, arguments: &[&str], input: &str) -> Result<(), Box<dyn Error>> {
    let mut child =
        Command::new("git").current_dir(directory).args(arguments).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(input.as_bytes())?;
    if child.wait()?.success() { Ok(()) } else { Err(format!("git {arguments:?} failed").into()) }
}
