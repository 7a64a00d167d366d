package tidegate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A program as a job of a cluster: its request is in a file, and its graph is written next to its journals. */
public final class Deployed {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Deployed() {}

  public static void main(String[] arguments) throws Exception {
    JsonNode request = JSON.readTree(Files.readString(Path.of(arguments[0])));
    StreamExecutionEnvironment environment = Programs.prepare(request);
    List<Object> graph = Programs.describe(environment.getStreamGraph(false).getJobGraph());
    Path journals = Files.createDirectories(Path.of(request.get("journals").asText()));
    Files.write(journals.resolve("graph.json"), JSON.writeValueAsBytes(graph));
    environment.execute("program");
  }
}
