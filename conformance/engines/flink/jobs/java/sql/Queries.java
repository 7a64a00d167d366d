package tidegate;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.@LEGACY@RichParallelSourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.transformations.LegacySourceTransformation;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * An SQL query as a job: its tables replay scripts, and its changelog is collected.
 *
 * <p>A request has `query`, `tables` (by name the scripts, one per subtask, of items `[record, k, v, id, ts]`, `[watermark,
 * ts]`, `[pause, ms]`, `[idle]`), `changing` (for tables whose records have the kind of a change instead: `key`, and
 * `changes`, "upsert" or "all"), `key` (columns by which rows of the result replace each other; none if all retractions
 * are emitted), `batch`, `parallelism`, `fails_after` (how much of a script, in percent, a source reads before the job
 * fails once; 0 for never), and `options`.
 */
public final class Queries implements Programs.Builder {
  private static final List<String> COLUMNS = List.of("k", "v", "id", "ts");
  private static final TypeInformation<Row> ROW =
      Types.ROW_NAMED(COLUMNS.toArray(new String[0]), Types.STRING, Types.INT, Types.LONG, Types.INSTANT);
  private static final int RESULT = 0;
  private static final Map<String, RowKind> KINDS = new HashMap<>();

  static {
    for (RowKind kind : RowKind.values()) {
      KINDS.put(kind.shortString(), kind);
    }
  }

