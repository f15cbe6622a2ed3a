//! The provider's memory on disk: one event a line, written and synced by a thread of its own. All
//! that queued up while the disk was busy goes out with one sync. No answer leaves before the
//! events that it speaks of are on disk, so a killed provider never takes an answer back.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use tokio::sync::watch;

use crate::book::{Book, Entered};

/// How much of one batch goes to disk with one sync.
const BATCH_BYTES: usize = 1024 * 1024;

/// Longer lines are none of ours.
const LINE_BYTES: usize = 4096;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("the payment simulator's journal {} cannot be used", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the payment simulator's journal {} belongs to another running simulator", path.display())]
    InUse { path: PathBuf },
    #[error("line {line} of the payment simulator's journal {} is damaged, and it is not the last", path.display())]
    Damaged { path: PathBuf, line: usize },
    #[error("the payment simulator's journal {} is larger than {max} bytes", path.display())]
    TooLarge { path: PathBuf, max: u64 },
}

/// How far the events are on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Durable {
    UpTo(u64),
    /// The disk refused: nothing that is not known to be durable may be told any more.
    Broken,
}

struct Line {
    sequence: u64,
    text: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Journal {
    lines: mpsc::Sender<Line>,
    writer: thread::JoinHandle<()>,
    bytes: u64,
    max_bytes: u64,
}

impl Journal {
    /// Opens the file for this process alone, reads it into a book and drops a torn last write.
    pub(crate) fn open(
        path: &Path,
        max_bytes: u64,
        durable: watch::Sender<Durable>,
    ) -> Result<(Self, Book), JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        sync_folder_of(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > max_bytes {
            return Err(JournalError::TooLarge { path: path.to_owned(), max: max_bytes });
        }
        let (book, bytes) = read(&file, path)?;
        file.set_len(bytes).and_then(|()| (&file).seek(SeekFrom::Start(bytes))).map_err(failed)?;
        let (lines, queue) = mpsc::channel();
        let mut disk = file;
        let writer = thread::Builder::new()
            .name("simulator-journal".to_owned())
            .spawn(move || write_until_closed(&mut disk, &queue, &durable))
            .map_err(failed)?;
        Ok((Self { lines, writer, bytes, max_bytes }, book))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= self.max_bytes
    }

    /// Queues the event. A writer that has given up has said so through `durable`.
    pub(crate) fn append(&mut self, sequence: u64, event: &Entered) {
        let mut text = serde_json::to_vec(event).unwrap_or_default();
        text.push(b'\n');
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        let _ = self.lines.send(Line { sequence, text });
    }

    /// Writes what is queued and gives the file back. Blocks.
    pub(crate) fn close(self) {
        drop(self.lines);
        if self.writer.join().is_err() {
            tracing::error!("the payment simulator's journal writer panicked");
        }
    }
}

/// A new file is durable only once its folder is.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// The book, and where its last good line ends.
fn read(file: &File, path: &Path) -> Result<(Book, u64), JournalError> {
    let mut reader = BufReader::new(file);
    let (mut book, mut good_bytes) = (Book::default(), 0);
    let (mut number, mut damaged) = (0, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut reader, LINE_BYTES as u64).read_until(b'\n', &mut line);
        let read = read.map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
        if read == 0 {
            return Ok((book, good_bytes));
        }
        number += 1;
        let event = line.strip_suffix(b"\n").and_then(|text| serde_json::from_slice(text).ok());
        match (event, damaged) {
            (Some(event), None) => {
                book.apply(event);
                good_bytes += read as u64;
            }
            // A write that a kill or a power cut tore is the end of the file. Anything readable
            // after it means that the file was damaged otherwise, and charges may be missing.
            (Some(_), Some(line)) => return Err(JournalError::Damaged { path: path.to_owned(), line }),
            (None, None) => damaged = Some(number),
            (None, Some(_)) => {}
        }
    }
}

/// What has been appended is still there after a power cut.
trait Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Disk for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        self.sync_data()
    }
}

