package tidegate;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;

/** Which of Flink's operators do the work of a program. */
interface Kit {
  /** Follows the scripts of a source: at each tick the next item, and at the one behind the last its end. */
  OneInputStreamOperator<Long, Record> script(String[][][] scripts, int padding);

  /** An operator that reads a stream, or two: `second` is null where it has one input. */
  SingleOutputStreamOperator<Record> add(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner);

  /** How the tap is to read watermarks and statuses. */
  Tap.Signs signs();
}
