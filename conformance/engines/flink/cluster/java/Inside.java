package tidegate.cluster;

import java.lang.reflect.Field;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/** The environment of a task, which a function is not shown. */
final class Inside {
  private Inside() {}

  static Environment environmentOf(StreamingRuntimeContext context) {
    try {
      Field field = StreamingRuntimeContext.class.getDeclaredField("taskEnvironment");
      field.setAccessible(true);
      return (Environment) field.get(context);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
