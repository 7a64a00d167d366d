package tidegate.cluster;

/** What travels: a record of a source, or the count of a window. `edge` and `producer` say where it comes from. */
public class Item {
  public int edge;
  public int producer;
  public long id;
  public String key;
  public long time;
  public long value;
  public byte[] padding = new byte[0];

  public Item() {}

  public Item(int edge, int producer, long id, String key, long time, long value, byte[] padding) {
    this.edge = edge;
    this.producer = producer;
    this.id = id;
    this.key = key;
    this.time = time;
    this.value = value;
    this.padding = padding;
  }
}
