//! The cloud itself: one pretty-printed JSON file for each resource in a directory. Editing one is drift, deleting
//! one is drift. Writes are atomic. Knows nothing of tofu, and nothing of what attributes mean.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::control::Control;
use crate::journal::Entry;

/// A resource's attributes, as its file holds them.
pub type Body = Map<String, Value>;

/// A directory that is a toy cloud.
#[derive(Debug, Clone)]
pub struct Cloud {
    dir: PathBuf,
}

/// What became of making a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It was made.
    Made,
    /// One of this id stands already; it was left alone.
    Exists,
}

/// Why the cloud could not be looked at or changed.
#[derive(Debug, Error)]
pub enum CloudError {
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not the JSON that it should be.
    #[error("{} is not what it should be", path.display())]
    Json {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: serde_json::Error,
    },
    /// A test wanted to edit a resource that does not stand.
    #[error("there is no {}", path.display())]
    Missing {
        /// The file that the resource would be.
        path: PathBuf,
    },
}

impl Cloud {
    /// The cloud in a directory, which [`Cloud::open`] or the first write makes.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a resource, whether or not it stands.
    pub fn path(&self, type_name: &str, id: &str) -> PathBuf {
        self.dir.join(type_name).join(format!("{id}.json"))
    }

    /// Makes a resource, unless one of its id stands.
    pub fn create(&self, type_name: &str, id: &str, body: &Body) -> Result<Creation, CloudError> {
        let path = self.path(type_name, id);
        let temporary = write_beside(&path, &pretty(body))?;
        let linked = fs::hard_link(&temporary, &path);
        remove(&temporary)?;
        match linked {
            Ok(()) => Ok(Creation::Made),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Creation::Exists),
            Err(error) => Err(io_error("create", &path)(error)),
        }
    }

    /// A resource's attributes; `None` when it does not stand.
    pub fn read(&self, type_name: &str, id: &str) -> Result<Option<Body>, CloudError> {
        read_json(&self.path(type_name, id))
    }

    /// Writes a resource, whether or not it stood.
    pub fn write(&self, type_name: &str, id: &str, body: &Body) -> Result<(), CloudError> {
        write_whole(&self.path(type_name, id), &pretty(body))
    }

    /// Removes a resource; one that does not stand is removed already.
    pub fn delete(&self, type_name: &str, id: &str) -> Result<(), CloudError> {
        remove(&self.path(type_name, id))
    }

    /// Edits a resource by hand, behind tofu's back.
    pub fn edit(&self, type_name: &str, id: &str, edit: impl FnOnce(&mut Body)) -> Result<(), CloudError> {
        let missing = || CloudError::Missing { path: self.path(type_name, id) };
        let mut body = self.read(type_name, id)?.ok_or_else(missing)?;
        edit(&mut body);
        self.write(type_name, id, &body)
    }

    /// The ids of a type's resources, sorted.
    pub fn ids(&self, type_name: &str) -> Result<Vec<String>, CloudError> {
        let dir = self.dir.join(type_name);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("list", &dir)(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(io_error("list", &dir))?.file_name();
            ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
        }
        ids.sort();
        Ok(ids)
    }

    /// How the cloud misbehaves now.
    pub fn control(&self) -> Result<Control, CloudError> {
        Ok(read_json(&self.dir.join("control.json"))?.unwrap_or_default())
    }

    /// Makes the cloud misbehave from now on, also in calls that wait.
    pub fn set_control(&self, control: &Control) -> Result<(), CloudError> {
        let path = self.dir.join("control.json");
        let text = serde_json::to_vec_pretty(control)
            .map_err(|source| CloudError::Json { path: path.clone(), source })?;
        write_whole(&path, &text)
    }

    /// What changed the cloud so far, in order. A last line that is still being written is left out.
    pub fn journal(&self) -> Result<Vec<Entry>, CloudError> {
        let path = self.dir.join("journal.ndjson");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| {
                serde_json::from_str(line).map_err(|source| CloudError::Json { path: path.clone(), source })
            })
            .collect()
    }

    /// Makes the directory.
    pub fn open(&self) -> Result<(), CloudError> {
        make_dir(&self.dir)
    }

    /// Appends to the journal, by one write. A directory that a test has removed is not made again.
    pub fn note(&self, entry: &Entry) -> Result<(), CloudError> {
        let path = self.dir.join("journal.ndjson");
        let mut line =
            serde_json::to_vec(entry).map_err(|source| CloudError::Json { path: path.clone(), source })?;
        line.push(b'\n');
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(io_error("open", &path))?;
        open_to_all(&path, 0o666);
        file.write_all(&line).map_err(io_error("append to", &path))
    }
}

