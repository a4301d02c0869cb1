//! Two inits at once, and a provider cache that is empty.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use yuba_end_to_end::{World, open_to_all};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::network;

#[test]
fn two_inits_that_fill_one_cache_at_once_both_go_well_and_one_package_is_kept() {
    let mut world = World::new();
    let meeting = world.dir().join("meeting");
    fs::create_dir(&meeting).unwrap();
    open_to_all(&meeting, 0o777);
    // Each init waits until the other has begun too; a minute at most.
    world.around_engine(&format!(
        "export TF_CLI_CONFIG_FILE={1}
if [ \"$1\" = init ]; then
  touch {0}/$$; turns=0
  while [ $(ls {0} | wc -l) -lt 2 ] && [ $turns -lt 600 ]; do sleep 0.1; turns=$((turns + 1)); done
fi",
        meeting.display(),
        packed_mirror(world.dir()).display()
    ));
    for name in ["one", "two"] {
        world.stack(name, &network(name, "one"), "approvePlan: auto");
    }
    world.begin();
    for name in ["one", "two"] {
        world.wait(name, "applied");
        assert_eq!(world.states(name), ["applied"], "{}", world.yuba(&["logs", name]).out);
    }
    assert!(fs::read_dir(&meeting).unwrap().count() > 1, "they met");
    let log = |task: DirEntry| fs::read_to_string(task.path()).unwrap();
    let logs: String = fs::read_dir(world.dir().join("data/tasks")).unwrap().flatten().map(log).collect();
    assert!(!logs.contains("could not be kept") && !logs.contains("could not be lent"), "{logs}");
    assert_eq!(files(&world.dir().join("data/providers")).len(), 1);
}

/// A mirror whose packages are packed: engines unpack these into their cache, others they only link. Its configuration.
fn packed_mirror(dir: &Path) -> PathBuf {
    let unpacked = yuba_toy_cloud::shared_mirror().unwrap();
    let (from, to) = (unpacked.with_file_name("providers"), dir.join("packed"));
    for file in files(&from) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut package = file.strip_prefix(&from).unwrap().iter();
        let mut next = || package.next().unwrap();
        let folder = to.join(next()).join(next()).join(next());
        let (version, platform) = (next(), next());
        fs::create_dir_all(&folder).unwrap();
        let zip = format!("terraform-provider-toy_{}_{}.zip", version.display(), platform.display());
        let mut zip = ZipWriter::new(File::create(folder.join(zip)).unwrap());
        let options = SimpleFileOptions::default();
        let options = options.compression_method(CompressionMethod::Stored).unix_permissions(0o755);
        zip.start_file(name, options).unwrap();
        io::copy(&mut File::open(&file).unwrap(), &mut zip).unwrap();
        zip.finish().unwrap();
    }
    let text = fs::read_to_string(&unpacked).unwrap();
    let configuration = dir.join("packed.tfrc");
    fs::write(&configuration, text.replace(&from.display().to_string(), &to.display().to_string())).unwrap();
    configuration
}

/// All files below a directory; links are none.
fn files(directory: &Path) -> Vec<PathBuf> {
    let below = |entry: DirEntry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => files(&entry.path()),
        kind if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    };
    fs::read_dir(directory).unwrap().flatten().flat_map(below).collect()
}
