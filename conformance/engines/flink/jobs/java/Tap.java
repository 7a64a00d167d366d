package tidegate;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.EndOfData;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.api.writer.RecordWriter;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterDelegate;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput.DataOutput;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTask;
import org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.StringValue;

/**
 * Records one subtask at the borders of the engine: after the gate, before the valve, before the result partition.
 *
 * <p>A row is a list: vertex, subtask, direction, port, channel, kind, timestamp, number (id, status, checkpoint), key, value. For `in` the port is
 * the gate and the channel its input channel; for `out` the port is the result partition and the channel a subpartition.
 * All rows of a subtask are in its own order. A record gets its identity when it leaves a task: its bytes
 * begin with its id and with the number of its writer, which tells its receiver the channel.
 */
final class Tap {
  static final Map<String, List<List<Object>>> ROWS = new ConcurrentHashMap<>();
  /** By number: the vertex, subtask and result partition of a writer. */
  static final List<List<Object>> WRITERS = Collections.synchronizedList(new ArrayList<>());

  private static final AtomicLong IDS = new AtomicLong();
  private static volatile Signs signs = new Signs();

  private static final Map<StreamTask<?, ?>, Tap> TAPS = Collections.synchronizedMap(new HashMap<>());
  private static final int BEFORE_ELEMENT = Integer.BYTES;
  private static final byte RECORD_WITH_TIMESTAMP = 0;
  private static final byte RECORD_WITHOUT_TIMESTAMP = 1;
  private static final byte WATERMARK = 2;
  private static final byte STATUS = 4;

  private final String vertex;
  private final int subtask;
  private final List<List<Object>> rows;
  /** Null if rows are kept here. */
  private final Journal journal;
  /** How much a subtask that may be killed has received, over all its attempts. */
  private ListState<Long> state;
  private long seen;

  private Tap(Environment environment) {
    vertex = environment.getJobVertexId().toString();
    subtask = environment.getTaskInfo().getIndexOfThisSubtask();
    journal = Journal.of(environment);
    rows = ROWS.computeIfAbsent(vertex + "/" + subtask, name -> Collections.synchronizedList(new ArrayList<>()));
  }

  static void forget() {
    ROWS.clear();
    TAPS.clear();
    WRITERS.clear();
    IDS.set(0);
  }

  /** How watermarks and statuses travel: as elements of the stream, by default. */
  static class Signs {
    boolean areElements() {
      return true;
    }

    /** Kind, timestamp and number of an event of event time; null for other events. */
    Object[] of(AbstractEvent event) {
      return null;
    }
  }

  static void read(Signs ours) {
    signs = ours;
  }

  /** Every operator of a chain requests the tap of its task; the first one installs it. */
  static Tap on(StreamTask<?, ?> task) throws Exception {
    synchronized (TAPS) {
      Tap known = TAPS.get(task);
      if (known == null) {
        known = new Tap(task.getEnvironment());
        known.listenToOutputs(task);
        known.listenToInputs(get(task, "inputProcessor"));
        if (known.journal != null) {
          known.journal.begin(task.getEnvironment());
        }
        TAPS.put(task, known);
      }
      return known;
    }
  }

  /** The tap, if this operator is the head of its chain, which reports what a task receives. */
  static Tap ofHead(AbstractStreamOperator<?> operator) throws Exception {
    Tap tap = on(operator.getContainingTask());
    return operator.getOperatorConfig().isChainStart() ? tap : null;
  }

  static void received(Tap tap, StreamRecord<Record> element, EventTime.Manner manner) {
    if (tap != null) {
      tap.received(element.getValue(), element.getTimestamp());
      manner.slowDown();
    }
  }

