//! A server for tests, on a scratch folder that is kept and used again: only the first start on a
//! machine has to make the data.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{PrivatePostgres, PrivatePostgresError, PrivatePostgresSettings, Result, file_error};

/// Names the server that `with-postgres` has started for a whole run of tests.
pub const TEST_SERVER_VARIABLE: &str = "KEYRACK_TEST_DATABASE_URL";

/// Of every database that tests make.
pub const TEST_DATABASE_PREFIX: &str = "keyrack_test_";

/// Starts on the first scratch folder that nobody uses. Databases that killed tests left there are
/// dropped, except for the one to keep.
pub async fn start(keep: &str) -> Result<PrivatePostgres> {
    match start_under(&target_folder()?.join("test-postgres"), keep).await {
        Err(PrivatePostgresError::Unreachable { .. }) => start_under(&folder_in_tmp()?, keep).await,
        other => other,
    }
}

async fn start_under(folder: &Path, keep: &str) -> Result<PrivatePostgres> {
    let mut number = 0;
    let server = loop {
        number += 1;
        let place = folder.join(number.to_string());
        match PrivatePostgres::start(PrivatePostgresSettings::for_tests(&place)).await {
            Err(PrivatePostgresError::InUse { .. }) => {}
            // A server without fsync does not survive a crash of the machine. Nothing of worth is lost.
            Err(PrivatePostgresError::NotReady { .. }) => {
                let data = place.join("data");
                fs::remove_dir_all(&data).map_err(file_error("cannot remove broken data", &data))?;
                break PrivatePostgres::start(PrivatePostgresSettings::for_tests(&place)).await?;
            }
            other => break other?,
        }
    };
    let forget = format!(
        "SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database \
         WHERE starts_with(datname, '{TEST_DATABASE_PREFIX}') AND datname <> '{keep}' \\gexec"
    );
    server.run_sql("postgres", forget).await?;
    Ok(server)
}

/// Cargo marks its target folder with this file.
fn target_folder() -> Result<PathBuf> {
    let program =
        env::current_exe().map_err(file_error("where this program stands", Path::new("/proc/self/exe")))?;
    let marked = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    marked.map_or_else(folder_in_tmp, |folder| Ok(folder.to_owned()))
}

/// For a source tree that the user which PostgreSQL runs as cannot reach, such as one in root's home.
fn folder_in_tmp() -> Result<PathBuf> {
    let ourselves = nix::unistd::geteuid().as_raw();
    let folder = env::temp_dir().join(format!("keyrack-test-postgres-{ourselves}"));
    // Whether it was there already, and by whom, is told by the look at its owner.
    let _ = fs::DirBuilder::new().mode(0o711).create(&folder);
    let there = fs::symlink_metadata(&folder).map_err(file_error("cannot make the folder", &folder))?;
    if there.is_dir() && there.uid() == ourselves {
        Ok(folder)
    } else {
        Err(PrivatePostgresError::NotOurs { folder, uid: there.uid() })
    }
}
