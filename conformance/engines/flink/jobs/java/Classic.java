package tidegate;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;

/** The operators behind the DataStream API. */
class Classic implements Kit {
  @Override
  public OneInputStreamOperator<Long, Record> script(String[][][] scripts, int padding) {
    return new Operators.Script(scripts, padding);
  }

  @Override
  public SingleOutputStreamOperator<Record> add(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner) {
    int id = operator.get("id").asInt();
    String name = "o" + id;
    switch (operator.get("function").asText()) {
      case "timer":
        return first.transform(name, Record.TYPE, new EventTime.Timers(manner));
      case "co_timer":
        return first.connect(second).transform(name, Record.TYPE, new EventTime.CoTimers(manner));
      case "window":
        long size = operator.get("size").asLong();
        long lateness = operator.path("lateness").asLong();
        return first.transform(name, Record.TYPE, new EventTime.Windows(size, lateness, manner));
      case "sum":
        return manner.folder == null
            ? plain(operator, first, second, manner)
            : first.transform(name, Record.TYPE, new Durable.Sum(manner));
      case "sink":
        return manner.folder == null
            ? plain(operator, first, second, manner)
            : first.transform(name, Record.TYPE, new Durable.Sink(id, manner));
      default:
        return plain(operator, first, second, manner);
    }
  }

  private static SingleOutputStreamOperator<Record> plain(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner) {
    int id = operator.get("id").asInt();
    Operators.Plain does = new Operators.Plain(new Operators.Work(id, operator.get("function").asText()), manner);
    return second == null
        ? first.transform("o" + id, Record.TYPE, does)
        : first.connect(second).transform("o" + id, Record.TYPE, does);
  }

  @Override
  public Tap.Signs signs() {
    return new Tap.Signs();
  }
}
