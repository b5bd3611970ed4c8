//! The stores that addresses lead to.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{ClientConfigKey, HttpClient, HttpConnector, ReqwestConnector};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectMeta, ObjectStore, RetryConfig};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::RemoteFile;

use crate::address::{Address, Service, matches, shown};
use crate::error::RemoteError;
use crate::failure::Failure;
use crate::file::File;
use crate::runtime::wait;
use crate::version::{Version, look_up};

/// How long the network may be silent. A whole file takes as long as it takes.
const SILENCE: &str = "60 seconds";
const CONNECT: &str = "10 seconds";
/// Requests have no time limit of their own.
const FOREVER: &str = "365 days";

/// The number of files that are looked up at the same time.
const LOOK_UPS: usize = 16;

/// Finds remote files.
pub struct Client {
    /// By bucket.
    stores: HashMap<String, Arc<dyn ObjectStore>>,
    /// Connections of HTTP, which all addresses share.
    http: Option<HttpClient>,
    watch: Arc<dyn Watch + Send>,
}

/// The files that an address leads to.
pub type Found = Vec<Arc<dyn RemoteFile>>;

/// A result whose error comes with the address that it is about, without secrets.
pub type Named<T> = Result<T, (String, io::Error)>;

impl Client {
    /// Creates a client. The watch can stop all reads of the files that it finds.
    pub fn new(watch: Arc<dyn Watch + Send>) -> Self {
        Self {
            stores: HashMap::new(),
            http: None,
            watch,
        }
    }

    pub(crate) fn watch(&self) -> &Arc<dyn Watch + Send> {
        &self.watch
    }

    /// Finds the files of addresses and patterns, in order; those of a pattern in the order of their names. The
    /// error comes with the address that it is about, without secrets.
    pub fn find(&mut self, addresses: &[&str]) -> Named<Vec<Found>> {
        let mut wanted = Vec::new();
        for text in addresses {
            let named = |error: RemoteError| (shown(text), error.into());
            let address = Address::parse(text).map_err(named)?;
            address.check_file().map_err(named)?;
            let found = if address.is_pattern() {
                self.matching(&address)
                    .map_err(|error| (address.name.clone(), error))?
            } else {
                vec![(
                    address.name.clone(),
                    self.place(&address).map_err(named)?,
                    None,
                )]
            };
            wanted.push(found);
        }
        let counts: Vec<usize> = wanted.iter().map(Vec::len).collect();
        let mut files = self
            .look_up_all(wanted.into_iter().flatten().collect())?
            .into_iter();
        Ok(counts
            .into_iter()
            .map(|count| files.by_ref().take(count).collect())
            .collect())
    }

    /// Looks up the files that no listing has described, several at a time.
    fn look_up_all(&self, wanted: Vec<Wanted>) -> Named<Vec<Arc<dyn RemoteFile>>> {
        let found = futures_util::stream::iter(wanted.into_iter().map(look_up_one));
        let found = found.buffered(LOOK_UPS).try_collect::<Vec<_>>();
        let found = wait(found, &self.watch).map_err(|error| (String::new(), error))??;
        let files = found.into_iter().map(|(name, version)| {
            let watch = Arc::clone(&self.watch);
            Arc::new(File {
                name,
                version,
                watch,
            }) as Arc<dyn RemoteFile>
        });
        Ok(files.collect())
    }

    /// Lists the files that match a pattern.
    fn matching(&mut self, address: &Address) -> io::Result<Vec<Wanted>> {
        let (folder, is_flat) = address.folder();
        let (store, prefix) = self.place(&address.sibling(folder))?;
        let listed = {
            let store = Arc::clone(&store);
            let list = async move {
                let prefix = (!prefix.is_root()).then_some(prefix);
                if is_flat {
                    let listed = store.list_with_delimiter(prefix.as_ref()).await;
                    return listed.map(|listed| listed.objects);
                }
                store
                    .list(prefix.as_ref())
                    .try_collect::<Vec<ObjectMeta>>()
                    .await
            };
            wait(list, &self.watch)?.map_err(|error| Failure::from(error).error)?
        };
        let mut files: Vec<ObjectMeta> = listed
            .into_iter()
            .filter(|file| matches(&address.key, file.location.as_ref()))
            .collect();
        if files.is_empty() {
            return Err(RemoteError::NoMatch.into());
        }
        // Not every service lists by name.
        files.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        let files = files.into_iter().map(|file| {
            let name = address.sibling(file.location.as_ref()).name;
            let place = (Arc::clone(&store), file.location.clone());
            (name, place, Some(file))
        });
        Ok(files.collect())
    }

