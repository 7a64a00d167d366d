package tidegate.cluster;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Commits counts as files. What came before a checkpoint is committed when the checkpoint is complete, under a name
 * that says which: to commit it a second time changes nothing. `eager` commits at once, which is at least once.
 */
public class Commit extends AbstractStreamOperator<Item> implements OneInputStreamOperator<Item, Item> {
  private final String folder;
  private final boolean eager;
  private transient Journal journal;
  private transient ListState<String> state;
  private transient ListState<Long> seenState;
  private transient TreeMap<Long, List<String>> waiting;
  private transient List<String> open;
  private transient long seen;

  public Commit(String folder, boolean eager) {
    this.folder = folder;
    this.eager = eager;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("waiting", Types.STRING));
    seenState = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("seen", Types.LONG));
    waiting = new TreeMap<>();
    open = new ArrayList<>();
    for (long one : seenState.get()) {
      seen += one;
    }
    long restored = context.getRestoredCheckpointId().orElse(-1);
    journal = new Journal(folder, "sink", getContainingTask().getEnvironment(), restored, seen);
    // One element of the state is all that a subtask had not committed: name, then lines.
    for (String saved : state.get()) {
      String[] parts = saved.split("\n", 2);
      write(parts[0], parts[1]);
    }
  }

  @Override
  public void processElement(StreamRecord<Item> element) throws Exception {
    Item item = element.getValue();
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    journal.record("in", item, subtask);
    seen++;
    String line = subtask + " " + item.time + " " + item.value + " " + item.key + "\n";
    if (eager) {
      Files.createDirectories(committed());
      StandardOpenOption[] append = {StandardOpenOption.CREATE, StandardOpenOption.APPEND};
      Files.write(committed().resolve("eager-" + subtask), line.getBytes(StandardCharsets.UTF_8), append);
    } else {
      open.add(line);
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    waiting.put(context.getCheckpointId(), open);
    open = new ArrayList<>();
    List<String> saved = new ArrayList<>();
    for (Map.Entry<Long, List<String>> one : waiting.entrySet()) {
      if (!one.getValue().isEmpty()) {
        saved.add(name(one.getKey()) + "\n" + String.join("", one.getValue()));
      }
    }
    state.update(saved);
    seenState.update(List.of(seen));
    journal.line("snapshot " + context.getCheckpointId() + " " + seen);
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) throws Exception {
    super.notifyCheckpointComplete(checkpoint);
    Map<Long, List<String>> done = waiting.headMap(checkpoint, true);
    for (Map.Entry<Long, List<String>> one : done.entrySet()) {
      if (!one.getValue().isEmpty()) {
        write(name(one.getKey()), String.join("", one.getValue()));
      }
    }
    done.clear();
  }

  private String name(long checkpoint) {
    return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() + "-" + checkpoint;
  }

  private Path committed() {
    return Path.of(folder).getParent().resolve("committed");
  }

  private void write(String name, String lines) throws Exception {
    Files.createDirectories(committed());
    Path part = Path.of(folder, UUID.randomUUID() + ".part");
    Files.write(part, lines.getBytes(StandardCharsets.UTF_8));
    Files.move(part, committed().resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    journal.line("clock " + mark.getTimestamp());
  }
}
