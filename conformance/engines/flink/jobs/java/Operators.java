package tidegate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.streaming.api.functions.source.@LEGACY@ParallelSourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** What a program is made of. */
final class Operators {
  /** By operator: what its sums know, or what its sinks have collected. */
  static final Map<Integer, Map<String, Long>> TOTALS = new ConcurrentHashMap<>();
  static final Map<Integer, List<List<Object>>> COLLECTED = new ConcurrentHashMap<>();

  private Operators() {}

  static void forget() {
    TOTALS.clear();
    COLLECTED.clear();
  }

  /** Counts to the length of the longest script: the operator behind it, chained, does what the script says. */
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

  /** Follows the script of its subtask: at each tick the next item, handed to the outputs of the chain. */
  static final class Script extends AbstractStreamOperator<Record> implements OneInputStreamOperator<Long, Record> {
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
      Tap.on(getContainingTask());
      mine = scripts[getContainingTask().getEnvironment().getTaskInfo().getIndexOfThisSubtask()];
    }

    @Override
    public void processElement(StreamRecord<Long> tick) {
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

  /** A user's function; the head of a chain also tells what it receives. */
  static class Function extends AbstractStreamOperator<Record>
      implements OneInputStreamOperator<Record, Record>, TwoInputStreamOperator<Record, Record, Record> {
    private final int id;
    private final String name;
    private final long slowMicros;
    private transient Tap tap;
    private transient boolean isHead;

    Function(int id, String name, long slowMicros) {
      this.id = id;
      this.name = name;
      this.slowMicros = slowMicros;
    }

    @Override
    public void open() throws Exception {
      super.open();
      tap = Tap.on(getContainingTask());
      isHead = getOperatorConfig().isChainStart();
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
      Record record = element.getValue();
      if (isHead) {
        tap.received(record, element.getTimestamp());
        if (slowMicros > 0) {
          LockSupport.parkNanos(slowMicros * 1000L);
        }
      }
      apply(record, element.getTimestamp());
    }

    private void apply(Record record, long timestamp) {
      switch (name) {
        case "map":
          put(record.f2, 2 * record.f3, record, timestamp);
          break;
        case "flat_map":
          for (String word : record.f2.split(" ")) {
            if (!word.isEmpty()) {
              put(word, 1, record, timestamp);
            }
          }
          break;
        case "filter":
          if (record.f3 > 0) {
            put(record.f2, record.f3, record, timestamp);
          }
          break;
        case "sum":
          Map<String, Long> totals = TOTALS.computeIfAbsent(id, key -> new ConcurrentHashMap<>());
          put(record.f2, totals.merge(record.f2, record.f3, Long::sum), record, timestamp);
          break;
        case "sink":
          List<List<Object>> collected = COLLECTED.computeIfAbsent(id, key -> new ArrayList<>());
          synchronized (collected) {
            collected.add(List.of(record.f2, record.f3));
          }
          break;
        default:
          put(record.f2, record.f3, record, timestamp);
      }
    }

    private void put(String key, long value, Record of, long timestamp) {
      output.collect(new StreamRecord<>(new Record(key, value, of.f4), timestamp));
    }
  }
}
