package tidegate;

import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.streaming.api.functions.windowing.PassThroughWindowFunction;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.operators.co.KeyedCoProcessOperator;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.triggers.TriggerResult;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.operators.windowing.WindowOperator;
import org.apache.flink.streaming.runtime.operators.windowing.functions.InternalSingleValueWindowFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Operators of event time: Flink's own, except that the tap hears what they receive. */
final class EventTime {
  static final OutputTag<Record> LATE = new OutputTag<>("late", Record.TYPE);
  static final KeySelector<Record, String> KEY = record -> record.f2;

  private EventTime() {}

  /**
   * Shared by all of them: their delay, whether they also have timers of processing time, and where they
   * keep what must survive, if they may be killed.
   */
  static final class Manner implements java.io.Serializable {
    private final long slowMicros;
    private final long slowTimersMicros;
    private final boolean processingTimers;
    /** Null without faults. */
    final String folder;
    /** Whether sinks commit at once. */
    final boolean eager;

    Manner(JsonNode request) {
      slowMicros = request.get("slow_micros").asLong();
      slowTimersMicros = request.get("slow_timers_micros").asLong();
      processingTimers = request.get("processing_timers").asBoolean();
      folder = request.path("folder").asText(null);
      eager = request.path("eager").asBoolean();
    }

    void slowDown() {
      LockSupport.parkNanos(slowMicros * 1000L);
    }

    void slowTimer() {
      LockSupport.parkNanos(slowTimersMicros * 1000L);
    }

    boolean hasProcessingTimers() {
      return processingTimers;
    }

    void alsoWait(TimerService timers) {
      if (processingTimers) {
        timers.registerProcessingTimeTimer(timers.currentProcessingTime() + 1);
      }
    }
  }

  // --- timers ------------------------------------------------------------------------------------------------------

  /** Adds the record to the sum of its time, which is emitted at that time; false if it is late. */
  private static boolean take(
      MapState<Long, Long> sums, Record record, long timestamp, TimerService timers, Manner manner) throws Exception {
    if (timestamp <= timers.currentWatermark()) {
      return false;
    }
    Long known = sums.get(timestamp);
    sums.put(timestamp, (known == null ? 0 : known) + record.f3);
    timers.registerEventTimeTimer(timestamp);
    manner.alsoWait(timers);
    return true;
  }

  private static void tell(MapState<Long, Long> sums, String key, long timestamp, Collector<Record> out) throws Exception {
    out.collect(new Record(key, sums.get(timestamp), new byte[0]));
    sums.remove(timestamp);
  }

  private static MapStateDescriptor<Long, Long> sums() {
    return new MapStateDescriptor<>("sums", Types.LONG, Types.LONG);
  }

  static final class Sums extends KeyedProcessFunction<String, Record, Record> {
    private final Manner manner;

    Sums(Manner manner) {
      this.manner = manner;
    }

    @Override
    public void processElement(Record record, Context context, Collector<Record> out) throws Exception {
      if (!take(getRuntimeContext().getMapState(sums()), record, context.timestamp(), context.timerService(), manner)) {
        context.output(LATE, record);
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Record> out) throws Exception {
      if (context.timeDomain() == TimeDomain.EVENT_TIME) {
        tell(getRuntimeContext().getMapState(sums()), context.getCurrentKey(), timestamp, out);
        manner.alsoWait(context.timerService());
      }
    }
  }

  static final class Timers extends KeyedProcessOperator<String, Record, Record> {
    private final Manner manner;
    private transient Tap tap;

    Timers(Manner manner) {
      super(new Sums(manner));
      this.manner = manner;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      Tap.begin(this, context);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
      super.snapshotState(context);
      Tap.save(this, context);
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getTimestamp());
      super.onEventTime(timer);
      manner.slowTimer();
    }

    public boolean useInterruptibleTimers(ReadableConfig config) {
      return true;
    }

    /** The same in 2.2. */
    public boolean useInterruptibleTimers() {
      return true;
    }

    /** The same in 1.20 to 2.1. */
    public boolean useSplittableTimers() {
      return true;
    }
  }

  static final class CoSums extends KeyedCoProcessFunction<String, Record, Record, Record> {
    private final Manner manner;

    CoSums(Manner manner) {
      this.manner = manner;
    }

