package tidegate;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobEdge;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.transformations.PhysicalTransformation;

/**
 * Runs jobs on a MiniCluster: one JSON object a line in, one a line out, until the input ends.
 *
 * <p>A request has `config` (operators and edges, as the specification writes a job), or a `query`, and the settings of
 * a run; the answer has `graph`, `rows` and `writers` (see {@link Tap}), `totals` and `collected`, or `error`; `refused`
 * if Flink makes no job of it.
 */
public final class JobHost {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JobHost() {}

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = new PrintStream(System.out, true, "UTF-8");
    System.setOut(System.err);
    Configuration configuration = new Configuration();
    for (String setting : arguments[2].split(",")) {
      configuration.setString(setting.split("=")[0], setting.split("=")[1]);
    }
    Clusters clusters = new Clusters(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), configuration);
    clusters.find(JSON.createObjectNode());
    answers.println("{\"ready\":true}");
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      JsonNode request = JSON.readTree(line);
      Map<String, Object> answer;
      try {
        answer = answer(clusters.find(request.path("cluster")), request);
      } catch (Throwable unexpected) { // whatever it is, whoever asked must hear of it
        answer = Map.of("graph", List.of(), "rows", List.of(), "writers", List.of(), "broken", tell(unexpected));
      }
      answers.println(JSON.writeValueAsString(answer));
    }
    System.exit(0); // threads of Flink must not keep the process
  }

  /** A MiniCluster for each way to configure one. */
  private static final class Clusters {
    private final int taskManagers;
    private final int slots;
    private final Configuration usual;
    private final Map<String, MiniCluster> running = new HashMap<>();

    Clusters(int taskManagers, int slots, Configuration usual) {
      this.taskManagers = taskManagers;
      this.slots = slots;
      this.usual = usual;
    }

    MiniCluster find(JsonNode options) throws Exception {
      MiniCluster found = running.get(options.toString());
      if (found == null) {
        Configuration configuration = new Configuration(usual);
        options.fields().forEachRemaining(one -> configuration.setString(one.getKey(), one.getValue().asText()));
        found =
            new MiniCluster(
                new MiniClusterConfiguration.Builder()
                    .setNumTaskManagers(taskManagers)
                    .setNumSlotsPerTaskManager(slots)
                    .setConfiguration(configuration)
                    .build());
        found.start();
        running.put(options.toString(), found);
      }
      return found;
    }
  }

  private static Map<String, Object> answer(MiniCluster cluster, JsonNode request) throws Exception {
    Tap.forget();
    Operators.forget();
    Map<String, Object> answer = new LinkedHashMap<>();
    JobGraph graph;
    try {
      graph = build(request);
    } catch (Exception refused) {
      answer.put("refused", tell(refused));
      return answer;
    }
    answer.put("graph", describe(graph));
    cluster.submitJob(graph).get();
    try {
      JobResult result = cluster.requestJobResult(graph.getJobID()).get(request.get("seconds").asLong(), TimeUnit.SECONDS);
      if (result.getSerializedThrowable().isPresent()) {
        answer.put("error", tell(result.getSerializedThrowable().get().deserializeError(JobHost.class.getClassLoader())));
      }
    } catch (TimeoutException late) {
      cluster.cancelJob(graph.getJobID());
      answer.put("error", "the job did not end in time");
      answer.put("timeout", true);
    } catch (ExecutionException failed) {
      answer.put("error", tell(failed));
    }
    List<Object> rows = new ArrayList<>();
    Tap.ROWS.values().forEach(rows::addAll);
    answer.put("rows", rows);
    answer.put("writers", Tap.WRITERS);
    answer.put("totals", Operators.TOTALS);
    answer.put("collected", Operators.COLLECTED);
    return answer;
  }

  /** The innermost cause, and where it was thrown. */
  private static String tell(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    StringBuilder told = new StringBuilder(cause.toString());
    StackTraceElement[] frames = cause.getStackTrace();
    for (int at = 0; at < Math.min(6, frames.length); at++) {
      told.append("\n  at ").append(frames[at]);
    }
    return told.toString();
  }

  // --- building ---------------------------------------------------------------------------------------------------

  /** Makes a job of something else than a program; not in every version. */
  interface Builder {
    JobGraph build(JsonNode request, Configuration options) throws Exception;
  }

  private static JobGraph build(JsonNode request) throws Exception {
    Configuration options = new Configuration();
    request.path("options").fields().forEachRemaining(one -> options.setString(one.getKey(), one.getValue().asText()));
    return request.has("query") ? make(Builder.class, "Queries").build(request, options) : program(request, options);
  }

  private static <T> T make(Class<T> type, String name) throws ReflectiveOperationException {
    return type.cast(Class.forName("tidegate." + name).getDeclaredConstructor().newInstance());
  }

  private static JobGraph program(JsonNode request, Configuration options) throws ReflectiveOperationException {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(options);
    environment.getConfig().setAutoWatermarkInterval(0);
    EventTime.Manner manner =
        new EventTime.Manner(
            request.get("slow_micros").asLong(),
            request.get("slow_timers_micros").asLong(),
            request.get("processing_timers").asBoolean());
    Kit kit = make(Kit.class, request.path("kit").asText("Classic"));
    Tap.read(kit.signs());
    JsonNode config = request.get("config");
    Map<Integer, DataStream<Record>> streams = new HashMap<>();
    for (JsonNode operator : config.get("operators")) {
      int id = operator.get("id").asInt();
      SingleOutputStreamOperator<Record> made =
          operator.get("function").asText().equals("source")
              ? source(environment, kit, operator, request.get("padding").asInt())
              : kit.add(operator, read(config, streams, id, 0), read(config, streams, id, 1), manner);
      streams.put(id, finish(made, operator.get("parallelism").asInt()));
    }
    return environment.getStreamGraph().getJobGraph();
  }

  private static SingleOutputStreamOperator<Record> source(
      StreamExecutionEnvironment environment, Kit kit, JsonNode operator, int padding) {
    int id = operator.get("id").asInt();
    int parallelism = operator.get("parallelism").asInt();
    String[][][] scripts = new String[parallelism][][];
    int longest = 0;
    for (int subtask = 0; subtask < parallelism; subtask++) {
      JsonNode script = operator.get("scripts").get(subtask);
      scripts[subtask] = new String[script.size()][];
      for (int at = 0; at < script.size(); at++) {
        scripts[subtask][at] = item(script.get(at));
      }
      longest = Math.max(longest, script.size());
    }
    SingleOutputStreamOperator<Long> clock =
        environment.addSource(new Operators.Clock(longest + 1), "clock" + id, Types.LONG).setParallelism(parallelism);
    return clock.transform("o" + id, Record.TYPE, kit.script(scripts, padding));
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

  /** What comes into an input of an operator: the union of its edges, each partitioned as it asks for. */
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

  private static List<Object> describe(JobGraph graph) {
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
