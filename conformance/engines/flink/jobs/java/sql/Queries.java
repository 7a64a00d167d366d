package tidegate;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.@LEGACY@RichParallelSourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;

/**
 * A query of SQL as a job: its tables replay scripts, and the changes that it makes are collected.
 *
 * <p>A request has `query`, `tables` (by name the scripts, one per subtask, of items `[record, k, v, id, ts]`, `[watermark,
 * ts]`, `[pause, ms]`), `parallelism`, and `options`.
 */
public final class Queries implements Programs.Builder {
  private static final TypeInformation<Row> ROW =
      Types.ROW_NAMED(new String[] {"k", "v", "id", "ts"}, Types.STRING, Types.INT, Types.LONG, Types.INSTANT);
  private static final int RESULT = 0;

  @Override
  public JobGraph build(JsonNode request, Configuration options) {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(options);
    environment.getConfig().setAutoWatermarkInterval(0);
    environment.setParallelism(request.get("parallelism").asInt());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    options.toMap().forEach((name, value) -> {
      if (name.startsWith("table.")) {
        tables.getConfig().set(name, value);
      }
    });
    tables.getConfig().set("table.local-time-zone", "UTC");
    Schema schema =
        Schema.newBuilder()
            .column("k", "STRING")
            .column("v", "INT")
            .column("id", "BIGINT")
            .column("ts", "TIMESTAMP_LTZ(3)")
            .watermark("ts", "SOURCE_WATERMARK()")
            .build();
    request
        .get("tables")
        .fields()
        .forEachRemaining(
            table -> {
              String[][][] scripts = read(table.getValue());
              DataStream<Row> stream =
                  environment.addSource(new Replay(scripts), table.getKey(), ROW).setParallelism(scripts.length);
              tables.createTemporaryView(table.getKey(), stream, schema);
            });
    Table result = tables.sqlQuery(request.get("query").asText());
    // With every kind of change, so that what is taken back is told: unless asked, it is left out where a key says it.
    DataStream<Row> changes = tables.toChangelogStream(result, Schema.newBuilder().build(), ChangelogMode.all());
    changes.transform("result", ROW, new Collect());
    return environment.getStreamGraph().getJobGraph();
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

  /** Each subtask replays its script. */
  static final class Replay extends RichParallelSourceFunction<Row> {
    private final String[][][] scripts;
    private volatile boolean running = true;

    Replay(String[][][] scripts) {
      this.scripts = scripts;
    }

    @Override
    public void run(SourceContext<Row> context) throws Exception {
      for (String[] item : scripts[getRuntimeContext().@INDEX@]) {
        if (!running) {
          return;
        }
        if (item[0].equals("pause")) {
          Thread.sleep(Long.parseLong(item[1]));
          continue;
        }
        synchronized (context.getCheckpointLock()) {
          long time = Long.parseLong(item[item.length - 1]);
          if (item[0].equals("watermark")) {
            context.emitWatermark(new Watermark(time));
          } else {
            Row row = Row.of(item[1], Integer.parseInt(item[2]), Long.parseLong(item[3]), Instant.ofEpochMilli(time));
            context.collectWithTimestamp(row, time);
          }
        }
      }
    }

    @Override
    public void cancel() {
      running = false;
    }
  }

  /** Every change of the result, with its kind. */
  static final class Collect extends AbstractStreamOperator<Row> implements OneInputStreamOperator<Row, Row> {
    @Override
    public void processElement(StreamRecord<Row> element) {
      Row row = element.getValue();
      List<Object> cells = new ArrayList<>();
      cells.add(row.getKind().shortString());
      for (int at = 0; at < row.getArity(); at++) {
        cells.add(String.valueOf(row.getField(at)));
      }
      List<List<Object>> collected = Operators.COLLECTED.computeIfAbsent(RESULT, key -> new ArrayList<>());
      synchronized (collected) {
        collected.add(cells);
      }
    }
  }
}
