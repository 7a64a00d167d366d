package tidegate;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointMetricsBuilder;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointableTask;
import org.apache.flink.runtime.jobgraph.tasks.TaskInvokable;

/** The code of a task, directed by the adapter: a class, because tasks make their code from its name. */
public final class ScriptedTask implements TaskInvokable, CheckpointableTask {
  /** Of the next task. */
  public static volatile BiFunction<String, Object, Object> script;

  private final BiFunction<String, Object, Object> mine = script;

  public ScriptedTask(Environment environment) {
    mine.apply("instantiate", environment);
  }

  @Override
  public void restore() {
    mine.apply("restore", null);
  }

  @Override
  public void invoke() {
    mine.apply("invoke", null);
  }

  @Override
  public void cleanUp(Throwable failure) {
    mine.apply("clean_up", failure);
  }

  @Override
  public void cancel() {
    mine.apply("cancel", null);
  }

  @Override
  @SuppressWarnings("unchecked")
  public CompletableFuture<Boolean> triggerCheckpointAsync(CheckpointMetaData about, CheckpointOptions options) {
    return (CompletableFuture<Boolean>) mine.apply("trigger", about);
  }

  @Override
  public boolean isUsingNonBlockingInput() {
    return true;
  }

  @Override
  public void maybeInterruptOnCancel(Thread thread, String name, Long timeout) {}

  @Override
  public void triggerCheckpointOnBarrier(
      CheckpointMetaData about, CheckpointOptions options, CheckpointMetricsBuilder metrics) {}

  @Override
  public Future<Void> notifyCheckpointCompleteAsync(long checkpoint) {
    return null;
  }

  @Override
  public Future<Void> notifyCheckpointAbortAsync(long checkpoint, long latest) {
    return null;
  }

  @Override
  public Future<Void> notifyCheckpointSubsumedAsync(long checkpoint) {
    return null;
  }

  @Override
  public void abortCheckpointOnBarrier(long checkpoint, CheckpointException cause) {}
}
