//! Whom an attempt's engine runs as.
//!
//! Where the runner is root, the engine and all that it starts (git, providers, what the code runs) belong to a user of
//! the attempt's own, whom nobody else on the machine is: they cannot see into the runner or into another attempt, and
//! when a command is over all that this user still runs is ended, wherever it hid.
//!
//! The runner on its side follows no link and opens no file that this user could have put in its way: see
//! [`EngineUser::open`]. What it reads and writes in the work directory, it does while nothing of this user runs.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::process::Command;
use walkdir::WalkDir;
use yuba_core::id::AttemptId;
use yuba_core::task::{ENGINE_USERS, Isolation, engine_user};

use crate::ended::{Ended, Step};

/// Where util-linux puts the program that gives up root; never looked for on a PATH that came with a claim.
const SETPRIV: [&str; 2] = ["/usr/bin/setpriv", "/bin/setpriv"];

/// What is given up beside the user: no program that the engine starts can gain anything.
const GIVEN_UP: [&str; 5] =
    ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"];

/// How often, and how many times, processes are killed and looked for again: for ten seconds.
const ROUNDS: (Duration, u32) = (Duration::from_millis(10), 1000);

/// Whom the engine runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineUser {
    /// Whoever the runner is: nothing is isolated.
    Ours,
    /// A user of the attempt's own.
    Own {
        /// Its number, and that of its group.
        id: u32,
        /// The program that becomes it.
        setpriv: &'static str,
    },
}

/// Whether engines are isolated here. The error says why they cannot be, and what to do.
pub fn isolation_of(isolation: Isolation, work: &Path) -> Result<bool, String> {
    match (isolation, geteuid().is_root()) {
        (Isolation::Never, _) | (Isolation::WhereRoot, false) => Ok(false),
        (Isolation::Always, false) => Err(format!(
            "the runner must start as root, to run engines as other users; it is user {} (in a task definition, `user` is \"0\")",
            geteuid().as_raw()
        )),
        (Isolation::WhereRoot | Isolation::Always, true) => {
            setpriv()?;
            has_users(&fs::read_to_string("/proc/self/uid_map").unwrap_or_default())?;
            can_be_passed(work).map(|()| true)
        }
    }
}

fn setpriv() -> Result<&'static str, String> {
    SETPRIV.into_iter().find(|path| Path::new(path).is_file()).ok_or_else(|| {
        format!(
            "as root, engines run as other users by way of `setpriv` of util-linux, which is not at {}; without it, choose \
             `--isolation never`, or run as another user than root",
            SETPRIV.join(" or ")
        )
    })
}

/// Whether the users of attempts exist here, by `/proc/self/uid_map`: lines of first, first outside, count.
fn has_users(map: &str) -> Result<(), String> {
    let (first, count) = ENGINE_USERS;
    let holds = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(begin)), _, Some(Ok(length))) = (numbers.next(), numbers.next(), numbers.next()) else {
            return false;
        };
        begin <= first.into() && u64::from(first) + u64::from(count) <= begin + length
    };
    if map.lines().any(holds) {
        return Ok(());
    }
    Err(format!(
        "engines run as users {first} to {}, which this user namespace does not have: give the container all users, or \
         choose `--isolation never`",
        first + (count - 1)
    ))
}

/// Whether other users can reach what lies in a directory by its name.
fn can_be_passed(work: &Path) -> Result<(), String> {
    let closed = work.ancestors().skip(1).find(|folder| {
        fs::metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.permissions().mode() & 0o001 == 0)
    });
    let Some(closed) = closed else { return Ok(()) };
    let closed = closed.display();
    Err(format!(
        "engines run as other users, who cannot pass {closed}: `chmod o+x {closed}`, use another directory, or choose \
         `--isolation never`"
    ))
}

impl EngineUser {
    /// The user of an attempt whose work directories lie in `work`.
    pub(crate) fn of(attempt: AttemptId, isolation: Isolation, work: &Path) -> Step<Self> {
        if !isolation_of(isolation, work).map_err(Ended::configuration)? {
            return Ok(Self::Ours);
        }
        Ok(Self::Own { id: engine_user(attempt), setpriv: setpriv().map_err(Ended::configuration)? })
    }

    /// A command that runs a program as this user.
    pub(crate) fn command(self, program: &Path) -> Command {
        let Self::Own { id, setpriv } = self else { return Command::new(program) };
        let mut command = Command::new(setpriv);
        command.arg(format!("--reuid={id}")).arg(format!("--regid={id}")).args(GIVEN_UP);
        command.arg("--").arg(program);
        command
    }

    /// Makes a directory that others pass, but cannot list.
    pub(crate) fn let_pass(self, directory: &Path) -> io::Result<()> {
        if self == Self::Ours {
            return Ok(());
        }
        let mode = fs::metadata(directory)?.permissions().mode();
        fs::set_permissions(directory, Permissions::from_mode(mode | 0o011))
    }