  @Override
  public JobGraph build(JsonNode request, Configuration options) {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(options);
    environment.getConfig().setAutoWatermarkInterval(0);
    environment.setParallelism(request.get("parallelism").asInt());
    boolean isBatch = request.path("batch").asBoolean();
    environment.setRuntimeMode(isBatch ? RuntimeExecutionMode.BATCH : RuntimeExecutionMode.STREAMING);
    EnvironmentSettings mode = isBatch ? EnvironmentSettings.inBatchMode() : EnvironmentSettings.inStreamingMode();
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment, mode);
    options.toMap().forEach((name, value) -> {
      if (name.startsWith("table.")) {
        tables.getConfig().set(name, value);
      }
    });
    tables.getConfig().set("table.local-time-zone", "UTC");
    Replay.HAS_FAILED.set(request.path("fails_after").asInt() == 0);
    request
        .get("tables")
        .fields()
        .forEachRemaining(
            table -> {
              String[][][] scripts = read(table.getValue());
              Replay replay = new Replay(scripts, request.path("fails_after").asInt());
              DataStream<Row> stream = environment.addSource(replay, table.getKey(), ROW).setParallelism(scripts.length);
              if (isBatch) {
                ((LegacySourceTransformation<?>) stream.getTransformation()).setBoundedness(Boundedness.BOUNDED);
              }
              JsonNode changing = request.path("changing").path(table.getKey());
              if (changing.isMissingNode()) {
                tables.createTemporaryView(table.getKey(), stream, columns().build());
              } else {
                String key = changing.get("key").asText();
                int place = COLUMNS.indexOf(key);
                boolean isUpsert = changing.get("changes").asText().equals("upsert");
                // A change of a row takes the same path as the row.
                DataStream<Row> kept = stream.keyBy(row -> String.valueOf(row.getField(place)), Types.STRING);
                Schema schema = columns().primaryKey(key).build();
                ChangelogMode changes = isUpsert ? ChangelogMode.upsert() : ChangelogMode.all();
                tables.createTemporaryView(table.getKey(), tables.fromChangelogStream(kept, schema, changes));
              }
            });
    Table result = tables.sqlQuery(request.get("query").asText());
    List<String> key = new ArrayList<>();
    request.path("key").forEach(column -> key.add(column.asText()));
    collect(tables, result, key);
    return environment.getStreamGraph().getJobGraph();
  }

  private static void collect(StreamTableEnvironment tables, Table result, List<String> key) {
    if (key.isEmpty()) {
      // With every kind of change, so that retractions are emitted: by default a key suppresses them.
      tables
          .toChangelogStream(result, Schema.newBuilder().build(), ChangelogMode.all())
          .transform("result", ROW, new Collect(new int[0]));
      return;
    }
    List<String> names = result.getResolvedSchema().getColumnNames();
    List<DataType> types = result.getResolvedSchema().getColumnDataTypes();
    Schema.Builder schema = Schema.newBuilder();
    for (int at = 0; at < names.size(); at++) {
      schema.column(names.get(at), key.contains(names.get(at)) ? types.get(at).notNull() : types.get(at));
    }
    tables
        .toChangelogStream(result, schema.primaryKey(key).build(), ChangelogMode.upsert())
        .transform("result", ROW, new Collect(key.stream().mapToInt(names::indexOf).toArray()))
        .setParallelism(1); // several would not see the row and its replacement
  }

  private static Schema.Builder columns() {
    return Schema.newBuilder()
        .column("k", "STRING NOT NULL")
        .column("v", "INT")
        .column("id", "BIGINT NOT NULL")
        .column("ts", "TIMESTAMP_LTZ(3)")
        .watermark("ts", "SOURCE_WATERMARK()");
  }

  private static String[][][] read(JsonNode given) {
    String[][][] scripts = new String[given.size()][][];
    for (int subtask = 0; subtask < scripts.length; subtask++) {
      scripts[subtask] = new String[given.get(subtask).size()][];
      for (int at = 0; at < scripts[subtask].length; at++) {
        JsonNode item = given.get(subtask).get(at);
        scripts[subtask][at] = new String[item.size()];
        for (int cell = 0; cell < item.size(); cell++) {
          scripts[subtask][at][cell] = item.get(cell).asText();
        }
      }
    }
    return scripts;
  }

  /** Each subtask replays its script, and continues after a restore; the first that gets so far fails the job, once. */
  static final class Replay extends RichParallelSourceFunction<Row> implements CheckpointedFunction, CheckpointListener {
    static final AtomicBoolean HAS_FAILED = new AtomicBoolean();
    /** How long a source waits for a checkpoint before it fails. */
    private static final int MOST_MILLIS = 1000;

    private final String[][][] scripts;
    private final int failsAfter;
    private transient ListState<Integer> state;
    private transient int at;
    private volatile boolean saved;
    private volatile boolean running = true;

    Replay(String[][][] scripts, int failsAfter) {
      this.scripts = scripts;
      this.failsAfter = failsAfter;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
      state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("at", Types.INT));
      // A subtask that had ended has nothing in a checkpoint.
      at = context.isRestored() ? Integer.MAX_VALUE : 0;
      for (int one : state.get()) {
        at = one;
      }
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
      state.update(List.of(at));
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
      saved = true;
    }

    @Override
    public void run(SourceContext<Row> context) throws Exception {
      String[][] mine = scripts[getRuntimeContext().@INDEX@];
      while (running && at < mine.length) {
        if (at >= mine.length * failsAfter / 100) {
          failOnce();
        }
        String[] item = mine[at];
        if (item[0].equals("pause")) {
          Thread.sleep(Long.parseLong(item[1]));
        }
        synchronized (context.getCheckpointLock()) {
          at++;
          emit(item, context);
        }
      }
    }

    private void failOnce() throws InterruptedException {
      for (int waited = 0; !saved && !HAS_FAILED.get() && waited < MOST_MILLIS; waited++) {
        Thread.sleep(1);
      }
      if (HAS_FAILED.compareAndSet(false, true)) {
        throw new IllegalStateException("the job is to fail");
      }
    }

    private static void emit(String[] item, SourceContext<Row> context) {
      switch (item[0]) {
        case "pause":
          break;
        case "idle":
          context.markAsTemporarilyIdle();
          break;
        case "watermark":
          context.emitWatermark(new Watermark(Long.parseLong(item[1])));
          break;
        default:
          long time = Long.parseLong(item[4]);
          RowKind kind = KINDS.getOrDefault(item[0], RowKind.INSERT);
          Instant instant = Instant.ofEpochMilli(time);
          Integer value = item[2].equals("null") ? null : Integer.valueOf(item[2]);
          Row row = Row.ofKind(kind, item[1], value, Long.parseLong(item[3]), instant);
          context.collectWithTimestamp(row, time);
      }
    }

    @Override
    public void cancel() {
      running = false;
    }
  }

  /**
   * Every change of the result, with its kind; they are shown at the end, so that none is shown twice. If rows replace
   * each other by a key, the remaining rows are shown.
   */
  static final class Collect extends AbstractStreamOperator<Row> implements OneInputStreamOperator<Row, Row> {
    private final int[] key;
    private transient ListState<String[]> state;
    private transient List<String[]> changes;

    Collect(int[] key) {
      this.key = key;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      TypeInformation<String[]> cells = Types.OBJECT_ARRAY(Types.STRING);
      state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("changes", cells));
      changes = new ArrayList<>();
      state.get().forEach(changes::add);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
      super.snapshotState(context);
      state.update(changes);
    }

    @Override
    public void processElement(StreamRecord<Row> element) {
      Row row = element.getValue();
      String[] cells = new String[row.getArity() + 1];
      cells[0] = row.getKind().shortString();
      for (int at = 0; at < row.getArity(); at++) {
        cells[at + 1] = String.valueOf(row.getField(at));
      }
      changes.add(cells);
    }

    @Override
    public void finish() throws Exception {
      super.finish();
      List<List<Object>> collected = Operators.COLLECTED.computeIfAbsent(RESULT, key -> new ArrayList<>());
      synchronized (collected) {
        (key.length == 0 ? changes : left()).forEach(cells -> collected.add(List.of((Object[]) cells)));
      }
      changes = new ArrayList<>();
    }

    private Collection<String[]> left() {
      Map<List<String>, String[]> left = new LinkedHashMap<>();
      for (String[] cells : changes) {
        List<String> mine = new ArrayList<>();
        for (int column : key) {
          mine.add(cells[column + 1]);
        }
        if (cells[0].startsWith("-")) {
          left.remove(mine);
        } else {
          left.put(mine, cells);
        }
      }
      return left.values();
    }
  }
}
