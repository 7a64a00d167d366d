package tidegate.cluster;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.flink.runtime.execution.Environment;

/**
 * The rows of a subtask in one attempt, a file of their own. Each line is written when it happens and held back by
 * nobody, so that it stays when the process is killed.
 */
final class Journal {
  private final OutputStream out;

  Journal(String folder, String task, Environment environment, long restored, long state) {
    int subtask = environment.getTaskInfo().getIndexOfThisSubtask();
    // An execution is named by its graph, which a new JobManager makes anew, its vertex, subtask and attempt.
    String graph = environment.getExecutionId().toString().split("_")[0];
    String attempt = graph + " " + environment.getTaskInfo().getAttemptNumber();
    try {
      Files.createDirectories(Path.of(folder));
      out = new FileOutputStream(Path.of(folder, UUID.randomUUID() + ".rows").toFile());
      line(task + " " + subtask + " " + attempt + " " + System.currentTimeMillis());
      if (restored >= 0) {
        line("restored " + restored + " " + state);
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  void line(String text) {
    try {
      out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  void record(String direction, Item item, int consumer) {
    line(direction + " " + item.edge + " " + item.producer + " " + consumer + " " + item.id + " " + item.time + " "
        + item.key);
  }
}
