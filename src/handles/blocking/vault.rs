//! [`Vault`](crate::Vault), and the file operations of [`Memories`](crate::Memories), for callers without a runtime.

use std::sync::Arc;

use crate::{
    FileFormat, ImportedFiles, MemoryId, Origin, Result, VaultReport,
    handles::blocking::{memories::Memories, waiter::Waiter},
};

/// The blocking version of [`Vault`](crate::Vault).
#[derive(Clone, Debug)]
pub struct Vault {
    // Dropped before the runtime, because its last operations run there.
    inner: crate::Vault,
    runtime: Arc<Waiter>,
}

impl Vault {
    pub(super) fn new(inner: crate::Vault, runtime: Arc<Waiter>) -> Self {
        Self { inner, runtime }
    }

    /// See [`Vault::init`](crate::Vault::init).
    pub fn init(&self) -> Result<()> {
        self.runtime.block_on(self.inner.init())
    }

    /// See [`Vault::export`](crate::Vault::export).
    pub fn export(&self) -> Result<VaultReport> {
        self.runtime.block_on(self.inner.export())
    }

    /// See [`Vault::status`](crate::Vault::status).
    pub fn status(&self) -> Result<VaultReport> {
        self.runtime.block_on(self.inner.status())
    }

    /// See [`Vault::sync`](crate::Vault::sync).
    pub fn sync(&self) -> Result<VaultReport> {
        self.runtime.block_on(self.inner.sync())
    }
}

impl Memories {
    /// See [`Memories::import_files`](crate::Memories::import_files).
    pub fn import_files(
        &self,
        files: impl IntoIterator<Item = (String, String)>,
        origin: Origin,
    ) -> Result<ImportedFiles> {
        self.runtime.block_on(self.inner.import_files(files, origin))
    }

    /// See [`Memories::restore_files`](crate::Memories::restore_files).
    pub fn restore_files(&self, files: impl IntoIterator<Item = (String, String)>) -> Result<ImportedFiles> {
        self.runtime.block_on(self.inner.restore_files(files))
    }

    /// See [`Memories::as_file`](crate::Memories::as_file).
    pub fn as_file(&self, id: MemoryId, format: FileFormat) -> Result<String> {
        self.runtime.block_on(self.inner.as_file(id, format))
    }
}
