package tidegate;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkAlignmentParams;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.InstantiationUtil;

/**
 * Sources with splits: the items of a script are dealt out to the splits of its subtask, and each split emits
 * its items through its own output.
 *
 * <p>The events of a subtask are in {@link Programs.Sources#READ}, in their order: a split is added or released, an item
 * is emitted, a generator emits by itself, all generators emit periodically.
 */
public final class Splits implements Programs.Sources {
  private static final String GROUP = "all";
  /** The thread of a subtask makes its reader and its generators, which find each other by that. */
  private static final ThreadLocal<Story> STORY = new ThreadLocal<>();

  @Override
  public DataStream<Record> read(StreamExecutionEnvironment environment, int id, String[][][] scripts, JsonNode request) {
    Manner manner = new Manner(request);
    if (manner.idleMillis > 0 || manner.driftMillis > 0) {
      // Without further periodic emits, nothing shows that the slowest split has ended.
      environment.getConfig().setAutoWatermarkInterval(1);
    }
    return environment
        .fromSource(new Scripted(id, scripts, request.get("padding").asInt(), manner), strategy(manner), "clock" + id, Record.TYPE)
        .uid("clock" + id)
        .setParallelism(scripts.length);
  }

  /** How many splits a script has, whether one follows the other, whether each has a part of the script, how many items
   * are fetched at once, and the pause after each; how far, in event time, a source may be ahead of others;
   * after what time a silent split is idle. */
  static final class Manner implements Serializable {
    final int splits;
    final boolean inTurn;
    final boolean inParts;
    final int fetched;
    final long restMicros;
    final long driftMillis;
    final long idleMillis;

    Manner(JsonNode request) {
      splits = request.get("splits").asInt();
      inTurn = request.path("splits_in_turn").asBoolean();
      inParts = request.path("splits_in_parts").asBoolean();
      fetched = request.path("items_fetched").asInt(1);
      restMicros = request.path("item_rest_micros").asLong();
      driftMillis = request.path("alignment_drift").asLong();
      idleMillis = request.path("idle_after").asLong();
    }

    /** The index of the next item of a split that has emitted so many; the length of the script if there is none. */
    int place(int number, int done, int length) {
      int at = inParts ? begin(number, length) + done : number + done * splits;
      int end = inParts ? begin(number + 1, length) : length;
      return at < end ? at : length;
    }

    /** Parts become longer. */
    private int begin(int number, int length) {
      return length * number * (number + 1) / (splits * (splits + 1));
    }
  }

  private static WatermarkStrategy<Record> strategy(Manner manner) {
    WatermarkStrategy<Record> silent = WatermarkStrategy.forGenerator(context -> new Silent());
    WatermarkStrategy<Record> made = manner.idleMillis > 0 ? silent.withIdleness(Duration.ofMillis(manner.idleMillis)) : silent;
    return new Heard(manner.driftMillis > 0
        ? made.withWatermarkAlignment(GROUP, Duration.ofMillis(manner.driftMillis), Duration.ofMillis(2))
        : made);
  }

  /** Watermarks are items of scripts. */
  static final class Silent implements WatermarkGenerator<Record> {
    @Override
    public void onEvent(Record event, long timestamp, WatermarkOutput output) {}

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  // --- events ------------------------------------------------------------------------------------------------------

  /** The events of a subtask, and its splits in the order in which their outputs are made. */
  static final class Story {
    final List<List<Object>> told = Collections.synchronizedList(new ArrayList<>());
    final List<Integer> splits = new ArrayList<>();
    int generators;

    void tell(Object... words) {
      told.add(Arrays.asList(words));
    }
  }

  /** Generators whose output is recorded. */
  static final class Heard implements WatermarkStrategy<Record> {
    private final WatermarkStrategy<Record> real;

    Heard(WatermarkStrategy<Record> real) {
      this.real = real;
    }

    @Override
    public WatermarkAlignmentParams getAlignmentParameters() {
      return real.getAlignmentParameters();
    }

    @Override
    public WatermarkGenerator<Record> createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
      Story story = STORY.get();
      return new Listener(story, story.generators++, real.createWatermarkGenerator(context));
    }
  }

  /** The generator of the main output is the first; the others belong to splits. */
  static final class Listener implements WatermarkGenerator<Record> {
    private final Story story;
    private final int number;
    private final WatermarkGenerator<Record> real;

