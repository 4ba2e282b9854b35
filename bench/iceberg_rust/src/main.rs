//! The side of catalogs in Rust of loading a table from end to end, in the same form as load_bench:
//! iceberg-rust with a REST catalog and with an SQL catalog, and skade-katalog, which keeps built
//! tables in its process; each by a catalog that is opened for it and by one that has been used.
//! The REST catalog has the table already; the two others register it in DIRECTORY first.
//!
//!     iceberg_rust_load REST_URI DIRECTORY METADATA_FILE ROUNDS

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use iceberg::io::LocalFsStorageFactory;
use iceberg::{Catalog as _, CatalogBuilder as _, NamespaceIdent, TableIdent};
use iceberg_catalog_rest::{REST_CATALOG_PROP_URI, RestCatalog, RestCatalogBuilder};
use iceberg_catalog_sql::{
    SQL_CATALOG_PROP_BIND_STYLE, SQL_CATALOG_PROP_URI, SQL_CATALOG_PROP_WAREHOUSE, SqlBindStyle,
    SqlCatalog, SqlCatalogBuilder,
};
use iceberg_of_skade::{Catalog as _, CatalogBuilder as _};
use serde_json::{Map, Value, json};
use skade_katalog::{RedbCatalog, RedbCatalogBuilder};

type AnyError = Box<dyn Error>;

const WAREHOUSE: &str = "file:///nowhere";

async fn open_rest(uri: &str) -> Result<RestCatalog, AnyError> {
    let properties = HashMap::from([(REST_CATALOG_PROP_URI.to_string(), uri.to_string())]);
    let builder =
        RestCatalogBuilder::default().with_storage_factory(Arc::new(LocalFsStorageFactory));
    Ok(builder.load("rest", properties).await?)
}

async fn open_sql(directory: &str) -> Result<SqlCatalog, AnyError> {
    let properties = HashMap::from([
        (SQL_CATALOG_PROP_URI.to_string(), format!("sqlite:{directory}/catalog.db?mode=rwc")),
        (SQL_CATALOG_PROP_WAREHOUSE.to_string(), WAREHOUSE.to_string()),
        (SQL_CATALOG_PROP_BIND_STYLE.to_string(), SqlBindStyle::QMark.to_string()),
    ]);
    let builder =
        SqlCatalogBuilder::default().with_storage_factory(Arc::new(LocalFsStorageFactory));
    Ok(builder.load("sql", properties).await?)
}

async fn open_skade(directory: &str) -> Result<RedbCatalog, AnyError> {
    let builder = RedbCatalogBuilder::default()
        .db_path(format!("{directory}/catalog.redb"))
        .warehouse_location(WAREHOUSE)
        .with_storage_factory(Arc::new(iceberg_of_skade::io::LocalFsStorageFactory));
    Ok(builder.load("skade", HashMap::new()).await?)
}

/// Wall time in ns, round by round, of a load by a new catalog, and of one of the next WARM_LOADS
/// by the same. OPEN makes a catalog; LOAD loads the table and says how many snapshots it has.
async fn measure<C, const WARM_LOADS: usize>(
    samples: &mut Map<String, Value>,
    name: &str,
    rounds: usize,
    open: impl AsyncFn() -> Result<C, AnyError>,
    load: impl AsyncFn(&C) -> Result<usize, AnyError>,
) -> Result<(), AnyError> {
    let snapshots = load(&open().await?).await?;
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begin = Instant::now();
        let catalog = open().await?;
        let mut is_right = load(&catalog).await? == snapshots;
        cold.push(begin.elapsed().as_nanos() as f64);
        let begin = Instant::now();
        for _ in 0..WARM_LOADS {
            is_right &= load(&catalog).await? == snapshots;
        }
        warm.push(begin.elapsed().as_nanos() as f64 / WARM_LOADS as f64);
        if !is_right {
            return Err("another table".into());
        }
    }
    samples.insert(format!("{name}/snapshots"), json!([snapshots]));
    samples.insert(format!("{name}/cold"), json!(cold));
    samples.insert(format!("{name}/warm"), json!(warm));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [uri, directory, metadata_file, rounds] = arguments.as_slice() else {
        return Err("REST_URI DIRECTORY METADATA_FILE ROUNDS".into());
    };
    let rounds = rounds.parse()?;
    let metadata_location = format!("file://{metadata_file}");
    let mut samples = Map::new();

    let ident = TableIdent::from_strs(["n", "t"])?;
    let load = async |catalog: &RestCatalog| -> Result<usize, AnyError> {
        Ok(catalog.load_table(&ident).await?.metadata().snapshots().len())
    };
    measure::<_, 200>(&mut samples, "rest", rounds, async || open_rest(uri).await, load).await?;

    let sql = open_sql(directory).await?;
    sql.create_namespace(&NamespaceIdent::new("n".to_string()), HashMap::new()).await?;
    sql.register_table(&ident, metadata_location.clone()).await?;
    drop(sql);
    let load = async |catalog: &SqlCatalog| -> Result<usize, AnyError> {
        Ok(catalog.load_table(&ident).await?.metadata().snapshots().len())
    };
    measure::<_, 200>(&mut samples, "sql", rounds, async || open_sql(directory).await, load)
        .await?;

    let ident = iceberg_of_skade::TableIdent::from_strs(["n", "t"])?;
    let skade = open_skade(directory).await?;
    let namespace = iceberg_of_skade::NamespaceIdent::new("n".to_string());
    skade.create_namespace(&namespace, HashMap::new()).await?;
    skade.register_table(&ident, metadata_location).await?;
    drop(skade);
    let load = async |catalog: &RedbCatalog| -> Result<usize, AnyError> {
        Ok(catalog.load_table(&ident).await?.metadata().snapshots().len())
    };
    let open = async || open_skade(directory).await;
    measure::<_, 10_000>(&mut samples, "skade", rounds, open, load).await?;

    println!("{}", Value::Object(samples));
    Ok(())
}
