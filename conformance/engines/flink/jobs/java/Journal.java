package tidegate;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The rows of a subtask in one attempt, in a file of their own, if a job may be killed: each line is written
 * immediately. The first one has the subtask and the numbers of its writers. Identities are unique only within
 * this attempt: no counter would survive a kill.
 *
 * <p>Rows are records, timers, snapshots, the ends of partitions, and the event time that the subtask has announced.
 */
final class Journal {
  private static final String FOLDER = "folder";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final OutputStream out;
  private final long first = (long) draw() << Integer.SIZE;
  private final List<Integer> writers = new ArrayList<>();
  private long made;

  private Journal(String folder) {
    try {
      Files.createDirectories(Path.of(folder));
      out = new FileOutputStream(Path.of(folder, UUID.randomUUID() + ".rows").toFile());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** The journal of a subtask; null if its job may not be killed. */
  static Journal of(Environment environment) {
    String folder = folderOf(environment);
    return folder == null ? null : new Journal(folder);
  }

  static boolean isWanted(Environment environment) {
    return folderOf(environment) != null;
  }

  private static String folderOf(Environment environment) {
    ExecutionConfig.GlobalJobParameters parameters = environment.getExecutionConfig().getGlobalJobParameters();
    return parameters == null ? null : parameters.toMap().get(FOLDER);
  }

  /** Tells the tasks of a job where to write. */
  static ExecutionConfig.GlobalJobParameters asParameters(String folder) {
    return new Parameters(folder);
  }

  private static final class Parameters extends ExecutionConfig.GlobalJobParameters {
    private final String folder;

    Parameters(String folder) {
      this.folder = folder;
    }

    @Override
    public Map<String, String> toMap() {
      return Map.of(FOLDER, folder);
    }
  }

  private static int draw() {
    return ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
  }

  long nextId() {
    return first + made++;
  }

  int nextWriter() {
    writers.add(draw());
    return writers.get(writers.size() - 1);
  }

  void begin(Environment environment) {
    // The id of an execution is its graph, which a new JobManager makes anew, its vertex, subtask and attempt.
    String graph = environment.getExecutionId().toString().split("_")[0];
    line(
        environment.getJobVertexId().toString(),
        environment.getTaskInfo().getIndexOfThisSubtask(),
        graph,
        environment.getTaskInfo().getAttemptNumber(),
        System.currentTimeMillis(),
        writers);
  }

  /** Direction, port, channel, kind, timestamp, number, key, value. */
  void row(Object... cells) {
    switch ((String) cells[3]) {
      case "watermark":
        if (cells[0].equals("out") && cells[1].equals(0) && cells[2].equals(0)) {
          line("out", null, null, "clock", cells[4], null, null, null);
        }
        break;
      case "record":
      case "timer":
      case "snapshot":
      case "restored":
      case "end_of_partition":
        line(cells);
        break;
      default:
    }
  }

  private synchronized void line(Object... cells) {
    try {
      byte[] bytes = JSON.writeValueAsBytes(Arrays.asList(cells));
      byte[] whole = Arrays.copyOf(bytes, bytes.length + 1);
      whole[bytes.length] = '\n';
      out.write(whole);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
