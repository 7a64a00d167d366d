package tidegate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.transformations.PhysicalTransformation;

/** From a request to a Flink job, and its job graph. */
final class Programs {
  private Programs() {}

  // --- building ---------------------------------------------------------------------------------------------------

  /** Makes a job of another kind of request; not in every version. */
  interface Builder {
    JobGraph build(JsonNode request, Configuration options) throws Exception;
  }

  /** Makes sources of another kind; not in every version. */
  interface Sources {
    /** By operator and subtask: the events of its splits, in order. */
    Map<String, List<List<Object>>> READ = new ConcurrentHashMap<>();

    DataStream<Record> read(StreamExecutionEnvironment environment, int id, String[][][] scripts, JsonNode request);
  }

  static JobGraph build(JsonNode request) throws Exception {
    return request.has("query")
        ? make(Builder.class, "Queries").build(request, optionsOf(request))
        : prepare(request).getStreamGraph().getJobGraph();
  }

  private static Configuration optionsOf(JsonNode request) {
    Configuration options = new Configuration();
    request.path("options").fields().forEachRemaining(one -> options.setString(one.getKey(), one.getValue().asText()));
    return options;
  }

  private static <T> T make(Class<T> type, String name) throws ReflectiveOperationException {
    return type.cast(Class.forName("tidegate." + name).getDeclaredConstructor().newInstance());
  }

  /** The program of a request, ready to run. */
  static StreamExecutionEnvironment prepare(JsonNode request) throws ReflectiveOperationException {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(optionsOf(request));
    environment.getConfig().setAutoWatermarkInterval(0);
    if (request.has("journals")) {
      environment.getConfig().setGlobalJobParameters(Journal.asParameters(request.get("journals").asText()));
    }
    EventTime.Manner manner = new EventTime.Manner(request);
    Kit kit = make(Kit.class, request.path("kit").asText("Classic"));
    Tap.read(kit.signs());
    JsonNode config = request.get("config");
    Map<Integer, DataStream<Record>> streams = new HashMap<>();
    for (JsonNode operator : config.get("operators")) {
      int id = operator.get("id").asInt();
      SingleOutputStreamOperator<Record> made =
          operator.get("function").asText().equals("source")
              ? source(environment, kit, operator, request)
              : kit.add(operator, read(config, streams, id, 0), read(config, streams, id, 1), manner);
      streams.put(id, finish(made, operator.get("parallelism").asInt()));
      if (manner.folder != null) {
        made.uid("o" + id);
      }
    }
    return environment;
  }

  private static SingleOutputStreamOperator<Record> source(
      StreamExecutionEnvironment environment, Kit kit, JsonNode operator, JsonNode request)
      throws ReflectiveOperationException {
    int id = operator.get("id").asInt();
    int parallelism = operator.get("parallelism").asInt();
    String[][][] scripts = new String[parallelism][][];
    int[] lengths = new int[parallelism];
    for (int subtask = 0; subtask < parallelism; subtask++) {
      JsonNode script = operator.get("scripts").get(subtask);
      scripts[subtask] = new String[script.size()][];
      for (int at = 0; at < script.size(); at++) {
        scripts[subtask][at] = item(script.get(at));
      }
      lengths[subtask] = script.size() + 1;
    }
    if (request.path("splits").asInt() > 0) {
      DataStream<Record> read = make(Sources.class, "Splits").read(environment, id, scripts, request);
      return read.transform("o" + id, Record.TYPE, new Operators.Passing());
    }
    SingleOutputStreamOperator<Long> clock =
        request.has("folder")
            ? environment.addSource(new Durable.Clock(lengths, new Durable.Pace(request)), "clock" + id, Types.LONG)
            : environment.addSource(new Operators.Clock(Arrays.stream(lengths).max().orElse(1)), "clock" + id, Types.LONG);
    clock.uid("clock" + id).setParallelism(parallelism);
    return clock.transform("o" + id, Record.TYPE, kit.script(scripts, request.get("padding").asInt()));
  }

  private static String[] item(JsonNode item) {
    switch (item.get("type").asText()) {
      case "record":
        return new String[] {
          "record", item.get("key").asText(), item.get("value").asText(), item.get("timestamp").asText()
        };
      case "watermark":
        return new String[] {"watermark", item.get("timestamp").asText()};
      default:
        return new String[] {item.get("type").asText(), item.get("status").asText()};
    }
  }

  private static DataStream<Record> finish(SingleOutputStreamOperator<Record> made, int parallelism) {
    made.setParallelism(parallelism);
    ((PhysicalTransformation<?>) made.getTransformation()).setChainingStrategy(ChainingStrategy.ALWAYS);
    return made;
  }

  /** An input of an operator: the union of its edges, each with its partitioner. */
  private static DataStream<Record> read(JsonNode config, Map<Integer, DataStream<Record>> streams, int target, int input) {
    DataStream<Record> read = null;
    for (JsonNode edge : config.get("edges")) {
      if (edge.get("target").asInt() == target && edge.get("input").asInt() == input) {
        DataStream<Record> from = streams.get(edge.get("source").asInt());
        if (edge.path("output").asText().equals("late")) {
          from = ((SingleOutputStreamOperator<Record>) from).getSideOutput(EventTime.LATE);
        }
        DataStream<Record> one = partition(from, edge.path("partitioner").asText());
        read = read == null ? one : read.union(one);
      }
    }
    return read;
  }

  private static DataStream<Record> partition(DataStream<Record> stream, String partitioner) {
    switch (partitioner) {
      case "forward":
        return stream.forward();
      case "rebalance":
        return stream.rebalance();
      case "rescale":
        return stream.rescale();
      case "global":
        return stream.global();
      case "broadcast":
        return stream.broadcast();
      case "hash":
        return stream.keyBy(EventTime.KEY, Types.STRING);
      default:
        return stream;
    }
  }

  // --- describing -------------------------------------------------------------------------------------------------

  static List<Object> describe(JobGraph graph) {
    List<Object> vertices = new ArrayList<>();
    for (JobVertex vertex : graph.getVerticesSortedTopologicallyFromSources()) {
      List<Object> inputs = new ArrayList<>();
      for (JobEdge edge : vertex.getInputs()) {
        JobVertex producer = edge.getSource().getProducer();
        inputs.add(
            Map.of(
                "vertex", producer.getID().toString(),
                "output", producer.getProducedDataSets().indexOf(edge.getSource()),
                "partitioner", edge.getShipStrategyName(),
                "pattern", edge.getDistributionPattern().toString()));
      }
      vertices.add(
          Map.of(
              "vertex", vertex.getID().toString(),
              "name", vertex.getName(),
              "parallelism", vertex.getParallelism(),
              "inputs", inputs));
    }
    return vertices;
  }
}