fn write_until_closed(disk: &mut impl Disk, queue: &mpsc::Receiver<Line>, durable: &watch::Sender<Durable>) {
    while let Ok(first) = queue.recv() {
        let (mut sequence, mut batch) = (first.sequence, first.text);
        while batch.len() < BATCH_BYTES
            && let Ok(next) = queue.try_recv()
        {
            sequence = next.sequence;
            batch.extend_from_slice(&next.text);
        }
        if let Err(error) = disk.append(&batch) {
            tracing::error!(%error, "the payment simulator's journal cannot be written; it answers nothing more");
            durable.send_replace(Durable::Broken);
            return;
        }
        durable.send_replace(Durable::UpTo(sequence));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{book::Event, charge::State, input::ReferenceName};

    fn reference(text: &str) -> ReferenceName {
        text.to_owned().try_into().expect("a reference")
    }

    fn open(path: &Path) -> Result<(Journal, Book), JournalError> {
        Journal::open(path, 10_000, watch::channel(Durable::UpTo(0)).0)
    }

    /// One authorization, written, and the bytes of the file.
    fn written(path: &Path) -> Vec<u8> {
        let (mut journal, book) = open(path).expect("opens");
        assert_eq!(book.len(), 0);
        let line = r#"{"event":"asked","reference":"a","state":"AUTHORIZED","input":
            {"kind":"authorize","amount":{"amount":5,"currency":"INR"},"method":"pm_ok"}}"#;
        journal.append(1, &serde_json::from_str(line).expect("an event"));
        journal.append(2, &Entered { event: Event::Repeated { reference: reference("a") }, at: 7 });
        journal.close();
        std::fs::read(path).expect("the file")
    }

    #[test]
    fn a_torn_last_write_is_dropped_and_everything_before_it_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let bytes = written(&path);
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).expect("writes");
            let (journal, book) = open(&path).expect("opens");
            journal.close();
            let calls = book.get(&reference("a")).map_or(0, |entry| entry.calls);
            let whole_lines = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
            assert_eq!(calls as usize, whole_lines, "cut at {cut}");
            let kept = std::fs::read(&path).expect("the file");
            assert!(kept.is_empty() || kept.ends_with(b"\n"), "cut at {cut}");
        }
    }

    #[test]
    fn damage_in_the_middle_is_not_a_torn_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut bytes = written(&path);
        bytes[3] = b'#';
        std::fs::write(&path, &bytes).expect("writes");
        assert!(matches!(open(&path), Err(JournalError::Damaged { line: 1, .. })));
    }

    #[test]
    fn a_journal_has_one_owner_and_a_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let (journal, _) = open(&path).expect("opens");
        assert!(matches!(open(&path), Err(JournalError::InUse { .. })));
        journal.close();
        std::fs::write(&path, vec![b'x'; 10_001]).expect("writes");
        assert!(matches!(open(&path), Err(JournalError::TooLarge { max: 10_000, .. })));
    }

    #[test]
    fn states_are_written_by_name() {
        let event = Event::Settled { reference: reference("a"), state: State::Captured };
        let event = Entered { event, at: 7 };
        let line = serde_json::to_string(&event).expect("a line");
        assert_eq!(line, r#"{"event":"settled","reference":"a","state":"CAPTURED","at":7}"#);
    }

    /// Notes what had been declared durable by the time of each write; fails where it should.
    struct Watched {
        durable: watch::Receiver<Durable>,
        seen: Vec<Durable>,
        fails: bool,
    }

    impl Disk for Watched {
        fn append(&mut self, _: &[u8]) -> io::Result<()> {
            self.seen.push(*self.durable.borrow());
            if self.fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    fn written_to(fails: bool) -> (Vec<Durable>, Durable) {
        let (durable, watching) = watch::channel(Durable::UpTo(0));
        let (lines, queue) = mpsc::channel();
        lines.send(Line { sequence: 1, text: vec![b'x'; BATCH_BYTES] }).expect("queued");
        lines.send(Line { sequence: 2, text: b"y".to_vec() }).expect("queued");
        lines.send(Line { sequence: 3, text: b"z".to_vec() }).expect("queued");
        drop(lines);
        let mut disk = Watched { durable: watching, seen: Vec::new(), fails };
        write_until_closed(&mut disk, &queue, &durable);
        let last = *durable.borrow();
        (disk.seen, last)
    }

    #[test]
    fn nothing_is_called_durable_before_it_is() {
        let (seen, last) = written_to(false);
        // The first line fills a batch, the other two share one.
        assert_eq!((seen, last), (vec![Durable::UpTo(0), Durable::UpTo(1)], Durable::UpTo(3)));
    }

    #[test]
    fn after_a_failed_write_nothing_is_called_durable_any_more() {
        let (seen, last) = written_to(true);
        assert_eq!((seen, last), (vec![Durable::UpTo(0)], Durable::Broken));
    }
}