    /// Lets this user, and no other, pass a directory or read a file that stays root's.
    pub(crate) fn lend(self, path: &Path) -> io::Result<()> {
        let Self::Own { id, .. } = self else { return Ok(()) };
        chown(path, None, Some(id))?;
        let mode = if path.is_dir() { 0o710 } else { 0o640 };
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// Makes a directory, and all in it, this user's. Nothing is reached through a link.
    pub(crate) fn give(self, directory: &Path) -> io::Result<()> {
        let Self::Own { id, .. } = self else { return Ok(()) };
        for entry in WalkDir::new(directory) {
            let entry = entry?;
            let meta = entry.metadata()?;
            if !meta.is_dir() && meta.nlink() > 1 {
                let path = entry.path().display();
                return Err(io::Error::other(format!(
                    "{path} is a hard link: what else it is cannot be told"
                )));
            }
            lchown(entry.path(), Some(id), Some(id))?;
        }
        Ok(())
    }

    /// Takes back what was given, and what this user made beside it.
    pub(crate) fn take_back(self, directory: &Path) -> io::Result<()> {
        let Self::Own { id, .. } = self else { return Ok(()) };
        for entry in WalkDir::new(directory) {
            let entry = entry?;
            if entry.metadata()?.uid() == id {
                lchown(entry.path(), Some(0), Some(0))?;
            }
        }
        Ok(())
    }

    /// Opens a file that this user may have made, below a directory that it cannot change; `None` where there is none. A
    /// link that leads out of that directory, what is no file, and what is another user's is refused: else the runner
    /// would read, in this user's place, what this user must not.
    pub(crate) fn open(self, root: &Path, path: &Path) -> io::Result<Option<File>> {
        let opened = match self {
            Self::Ours => File::open(path),
            Self::Own { id, .. } => system::open_below(root, path).and_then(|file| {
                let meta = file.metadata()?;
                if meta.is_file() && meta.uid() == id {
                    return Ok(file);
                }
                Err(io::Error::other(format!("{} is no file of the engine's", path.display())))
            }),
        };
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Whether a file or directory of the work directory is this user's.
    pub(crate) fn owns(self, meta: &fs::Metadata) -> bool {
        match self {
            Self::Ours => true,
            Self::Own { id, .. } => meta.uid() == id,
        }
    }

    /// Ends all that this user runs. To be called while no command runs.
    pub(crate) async fn end(self) -> Step<()> {
        let Self::Own { id, .. } = self else { return Ok(()) };
        let (pause, rounds) = ROUNDS;
        for _ in 0..rounds {
            let left = processes_of(id);
            if left.is_empty() {
                return Ok(());
            }
            // One by one where they are few; by themselves, all in one moment, where they multiply.
            for process in left {
                let _ = kill_process(process, Signal::KILL);
            }
            self.kill_all().await;
            tokio::time::sleep(pause).await;
        }
        Err(Ended::transient(format!("processes of user {id}, the engine's, live on after SIGKILL")))
    }

    /// `kill(-1, SIGKILL)` by a process of this user: the kernel kills all others of it before one can fork again.
    async fn kill_all(self) {
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", "kill -KILL -1"]).env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[expect(clippy::disallowed_methods, reason = "it is bounded, and looked for again")]
        let _ = tokio::time::timeout(Duration::from_secs(1), command.status()).await;
    }
}

/// The processes of a user that have not ended, by `/proc/<id>/status`: the owner of `/proc/<id>` itself is root where a
/// process has made itself unreadable.
fn processes_of(user: u32) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.filter_map(|process| process.ok()?.file_name().to_str()?.parse().ok());
    let of_user = |id: &i32| {
        fs::read_to_string(format!("/proc/{id}/status")).is_ok_and(|status| runs_as(&status, user))
    };
    ids.filter(of_user).filter_map(Pid::from_raw).collect()
}

/// Whether a process, by its status, is a user's (really, effectively or in reserve) and more than a name.
fn runs_as(status: &str, user: u32) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let has_ended = field("State:").trim_start().starts_with(['Z', 'X']);
    !has_ended && field("Uid:").split_whitespace().any(|id| id.parse() == Ok(user))
}

#[cfg(target_os = "linux")]
mod system {
    use super::{File, Path, io};

    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

    /// Opens a path below a directory, by links that stay below it alone; never waits for a writer.
    pub(super) fn open_below(root: &Path, path: &Path) -> io::Result<File> {
        let below = path.strip_prefix(root).map_err(io::Error::other)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let root = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty())?;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let file = openat2(root, below, flags | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty(), resolve)?;
        Ok(File::from(file))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{File, Path, io};

