package tidegate;

import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.MapStateDeclaration;
import org.apache.flink.api.common.state.StateDeclaration;
import org.apache.flink.api.common.state.StateDeclarations;
import org.apache.flink.api.common.state.v2.ListStateDescriptor;
import org.apache.flink.api.common.state.v2.MapState;
import org.apache.flink.api.common.typeinfo.TypeDescriptors;
import org.apache.flink.api.common.watermark.BoolWatermark;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.api.common.watermark.WatermarkDeclaration;
import org.apache.flink.datastream.api.common.Collector;
import org.apache.flink.datastream.api.context.PartitionedContext;
import org.apache.flink.datastream.api.extension.eventtime.EventTimeExtension;
import org.apache.flink.datastream.api.extension.eventtime.function.EventTimeProcessFunction;
import org.apache.flink.datastream.api.extension.eventtime.function.OneInputEventTimeStreamProcessFunction;
import org.apache.flink.datastream.api.extension.eventtime.function.TwoInputNonBroadcastEventTimeStreamProcessFunction;
import org.apache.flink.datastream.api.extension.eventtime.timer.EventTimeManager;
import org.apache.flink.datastream.api.extension.window.context.OneInputWindowContext;
import org.apache.flink.datastream.api.extension.window.function.OneInputWindowStreamProcessFunction;
import org.apache.flink.datastream.api.extension.window.strategy.WindowStrategy;
import org.apache.flink.datastream.api.function.OneInputStreamProcessFunction;
import org.apache.flink.datastream.api.function.TwoInputNonBroadcastStreamProcessFunction;
import org.apache.flink.datastream.impl.builtin.BuiltinWindowFuncs;
import org.apache.flink.datastream.impl.extension.window.function.InternalOneInputWindowStreamProcessFunction;
import org.apache.flink.datastream.impl.extension.window.operators.OneInputWindowProcessOperator;
import org.apache.flink.datastream.impl.operators.KeyedProcessOperator;
import org.apache.flink.datastream.impl.operators.KeyedTwoInputNonBroadcastProcessOperator;
import org.apache.flink.datastream.impl.operators.ProcessOperator;
import org.apache.flink.datastream.impl.operators.TwoInputNonBroadcastProcessOperator;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The operators behind DataStream V2, with its event time: generalized watermarks, which are events of the network.
 *
 * <p>A source there itself emits idleness and the end of event time: nothing is added when it ends. Flink's classic
 * watermark of the end also passes through such a job, after ours; the tap ignores it.
 */
public final class VersionTwo implements Kit {
  private static final Set<WatermarkDeclaration> EVENT_TIME =
      Set.of(EventTimeExtension.EVENT_TIME_WATERMARK_DECLARATION, EventTimeExtension.IDLE_STATUS_WATERMARK_DECLARATION);

  @Override
  public OneInputStreamOperator<Long, Record> script(String[][][] scripts, int padding) {
    return new Scripts(new Follow(scripts, padding));
  }

  @Override
  public SingleOutputStreamOperator<Record> add(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner) {
    int id = operator.get("id").asInt();
    String name = "o" + id;
    String function = operator.get("function").asText();
    switch (function) {
      case "timer":
        return first.transform(name, Record.TYPE, new Timers(new Sums(manner)));
      case "co_timer":
        return first.connect(second).transform(name, Record.TYPE, new CoTimers(new CoSums(manner)));
      case "window":
        long size = operator.get("size").asLong();
        return first.transform(name, Record.TYPE, new Windows(size, operator.path("lateness").asLong(), new Total(manner)));
      default:
        Operators.Work work = new Operators.Work(id, function);
        if (second == null) {
          boolean isKeyed = first instanceof KeyedStream;
          return first.transform(name, Record.TYPE, isKeyed ? new Keyed(work, manner) : new Plain(work, manner));
        }
        if (first instanceof KeyedStream && second instanceof KeyedStream) {
          return first.connect(second).transform(name, Record.TYPE, new CoKeyed(work, manner));
        }
        return plain(first).connect(plain(second)).transform(name, Record.TYPE, new CoPlain(work, manner));
    }
  }

