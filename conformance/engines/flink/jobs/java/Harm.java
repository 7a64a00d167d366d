package tidegate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.taskexecutor.TaskExecutor;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A job with faults, which its request names. Each fault waits until a source has reached its place,
 * and until a checkpoint was completed since.
 *
 * <p>A restore from a savepoint, or from the last checkpoint of a cancelled job, begins a generation: the next
 * of the `configs`, with a folder of journals of its own.
 */
final class Harm {
  /** How many savepoints may be refused. */
  private static final int SAVEPOINTS = 50;

  private final MiniCluster cluster;
  private final ObjectNode request;
  private final String folder;
  private final long deadline;
  private final List<Object> graphs = new ArrayList<>();
  private final List<Boolean> hit = new ArrayList<>();
  private JobID job;
  /** Checkpoints completed before the last fault. */
  private long before;

  Harm(MiniCluster cluster, ObjectNode request) {
    this.cluster = cluster;
    this.request = request;
    folder = request.get("folder").asText();
    deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(request.get("seconds").asLong());
  }

  Map<String, Object> run() throws Exception {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("graphs", graphs);
    answer.put("hit", hit);
    try {
      submit(null);
      for (int at = 0; at < request.get("faults").size(); at++) {
        hit.add(harm(at, request.get("faults").get(at).get("fault").asText()));
      }
      long left = Math.max(1, deadline - System.nanoTime());
      JobResult result = cluster.requestJobResult(job).get(left, TimeUnit.NANOSECONDS);
      if (result.getSerializedThrowable().isPresent()) {
        answer.put("error", JobHost.tell(result.getSerializedThrowable().get().deserializeError(Harm.class.getClassLoader())));
      }
    } catch (TimeoutException late) {
      answer.put("error", "the job did not end in time" + tellFailure());
      answer.put("timeout", true);
      cluster.cancelJob(job);
    } catch (ExecutionException failed) {
      answer.put("error", JobHost.tell(failed));
    }
    return answer;
  }

  private void submit(String savepoint) throws Exception {
    request.set("config", request.get("configs").get(graphs.size()));
    request.put("journals", Path.of(folder, "generation-" + graphs.size()).toString());
    JobGraph graph = Programs.build(request);
    if (savepoint != null) {
      graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint));
    }
    graphs.add(Programs.describe(graph));
    job = graph.getJobID();
    cluster.submitJob(graph).get();
    before = 0;
  }

  /** Whether the fault hit a running job. */
  private boolean harm(int at, String fault) throws Exception {
    await(() -> Files.exists(Path.of(folder, Durable.REACHED + at)));
    await(() -> countCheckpoints() > before);
    int attempts = countAttempts();
    boolean met = !isOver() && strike(at, fault);
    Durable.touch(folder, Durable.HARMED + at);
    if (met && !fault.startsWith("rescale")) {
      await(() -> countAttempts() > attempts);
      before = countCheckpoints();
    }
    return met;
  }

  private boolean strike(int at, String fault) throws Exception {
    switch (fault) {
      case "kill_taskmanager":
        return killTaskManager(at);
      case "fail_task":
        Durable.touch(folder, Durable.FAIL);
        await(() -> !Files.exists(Path.of(folder, Durable.FAIL)));
        return !Files.deleteIfExists(Path.of(folder, Durable.FAIL));
      case "rescale":
        return stop();
      case "rescale_checkpoint":
        return cancel();
      default:
        throw new IllegalArgumentException(fault);
    }
  }

  private boolean killTaskManager(int which) throws Exception {
    Set<Object> hosts = new LinkedHashSet<>();
    for (AccessExecutionVertex one : graph().getAllExecutionVertices()) {
      if (one.getExecutionState() == ExecutionState.RUNNING && one.getCurrentAssignedResourceLocation() != null) {
        hosts.add(one.getCurrentAssignedResourceLocation().getResourceID());
      }
    }
    List<?> managers = (List<?>) Tap.get(cluster, "taskManagers");
    List<Object> found = new ArrayList<>(hosts);
    for (int index = 0; index < managers.size() && !found.isEmpty(); index++) {
      if (((TaskExecutor) managers.get(index)).getResourceID().equals(found.get(which % found.size()))) {
        cluster.terminateTaskManager(index).get();
        cluster.startTaskManager();
        return true;
      }
    }
    return false;
  }

  /** With a savepoint, from which the job is restored. */
  private boolean stop() throws Exception {
    for (int tries = 0; tries < SAVEPOINTS && !isOver(); tries++) {
      try {
        String savepoint =
            cluster
                .stopWithSavepoint(job, Path.of(folder, "savepoints").toUri().toString(), false@FORMAT@)
                .get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        await(() -> false);
        submit(savepoint);
        return true;
      } catch (ExecutionException refused) {
        Thread.sleep(20); // a task was about to end; the remaining ones may be saved now
      }
    }
    return false;
  }

  /** The job is restored from its last completed checkpoint, which is known only after it has ended. */
  private boolean cancel() throws Exception {
    try {
      cluster.cancelJob(job).get();
    } catch (ExecutionException refused) {
      return false;
    }
    await(() -> false);
    CompletedCheckpointStats last = graph().getCheckpointStatsSnapshot().getHistory().getLatestCompletedCheckpoint();
    if (cluster.getJobStatus(job).get() != JobStatus.CANCELED || last == null) {
      return false;
    }
    submit(last.getExternalPath());
    return true;
  }

  // --- observation ------------------------------------------------------------------------------------------------

  private AccessExecutionGraph graph() throws Exception {
    return cluster.getExecutionGraph(job).get();
  }

  private long countCheckpoints() throws Exception {
    return graph().getCheckpointStatsSnapshot().getCounts().getNumberOfCompletedCheckpoints();
  }

  private int countAttempts() throws Exception {
    int most = 0;
    for (AccessExecutionVertex one : graph().getAllExecutionVertices()) {
      most = Math.max(most, one.getCurrentExecutionAttempt().getAttemptNumber());
    }
    return most;
  }

  private boolean isOver() throws Exception {
    return cluster.getJobStatus(job).get().isGloballyTerminalState();
  }

  private String tellFailure() throws Exception {
    return graph().getFailureInfo() == null ? "" : "; it failed before: " + graph().getFailureInfo().getExceptionAsString();
  }

  /** Until it happens, or the job is over. */
  private void await(Callable<Boolean> happened) throws Exception {
    while (!happened.call() && !isOver()) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException();
      }
      Thread.sleep(5);
    }
  }
}
