//! A bank's state in files.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use seedbank::engine::EngineError;
use seedbank::engine::error::ExportPart;
use seedbank::engine::export::ExportReport;

/// A file that replaces another one when it is complete, compressed as its name says.
enum File {
    Plain(BufWriter<NamedTempFile>),
    Gzip(GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
}

impl File {
    fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut builder = tempfile::Builder::new();
        // As for any new file; the default of temporary files lets only their owner read them.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let file = BufWriter::new(file);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip(GzEncoder::new(file, Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(file, 0)?),
            _ => Self::Plain(file),
        })
    }

    fn finish(self, path: &Path) -> io::Result<()> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(file) => file.finish()?,
            Self::Zstd(file) => file.finish()?,
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(file) => file.write(bytes),
            Self::Zstd(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(file) => file.flush(),
            Self::Zstd(file) => file.flush(),
        }
    }
}

/// Exports the state of a bank to files, which are replaced only when both are complete.
pub(crate) fn to_files(
    bank: &seedbank::Bank,
    records: &Path,
    sites: Option<&Path>,
) -> Result<ExportReport, EngineError> {
    let write_error = |path: &Path, source| EngineError::Write {
        path: path.to_path_buf(),
        source,
    };
    let create = |path: &Path| File::create(path).map_err(|error| write_error(path, error));
    let mut to_records = create(records)?;
    let mut to_sites = sites.map(create).transpose()?;
    let sites_out = to_sites.as_mut().map(|file| -> &mut dyn Write { file });
    let report = bank.export(&mut to_records, sites_out);
    let report = report.map_err(|error| match (error, sites) {
        (
            EngineError::Export {
                what: ExportPart::Sites,
                source,
            },
            Some(sites),
        ) => write_error(sites, source),
        (EngineError::Export { source, .. }, _) => write_error(records, source),
        (error, _) => error,
    })?;
    if let (Some(file), Some(path)) = (to_sites, sites) {
        file.finish(path)
            .map_err(|error| write_error(path, error))?;
    }
    to_records
        .finish(records)
        .map_err(|error| write_error(records, error))?;
    Ok(report)
}