  /** Partitioned by key, without keyed state: both inputs of an operator are keyed, or neither. */
  private static DataStream<Record> plain(DataStream<Record> stream) {
    return new DataStream<>(stream.getExecutionEnvironment(), stream.getTransformation());
  }

  @Override
  public Tap.Signs signs() {
    return new Tap.Signs() {
      @Override
      boolean areElements() {
        return false;
      }

      @Override
      Object[] of(AbstractEvent event) {
        if (!(event instanceof WatermarkEvent)) {
          return null;
        }
        org.apache.flink.api.common.watermark.Watermark watermark = ((WatermarkEvent) event).getWatermark();
        return EventTimeExtension.isEventTimeWatermark(watermark)
            ? new Object[] {"watermark", ((LongWatermark) watermark).getValue(), null}
            : new Object[] {"status", null, ((BoolWatermark) watermark).getValue() ? 0L : 1L};
      }
    };
  }

  // --- sources -----------------------------------------------------------------------------------------------------

  /** An idle source emits no event time, and no status twice. */
  static final class Follow implements OneInputStreamProcessFunction<Long, Record> {
    private final String[][][] scripts;
    private final int padding;
    private boolean isIdle;

    Follow(String[][][] scripts, int padding) {
      this.scripts = scripts;
      this.padding = padding;
    }

    @Override
    public Set<? extends WatermarkDeclaration> declareWatermarks() {
      return EVENT_TIME;
    }

    @Override
    public void processRecord(Long tick, Collector<Record> out, PartitionedContext<Record> context) {
      String[][] mine = scripts[context.getTaskInfo().getIndexOfThisSubtask()];
      if (tick == mine.length) {
        tell(context, Long.MAX_VALUE);
      }
      if (tick >= mine.length) {
        return;
      }
      String[] item = mine[(int) (long) tick];
      switch (item[0]) {
        case "record":
          Record record = new Record(item[1], Long.parseLong(item[2]), new byte[padding]);
          out.collectAndOverwriteTimestamp(record, Long.parseLong(item[3]));
          break;
        case "watermark":
          tell(context, Long.parseLong(item[1]));
          break;
        default:
          if (item[1].equals("idle") != isIdle) {
            isIdle = !isIdle;
            context
                .getNonPartitionedContext()
                .getWatermarkManager()
                .emitWatermark(EventTimeExtension.IDLE_STATUS_WATERMARK_DECLARATION.newWatermark(isIdle));
          }
      }
    }

    private void tell(PartitionedContext<Record> context, long time) {
      if (!isIdle) {
        context
            .getNonPartitionedContext()
            .getWatermarkManager()
            .emitWatermark(EventTimeExtension.EVENT_TIME_WATERMARK_DECLARATION.newWatermark(time));
      }
    }
  }

  static final class Scripts extends ProcessOperator<Long, Record> {
    Scripts(Follow follow) {
      super(follow);
    }

    @Override
    public void open() throws Exception {
      super.open();
      Tap.on(getContainingTask());
    }
  }

  // --- operators without time --------------------------------------------------------------------------------------

  static final class Apply implements OneInputStreamProcessFunction<Record, Record> {
    private final Operators.Work work;

    Apply(Operators.Work work) {
      this.work = work;
    }

    @Override
    public void processRecord(Record record, Collector<Record> out, PartitionedContext<Record> context) {
      work.apply(record, out::collect);
    }
  }

  static final class CoApply implements TwoInputNonBroadcastStreamProcessFunction<Record, Record, Record> {
    private final Operators.Work work;

    CoApply(Operators.Work work) {
      this.work = work;
    }

    @Override
    public void processRecordFromFirstInput(Record record, Collector<Record> out, PartitionedContext<Record> context) {
      work.apply(record, out::collect);
    }

