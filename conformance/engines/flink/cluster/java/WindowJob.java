package tidegate.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Sources, counts of windows, a sink that commits; all that differs comes in a file of lines: numbers, settings, scripts. */
public final class WindowJob {
  private WindowJob() {}

  public static void main(String[] arguments) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(arguments[0]));
    String folder = arguments[1];
    int parallelism = Integer.parseInt(arguments[2]);
    String[] numbers = lines.get(0).split(" ");
    int maxParallelism = Integer.parseInt(numbers[0]);
    long width = Long.parseLong(numbers[1]);
    int padding = Integer.parseInt(numbers[2]);
    int pause = Integer.parseInt(numbers[3]);
    int slowMicros = Integer.parseInt(numbers[4]);
    boolean eager = numbers[5].equals("eager");
    Configuration settings = new Configuration();
    for (String setting : lines.get(1).split(",")) {
      String[] parts = setting.split("=", 2);
      settings.setString(parts[0], parts[1]);
    }
    List<List<String[]>> sources = new ArrayList<>();
    for (String line : lines.subList(2, lines.size())) {
      String[] parts = line.split("\\|", 2);
      while (sources.size() <= Integer.parseInt(parts[0])) {
        sources.add(new ArrayList<>());
      }
      sources.get(Integer.parseInt(parts[0])).add(parts[1].split(","));
    }
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings);
    environment.setParallelism(parallelism);
    environment.setMaxParallelism(maxParallelism);
    environment.getConfig().setAutoWatermarkInterval(0);
    environment.setBufferTimeout(1);
    TypeInformation<Item> type = TypeInformation.of(Item.class);
    DataStream<Item> all = null;
    for (int number = 0; number < sources.size(); number++) {
      ScriptSource source =
          new ScriptSource(folder, number, sources.get(number), parallelism, maxParallelism, padding, pause);
      DataStream<Item> one = environment.addSource(source, "source" + number, type).uid("source" + number);
      all = all == null ? one : all.union(one);
    }
    all.keyBy(item -> item.key, Types.STRING)
        .transform("count", type, new Count(folder, sources.size(), width, parallelism, maxParallelism, slowMicros))
        .uid("count")
        .keyBy(item -> item.key, Types.STRING)
        .transform("sink", type, new Commit(folder, eager))
        .uid("sink");
    environment.execute("windows");
  }
}
