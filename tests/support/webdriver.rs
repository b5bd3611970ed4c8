//! A browser that is driven as a person drives it, over the WebDriver protocol of the W3C, and of
//! Chrome what that protocol lacks: colours, sizes and logs.
//!
//! Needs Debian's `chromium` and `chromium-driver`, and says so where they are missing.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::skipped::skipped;

/// How long the browser may take for a step.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keys that write nothing.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";

/// The name under which the protocol tells an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser without a window. It ends when it is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

/// An element of the page that is open.
pub struct Element<'a> {
    browser: &'a Browser,
    id: String,
}

/// A program of one of these names in the folders of `PATH`.
fn program(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
}

/// What a server says to one request: its head in lower case and its body.
pub fn asked(port: u16, method: &str, path: &str, body: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line.to_lowercase());
    }
    let length = head.lines().find_map(|l| l.strip_prefix("content-length:"));
    let mut body = Vec::new();
    if let Some(length) = length {
        body.resize(length.trim().parse().unwrap(), 0);
        reader.read_exact(&mut body).unwrap();
    } else {
        reader.read_to_end(&mut body).unwrap();
    }
    (head, body)
}

/// Starts the driver on a port of its choice; `None` if it ends before it listens.
#[expect(
    clippy::zombie_processes,
    reason = "a browser waits for its driver when it is dropped"
)]
fn start_driver(program: &Path) -> Option<(Child, BufReader<ChildStdout>, u16)> {
    let mut driver = Command::new(program)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap());
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            let _ = driver.wait();
            return None;
        }
        if let Some((_, port)) = line.split_once("successfully on port ") {
            let port = port.trim().trim_end_matches('.').parse().unwrap();
            return Some((driver, lines, port));
        }
    }
}

