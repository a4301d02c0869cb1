//! Reads the manifests and modules of a tree. What equal blobs say is read once, however many trees hold them.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use yuba_core::id::TreeId;
use yuba_core::manifest::{ManifestFile, ManifestSet, is_manifest_path, read_set};
use yuba_git::history::FileEntry;
use yuba_git::root_module::RootModule;
use yuba_git::{ObjectId, ReadError, Repository};

/// What lies in a tree.
#[derive(Debug, Clone)]
pub(super) struct Survey {
    /// All manifests.
    pub(super) manifests: Rc<ManifestSet>,
    /// Every directory that holds configuration.
    pub(super) modules: BTreeMap<String, Rc<RootModule>>,
    /// Files that say to other tools what the stacks are.
    pub(super) not_read_yet: Vec<String>,
}

/// Names and blobs: equal for equal content.
type Blobs = Vec<(String, ObjectId)>;

/// Surveys trees of one repository.
pub(super) struct Surveyor<'a> {
    repository: &'a Repository,
    manifests: HashMap<Blobs, Rc<ManifestSet>>,
    modules: HashMap<Blobs, Rc<RootModule>>,
}

impl<'a> Surveyor<'a> {
    pub(super) fn new(repository: &'a Repository) -> Self {
        Self { repository, manifests: HashMap::new(), modules: HashMap::new() }
    }

    pub(super) fn survey(&mut self, tree: &TreeId) -> Result<Survey, ReadError> {
        let wanted = |path: &str| is_manifest(path) || says(path) || is_not_read_yet(path);
        let files = self.repository.files(tree, |path| !is_hidden(path) && wanted(path))?;
        let foreign = files.iter().filter(|file| is_not_read_yet(&file.path));
        let not_read_yet = foreign.map(|file| file.path.clone()).collect();
        let manifests = self.manifests(files.iter().filter(|file| is_manifest(&file.path)))?;
        let mut directories: BTreeMap<String, Blobs> = BTreeMap::new();
        for FileEntry { path, id } in files.iter().filter(|file| says(&file.path)) {
            let (directory, name) = split(path);
            directories.entry(directory.to_owned()).or_default().push((name.to_owned(), *id));
        }
        let mut modules = BTreeMap::new();
        for (directory, blobs) in directories {
            let module = self.module(blobs)?;
            if module.has_configuration {
                modules.insert(directory, module);
            }
        }
        Ok(Survey { manifests, modules, not_read_yet })
    }

    fn manifests<'f>(
        &mut self,
        files: impl Iterator<Item = &'f FileEntry>,
    ) -> Result<Rc<ManifestSet>, ReadError> {
        let blobs: Blobs = files.map(|file| (file.path.clone(), file.id)).collect();
        if let Some(known) = self.manifests.get(&blobs) {
            return Ok(Rc::clone(known));
        }
        let mut read = Vec::new();
        for (path, id) in &blobs {
            let file = ManifestFile::new(path.clone(), self.repository.bytes(*id)?);
            if file.text.contains("apiVersion") {
                read.push(file);
            }
        }
        let set = Rc::new(read_set(&read));
        self.manifests.insert(blobs, Rc::clone(&set));
        Ok(set)
    }

    fn module(&mut self, blobs: Blobs) -> Result<Rc<RootModule>, ReadError> {
        if let Some(known) = self.modules.get(&blobs) {
            return Ok(Rc::clone(known));
        }
        let mut files = Vec::new();
        for (name, id) in &blobs {
            files.push((name.as_str(), self.repository.text(*id)?));
        }
        let module = Rc::new(RootModule::read(files.iter().map(|(name, text)| (*name, text.as_str()))));
        self.modules.insert(blobs, Rc::clone(&module));
        Ok(module)
    }
}

/// The directory and the name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn says(path: &str) -> bool {
    RootModule::wants(split(path).1)
}

fn is_manifest(path: &str) -> bool {
    is_manifest_path(split(path).1) && !says(path)
}

/// Whether a file says to Atlantis or Terragrunt what the stacks are.
fn is_not_read_yet(path: &str) -> bool {
    matches!(split(path).1, "atlantis.yaml" | "terragrunt.hcl")
}

/// Whether a directory on the way begins with a dot.
fn is_hidden(path: &str) -> bool {
    split(path).0.split('/').any(|part| part.starts_with('.'))
}