    @Override
    public void processRecordFromSecondInput(Record record, Collector<Record> out, PartitionedContext<Record> context) {
      work.apply(record, out::collect);
    }
  }

  static final class Plain extends ProcessOperator<Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    Plain(Operators.Work work, EventTime.Manner manner) {
      super(new Apply(work));
      this.manner = manner;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.ofHead(this);
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement(element);
    }
  }

  static final class Keyed extends KeyedProcessOperator<String, Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    Keyed(Operators.Work work, EventTime.Manner manner) {
      super(new Apply(work));
      this.manner = manner;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.ofHead(this);
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      super.processElement(element);
    }
  }

  static final class CoPlain extends TwoInputNonBroadcastProcessOperator<Record, Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    CoPlain(Operators.Work work, EventTime.Manner manner) {
      super(new CoApply(work));
      this.manner = manner;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.ofHead(this);
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
  }

  static final class CoKeyed extends KeyedTwoInputNonBroadcastProcessOperator<String, Record, Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    CoKeyed(Operators.Work work, EventTime.Manner manner) {
      super(new CoApply(work));
      this.manner = manner;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.ofHead(this);
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
  }

  // --- timers ------------------------------------------------------------------------------------------------------

  /** Adds up by key and time. A record does not know its time there: the operator provides it, and takes late records. */
  abstract static class Adding implements EventTimeProcessFunction {
    private static final MapStateDeclaration<Long, Long> SUMS =
        StateDeclarations.mapState("sums", TypeDescriptors.LONG, TypeDescriptors.LONG);

    final EventTime.Manner manner;
    private transient EventTimeManager time;
    transient long now;
    transient Consumer<Record> late;

    Adding(EventTime.Manner manner) {
      this.manner = manner;
    }

    @Override
    public void initEventTimeProcessFunction(EventTimeManager manager) {
      time = manager;
    }

    @Override
    public Set<StateDeclaration> usesStates() {
      return Set.of(SUMS);
    }

    void receive(Record record, PartitionedContext<Record> context) throws Exception {
      if (now <= time.currentTime()) {
        late.accept(record);
        return;
      }
      MapState<Long, Long> sums = context.getStateManager().getState(SUMS);
      Long known = sums.get(now);
      sums.put(now, (known == null ? 0 : known) + record.f3);
      time.registerTimer(now);
      alsoWait(context);
    }

    void fire(long timestamp, Collector<Record> out, PartitionedContext<Record> context) throws Exception {
      MapState<Long, Long> sums = context.getStateManager().getState(SUMS);
      String key = context.getStateManager().getCurrentKey();
      out.collectAndOverwriteTimestamp(new Record(key, sums.get(timestamp), new byte[0]), timestamp);
      sums.remove(timestamp);
      alsoWait(context);
    }

    private void alsoWait(PartitionedContext<Record> context) {
      if (manner.hasProcessingTimers()) {
        long soon = context.getProcessingTimeManager().currentTime() + 1;
        context.getProcessingTimeManager().registerTimer(soon);
      }
    }
  }

  static final class Sums extends Adding implements OneInputEventTimeStreamProcessFunction<Record, Record> {
    Sums(EventTime.Manner manner) {
      super(manner);
    }

    @Override
    public void processRecord(Record record, Collector<Record> out, PartitionedContext<Record> context) throws Exception {
      receive(record, context);
    }

    @Override
    public void onEventTimer(long timestamp, Collector<Record> out, PartitionedContext<Record> context) throws Exception {
      fire(timestamp, out, context);
    }
  }

  static final class CoSums extends Adding
      implements TwoInputNonBroadcastEventTimeStreamProcessFunction<Record, Record, Record> {
    CoSums(EventTime.Manner manner) {
      super(manner);
    }

    @Override
    public void processRecordFromFirstInput(Record record, Collector<Record> out, PartitionedContext<Record> context)
        throws Exception {
      receive(record, context);
    }

    @Override
    public void processRecordFromSecondInput(Record record, Collector<Record> out, PartitionedContext<Record> context)
        throws Exception {
      receive(record, context);
    }

    @Override
    public void onEventTimer(long timestamp, Collector<Record> out, PartitionedContext<Record> context) throws Exception {
      fire(timestamp, out, context);
    }
  }

  static final class Timers extends KeyedProcessOperator<String, Record, Record> {
    private final Sums sums;
    private transient Tap tap;

    Timers(Sums sums) {
      super(EventTimeExtension.wrapProcessFunction(sums));
      this.sums = sums;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
      sums.late = record -> output.collect(EventTime.LATE, new StreamRecord<>(record, sums.now));
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, sums.manner);
      sums.now = element.getTimestamp();
      super.processElement(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getTimestamp());
      super.onEventTime(timer);
      sums.manner.slowTimer();
    }
  }

  static final class CoTimers extends KeyedTwoInputNonBroadcastProcessOperator<String, Record, Record, Record> {
    private final CoSums sums;
    private transient Tap tap;

    CoTimers(CoSums sums) {
      super(EventTimeExtension.wrapProcessFunction(sums));
      this.sums = sums;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
      sums.late = record -> output.collect(EventTime.LATE, new StreamRecord<>(record, sums.now));
    }

    @Override
    public void processElement1(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, sums.manner);
      sums.now = element.getTimestamp();
      super.processElement1(element);
    }

    @Override
    public void processElement2(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, sums.manner);
      sums.now = element.getTimestamp();
      super.processElement2(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getTimestamp());
      super.onEventTime(timer);
      sums.manner.slowTimer();
    }
  }

  // --- windows -----------------------------------------------------------------------------------------------------

  static final class Total implements OneInputWindowStreamProcessFunction<Record, Record> {
    final EventTime.Manner manner;
    transient Consumer<Record> late;

    Total(EventTime.Manner manner) {
      this.manner = manner;
    }

    @Override
    public void onTrigger(Collector<Record> out, PartitionedContext<Record> context, OneInputWindowContext<Record> window) {
      long sum = 0;
      for (Record record : window.getAllRecords()) {
        sum += record.f3;
      }
      String key = context.getStateManager().getCurrentKey();
      out.collect(new Record(key, sum, new byte[0]));
    }

    @Override
    public void onLateRecord(Record record, Collector<Record> out, PartitionedContext<Record> context) {
      late.accept(record);
    }
  }

  static final class Windows extends OneInputWindowProcessOperator<String, Record, Record, TimeWindow> {
    private final Total total;
    private transient Tap tap;
    private transient long now;

    Windows(long size, long lateness, Total total) {
      this(made(size, lateness, total), total);
    }

    private Windows(InternalOneInputWindowStreamProcessFunction<Record, Record, TimeWindow> made, Total total) {
      super(
          made,
          made.getAssigner(),
          made.getTrigger(),
          new TimeWindow.Serializer(),
          new ListStateDescriptor<>("window-state", Record.TYPE),
          made.getAllowedLateness());
      this.total = total;
    }

    @SuppressWarnings("unchecked")
    private static InternalOneInputWindowStreamProcessFunction<Record, Record, TimeWindow> made(
        long size, long lateness, Total total) {
      WindowStrategy strategy =
          WindowStrategy.tumbling(Duration.ofMillis(size), WindowStrategy.EVENT_TIME, Duration.ofMillis(lateness));
      return (InternalOneInputWindowStreamProcessFunction<Record, Record, TimeWindow>)
          (OneInputStreamProcessFunction<Record, Record>) BuiltinWindowFuncs.window(strategy, total);
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
      total.late = record -> output.collect(EventTime.LATE, new StreamRecord<>(record, now));
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, total.manner);
      now = element.getTimestamp();
      super.processElement(element);
    }

    @Override
    public void onEventTime(InternalTimer<String, TimeWindow> timer) throws Exception {
      tap.fired(timer.getKey(), timer.getTimestamp(), timer.getNamespace().maxTimestamp());
      super.onEventTime(timer);
      total.manner.slowTimer();
    }
  }
}