    @Override
    public void processElement1(Record record, Context context, Collector<Record> out) throws Exception {
      receive(record, context);
    }

    @Override
    public void processElement2(Record record, Context context, Collector<Record> out) throws Exception {
      receive(record, context);
    }

    private void receive(Record record, Context context) throws Exception {
      if (!take(getRuntimeContext().getMapState(sums()), record, context.timestamp(), context.timerService(), manner)) {
        context.output(LATE, record);
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Record> out) throws Exception {
      if (context.timeDomain() == TimeDomain.EVENT_TIME) {
        tell(getRuntimeContext().getMapState(sums()), context.getCurrentKey(), timestamp, out);
        manner.alsoWait(context.timerService());
      }
    }
  }

  static final class CoTimers extends KeyedCoProcessOperator<String, Record, Record, Record> {
    private final Manner manner;
    private transient Tap tap;

    CoTimers(Manner manner) {
      super(new CoSums(manner));
      this.manner = manner;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      Tap.begin(this, context);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
      super.snapshotState(context);
      Tap.save(this, context);
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
    }

    @Override
    public void processElement1(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement1(element);
    }

    @Override
    public void processElement2(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement2(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getTimestamp());
      super.onEventTime(timer);
      manner.slowTimer();
    }

    public boolean useInterruptibleTimers(ReadableConfig config) {
      return true;
    }

    /** The same in 2.2. */
    public boolean useInterruptibleTimers() {
      return true;
    }

    /** The same in 1.20 to 2.1. */
    public boolean useSplittableTimers() {
      return true;
    }
  }

  // --- windows -----------------------------------------------------------------------------------------------------

  /** Flink's trigger of event time, with an unused timer of processing time, if requested. */
  static final class AtItsEnd extends Trigger<Record, TimeWindow> {
    private final Manner manner;

    AtItsEnd(Manner manner) {
      this.manner = manner;
    }

    @Override
    public TriggerResult onElement(Record element, long timestamp, TimeWindow window, TriggerContext context) {
      if (manner.processingTimers) {
        context.registerProcessingTimeTimer(context.getCurrentProcessingTime() + 1);
      }
      if (window.maxTimestamp() <= context.getCurrentWatermark()) {
        return TriggerResult.FIRE;
      }
      context.registerEventTimeTimer(window.maxTimestamp());
      return TriggerResult.CONTINUE;
    }

    @Override
    public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context) {
      return time == window.maxTimestamp() ? TriggerResult.FIRE : TriggerResult.CONTINUE;
    }

    @Override
    public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context) {
      return TriggerResult.CONTINUE;
    }

    @Override
    public void clear(TimeWindow window, TriggerContext context) {
      context.deleteEventTimeTimer(window.maxTimestamp());
    }
  }

  static final class Windows extends WindowOperator<String, Record, Record, Record, TimeWindow> {
    private final Manner manner;
    private transient Tap tap;

    Windows(long size, long lateness, Manner manner) {
      super(
          TumblingEventTimeWindows.of(@MILLIS@(size)),
          new TimeWindow.Serializer(),
          KEY,
          StringSerializer.INSTANCE,
          sum(),
          new InternalSingleValueWindowFunction<>(new PassThroughWindowFunction<>()),
          new AtItsEnd(manner),
          lateness,
          LATE);
      this.manner = manner;
    }

    private static ReducingStateDescriptor<Record> sum() {
      ReduceFunction<Record> add = (one, other) -> new Record(one.f2, one.f3 + other.f3, new byte[0]);
      ReducingStateDescriptor<Record> sum = new ReducingStateDescriptor<>("sum", add, Record.TYPE);
      sum.initializeSerializerUnlessSet(new ExecutionConfig());
      return sum;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      Tap.begin(this, context);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
      super.snapshotState(context);
      Tap.save(this, context);
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, TimeWindow> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getNamespace().maxTimestamp());
      super.onEventTime(timer);
      manner.slowTimer();
    }

    public boolean useInterruptibleTimers(ReadableConfig config) {
      return true;
    }

    /** The same in 2.2. */
    public boolean useInterruptibleTimers() {
      return true;
    }

    /** The same in 1.20 to 2.1. */
    public boolean useSplittableTimers() {
      return true;
    }
  }
}