    pub(super) fn open_below(_: &Path, _: &Path) -> io::Result<File> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// A directory for temporary files, with a short name: sockets of providers lie in it, and their names have 107 bytes.
pub(crate) fn scratch(user: EngineUser) -> io::Result<Option<tempfile::TempDir>> {
    if user == EngineUser::Ours {
        return Ok(None);
    }
    let directory = tempfile::Builder::new().prefix("yuba-").tempdir_in(PathBuf::from("/tmp"))?;
    user.give(directory.path())?;
    Ok(Some(directory))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_namespace_without_the_users_is_told() {
        assert_eq!(has_users("         0          0 4294967295\n"), Ok(()));
        assert_eq!(
            has_users("0 1000 1\n1 100000 65536\n").unwrap_err(),
            "engines run as users 1879048192 to \
            2147483647, which this user namespace does not have: give the container all users, or choose `--isolation never`"
        );
        assert!(has_users("").is_err());
    }

    #[test]
    fn a_directory_that_lets_nobody_pass_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let why = can_be_passed(&work).unwrap_err();
        assert!(why.contains(&format!("`chmod o+x {}`", folder.path().display())), "{why}");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        assert_eq!(can_be_passed(&work), Ok(()));
    }

    #[test]
    fn a_process_is_its_users_until_it_has_ended() {
        let status = "Name:\tsh\nState:\tS (sleeping)\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\n";
        assert!(runs_as(status, 7));
        assert!(!runs_as(status, 8), "a group is no user");
        assert!(!runs_as(&status.replace("S (sleeping)", "Z (zombie)"), 7));
    }

    /// A user for a test. Root alone can give files away: the tests fail for others, and say so.
    fn own(id: u32) -> EngineUser {
        assert!(geteuid().is_root(), "run this test as root: it is about another user's files");
        EngineUser::Own { id, setpriv: setpriv().unwrap() }
    }

    #[test]
    fn root_reads_nothing_in_the_place_of_the_engines_user() {
        let (user, root) = (own(0x7000_0007), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("tree")).unwrap();
        for name in ["tree/plain", "secret", "tree/roots"] {
            fs::write(at(name), "x").unwrap();
        }
        symlink("/etc/hostname", at("tree/out")).unwrap();
        symlink("../secret", at("tree/beside")).unwrap();
        symlink("plain", at("tree/inside")).unwrap();
        symlink("/proc/self/environ", at("tree/magic")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("tree/pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        user.give(&at("tree")).unwrap();
        chown(at("tree/roots"), Some(0), Some(0)).unwrap();
        let opened = |name: &str| user.open(root.path(), &at(name)).is_ok_and(|file| file.is_some());
        for (name, expected) in [
            ("tree/plain", true),
            ("tree/inside", true),
            ("tree/out", false),
            ("tree/beside", false),
            ("tree/magic", false),
            ("tree/pipe", false),
            ("tree/roots", false),
            ("tree", false),
        ] {
            assert_eq!(opened(name), expected, "{name}");
        }
        assert!(user.open(root.path(), &at("tree/none")).unwrap().is_none());
    }

    #[test]
    fn what_is_given_is_taken_back_and_nothing_else_with_it() {
        let (user, root) = (own(0x7000_0007), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("state")).unwrap();
        fs::write(at("state/a"), "").unwrap();
        user.give(&at("state")).unwrap();
        let owner = |name: &str| fs::symlink_metadata(at(name)).unwrap().uid();
        assert_eq!((owner("state"), owner("state/a")), (0x7000_0007, 0x7000_0007));
        fs::write(at("state/anothers"), "").unwrap();
        chown(at("state/anothers"), Some(5), None).unwrap();
        user.take_back(&at("state")).unwrap();
        assert_eq!((owner("state"), owner("state/a"), owner("state/anothers")), (0, 0, 5));
        fs::hard_link(at("state/a"), at("state/b")).unwrap();
        assert!(user.give(&at("state")).unwrap_err().to_string().contains("is a hard link"));
    }

    #[tokio::test]
    async fn all_that_a_user_runs_is_ended_also_what_hides_and_multiplies() {
        let user = own(0x7000_0008);
        let script =
            "multiply() { while :; do (multiply) & sleep 0.05; done; }; setsid sh -c 'sleep 600' & multiply";
        let mut command = user.command(Path::new("/bin/sh"));
        command.args(["-c", &format!("ulimit -u 60; {script}")]).stdin(Stdio::null()).stderr(Stdio::null());
        #[expect(clippy::disallowed_methods, reason = "a test's own process")]
        let mut child = command.spawn().unwrap();
        while processes_of(0x7000_0008).len() < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        user.end().await.unwrap();
        child.wait().await.unwrap();
        assert_eq!(processes_of(0x7000_0008), []);
    }
}
