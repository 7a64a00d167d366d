package tidegate;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.v2.MapState;
import org.apache.flink.api.common.state.v2.MapStateDescriptor;
import org.apache.flink.api.common.state.v2.ReducingStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.asyncprocessing.operators.AsyncKeyedProcessOperator;
import org.apache.flink.runtime.asyncprocessing.operators.co.AsyncKeyedCoProcessOperator;
import org.apache.flink.runtime.asyncprocessing.operators.windowing.AsyncWindowOperator;
import org.apache.flink.runtime.asyncprocessing.operators.windowing.functions.InternalSingleValueAsyncWindowFunction;
import org.apache.flink.runtime.asyncprocessing.operators.windowing.triggers.AsyncEventTimeTrigger;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.streaming.api.functions.windowing.PassThroughWindowFunction;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.Collector;

/** The operators behind the DataStream API with asynchronous state; those without keyed state stay the same. */
public final class AsyncState extends Classic {
  @Override
  public SingleOutputStreamOperator<Record> add(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner) {
    String name = "o" + operator.get("id").asInt();
    switch (operator.get("function").asText()) {
      case "timer":
        return first.transform(name, Record.TYPE, new Timers(manner));
      case "co_timer":
        return first.connect(second).transform(name, Record.TYPE, new CoTimers(manner));
      case "window":
        long size = operator.get("size").asLong();
        long lateness = operator.path("lateness").asLong();
        return first.transform(name, Record.TYPE, new Windows(size, lateness, manner));
      default:
        return super.add(operator, first, second, manner);
    }
  }

  // --- timers ------------------------------------------------------------------------------------------------------

  private static final MapStateDescriptor<Long, Long> SUMS = new MapStateDescriptor<>("sums", Types.LONG, Types.LONG);

  private static void add(MapState<Long, Long> sums, Record record, long timestamp, TimerService timers, EventTime.Manner manner) {
    long value = record.f3;
    timers.registerEventTimeTimer(timestamp);
    manner.alsoWait(timers);
    sums.asyncGet(timestamp).thenCompose(known -> sums.asyncPut(timestamp, (known == null ? 0 : known) + value));
  }

  private static void tell(MapState<Long, Long> sums, String key, long timestamp, Collector<Record> out) {
    sums.asyncGet(timestamp)
        .thenCompose(
            sum -> {
              out.collect(new Record(key, sum, new byte[0]));
              return sums.asyncRemove(timestamp);
            });
  }

  static final class Sums extends KeyedProcessFunction<String, Record, Record> {
    private final EventTime.Manner manner;
    private transient MapState<Long, Long> sums;

    Sums(EventTime.Manner manner) {
      this.manner = manner;
    }

    @Override
    public void open(OpenContext context) throws Exception {
      sums = getRuntimeContext().getMapState(SUMS);
    }

    @Override
    public void processElement(Record record, Context context, Collector<Record> out) {
      if (context.timestamp() <= context.timerService().currentWatermark()) {
        context.output(EventTime.LATE, record);
      } else {
        add(sums, record, context.timestamp(), context.timerService(), manner);
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Record> out) {
      if (context.timeDomain() == TimeDomain.EVENT_TIME) {
        tell(sums, context.getCurrentKey(), timestamp, out);
        manner.alsoWait(context.timerService());
      }
    }
  }

  static final class Timers extends AsyncKeyedProcessOperator<String, Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    Timers(EventTime.Manner manner) {
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
  }

  static final class CoSums extends KeyedCoProcessFunction<String, Record, Record, Record> {
    private final EventTime.Manner manner;
    private transient MapState<Long, Long> sums;

    CoSums(EventTime.Manner manner) {
      this.manner = manner;
    }

    @Override
    public void open(OpenContext context) throws Exception {
      sums = getRuntimeContext().getMapState(SUMS);
    }

    @Override
    public void processElement1(Record record, Context context, Collector<Record> out) {
      receive(record, context);
    }

    @Override
    public void processElement2(Record record, Context context, Collector<Record> out) {
      receive(record, context);
    }

    private void receive(Record record, Context context) {
      if (context.timestamp() <= context.timerService().currentWatermark()) {
        context.output(EventTime.LATE, record);
      } else {
        add(sums, record, context.timestamp(), context.timerService(), manner);
      }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Record> out) {
      if (context.timeDomain() == TimeDomain.EVENT_TIME) {
        tell(sums, context.getCurrentKey(), timestamp, out);
        manner.alsoWait(context.timerService());
      }
    }
  }

  static final class CoTimers extends AsyncKeyedCoProcessOperator<String, Record, Record, Record> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    CoTimers(EventTime.Manner manner) {
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
  }

  // --- windows -----------------------------------------------------------------------------------------------------

  static final class Windows extends AsyncWindowOperator<String, Record, Record, Record, TimeWindow> {
    private final EventTime.Manner manner;
    private transient Tap tap;

    Windows(long size, long lateness, EventTime.Manner manner) {
      super(
          TumblingEventTimeWindows.of(java.time.Duration.ofMillis(size)),
          new TimeWindow.Serializer(),
          EventTime.KEY,
          StringSerializer.INSTANCE,
          sum(),
          new InternalSingleValueAsyncWindowFunction<>(new PassThroughWindowFunction<>()),
          AsyncEventTimeTrigger.create(),
          lateness,
          EventTime.LATE);
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
  }
}
