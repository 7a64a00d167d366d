package tidegate.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.streaming.api.watermark.Watermark;

/**
 * Scripts of records ("r key time"), watermarks ("w time") and halts ("h name": until a file of that name is there),
 * shared out among the subtasks; where each stands is the state. Behind the last item it waits until the job is stopped.
 */
public class ScriptSource extends RichParallelSourceFunction<Item> implements CheckpointedFunction {
  private final String folder;
  private final int number;
  private final List<String[]> scripts;
  private final int consumers;
  private final int maxParallelism;
  private final int padding;
  private final int pause;
  private transient Journal journal;
  private transient ListState<String> state;
  /** The next item of each script that is ours. */
  private transient Map<Integer, Integer> places;
  private transient long clock;
  private volatile boolean running = true;

  public ScriptSource(
      String folder, int number, List<String[]> scripts, int consumers, int maxParallelism, int padding, int pause) {
    this.folder = folder;
    this.number = number;
    this.scripts = scripts;
    this.consumers = consumers;
    this.maxParallelism = maxParallelism;
    this.padding = padding;
    this.pause = pause;
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("places", Types.STRING));
    places = new HashMap<>();
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    for (String place : state.get()) {
      String[] parts = place.split(" ");
      places.put(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }
    if (!context.isRestored()) {
      for (int script = subtask; script < scripts.size(); script += subtasks) {
        places.put(script, 0);
      }
    }
    clock = Long.MIN_VALUE;
    long restored = context.getRestoredCheckpointId().orElse(-1);
    journal = new Journal(folder, "source" + number, environment(), restored, fingerprint());
  }

  private org.apache.flink.runtime.execution.Environment environment() {
    return Inside.environmentOf((StreamingRuntimeContext) getRuntimeContext());
  }

  private long fingerprint() {
    return places.values().stream().mapToLong(Integer::longValue).sum();
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    List<String> saved = new ArrayList<>();
    places.forEach((script, place) -> saved.add(script + " " + place));
    state.update(saved);
    journal.line("snapshot " + context.getCheckpointId() + " " + fingerprint());
  }

  @Override
  public void run(SourceContext<Item> context) throws Exception {
    boolean told = false;
    while (running) {
      boolean went = false;
      for (int script : new ArrayList<>(places.keySet())) {
        synchronized (context.getCheckpointLock()) {
          went |= running && step(context, script);
        }
      }
      if (!told && isOver()) {
        journal.line("done");
        told = true;
      }
      Thread.sleep(went ? pause : 10);
    }
  }

  private boolean isOver() {
    return places.entrySet().stream().allMatch(one -> one.getValue() >= scripts.get(one.getKey()).length);
  }

  private boolean step(SourceContext<Item> context, int script) {
    int place = places.get(script);
    String[] items = scripts.get(script);
    if (place >= items.length) {
      return false;
    }
    String[] item = items[place].split(" ");
    if (item[0].equals("h") && !Files.exists(Path.of(folder).getParent().resolve(item[1]))) {
      return false;
    }
    places.put(script, place + 1);
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    if (item[0].equals("r")) {
      long time = Long.parseLong(item[2]);
      long id = (number * 1000L + script) * 1_000_000L + place;
      Item made = new Item(number, subtask, id, item[1], time, 1, new byte[padding]);
      int consumer = KeyGroupRangeAssignment.assignKeyToParallelOperator(item[1], maxParallelism, consumers);
      journal.record("out", made, consumer);
      context.collectWithTimestamp(made, time);
    }
    tick(context);
    return true;
  }

  /** The least that our scripts have announced, those that are over apart. */
  private void tick(SourceContext<Item> context) {
    long least = Long.MAX_VALUE;
    for (Map.Entry<Integer, Integer> one : places.entrySet()) {
      if (one.getValue() < scripts.get(one.getKey()).length) {
        least = Math.min(least, announced(scripts.get(one.getKey()), one.getValue()));
      }
    }
    if (least > clock && least != Long.MAX_VALUE) {
      clock = least;
      context.emitWatermark(new Watermark(least));
      journal.line("clock " + least);
    }
  }

  private static long announced(String[] script, int place) {
    for (int at = place - 1; at >= 0; at--) {
      if (script[at].startsWith("w ")) {
        return Long.parseLong(script[at].substring(2));
      }
    }
    return Long.MIN_VALUE;
  }

  @Override
  public void cancel() {
    running = false;
  }
}
