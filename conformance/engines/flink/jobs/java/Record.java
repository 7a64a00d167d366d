package tidegate;

import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;

/** Id, producing subtask, key, value, padding. The first two come first in the bytes, where the tap writes them. */
public class Record extends Tuple5<Long, Integer, String, Long, byte[]> {
  static final TypeInformation<Record> TYPE =
      new TupleTypeInfo<>(
          Record.class,
          Types.LONG,
          Types.INT,
          Types.STRING,
          Types.LONG,
          PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);

  public Record() {}

  Record(String key, long value, byte[] padding) {
    super(-1L, -1, key, value, padding);
  }
}