    Listener(Story story, int number, WatermarkGenerator<Record> real) {
      this.story = story;
      this.number = number;
      this.real = real;
    }

    @Override
    public void onEvent(Record event, long timestamp, WatermarkOutput output) {
      real.onEvent(event, timestamp, new Words(output, "immediate"));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      if (number == 0) {
        story.tell("periodic"); // the splits came before
      }
      real.onPeriodicEmit(new Words(output, number == 0 ? "immediate" : "deferred"));
    }

    private final class Words implements WatermarkOutput {
      private final WatermarkOutput output;
      private final String mode;

      Words(WatermarkOutput output, String mode) {
        this.output = output;
        this.mode = mode;
      }

      private Integer split() {
        return number == 0 ? null : story.splits.get(number - 1);
      }

      @Override
      public void emitWatermark(Watermark watermark) {
        story.tell("watermark", split(), mode, watermark.getTimestamp());
        output.emitWatermark(watermark);
      }

      @Override
      public void markIdle() {
        story.tell("status", split(), mode, "idle");
        output.markIdle();
      }

      @Override
      public void markActive() {
        story.tell("status", split(), mode, "active");
        output.markActive();
      }
    }
  }

  // --- splits ------------------------------------------------------------------------------------------------------

  /** Every n-th item of the script of a subtask, or a part of it; `done` of them were emitted. */
  static final class Split implements SourceSplit, Serializable {
    final int subtask;
    final int number;
    int done;

    Split(int subtask, int number, int done) {
      this.subtask = subtask;
      this.number = number;
      this.done = done;
    }

    @Override
    public String splitId() {
      return subtask + "-" + number;
    }

    Split copy() {
      return new Split(subtask, number, done);
    }
  }

  static final class Serializer<T extends Serializable> implements SimpleVersionedSerializer<T> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(T value) throws IOException {
      return InstantiationUtil.serializeObject(value);
    }

