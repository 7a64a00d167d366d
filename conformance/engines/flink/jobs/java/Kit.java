package tidegate;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;

/** Selects Flink's operators for a program. */
interface Kit {
  /** Follows the scripts of a source: at each tick the next item, and after the last one its end. */
  OneInputStreamOperator<Long, Record> script(String[][][] scripts, int padding);

  /** An operator that reads one or two streams: `second` is null if it has one input. */
  SingleOutputStreamOperator<Record> add(
      JsonNode operator, DataStream<Record> first, DataStream<Record> second, EventTime.Manner manner);

  /** How the tap reads watermarks and statuses. */
  Tap.Signs signs();
}
