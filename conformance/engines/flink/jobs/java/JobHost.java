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
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Runs jobs on a MiniCluster: one JSON object per line in, one per line out, until the input ends.
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
      } catch (Throwable unexpected) { // whatever it is, the answer must contain it
        answer = Map.of("graph", List.of(), "rows", List.of(), "writers", List.of(), "broken", tell(unexpected));
      }
      answers.println(JSON.writeValueAsString(answer));
    }
    System.exit(0); // threads of Flink must not keep the process alive
  }

  /** One MiniCluster per configuration. */
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
    if (request.has("folder")) {
      return new Harm(cluster, (ObjectNode) request).run();
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    JobGraph graph;
    try {
      graph = Programs.build(request);
    } catch (Exception refused) {
      answer.put("refused", tell(refused));
      return answer;
    }
    answer.put("graph", Programs.describe(graph));
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
    answer.put("read", Programs.Sources.READ);
    return answer;
  }

  /** The innermost cause, and where it was thrown. */
  static String tell(Throwable error) {
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
}
