//! Standard output carries what a command answers, and nothing else; the log goes to standard error.

use std::io::{self, Write};

use crate::failure::Failure;

pub(crate) fn say(answer: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let said = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    match said {
        // Whoever reads has heard enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        said => said.map_err(Failure::Stdout),
    }
}
