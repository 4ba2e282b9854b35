import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.CachingCatalog;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.Files;
import org.apache.iceberg.IcebergBuild;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * Iceberg's Java side of loading a table from end to end, in the same form as load_bench: by a new
 * RESTCatalog, by one that has been used, and by a CachingCatalog around it. The virtual machine is
 * warm but for the very first load. The catalog has the table already.
 *
 * <pre>LoadBench REST_URI ROUNDS</pre>
 */
public final class LoadBench {
  private static final TableIdentifier TABLE = TableIdentifier.of("n", "t");
  private static final int LOADS_TO_WARM = 2_000;
  private static final int WARM_LOADS = 200;
  private static final int CACHED_LOADS = 10_000;

  /** Local files without Hadoop, which Iceberg's own FileIO for them needs. */
  public static final class LocalFileIO implements FileIO {
    @Override
    public InputFile newInputFile(String location) {
      return Files.localInput(location.replaceFirst("^file:(//)?", ""));
    }

    @Override
    public OutputFile newOutputFile(String location) {
      return Files.localOutput(location.replaceFirst("^file:(//)?", ""));
    }

    @Override
    public void deleteFile(String location) {
      throw new UnsupportedOperationException(location);
    }
  }

  private static RESTCatalog open(String uri) {
    RESTCatalog catalog = new RESTCatalog();
    catalog.initialize(
        "rest",
        Map.of(
            CatalogProperties.URI, uri,
            CatalogProperties.FILE_IO_IMPL, LocalFileIO.class.getName()));
    return catalog;
  }

  private static Catalog caching(Catalog catalog) {
    return CachingCatalog.wrap(catalog, CatalogProperties.CACHE_EXPIRATION_INTERVAL_MS_DEFAULT);
  }

  private static int snapshotsOf(Table table) {
    int count = 0;
    for (var ignored : table.snapshots()) count++;
    return count;
  }

  /** Wall time of one of COUNT loads, in ns. */
  private static double timeOfLoads(Catalog catalog, int count) {
    long begin = System.nanoTime();
    for (int i = 0; i < count; i++) catalog.loadTable(TABLE);
    return (double) (System.nanoTime() - begin) / count;
  }

  public static void main(String[] arguments) throws IOException {
    String uri = arguments[0];
    int rounds = Integer.parseInt(arguments[1]);
    List<Double> first = new ArrayList<>();
    List<Double> cold = new ArrayList<>();
    List<Double> warm = new ArrayList<>();
    List<Double> cached = new ArrayList<>();
    int snapshots;

    long firstBegin = System.nanoTime();
    try (RESTCatalog catalog = open(uri)) {
      snapshots = snapshotsOf(catalog.loadTable(TABLE));
      first.add((double) (System.nanoTime() - firstBegin));
      timeOfLoads(catalog, LOADS_TO_WARM);
      timeOfLoads(caching(catalog), CACHED_LOADS);
    }
    for (int i = 0; i < LOADS_TO_WARM; i++) {
      try (RESTCatalog catalog = open(uri)) {
        catalog.loadTable(TABLE);
      }
    }
    for (int round = 0; round < rounds; round++) {
      long begin = System.nanoTime();
      try (RESTCatalog catalog = open(uri)) {
        Table table = catalog.loadTable(TABLE);
        cold.add((double) (System.nanoTime() - begin));
        warm.add(timeOfLoads(catalog, WARM_LOADS));
        Catalog around = caching(catalog);
        around.loadTable(TABLE);
        cached.add(timeOfLoads(around, CACHED_LOADS));
        if (snapshotsOf(table) != snapshots
            || snapshotsOf(catalog.loadTable(TABLE)) != snapshots
            || snapshotsOf(around.loadTable(TABLE)) != snapshots) {
          throw new IllegalStateException("another table");
        }
      }
    }

    Map<String, Object> samples = new LinkedHashMap<>();
    samples.put("versions", Map.of("Iceberg", IcebergBuild.version()));
    samples.put("snapshots", List.of(snapshots));
    samples.put("rest/first", first);
    samples.put("rest/cold", cold);
    samples.put("rest/warm", warm);
    samples.put("caching/warm", cached);
    System.out.println(new ObjectMapper().writeValueAsString(samples));
  }
}
