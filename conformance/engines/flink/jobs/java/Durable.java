package tidegate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.@LEGACY@RichParallelSourceFunction;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** The parts of a program that may be killed: everything that must survive is Flink state, or a file. */
final class Durable {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** Files by which sources and the process that injects faults wait for each other; and the one that fails a source. */
  static final String REACHED = "reached-";
  static final String HARMED = "harmed-";
  static final String FAIL = "fail";

  private Durable() {}

  /** The pace of sources: the pause after each item, the items at which they report their progress, and how far
   * they go before they wait for an answer. */
  static final class Pace implements java.io.Serializable {
    private final String folder;
    private final long restMicros;
    private final int[] gates;
    private final int margin;
    private final int last;

    Pace(JsonNode request) {
      folder = request.get("folder").asText();
      restMicros = request.get("rest_micros").asLong();
      int longest = 0;
      for (JsonNode operator : request.get("config").get("operators")) {
        for (JsonNode script : operator.path("scripts")) {
          longest = Math.max(longest, script.size());
        }
      }
      JsonNode faults = request.get("faults");
      gates = new int[faults.size()];
      for (int at = 0; at < gates.length; at++) {
        gates[at] = longest * faults.get(at).get("after").asInt() / 100;
      }
      margin = Math.max(10, longest / 4);
      last = longest;
    }
  }

  /** Counts to the end of the script of its subtask, and continues after a restore; waits for faults. */
  static final class Clock extends RichParallelSourceFunction<Long> implements CheckpointedFunction {
    private final int[] lengths;
    private final Pace pace;
    private transient int length;
    private transient ListState<Long> state;
    private transient long tick;
    private transient boolean[] told;
    private transient boolean[] passed;
    private volatile boolean running = true;

    Clock(int[] lengths, Pace pace) {
      this.lengths = lengths;
      this.pace = pace;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
      state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("tick", Types.LONG));
      length = lengths[getRuntimeContext().@INDEX@];
      // A subtask that had ended has nothing in a checkpoint.
      tick = context.isRestored() ? length : 0;
      for (long one : state.get()) {
        tick = one;
      }
      told = new boolean[pace.gates.length];
      passed = new boolean[pace.gates.length];
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
      state.update(List.of(tick));
    }

    @Override
    public void run(SourceContext<Long> context) throws Exception {
      while (running && tick < length) {
        if (Files.deleteIfExists(Path.of(pace.folder, FAIL))) {
          throw new IllegalStateException("the job is to fail");
        }
        if (mayPass()) {
          synchronized (context.getCheckpointLock()) {
            context.collect(tick);
            tick++;
          }
          LockSupport.parkNanos(pace.restMicros * 1000L);
        } else {
          Thread.sleep(2);
        }
      }
    }

    private boolean mayPass() throws IOException {
      for (int at = 0; at < pace.gates.length; at++) {
        if (passed[at] || tick < pace.gates[at]) {
          continue;
        }
        if (!told[at]) {
          told[at] = touch(pace.folder, REACHED + at);
        }
        passed[at] = Files.exists(Path.of(pace.folder, HARMED + at));
        if (!passed[at] && tick >= Math.min(pace.gates[at] + pace.margin, pace.last)) {
          return false;
        }
      }
      return true;
    }

    @Override
    public void cancel() {
      running = false;
    }
  }

  static boolean touch(String folder, String name) throws IOException {
    Files.write(Path.of(folder, name), new byte[0]);
    return true;
  }

  /** Emits every total; totals are keyed state. */
  static final class Sum extends Operators.Told implements OneInputStreamOperator<Record, Record> {
    private final EventTime.Manner manner;
    private transient ValueState<Long> total;

    Sum(EventTime.Manner manner) {
      this.manner = manner;
    }

    @Override
    public void open() throws Exception {
      super.open();
      total = getRuntimeContext().getState(new ValueStateDescriptor<>("total", Types.LONG));
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      Record record = element.getValue();
      Long known = total.value();
      total.update((known == null ? 0 : known) + record.f3);
      output.collect(new StreamRecord<>(new Record(record.f2, total.value(), record.f4), element.getTimestamp()));
    }
  }

  /**
   * Commits what it receives as files. Elements before a checkpoint are committed when the checkpoint is complete, under
   * a name with its id: a repeated commit changes nothing. An eager one commits at once: at least once.
   */
  static final class Sink extends Operators.Told implements OneInputStreamOperator<Record, Record> {
    private final int id;
    private final EventTime.Manner manner;
    private transient ListState<String> state;
    private transient TreeMap<Long, List<String>> waiting;
    private transient List<String> open;

    Sink(int id, EventTime.Manner manner) {
      this.id = id;
      this.manner = manner;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("waiting", Types.STRING));
      waiting = new TreeMap<>();
      open = new ArrayList<>();
      // One element of the state is everything that a subtask had not committed: name, then lines.
      for (String saved : state.get()) {
        String[] parts = saved.split("\n", 2);
        write(parts[0], parts[1]);
      }
    }

    @Override
    public void processElement(StreamRecord<Record> element) throws Exception {
      Tap.received(tap, element, manner);
      Record record = element.getValue();
      String line = JSON.writeValueAsString(List.of(id, record.f2, record.f3)) + "\n";
      if (manner.eager) {
        StandardOpenOption[] append = {StandardOpenOption.CREATE, StandardOpenOption.APPEND};
        Files.writeString(committed().resolve("eager-" + name(0)), line, append);
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
      return id + "-" + getContainingTask().getEnvironment().getTaskInfo().getIndexOfThisSubtask() + "-" + checkpoint;
    }

    private Path committed() throws IOException {
      return Files.createDirectories(Path.of(manner.folder, "committed"));
    }

    private void write(String name, String lines) throws IOException {
      Path part = Path.of(manner.folder, UUID.randomUUID() + ".part");
      Files.writeString(part, lines);
      Files.move(part, committed().resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
