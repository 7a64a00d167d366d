import java.io.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/** A Tidegate engine in plain Java (JDK 17): the valve and the hash partitioner, over protocol 1. */
public class Engine {
    static final String HELLO = "{'protocol':1,'implementation':{'name':'example-java','version':'1.0.0','language':"
        + "'java'},'components':{'valve':{'semantics':['flink-7728','flink-40475']},'partitioner':{'kinds':['hash']}}}";
    interface Component { List<String> step(Map<?, ?> event); } // observations, with ' for " until main replaces it

    static class Valve implements Component {
        final long[] watermarks;
        final BitSet active = new BitSet();
        final boolean corrected;
        long last = Long.MIN_VALUE; // the last watermark emitted
        Valve(Map<?, ?> config) {
            watermarks = LongStream.generate(() -> last).limit(count(config.get("channels"))).toArray();
            active.set(0, watermarks.length);
            corrected = config.containsKey("semantics") && isFirst(config.get("semantics"), "flink-40475", "flink-7728");
        }
        public List<String> step(Map<?, ?> event) {
            boolean isWatermark = isFirst(event.get("type"), "watermark", "status");
            boolean activates = !isWatermark && isFirst(event.get("status"), "active", "idle");
            long timestamp = isWatermark ? int64(event.get("timestamp")) : Long.MIN_VALUE;
            int channel = (int) Math.max(-1, Math.min((Long) event.get("channel"), watermarks.length));
            if (channel < 0 || channel == watermarks.length) return List.of("{'type':'rejected'}");
            long own = watermarks[channel];
            if (isWatermark && (!active.get(channel) || timestamp <= own)) return List.of(); // VALVE-2, VALVE-3
            if (!isWatermark && activates == active.get(channel)) return List.of(); // VALVE-7
            List<String> out = new ArrayList<>(active.isEmpty() ? List.of("{'type':'status','status':'active'}") : List.of());
            watermarks[channel] = Math.max(own, timestamp);
            active.set(channel, isWatermark || activates);
            // VALVE-5: an aligned channel is one that is active and not behind the output, so it needs no flag.
            LongStream aligned = active.stream().mapToLong(each -> watermarks[each]).filter(each -> each >= last);
            long next = (active.isEmpty() ? Arrays.stream(watermarks).max() : aligned.min()).orElse(last);
            // Going idle: if it determined the output (VALVE-9, VALVE-10). Becoming active: no (VALVE-11). Corrected: yes.
            boolean moves = isWatermark || (activates ? corrected : own == last || corrected && active.isEmpty());
            if (moves && next > last) out.add("{'type':'watermark','timestamp':'" + (last = next) + "'}");
            if (active.isEmpty()) out.add("{'type':'status','status':'idle'}");
            return out;
        }
    }

    static class Partitioner implements Component {
        enum Kind { hash, forward, rebalance, rescale, shuffle, global, broadcast }
        final long channels, maxParallelism;
        boolean active = true; // the announced status, OUT-9
        Partitioner(Map<?, ?> config) {
            if (Kind.valueOf("" + config.get("kind")) != Kind.hash) throw new UnsupportedOperationException("hash only");
            channels = count(config.get("channels"));
            maxParallelism = count(config.get("max_parallelism"));
        }
        public List<String> step(Map<?, ?> event) {
            boolean before = active;
            if ("status".equals(event.get("type"))) active = isFirst(event.get("status"), "active", "idle");
            if ("watermark".equals(event.get("type"))) int64(event.get("timestamp")); // for its check
            LongStream targets = switch ((String) event.get("type")) {
                case "record" -> LongStream.of(channelOf((Map<?, ?>) event.get("key"))); // idle or not, OUT-10
                case "latency_marker" -> LongStream.of(0); // OUT-12: any one channel
                case "watermark" -> LongStream.range(0, active ? channels : 0); // OUT-7
                case "status" -> LongStream.range(0, active == before ? 0 : channels); // OUT-9
                default -> throw new IllegalArgumentException("type");
            };
            return targets.mapToObj(channel -> "{'type':'send','channel':" + channel + "}").toList();
        }
        long channelOf(Map<?, ?> key) {
            int code = switch ((String) key.get("type")) { // PART-8: these are Java's own hash codes
                case "string" -> ((String) key.get("value")).hashCode();
                case "int" -> Math.toIntExact((Long) key.get("value"));
                case "long" -> Long.hashCode(int64(key.get("value")));
                default -> throw new IllegalArgumentException("the type of a key");
            };
            code = Integer.rotateLeft(Integer.rotateLeft(code * 0xcc9e2d51, 15) * 0x1b873593, 13); // PART-7
            code = code * 5 + 0xe6546b64 ^ 4;
            code = (code ^ code >>> 16) * 0x85ebca6b;
            code = (code ^ code >>> 13) * 0xc2b2ae35;
            code = Math.abs(code ^ code >>> 16) & Integer.MAX_VALUE; // the mask makes 0 of |-2^31|
            return code % maxParallelism * channels / maxParallelism; // PART-6
        }
    }

