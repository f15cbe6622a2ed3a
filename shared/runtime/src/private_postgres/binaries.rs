//! Finds PostgreSQL's programs and runs those that end by themselves.

use std::{
    collections::BTreeSet,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use secrecy::ExposeSecret;

use super::{Address, PrivatePostgresError, Result, USER};

/// The statements of the store need nothing newer.
const OLDEST: u32 = 14;

/// The programs of one installed version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binaries {
    version: u32,
    folder: PathBuf,
}

impl Binaries {
    /// The newest that is installed, or the one that a data folder needs: data of one major version
    /// cannot be opened by another.
    pub fn find(wanted: Option<u32>) -> Result<Self> {
        let fits = |b: &Self| wanted.map_or(b.version >= OLDEST, |v| b.version == v);
        installed().into_iter().rfind(fits).ok_or_else(|| PrivatePostgresError::NotInstalled {
            wanted: wanted.map_or(format!("of version {OLDEST} or newer"), |v| format!("of version {v}")),
        })
    }

    pub const fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn client(&self, name: &str, address: &Address) -> Command {
        let mut command = Command::new(self.program(name));
        command.args(["--host=127.0.0.1", "--no-password"]);
        command.arg(format!("--port={}", address.port)).arg(format!("--username={USER}"));
        // The language of messages must be known, and the caller's own habits must not count.
        command.env("LC_ALL", "C").env("PGPASSWORD", address.password.expose_secret());
        command.env_remove("PGOPTIONS").env_remove("PGSERVICE");
        command
    }

    pub(super) fn createdb(&self, address: &Address, database: &str) -> CreateDatabase {
        let mut command = self.client("createdb", address);
        command.arg("--maintenance-db=postgres").arg(database);
        CreateDatabase(command)
    }

    pub(super) fn psql(&self, address: &Address, database: &str) -> Psql {
        let mut command = self.client("psql", address);
        command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]).arg(format!("--dbname={database}"));
        Psql(command)
    }
}

/// Ordered by version.
fn installed() -> BTreeSet<Binaries> {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let path = env::var_os("PATH").unwrap_or_default();
    debian
        .map(|version| version.path().join("bin"))
        .chain(env::split_paths(&path))
        .filter(|folder| ["initdb", "postgres", "createdb", "psql"].iter().all(|p| folder.join(p).is_file()))
        .filter_map(|folder| Some(Binaries { version: version_of(&folder.join("postgres"))?, folder }))
        .collect()
}

/// From `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
fn version_of(postgres: &Path) -> Option<u32> {
    let said = Command::new(postgres).arg("--version").stdin(Stdio::null()).output().ok()?;
    parse_version(&String::from_utf8_lossy(&said.stdout))
}

fn parse_version(said: &str) -> Option<u32> {
    let number = said.strip_prefix("postgres (PostgreSQL) ")?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

pub(super) struct CreateDatabase(Command);

impl CreateDatabase {
    pub(super) fn run(self) -> Result<()> {
        match run(self.0, "createdb", "") {
            Err(PrivatePostgresError::Program { output, .. }) if output.contains("already exists") => Ok(()),
            other => other,
        }
    }
}

pub(super) struct Psql(Command);

impl Psql {
    pub(super) fn run(self, script: &str) -> Result<()> {
        run(self.0, "psql", script)
    }
}

/// Runs a program to its end. What it says is kept for the error.
pub(super) fn run(mut command: Command, program: &'static str, input: &str) -> Result<()> {
    let path = command.get_program().display().to_string();
    let error = |source| PrivatePostgresError::Spawn { program: path.clone(), source };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(error)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(error)?;
    if done.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(PrivatePostgresError::Program { program, status: done.status, output })
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn the_major_version_is_read_from_what_the_server_says() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some(15));
        assert_eq!(parse_version("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(parse_version("something else"), None);
    }
}
