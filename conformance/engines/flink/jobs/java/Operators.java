package tidegate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.functions.source.@LEGACY@ParallelSourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** The parts of a program. */
final class Operators {
  /** By operator: the totals of its sums, or the results of its sinks. */
  static final Map<Integer, Map<String, Long>> TOTALS = new ConcurrentHashMap<>();
  static final Map<Integer, List<List<Object>>> COLLECTED = new ConcurrentHashMap<>();

  private Operators() {}

  static void forget() {
    TOTALS.clear();
    COLLECTED.clear();
    Programs.Sources.READ.clear();
  }

  /** Counts to the length of the longest script: the operator chained to it follows the script. */
  static final class Clock implements ParallelSourceFunction<Long> {
    private final int length;
    private volatile boolean running = true;

    Clock(int length) {
      this.length = length;
    }

    @Override
    public void run(SourceContext<Long> context) {
      for (long tick = 0; running && tick < length; tick++) {
        synchronized (context.getCheckpointLock()) {
          context.collect(tick);
        }
      }
    }

    @Override
    public void cancel() {
      running = false;
    }
  }

  /**
   * An operator of ours: it reports its snapshots and restores, and what it receives if it is the head of its
   * chain. Operators that extend Flink's have the same hooks.
   */
  abstract static class Told extends AbstractStreamOperator<Record> {
    transient Tap tap;

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
      tap = Tap.ofHead(this);
    }
  }

  /** Follows the script of its subtask: at each tick the next item, sent to the outputs of the chain. */
  static final class Script extends Told implements OneInputStreamOperator<Long, Record> {
    private final String[][][] scripts;
    private final int padding;
    private transient String[][] mine;

    Script(String[][][] scripts, int padding) {
      this.scripts = scripts;
      this.padding = padding;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
      mine = scripts[getContainingTask().getEnvironment().getTaskInfo().getIndexOfThisSubtask()];
    }

    @Override
    public void processElement(StreamRecord<Long> tick) {
      tap.count();
      int at = (int) (long) tick.getValue();
      if (at >= mine.length) {
        return;
      }
      String[] item = mine[at];
      switch (item[0]) {
        case "record":
          Record record = new Record(item[1], Long.parseLong(item[2]), new byte[padding]);
          output.collect(new StreamRecord<>(record, Long.parseLong(item[3])));
          break;
        case "watermark":
          output.emitWatermark(new Watermark(Long.parseLong(item[1])));
          break;
        case "status":
          output.emitWatermarkStatus(item[1].equals("idle") ? WatermarkStatus.IDLE : WatermarkStatus.ACTIVE);
          break;
        default:
          throw new IllegalArgumentException(item[0]);
      }
    }
  }

  /** Forwards what a source emits, and records it. */
  static final class Passing extends Told implements OneInputStreamOperator<Record, Record> {
    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
    }

    @Override
    public void processElement(StreamRecord<Record> element) {
      tap.count();
      output.collect(element);
    }
  }

  /** A user function on a record: its output has the time of the record. */
  static final class Work implements java.io.Serializable {
    private final int id;
    private final String function;

    Work(int id, String function) {
      this.id = id;
      this.function = function;
    }

    void apply(Record record, Consumer<Record> out) {
      switch (function) {
        case "map":
          out.accept(new Record(record.f2, 2 * record.f3, record.f4));
          break;
        case "flat_map":
          for (String word : record.f2.split(" ")) {
            if (!word.isEmpty()) {
              out.accept(new Record(word, 1, record.f4));
            }
          }
          break;
        case "filter":
          if (record.f3 > 0) {
            out.accept(new Record(record.f2, record.f3, record.f4));
          }
          break;
        case "sum":
          Map<String, Long> totals = TOTALS.computeIfAbsent(id, key -> new ConcurrentHashMap<>());
          out.accept(new Record(record.f2, totals.merge(record.f2, record.f3, Long::sum), record.f4));
          break;
        case "sink":
          List<List<Object>> collected = COLLECTED.computeIfAbsent(id, key -> new ArrayList<>());
          synchronized (collected) {
            collected.add(List.of(record.f2, record.f3));
          }
          break;
        default:
          out.accept(new Record(record.f2, record.f3, record.f4));
      }
    }
  }

  /** A user function; the head of a chain also reports what it receives. */
  static final class Plain extends Told
      implements OneInputStreamOperator<Record, Record>, TwoInputStreamOperator<Record, Record, Record> {
    private final Work work;
    private final EventTime.Manner manner;

    Plain(Work work, EventTime.Manner manner) {
      this.work = work;
      this.manner = manner;
    }

    @Override
    public void processElement(StreamRecord<Record> element) {
      receive(element);
    }

    @Override
    public void processElement1(StreamRecord<Record> element) {
      receive(element);
    }

    @Override
    public void processElement2(StreamRecord<Record> element) {
      receive(element);
    }

    private void receive(StreamRecord<Record> element) {
      Tap.received(tap, element, manner);
      work.apply(element.getValue(), made -> output.collect(new StreamRecord<>(made, element.getTimestamp())));
    }
  }
}
