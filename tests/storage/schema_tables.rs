//! `schema/tables.md` says what the code says.

#[test]
fn the_list_of_tables_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/tables.md");
    let code = seedbank_store::tables::describe();
    if std::env::var_os("SEEDBANK_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &code).unwrap();
    }
    let file = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        file == code,
        "schema/tables.md is not what src/store/tables/schema.rs declares; write it anew with\n  \
         SEEDBANK_WRITE_SCHEMA=1 cargo test --test storage schema_tables"
    );
}
