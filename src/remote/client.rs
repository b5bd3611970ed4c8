//! The stores that addresses lead to.

use std::collections::HashMap;
use std::ffi::OsString;
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
    stores: HashMap<String, Stores>,
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
        let (stores, prefix) = self.place(&address.sibling(folder))?;
        let listed = {
            let store = Arc::clone(&stores.requests);
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
            let place = (stores.clone(), file.location.clone());
            (name, place, Some(file))
        });
        Ok(files.collect())
    }

    /// Returns the stores of an address, and the path in them.
    pub(crate) fn place(&mut self, address: &Address) -> Result<Place, RemoteError> {
        let path =
            Path::parse(&address.key).map_err(|error| RemoteError::Invalid(error.to_string()))?;
        if address.service == Service::Http {
            return Ok((self.http_stores(address)?, path));
        }
        if let Some(stores) = self.stores.get(&address.base) {
            return Ok((stores.clone(), path));
        }
        check_environment(std::env::vars_os())?;
        let stores = Stores::new(|retries| bucket(address, retries)).map_err(|error| {
            RemoteError::Settings(match error {
                object_store::Error::Generic { source, .. } => source.to_string(),
                other => other.to_string(),
            })
        })?;
        self.stores.insert(address.base.clone(), stores.clone());
        Ok((stores, path))
    }

    /// Returns the stores of one address of HTTP, whose path and query stay as they were given.
    fn http_stores(&mut self, address: &Address) -> Result<Stores, RemoteError> {
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
        let store = |retries| {
            let store = HttpBuilder::new()
                .with_url(&address.base)
                .with_http_connector(Shared(client.clone()))
                .with_retry(retries)
                .build()?;
            Ok(Arc::new(store) as Arc<dyn ObjectStore>)
        };
        Stores::new(store).map_err(failed)
    }
}

/// The clients of one bucket or address.
#[derive(Clone)]
pub(crate) struct Stores {
    /// Tries a request again that failed.
    pub(crate) requests: Arc<dyn ObjectStore>,
    /// Tries nothing again: `object_store` would continue a body that was cut if the tag is the same, also a weak
    /// one, and so join two versions of a file.
    pub(crate) reads: Arc<dyn ObjectStore>,
}

impl Stores {
    fn new(
        store: impl Fn(RetryConfig) -> object_store::Result<Arc<dyn ObjectStore>>,
    ) -> object_store::Result<Self> {
        let no_retries = RetryConfig {
            max_retries: 0,
            ..retries()
        };
        Ok(Self {
            requests: store(retries())?,
            reads: store(no_retries)?,
        })
    }
}

/// Stores and a path in them.
pub(crate) type Place = (Stores, Path);

/// A file to look up: its name, its place, and what a listing says about it.
type Wanted = (String, Place, Option<ObjectMeta>);

/// Looks up a file, unless a listing has described it.
async fn look_up_one(wanted: Wanted) -> Named<(String, Version)> {
    let (name, (stores, path), listed) = wanted;
    let found = match listed {
        Some(listed) => Ok(listed),
        None => look_up(&*stores.requests, &path).await,
    };
    let store = stores.reads;
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

/// The variables of the environment with the address of another service than Amazon's.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"];

/// Fails if a setting for storage cannot be part of a request, on which `object_store` panics.
fn check_environment(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<(), RemoteError> {
    for (name, value) in variables {
        let name = name.to_string_lossy();
        // Those of Google are names of files and keys as JSON, and no part of a request.
        if !name.starts_with("AWS_") && !name.starts_with("AZURE_") {
            continue;
        }
        let is_path = name.ends_with("FILE") || name.ends_with("PATH");
        let is_wrong = |byte: &u8| byte.is_ascii_control() || (!byte.is_ascii() && !is_path);
        // What is wrong may be a secret, so that the value is not in the error.
        if value.as_encoded_bytes().iter().any(is_wrong) {
            let text = format!("{name} has a character that is no printable ASCII");
            return Err(RemoteError::Settings(text));
        }
        if ENDPOINTS.contains(&&*name) && !is_endpoint(&value.to_string_lossy()) {
            let text = format!("{name} is not an address such as https://storage.example:9000");
            return Err(RemoteError::Settings(text));
        }
    }
    Ok(())
}

/// Returns whether a text is an address that requests can begin with.
fn is_endpoint(text: &str) -> bool {
    let is_http = |url: url::Url| matches!(url.scheme(), "http" | "https");
    url::Url::parse(text).is_ok_and(is_http) && text.parse::<http::Uri>().is_ok()
}

/// Returns the store of a bucket, with the credentials of the environment.
fn bucket(address: &Address, retries: RetryConfig) -> object_store::Result<Arc<dyn ObjectStore>> {
    // TLS needs the cryptography that the runtime installs.
    let _ = crate::runtime::handle();
    let bucket = &address.bucket;
    // An endpoint without TLS was chosen by whoever set it.
    let endpoint = ENDPOINTS.map(std::env::var);
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
                .with_retry(retries)
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

/// Returns how often a request is tried that reads no file. Those that do are tried again by their reader.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_no_request_can_contain_are_refused() {
        let check =
            |name: &str, value: &str| check_environment([(name.into(), value.into())].into_iter());
        for (name, value) in [
            ("AWS_SECRET_ACCESS_KEY", "key\n"),
            ("AWS_SESSION_TOKEN", "to\u{7f}ken"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "b\u{fc}cher"),
            ("AWS_ENDPOINT_URL", "localhost:9000"),
            ("AWS_ENDPOINT", ""),
            ("AWS_ENDPOINT_URL_S3", "http://a b"),
            ("AWS_ENDPOINT_URL", "http://h:99999"),
        ] {
            let checked = check(name, value);
            let Err(RemoteError::Settings(text)) = checked else {
                panic!("{name}={value:?}: {checked:?}");
            };
            assert!(text.starts_with(name) && !text.contains("key"), "{text}");
        }
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/"),
            ("AWS_CONFIG_FILE", "/home/b\u{fc}cher/config"),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", "{\n}"),
            ("HOME", "a\nb"),
        ] {
            assert_eq!(check(name, value), Ok(()));
        }
    }
}