  /** The first row of an attempt: the checkpoint that a task restored, and how much it had received there. */
  static void begin(AbstractStreamOperator<?> operator, StateInitializationContext context) throws Exception {
    if (!tells(operator)) {
      return;
    }
    Tap tap = on(operator.getContainingTask());
    tap.state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("seen", Types.LONG));
    for (long one : tap.state.get()) {
      tap.seen += one;
    }
    if (context.isRestored()) {
      tap.row("out", null, null, "restored", null, context.getRestoredCheckpointId().getAsLong(), null, tap.seen);
    }
  }

  static void save(AbstractStreamOperator<?> operator, StateSnapshotContext context) throws Exception {
    if (tells(operator)) {
      Tap tap = on(operator.getContainingTask());
      tap.state.update(List.of(tap.seen));
      tap.row("out", null, null, "snapshot", null, context.getCheckpointId(), null, tap.seen);
    }
  }

  /** Whether the operator reports for its task, and snapshots matter. */
  private static boolean tells(AbstractStreamOperator<?> operator) {
    return Journal.isWanted(operator.getContainingTask().getEnvironment())
        && (operator instanceof Operators.Script || operator instanceof Operators.Passing || operator.getOperatorConfig().isChainStart());
  }

  void count() {
    seen++;
  }

  /** A record that the head of a chain receives; instead of a port and a channel it has the number of its writer. */
  void received(Record record, long timestamp) {
    count();
    row("in", null, record.f1, "record", timestamp, record.f0, record.f2, record.f3);
  }

  /** A timer of event time, and the timestamp of its sum: a row of the subtask, without a channel. */
  void fired(String key, long timestamp, long of) {
    row("out", null, null, "timer", timestamp, of, key, null);
  }

  private void row(Object... cells) {
    if (journal != null) {
      journal.row(cells);
      return;
    }
    List<Object> row = new ArrayList<>(Arrays.asList(vertex, subtask));
    Collections.addAll(row, cells);
    rows.add(row);
  }

  // --- outputs ---------------------------------------------------------------------------------------------------

  private void listenToOutputs(StreamTask<?, ?> task) throws Exception {
    ResultPartitionWriter[] writers = task.getEnvironment().getAllWriters();
    RecordWriterDelegate<?> delegate = (RecordWriterDelegate<?>) get(task, "recordWriter");
    for (int port = 0; port < writers.length; port++) {
      RecordWriter<?> recordWriter = delegate.getRecordWriter(port);
      ResultPartitionWriter real = (ResultPartitionWriter) get(recordWriter, "targetPartition");
      ResultPartitionWriter heard = listenTo(real, port);
      set(recordWriter, "targetPartition", heard);
      writers[port] = heard;
    }
  }

  private ResultPartitionWriter listenTo(ResultPartitionWriter real, int port) {
    int writer = journal == null ? register(port) : journal.nextWriter();
    return (ResultPartitionWriter)
        Proxy.newProxyInstance(
            Tap.class.getClassLoader(),
            interfacesOf(real.getClass()),
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "emitRecord":
                  sent(writer, port, (ByteBuffer) arguments[0], (Integer) arguments[1], (Integer) arguments[1] + 1);
                  break;
                case "broadcastRecord":
                  sent(writer, port, (ByteBuffer) arguments[0], 0, real.getNumberOfSubpartitions());
                  break;
                case "broadcastEvent":
                  sentEvent(port, (AbstractEvent) arguments[0], real.getNumberOfSubpartitions());
                  break;
                case "notifyEndOfData":
                  sentToAll(port, real.getNumberOfSubpartitions(), "end_of_data");
                  break;
                case "finish":
                  sentToAll(port, real.getNumberOfSubpartitions(), "end_of_partition");
                  break;
                default:
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException error) {
                throw error.getCause();
              }
            });
  }

  private int register(int port) {
    synchronized (WRITERS) {
      WRITERS.add(List.of(vertex, subtask, port));
      return WRITERS.size() - 1;
    }
  }

  private static Class<?>[] interfacesOf(Class<?> type) {
    Set<Class<?>> found = new LinkedHashSet<>();
    for (Class<?> one = type; one != null; one = one.getSuperclass()) {
      Collections.addAll(found, one.getInterfaces());
    }
    return found.toArray(new Class<?>[0]);
  }

  private void sent(int writer, int port, ByteBuffer bytes, int first, int end) throws IOException {
    int at = bytes.position() + BEFORE_ELEMENT;
    byte tag = bytes.get(at);
    Object[] cells;
    if (tag == RECORD_WITH_TIMESTAMP || tag == RECORD_WITHOUT_TIMESTAMP) {
      int value = at + 1 + (tag == RECORD_WITH_TIMESTAMP ? Long.BYTES : 0);
      long id = journal == null ? IDS.getAndIncrement() : journal.nextId();
      bytes.putLong(value, id);
      bytes.putInt(value + Long.BYTES, writer);
      int rest = value + Long.BYTES + Integer.BYTES;
      DataInputDeserializer reader = new DataInputDeserializer(bytes.array(), bytes.arrayOffset() + rest, bytes.limit() - rest);
      Object timestamp = tag == RECORD_WITH_TIMESTAMP ? bytes.getLong(at + 1) : null;
      cells = new Object[] {"record", timestamp, id, StringValue.readString(reader), reader.readLong()};
    } else if (!signs.areElements()) {
      return;
    } else if (tag == WATERMARK) {
      cells = new Object[] {"watermark", bytes.getLong(at + 1), null, null, null};
    } else if (tag == STATUS) {
      long active = bytes.getInt(at + 1) == WatermarkStatus.ACTIVE_STATUS ? 1 : 0;
      cells = new Object[] {"status", null, active, null, null};
    } else {
      cells = new Object[] {"element of tag " + tag, null, null, null, null};
    }
    for (int channel = first; channel < end; channel++) {
      row("out", port, channel, cells[0], cells[1], cells[2], cells[3], cells[4]);
    }
  }

  private void sentEvent(int port, AbstractEvent event, int channels) {
    Object[] sign = signs.of(event);
    if (sign != null) {
      for (int channel = 0; channel < channels; channel++) {
        row("out", port, channel, sign[0], sign[1], sign[2], null, null);
      }
    } else if (event instanceof CheckpointBarrier) {
      for (int channel = 0; channel < channels; channel++) {
        row("out", port, channel, "barrier", null, ((CheckpointBarrier) event).getId(), null, null);
      }
    } else if (!(event instanceof EndOfData) && !(event instanceof EndOfPartitionEvent)) {
      sentToAll(port, channels, event.getClass().getSimpleName());
    }
  }

  private void sentToAll(int port, int channels, String kind) {
    for (int channel = 0; channel < channels; channel++) {
      row("out", port, channel, kind, null, null, null, null);
    }
  }

  // --- inputs ----------------------------------------------------------------------------------------------------

  private void listenToInputs(Object processor) throws Exception {
    if (processor == null) {
      return; // a source
    }
    if (has(processor, "inputProcessors")) {
      for (Object one : (Object[]) get(processor, "inputProcessors")) {
        listenToInputs(one);
      }
      return;
    }
    Object input = get(processor, "input");
    if (!has(input, "checkpointedInputGate")) {
      return; // a source of splits
    }
    Object checkpointedGate = get(input, "checkpointedInputGate");
    set(checkpointedGate, "inputGate", new TapGate((InputGate) get(checkpointedGate, "inputGate"), this));
    @SuppressWarnings("unchecked")
    Map<InputChannelInfo, Integer> indices = (Map<InputChannelInfo, Integer>) get(input, "flattenedChannelIndices");
    Map<Integer, InputChannelInfo> channels = new HashMap<>();
    indices.forEach((channel, index) -> channels.put(index, channel));
    if (signs.areElements() && journal == null) {
      StatusWatermarkValve valve = (StatusWatermarkValve) get(input, "statusWatermarkValve");
      set(input, "statusWatermarkValve", new TapValve(valve, channels));
    }
  }

  /** An item of the gate: data is recorded later, events here. */
  void polled(BufferOrEvent item) {
    if (!item.isEvent()) {
      return;
    }
    AbstractEvent event = item.getEvent();
    int gate = item.getChannelInfo().getGateIdx();
    int channel = item.getChannelInfo().getInputChannelIdx();
    Object[] sign = signs.of(event);
    if (sign != null) {
      row("in", gate, channel, sign[0], sign[1], sign[2], null, null);
    } else if (event instanceof CheckpointBarrier) {
      row("in", gate, channel, "barrier", null, ((CheckpointBarrier) event).getId(), null, null);
    } else if (event instanceof EndOfData) {
      row("in", gate, channel, "end_of_data", null, null, null, null);
    } else if (event instanceof EndOfPartitionEvent) {
      row("in", gate, channel, "end_of_partition", null, null, null, null);
    } else {
      row("in", gate, channel, event.getClass().getSimpleName(), null, null, null, null);
    }
  }

  private final class TapValve extends StatusWatermarkValve {
    private final StatusWatermarkValve real;
    private final Map<Integer, InputChannelInfo> channels;

    TapValve(StatusWatermarkValve real, Map<Integer, InputChannelInfo> channels) {
      super(1);
      this.real = real;
      this.channels = channels;
    }

    @Override
    public void inputWatermark(Watermark watermark, int index, DataOutput<?> output) throws Exception {
      InputChannelInfo channel = channels.get(index);
      row("in", channel.getGateIdx(), channel.getInputChannelIdx(), "watermark", watermark.getTimestamp(), null, null, null);
      real.inputWatermark(watermark, index, output);
    }

    @Override
    public void inputWatermarkStatus(WatermarkStatus status, int index, DataOutput<?> output) throws Exception {
      InputChannelInfo channel = channels.get(index);
      long active = status.isActive() ? 1 : 0;
      row("in", channel.getGateIdx(), channel.getInputChannelIdx(), "status", null, active, null, null);
      real.inputWatermarkStatus(status, index, output);
    }
  }

  // --- private members of Flink ----------------------------------------------------------------------------------

  private static boolean has(Object target, String name) {
    try {
      field(target, name);
      return true;
    } catch (NoSuchFieldException missing) {
      return false;
    }
  }

  static Object get(Object target, String name) throws Exception {
    return field(target, name).get(target);
  }

  private static void set(Object target, String name, Object value) throws Exception {
    field(target, name).set(target, value);
  }

  private static Field field(Object target, String name) throws NoSuchFieldException {
    for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Field found = type.getDeclaredField(name);
        found.setAccessible(true);
        return found;
      } catch (NoSuchFieldException above) {
        // look further up
      }
    }
    throw new NoSuchFieldException(target.getClass().getName() + "." + name);
  }
}