impl Browser {
    /// Starts the browser; `None` where it, or what drives it, is not installed.
    pub fn start(test: &str) -> Option<Self> {
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"]);
        let (Some(chromium), Some(driver)) = (chromium, program(&["chromedriver"])) else {
            let advice = "make deps-browser, or apt-get install chromium chromium-driver";
            skipped(test, "chromium and chromedriver", advice);
            return None;
        };
        // The free port that the driver picks may be taken by the time it listens; then it ends.
        let started = (0..3).find_map(|_| start_driver(&driver));
        let (driver, mut lines, port) =
            started.expect("chromedriver ended before it said its port");
        let profile = super::scratch();
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
        };
        // A pipe that nobody reads would stop the driver one day.
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let folder = format!("--user-data-dir={}", browser.profile.path().display());
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": chromium, "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--disable-dev-shm-usage", "--window-size=1280,900", folder,
            ]},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = browser.asked("POST", "/session", &wanted).unwrap();
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        // The browser's own first page is left, and what it asked for forgotten.
        browser.goto("about:blank");
        browser.log("performance");
        Some(browser)
    }

    fn asked(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let (head, body) = asked(self.port, method, path, &body);
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        let value = answer["value"].take();
        if head.starts_with("http/1.1 200") {
            Ok(value)
        } else {
            Err(format!("{method} {path}: {value}"))
        }
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.asked("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// What is asked for must be there.
    #[track_caller]
    fn must(&self, path: &str, body: &Value) -> Value {
        match self.post(path, body) {
            Ok(value) => value,
            Err(e) => panic!("at {}: {e}", self.address()),
        }
    }

    fn get(&self, path: &str) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.asked("GET", &path, &Value::Null).unwrap()
    }

    #[track_caller]
    pub fn goto(&self, address: &str) {
        self.must("/url", &json!({"url": address}));
    }

    /// The address of the page that is open.
    pub fn address(&self) -> String {
        self.get("/url").as_str().unwrap().to_owned()
    }

    fn element(&self, reply: &Value) -> Element<'_> {
        let id = reply[ELEMENT].as_str().unwrap().to_owned();
        Element { browser: self, id }
    }

    /// The first element that a CSS selector finds.
    #[track_caller]
    pub fn find(&self, css: &str) -> Element<'_> {
        let how = json!({"using": "css selector", "value": css});
        let reply = self.must("/element", &how);
        self.element(&reply)
    }

    /// The link of this text.
    #[track_caller]
    pub fn link(&self, text: &str) -> Element<'_> {
        let how = json!({"using": "link text", "value": text});
        let reply = self.must("/element", &how);
        self.element(&reply)
    }

    /// The element that has the focus.
    pub fn active(&self) -> Element<'_> {
        self.element(&self.get("/element/active"))
    }

    /// Presses a key, whatever has the focus.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let presses = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": presses});
        self.must("/actions", &json!({"actions": [keyboard]}));
    }

    /// What a function of this text returns in the page. No policy of the page stops it.
    #[track_caller]
    pub fn run(&self, script: &str) -> Value {
        self.must("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The same of a function that hands its result to the argument after these.
    #[track_caller]
    pub fn run_async(&self, script: &str, args: &[Value]) -> Value {
        self.must("/execute/async", &json!({"script": script, "args": args}))
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let script = json!({"script": format!("return !!({expression})"), "args": []});
        let until = Instant::now() + PATIENCE;
        // While one page goes and another comes there is none that could be asked.
        while self.post("/execute/sync", &script) != Ok(Value::Bool(true)) {
            assert!(Instant::now() < until, "{}: {expression}", self.address());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// A command of Chrome's own protocol.
    #[track_caller]
    pub fn chrome(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.must("/goog/cdp/execute", &body)
    }

    /// As on a screen or on paper (`screen` or `print`), light or dark.
    #[track_caller]
    pub fn shown_on(&self, media: &str, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        let all = json!({"media": media, "features": [feature]});
        self.chrome("Emulation.setEmulatedMedia", &all);
    }

    /// As wide as this; a phone below 500.
    #[track_caller]
    pub fn set_width(&self, width: u32) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.chrome("Emulation.setDeviceMetricsOverride", &size);
    }

    /// A picture of what is seen, which is kept in the target folder too.
    #[track_caller]
    pub fn picture(&self, name: &str) -> Vec<u8> {
        let picture = self.get("/screenshot");
        kept(&format!("{name}.png"), &picture)
    }

    /// The page on paper, as PDF.
    #[track_caller]
    pub fn paper(&self, name: &str) -> Vec<u8> {
        let pages = self.must("/print", &json!({}));
        kept(&format!("{name}.pdf"), &pages)
    }

    /// What a log has had since it was last asked for: `browser` or `performance`.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.must("/se/log", &json!({"type": kind}));
        entries.as_array().unwrap().clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser itself; a driver that is only killed may leave it behind.
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            let _ = self.asked("DELETE", &path, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Element<'_> {
    #[track_caller]
    fn ask(&self, what: &str) -> Value {
        self.browser.get(&format!("/element/{}/{what}", self.id))
    }

    #[track_caller]
    pub fn click(&self) {
        let path = format!("/element/{}/click", self.id);
        self.browser.must(&path, &json!({}));
    }

    /// Types text, or names a file where one is chosen.
    #[track_caller]
    pub fn send_keys(&self, text: &str) {
        let path = format!("/element/{}/value", self.id);
        self.browser.must(&path, &json!({"text": text}));
    }

    pub fn text(&self) -> String {
        self.ask("text").as_str().unwrap().to_owned()
    }

    /// What it has now, which a person may have changed.
    pub fn property(&self, name: &str) -> Value {
        self.ask(&format!("property/{name}"))
    }
}

/// Where pictures of the served pages are kept.
pub fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn kept(name: &str, encoded: &Value) -> Vec<u8> {
    let bytes = BASE64.decode(encoded.as_str().unwrap().as_bytes()).unwrap();
    fs::write(folder().join(name), &bytes).unwrap();
    bytes
}
