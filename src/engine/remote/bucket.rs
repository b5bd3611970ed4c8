//! Backups in a bucket.

use std::io::{self, Read, Write};

use seedbank_remote::{Folder, Lock, Upload};
use seedbank_store::{BackupLock, BackupStorage, BackupWriter};

/// The files below an address, as storage of backups.
pub(super) struct Bucket(pub(super) Folder);

impl BackupStorage for Bucket {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn files(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        let files = self.0.list(folder)?.into_iter();
        Ok(files.map(|file| (file.name, file.length)).collect())
    }

    fn open(&self, file: &str) -> io::Result<Option<Box<dyn Read + Send>>> {
        self.0.open(file)
    }

    fn create(&self, file: &str, text: Vec<u8>) -> io::Result<bool> {
        self.0.create(file, text)
    }

    fn writer(&self, file: &str) -> io::Result<Box<dyn BackupWriter>> {
        Ok(Box::new(Writer(self.0.upload(file))))
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        self.0.remove(file)
    }

    fn lock(&self, file: &str, wait: bool) -> io::Result<Option<Box<dyn BackupLock>>> {
        let lock = self.0.lock(file, wait)?;
        Ok(lock.map(|lock| Box::new(Held(lock)) as Box<dyn BackupLock>))
    }
}

struct Writer(Upload);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl BackupWriter for Writer {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()
    }
}

struct Held(Lock);

impl BackupLock for Held {
    fn check(&self) -> io::Result<()> {
        self.0.check()
    }
}