fn pretty(body: &Body) -> Vec<u8> {
    format!("{:#}\n", Value::Object(body.clone())).into_bytes()
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, CloudError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("read", path)(error)),
    };
    let parsed = serde_json::from_slice(&text);
    parsed.map(Some).map_err(|source| CloudError::Json { path: path.to_owned(), source })
}

fn write_whole(path: &Path, content: &[u8]) -> Result<(), CloudError> {
    let temporary = write_beside(path, content)?;
    fs::rename(&temporary, path).map_err(io_error("replace", path))
}

/// Writes a file of a name that nobody else has into the directory of `path`.
fn write_beside(path: &Path, content: &[u8]) -> Result<PathBuf, CloudError> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    make_dir(path.parent().unwrap_or(path))?;
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.new", std::process::id()));
    fs::write(&temporary, content).map_err(io_error("write", &temporary))?;
    open_to_all(&temporary, 0o666);
    Ok(temporary)
}

fn make_dir(path: &Path) -> Result<(), CloudError> {
    fs::create_dir_all(path).map_err(io_error("make", path))?;
    open_to_all(path, 0o777);
    Ok(())
}

/// A cloud knows no users: each engine that comes to it may be another one. What is another's is open already.
fn open_to_all(path: &Path, mode: u32) {
    let _ = fs::set_permissions(path, Permissions::from_mode(mode));
}

fn remove(path: &Path) -> Result<(), CloudError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("remove", path)(error)),
        _ => Ok(()),
    }
}

fn io_error<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> CloudError + 'a {
    move |source| CloudError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::TempDir;

    use super::{Body, Cloud, Creation};

    fn cloud() -> (TempDir, Cloud) {
        let dir = TempDir::new().expect("a directory");
        let cloud = Cloud::at(dir.path());
        (dir, cloud)
    }

    fn body(region: &str) -> Body {
        Body::from_iter([("region".to_owned(), json!(region))])
    }

    #[test]
    fn a_resource_is_made_once_and_is_a_pretty_file() {
        let (_dir, cloud) = cloud();
        assert_eq!(cloud.create("toy_bucket", "bucket-a", &body("eu-1")).expect("made"), Creation::Made);
        assert_eq!(cloud.create("toy_bucket", "bucket-a", &body("us-1")).expect("seen"), Creation::Exists);
        let text = std::fs::read_to_string(cloud.path("toy_bucket", "bucket-a")).expect("a file");
        insta::assert_snapshot!(text, @r#"
        {
          "region": "eu-1"
        }
        "#);
        let files = std::fs::read_dir(cloud.dir().join("toy_bucket")).expect("a directory").count();
        assert_eq!(files, 1, "nothing temporary is left");
    }

    #[test]
    fn what_does_not_stand_is_none_and_can_be_deleted() {
        let (_dir, cloud) = cloud();
        assert_eq!(cloud.read("toy_bucket", "bucket-a").expect("looked"), None);
        assert_eq!(cloud.ids("toy_bucket").expect("listed"), Vec::<String>::new());
        cloud.delete("toy_bucket", "bucket-a").expect("nothing to do");
        assert!(cloud.edit("toy_bucket", "bucket-a", |_| {}).is_err());
    }

    #[test]
    fn an_edit_by_hand_keeps_the_rest() {
        let (_dir, cloud) = cloud();
        cloud.write("toy_bucket", "bucket-a", &body("eu-1")).expect("written");
        cloud
            .edit("toy_bucket", "bucket-a", |body| drop(body.insert("versioning".into(), json!(true))))
            .expect("edited");
        let read = cloud.read("toy_bucket", "bucket-a").expect("read").expect("stands");
        assert_eq!(serde_json::Value::Object(read), json!({"region": "eu-1", "versioning": true}));
        assert_eq!(cloud.ids("toy_bucket").expect("listed"), ["bucket-a"]);
    }

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let (_dir, cloud) = cloud();
        cloud.open().expect("made");
        std::fs::write(cloud.dir().join("control.json"), "{").expect("written");
        let error = cloud.control().expect_err("not JSON").to_string();
        assert!(error.ends_with("control.json is not what it should be"), "{error}");
    }
}