    /// Returns the store of an address, and the path in it.
    pub(crate) fn place(&mut self, address: &Address) -> Result<Place, RemoteError> {
        let path =
            Path::parse(&address.key).map_err(|error| RemoteError::Invalid(error.to_string()))?;
        if address.service == Service::Http {
            return Ok((self.http_store(address)?, path));
        }
        if let Some(store) = self.stores.get(&address.base) {
            return Ok((Arc::clone(store), path));
        }
        let store = bucket(address).map_err(|error| {
            RemoteError::Settings(match error {
                object_store::Error::Generic { source, .. } => source.to_string(),
                other => other.to_string(),
            })
        })?;
        self.stores.insert(address.base.clone(), Arc::clone(&store));
        Ok((store, path))
    }

    /// Returns the store of one address of HTTP, whose path and query stay as they were given.
    fn http_store(&mut self, address: &Address) -> Result<Arc<dyn ObjectStore>, RemoteError> {
        let failed = |error: object_store::Error| Failure::from(error).error;
        let client = if let Some(client) = &self.http {
            client.clone()
        } else {
            // The client needs the cryptography that the runtime installs.
            crate::runtime::handle().map_err(|error| RemoteError::Failed(error.to_string()))?;
            let options = ClientOptions::new()
                .with_config(ClientConfigKey::AllowHttp, "true")
                .with_config(ClientConfigKey::Timeout, FOREVER)
                .with_config(ClientConfigKey::ReadTimeout, SILENCE)
                .with_config(ClientConfigKey::ConnectTimeout, CONNECT);
            let client = ReqwestConnector::default()
                .connect(&options)
                .map_err(failed)?;
            self.http.insert(client).clone()
        };
        let store = HttpBuilder::new()
            .with_url(&address.base)
            .with_http_connector(Shared(client))
            .with_retry(retries())
            .build()
            .map_err(failed)?;
        Ok(Arc::new(store))
    }
}

/// A store and a path in it.
pub(crate) type Place = (Arc<dyn ObjectStore>, Path);

/// A file to look up: its name, its place, and what a listing says about it.
type Wanted = (String, Place, Option<ObjectMeta>);

/// Looks up a file, unless a listing has described it.
async fn look_up_one(wanted: Wanted) -> Named<(String, Version)> {
    let (name, (store, path), listed) = wanted;
    let found = match listed {
        Some(listed) => Ok(listed),
        None => look_up(&*store, &path).await,
    };
    match found {
        Ok(found) => Ok((name, Version { store, found })),
        Err(error) => Err((name, error.into())),
    }
}

/// Passes on an existing client.
#[derive(Debug)]
struct Shared(HttpClient);

impl HttpConnector for Shared {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}

/// Returns the store of a bucket, with the credentials of the environment.
fn bucket(address: &Address) -> object_store::Result<Arc<dyn ObjectStore>> {
    // TLS needs the cryptography that the runtime installs.
    let _ = crate::runtime::handle();
    let bucket = &address.bucket;
    // An endpoint without TLS was chosen by whoever set it.
    let endpoint = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"].map(std::env::var);
    let is_plain = endpoint
        .iter()
        .flatten()
        .any(|url| url.starts_with("http://"));
    let mut s3 = AmazonS3Builder::from_env().with_bucket_name(bucket);
    if is_plain {
        s3 = s3.with_allow_http(true);
    }
    macro_rules! limited {
        ($builder:expr, $key:ident) => {
            $builder
                .with_retry(retries())
                .with_config($key::Client(ClientConfigKey::Timeout), FOREVER)
                .with_config($key::Client(ClientConfigKey::ReadTimeout), SILENCE)
                .with_config($key::Client(ClientConfigKey::ConnectTimeout), CONNECT)
                .build()?
        };
    }
    Ok(match address.service {
        Service::S3 | Service::Http => Arc::new(limited!(s3, AmazonS3ConfigKey)),
        Service::Google => Arc::new(limited!(
            GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket),
            GoogleConfigKey
        )),
        Service::Azure => Arc::new(limited!(
            MicrosoftAzureBuilder::from_env().with_container_name(bucket),
            AzureConfigKey
        )),
    })
}

/// Returns how often one request is tried. A file that is read takes several tries of requests.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: 5,
        retry_timeout: Duration::from_secs(60),
    }
}