    // Reading: a null, a failed cast and a failed check all throw, and main turns that into a bad_request.
    static void require(boolean condition, String what) { if (!condition) throw new IllegalArgumentException(what); }
    static boolean isFirst(Object value, String first, String second) {
        require(first.equals(value) || second.equals(value), first + " or " + second + " expected");
        return first.equals(value);
    }
    static int count(Object value) { require((Long) value > 0, "a count expected"); return Math.toIntExact((Long) value); }
    static long int64(Object value) { // parseLong by itself would take "+5"
        require(((String) value).matches("0|-?[1-9]\\d{0,18}"), "a decimal string expected");
        return Long.parseLong((String) value);
    }
    // Just enough JSON: Map, List, String, Long for an integer, and Optional for what is not used here.
    static final Pattern ESCAPE = Pattern.compile("\\\\(?:u\\p{XDigit}{4}|[\"\\\\/bfnrt])"), TOKEN = Pattern.compile(
        "\"[^\"\\\\\\x00-\\x1f]*+(?:" + ESCAPE + "[^\"\\\\\\x00-\\x1f]*+)*+\"|[\\w.+-]+|\\S");
    static Object parse(Deque<String> tokens) {
        String token = tokens.pop();
        boolean isMap = token.equals("{");
        if (isMap || token.equals("[")) {
            Map<Object, Object> items = new LinkedHashMap<>(); // those of a list by position
            while (!tokens.peek().equals(isMap ? "}" : "]")) {
                require(items.isEmpty() || tokens.pop().equals(","), "JSON expected");
                Object key = isMap ? parse(tokens) : Integer.valueOf(items.size());
                require(!isMap || key instanceof String && tokens.pop().equals(":"), "JSON expected");
                items.put(key, parse(tokens));
            }
            return tokens.pop().equals("}") ? items : List.copyOf(items.values());
        }
        if (token.matches("-?(0|[1-9]\\d*)")) return token.length() < 19 ? Long.parseLong(token) : Long.MAX_VALUE;
        if (!token.endsWith("\"") || token.length() < 2) return Optional.of(token);
        return ESCAPE.matcher(token.substring(1, token.length() - 1)).replaceAll(Engine::unescape);
    }
    static String unescape(MatchResult found) { // quoted, because replaceAll interprets \ and $
        String code = found.group(), plain = code.startsWith("\\u") ? "" : code.replace("\\/", "/").translateEscapes();
        return Matcher.quoteReplacement(plain.isEmpty() ? "" + (char) Integer.parseInt(code, 2, 6, 16) : plain);
    }

    static String replay(Map<?, ?> request) {
        Component component = switch ((String) request.get("component")) {
            case "valve" -> new Valve((Map<?, ?>) request.get("config"));
            case "partitioner" -> new Partitioner((Map<?, ?>) request.get("config"));
            default -> throw new UnsupportedOperationException("valve and partitioner are the only components here");
        };
        Stream<?> events = ((List<?>) request.get("events")).stream();
        return "{'steps':" + events.map(event -> component.step((Map<?, ?>) event)).toList() + "}"; // prints like JSON
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(), id = null, reply; line != null; line = in.readLine(), id = null) {
            try {
                Deque<String> tokens = new ArrayDeque<>(TOKEN.matcher(line).results().map(MatchResult::group).toList());
                Map<?, ?> request = (Map<?, ?>) parse(tokens);
                require(tokens.isEmpty(), "one object to a line expected");
                id = Long.toString((Long) request.get("id"));
                if ("bye".equals(request.get("op"))) return;
                boolean isHello = isFirst(request.get("op"), "hello", "replay");
                require(!isHello || ((List<?>) request.get("protocol")).contains(1L), "protocol 1 expected");
                reply = "'ok':" + (isHello ? HELLO : replay(request));
            } catch (Throwable error) { // even a stack overflow: the next request must get its answer
                String kind = error instanceof UnsupportedOperationException ? "unsupported" : "bad_request";
                String message = String.valueOf(error.getMessage()).replaceAll("[^\\w ]", "?"); // no escapes needed
                reply = "'error':{'kind':'" + kind + "','message':'" + message + "'}";
            }
            System.out.println(("{'id':" + id + "," + reply + "}").replace('\'', '"'));
        }
    }
}