    @Override
    public T deserialize(int version, byte[] bytes) throws IOException {
      try {
        return InstantiationUtil.deserializeObject(bytes, Splits.class.getClassLoader());
      } catch (ClassNotFoundException error) {
        throw new IOException(error);
      }
    }
  }

  static final class Scripted implements Source<Record, Split, ArrayList<Split>> {
    private final int id;
    private final String[][][] scripts;
    private final int padding;
    private final Manner manner;

    Scripted(int id, String[][][] scripts, int padding, Manner manner) {
      this.id = id;
      this.scripts = scripts;
      this.padding = padding;
      this.manner = manner;
    }

    @Override
    public Boundedness getBoundedness() {
      return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SplitEnumerator<Split, ArrayList<Split>> createEnumerator(SplitEnumeratorContext<Split> context) {
      ArrayList<Split> all = new ArrayList<>();
      for (int subtask = 0; subtask < scripts.length; subtask++) {
        for (int number = 0; number < manner.splits; number++) {
          all.add(new Split(subtask, number, 0));
        }
      }
      return new Enumerator(context, all, manner.inTurn);
    }

    @Override
    public SplitEnumerator<Split, ArrayList<Split>> restoreEnumerator(
        SplitEnumeratorContext<Split> context, ArrayList<Split> left) {
      return new Enumerator(context, left, manner.inTurn);
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
      return new Serializer<>();
    }

    @Override
    public SimpleVersionedSerializer<ArrayList<Split>> getEnumeratorCheckpointSerializer() {
      return new Serializer<>();
    }

    @Override
    public SourceReader<Record, Split> createReader(SourceReaderContext context) {
      return new Reader(id, scripts[context.getIndexOfSubtask()], padding, manner, context);
    }
  }

  /** Assigns each subtask its own splits, all of them at once, or the next one on request. */
  static final class Enumerator implements SplitEnumerator<Split, ArrayList<Split>> {
    private final SplitEnumeratorContext<Split> context;
    private final ArrayList<Split> left;
    private final boolean inTurn;

    Enumerator(SplitEnumeratorContext<Split> context, ArrayList<Split> left, boolean inTurn) {
      this.context = context;
      this.left = left;
      this.inTurn = inTurn;
    }

    @Override
    public void start() {}

    @Override
    public void handleSplitRequest(int subtask, String host) {
      boolean gave = false;
      for (int at = 0; at < left.size(); ) {
        if (left.get(at).subtask == subtask && !(gave && inTurn)) {
          context.assignSplit(left.remove(at), subtask);
          gave = true;
        } else {
          at++;
        }
      }
      if (left.stream().noneMatch(split -> split.subtask == subtask)) {
        context.signalNoMoreSplits(subtask);
      }
    }

    @Override
    public void addSplitsBack(List<Split> splits, int subtask) {
      left.addAll(splits);
    }

    @Override
    public void addReader(int subtask) {}

    @Override
    public ArrayList<Split> snapshotState(long checkpoint) {
      return new ArrayList<>(left);
    }

    @Override
    public void close() {}
  }

  /**
   * Emits items of its splits in turns, unless they are paused. Fetched items of a split are emitted even if the
   * split is paused meanwhile.
   */
  static final class Reader implements SourceReader<Record, Split> {
    private final String[][] script;
    private final int padding;
    private final Manner manner;
    private final SourceReaderContext context;
    private final Story story = new Story();
    private final Map<String, Split> splits = new LinkedHashMap<>();
    private final Set<String> paused = new HashSet<>();
    private CompletableFuture<Void> available = new CompletableFuture<>();
    private boolean noMore;
    private Split current;
    private int fetched;

    Reader(int id, String[][] script, int padding, Manner manner, SourceReaderContext context) {
      this.script = script;
      this.padding = padding;
      this.manner = manner;
      this.context = context;
      STORY.set(story);
      READ.put(id + "/" + context.getIndexOfSubtask(), story.told);
    }

    @Override
    public void start() {
      if (splits.isEmpty()) {
        context.sendSplitRequest();
      }
    }

    @Override
    public void addSplits(List<Split> added) {
      for (Split split : added) {
        splits.put(split.splitId(), split.copy());
        story.splits.add(split.number);
        story.tell("add", split.number);
      }
      available.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
      noMore = true;
      available.complete(null);
    }

    @Override
    public void pauseOrResumeSplits(Collection<String> toPause, Collection<String> toResume) {
      paused.addAll(toPause);
      paused.removeAll(toResume);
      available.complete(null);
    }

    private int next(Split split) {
      return manner.place(split.number, split.done, script.length);
    }

    /** The next split to read: null if there is none, or if all are paused. */
    private Split choose() {
      if (current != null && fetched > 0) {
        return current;
      }
      Split found = null;
      for (Split split : splits.values()) {
        if (!paused.contains(split.splitId()) && (found == null || split.done < found.done)) {
          found = split;
        }
      }
      fetched = manner.fetched;
      return found;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Record> output) {
      current = choose();
      if (current == null) {
        if (splits.isEmpty() && noMore) {
          return InputStatus.END_OF_INPUT;
        }
        available = new CompletableFuture<>();
        return InputStatus.NOTHING_AVAILABLE;
      }
      String name = current.splitId();
      int at = next(current);
      if (at == script.length) {
        story.tell("release", current.number);
        output.releaseOutputForSplit(name);
        splits.remove(name);
        paused.remove(name);
        current = null;
        if (splits.isEmpty() && !noMore) {
          context.sendSplitRequest();
        }
        return InputStatus.MORE_AVAILABLE;
      }
      current.done++;
      fetched--;
      story.tell("item", current.number, at);
      emit(script[at], output.createOutputForSplit(name));
      LockSupport.parkNanos(manner.restMicros * 1000L);
      return InputStatus.MORE_AVAILABLE;
    }

    private void emit(String[] item, SourceOutput<Record> output) {
      switch (item[0]) {
        case "record":
          output.collect(new Record(item[1], Long.parseLong(item[2]), new byte[padding]), Long.parseLong(item[3]));
          break;
        case "watermark":
          output.emitWatermark(new Watermark(Long.parseLong(item[1])));
          break;
        default:
          if (item[1].equals("idle")) {
            output.markIdle();
          } else {
            output.markActive();
          }
      }
    }

    @Override
    public List<Split> snapshotState(long checkpoint) {
      List<Split> saved = new ArrayList<>();
      splits.values().forEach(split -> saved.add(split.copy()));
      return saved;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return available;
    }

    @Override
    public void close() {}
  }
}
