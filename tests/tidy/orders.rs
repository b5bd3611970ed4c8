//! The order in which the modules of a folder may import each other.

/// The rooms of a folder from the lowest upwards. Rooms on one line are at the same height, and do
/// not import each other. A room that is missing here, or that no longer exists, is an error.
pub(super) struct Order {
    /// The folder of the crate.
    pub(super) of: &'static str,
    /// The folder within the crate.
    pub(super) folder: &'static [&'static str],
    pub(super) lines: &'static [&'static [&'static str]],
}

pub(super) const ORDERS: &[Order] = &[
    Order {
        of: "src/algorithms",
        folder: &[],
        lines: &[
            &["decimal", "page", "watch"],
            &["communicator", "crawl_limits", "slack"],
            &["crawl_frontier", "graph", "yields"],
            &["rank", "statistics"],
            &["cores", "cover"],
            &["evaluate"],
        ],
    },
    Order {
        of: "src/formats",
        folder: &[],
        lines: &[
            &["clock", "display", "parquet_writer"],
            &["ingest", "synth"],
        ],
    },
    Order {
        of: "src/python",
        folder: &[],
        lines: &[
            &["hints", "records", "export"],
            &["errors"],
            &["call", "columns"],
            &["handle", "arguments", "parameters", "ingest", "table"],
            &["evaluate"],
            &["bank"],
        ],
    },
    Order {
        of: "src/store",
        folder: &[],
        lines: &[
            &["table_info"],
            &["format"],
            &["error"],
            &["disk", "sorter"],
            &["rocks"],
            &["tables"],
            &["graph_image"],
            &["check"],
            &["publish"],
            &["backup"],
            &["maintenance"],
        ],
    },
    Order {
        of: "src",
        folder: &[],
        lines: &[
            &["named_enum"],
            &["engine"],
            &["answers", "html"],
            &["report", "serve"],
        ],
    },
    Order {
        of: "src",
        folder: &["engine"],
        lines: &[
            &["error", "clock", "chunk_shape", "request_topic", "scratch"],
            &["failing_watch"],
            &["rounds"],
            &["processes"],
            &["bank", "cluster", "page_numbers", "remote", "site_owners"],
            &["applied_batches", "web_graph"],
            &["eligibility"],
            &["policy"],
            &["plan"],
            &["history"],
            &["ingest"],
            &["learned_values", "repeated_content", "revisits"],
            &["maintenance"],
            &["refresh", "export"],
            &["process_server"],
            &["query", "graph_export"],
            &["evaluate", "scores"],
        ],
    },
    Order {
        of: "src",
        folder: &["cli"],
        lines: &[
            &["time_limit", "abort_handler", "environment"],
            &["parameter_flags"],
            &["failure"],
            &["log"],
            &["output", "progress"],
            &["values"],
            &["session"],
            &["create", "processes"],
            &["url_list"],
            &["lists"],
            &[
                "backups",
                "cores",
                "evaluate",
                "export",
                "history",
                "ingest",
                "lookups",
                "maintenance",
                "mcp",
                "plans",
                "quotas",
                "refresh",
                "report",
                "scores",
                "seeds",
                "serve",
                "shell",
                "status",
                "synth",
            ],
            // The types that are printed, as schemas.
            &["schemas"],
            &["args"],
        ],
    },
];
