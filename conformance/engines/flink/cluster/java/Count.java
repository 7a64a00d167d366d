package tidegate.cluster;

import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Counts the records of each key in windows of event time, and sends a count when its window is over. */
public class Count extends AbstractStreamOperator<Item>
    implements OneInputStreamOperator<Item, Item>, Triggerable<String, VoidNamespace> {
  private final String folder;
  private final int edge;
  private final long width;
  private final int consumers;
  private final int maxParallelism;
  private final int slowMicros;
  private transient Journal journal;
  private transient MapState<Long, Long> counts;
  private transient ListState<Long> seenState;
  private transient long seen;
  private transient InternalTimerService<VoidNamespace> timers;

  public Count(String folder, int edge, long width, int consumers, int maxParallelism, int slowMicros) {
    this.folder = folder;
    this.edge = edge;
    this.width = width;
    this.consumers = consumers;
    this.maxParallelism = maxParallelism;
    this.slowMicros = slowMicros;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    seenState = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("seen", Types.LONG));
    for (long one : seenState.get()) {
      seen += one;
    }
    long restored = context.getRestoredCheckpointId().orElse(-1);
    journal = new Journal(folder, "count", getContainingTask().getEnvironment(), restored, seen);
  }

  @Override
  public void open() throws Exception {
    super.open();
    counts = getRuntimeContext().getMapState(new MapStateDescriptor<>("counts", Types.LONG, Types.LONG));
    timers = getInternalTimerService("windows", VoidNamespaceSerializer.INSTANCE, this);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    seenState.update(java.util.List.of(seen));
    journal.line("snapshot " + context.getCheckpointId() + " " + seen);
  }

  private int subtask() {
    return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
  }

  @Override
  public void processElement(StreamRecord<Item> element) throws Exception {
    Item item = element.getValue();
    journal.record("in", item, subtask());
    seen++;
    if (item.time <= timers.currentWatermark()) {
      journal.line("late " + item.id + " " + item.time + " " + item.key);
      return;
    }
    long last = Math.floorDiv(item.time, width) * width + width - 1;
    Long before = counts.get(last);
    counts.put(last, (before == null ? 0 : before) + item.value);
    timers.registerEventTimeTimer(VoidNamespace.INSTANCE, last);
    LockSupport.parkNanos(slowMicros * 1000L);
  }

  @Override
  public void onEventTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
    long last = timer.getTimestamp();
    String key = timer.getKey();
    journal.line("timer " + last + " " + key);
    // Keys are "k" and a number: with the window it is the identity of the count.
    long id = (1_000_000L + Long.parseLong(key.substring(1))) * 1_000_000_000L + Math.floorDiv(last, width);
    Item made = new Item(edge, subtask(), id, key, last, counts.get(last), new byte[0]);
    counts.remove(last);
    journal.record("out", made, KeyGroupRangeAssignment.assignKeyToParallelOperator(key, maxParallelism, consumers));
    output.collect(new StreamRecord<>(made, last));
  }

  @Override
  public void onProcessingTime(InternalTimer<String, VoidNamespace> timer) {}

  /** The clock is told when the watermark has left: behind everything that its timers have made. */
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    super.processWatermark(mark);
    journal.line("clock " + mark.getTimestamp());
  }
}
