//! A Tidegate engine in plain Rust (edition 2021): the valve and the hash partitioner, over protocol 1.
use std::{convert::TryFrom, io::stdin, io::BufRead, iter::from_fn, iter::Peekable, str::Chars};
const HELLO: &str = "'ok':{'protocol':1,'implementation':{'name':'example-rust','version':'1.0.0','language':'rust'},\
    'components':{'valve':{'semantics':['flink-7728','flink-40475']},'partitioner':{'kinds':['hash']}}}";
const OTHER_KINDS: [&str; 6] = ["forward", "rebalance", "rescale", "shuffle", "global", "broadcast"];
trait Component { fn step(&mut self, event: &Json) -> Option<Vec<String>>; } // observations; None: a bad event

struct Valve { corrected: bool, watermarks: Vec<i64>, active: Vec<bool>, last: i64 }
impl Component for Valve {
    fn step(&mut self, event: &Json) -> Option<Vec<String>> {
        let is_watermark = event.get("type").is_first("watermark", "status")?;
        let timestamp = if is_watermark { event.get("timestamp").int64()? } else { i64::MIN };
        let activates = !is_watermark && event.get("status").is_first("active", "idle")?;
        let channel = usize::try_from(event.get("channel").integer()?).unwrap_or(usize::MAX);
        if channel >= self.active.len() { return Some(vec!["{'type':'rejected'}".into()]); }
        let (own, was_active) = (self.watermarks[channel], self.active[channel]);
        if is_watermark && (!was_active || timestamp <= own) { return Some(vec![]); } // VALVE-2, VALVE-3
        if !is_watermark && activates == was_active { return Some(vec![]); } // VALVE-7
        let mut out: Vec<String> = vec![];
        if !self.active.contains(&true) { out.push("{'type':'status','status':'active'}".into()); } // VALVE-11
        (self.watermarks[channel], self.active[channel]) = (own.max(timestamp), is_watermark || activates);
        let is_idle = !self.active.contains(&true);
        // VALVE-5: an aligned channel is one that is active and not behind the output, so it needs no flag.
        let counts = |&c: &usize| is_idle || self.active[c] && self.watermarks[c] >= self.last;
        let counted = (0..self.active.len()).filter(counts).map(|c| self.watermarks[c]);
        let next = if is_idle { counted.max() } else { counted.min() }.unwrap_or(self.last);
        // Going idle: if it determined the output (VALVE-9, VALVE-10). Becoming active: no (VALVE-11). Corrected: yes.
        let moves = is_watermark || if activates { self.corrected } else { own == self.last || self.corrected && is_idle };
        if moves && next > self.last { self.last = next; out.push(format!("{{'type':'watermark','timestamp':'{next}'}}")); }
        if is_idle { out.push("{'type':'status','status':'idle'}".into()); }
        Some(out)
    }
}

struct Partitioner { channels: usize, max_parallelism: usize, active: bool }
impl Component for Partitioner {
    fn step(&mut self, event: &Json) -> Option<Vec<String>> {
        let (n, max, was_active) = (self.channels, self.max_parallelism, self.active); // the announced status
        let targets = match event.get("type").text()? {
            "record" => key_hash(event.get("key")).map(|hash| hash % max * n / max).map(|to| to..to + 1)?, // PART-6
            "watermark" => event.get("timestamp").int64().map(|_| 0..if was_active { n } else { 0 })?, // OUT-7
            "latency_marker" => 0..1, // OUT-12: any one channel
            "status" => { // OUT-9
                self.active = event.get("status").is_first("active", "idle")?;
                0..if self.active == was_active { 0 } else { n }
            }
            _ => return None,
        };
        Some(targets.map(|channel| format!("{{'type':'send','channel':{channel}}}")).collect())
    }
}
fn key_hash(key: &Json) -> Option<usize> {
    let add = |code: u32, unit: u16| code.wrapping_mul(31).wrapping_add(unit.into());
    let code = match key.get("type").text()? { // PART-8
        "string" => key.get("value").text()?.encode_utf16().fold(0, add),
        "int" => i32::try_from(key.get("value").integer()?).ok()? as u32,
        "long" => key.get("value").int64().map(|long| (long ^ long >> 32) as u32)?,
        _ => return None,
    };
    let word = code.wrapping_mul(0xcc9e2d51).rotate_left(15).wrapping_mul(0x1b873593); // PART-7
    let word = word.rotate_left(13).wrapping_mul(5).wrapping_add(0xe6546b64) ^ 4;
    let word = (word ^ word >> 16).wrapping_mul(0x85ebca6b);
    let word = (word ^ word >> 13).wrapping_mul(0xc2b2ae35);
    Some(((word ^ word >> 16) as i32).unsigned_abs() as usize & 0x7fffffff) // the mask makes 0 of |-2^31|
}

/// Just enough JSON. A list is ']' with nameless items, an object '}' with named ones; Other is what is not used here.
enum Json { Integer(i64), Text(String), Items(char, Vec<(String, Json)>), Other, Missing }
impl Json { // None means the wrong type, and becomes a bad_request
    fn get(&self, name: &str) -> &Json {
        let fields = if let Json::Items('}', fields) = self { &fields[..] } else { &[] };
        fields.iter().rfind(|field| field.0 == name).map_or(&Json::Missing, |field| &field.1)
    }
    fn list(&self) -> Option<&Vec<(String, Json)>> { if let Json::Items(']', items) = self { Some(items) } else { None } }
    fn text(&self) -> Option<&str> { if let Json::Text(text) = self { Some(text) } else { None } }
    fn integer(&self) -> Option<i64> { if let Json::Integer(number) = self { Some(*number) } else { None } }
    fn count(&self) -> Option<usize> { usize::try_from(self.integer()?).ok().filter(|n| (1..1 << 31).contains(n)) }
    fn int64(&self) -> Option<i64> { self.text()?.parse().ok().filter(|n: &i64| self.text() == Some(&n.to_string())) }
    fn is_first(&self, a: &str, b: &str) -> Option<bool> { [a, b].contains(&self.text()?).then(|| self.text() == Some(a)) }
}
fn skip(input: &mut Peekable<Chars>, wanted: char) -> bool {
    while input.next_if(|c| " \t\r".contains(*c)).is_some() {}
    input.next_if_eq(&wanted).is_some()
}
fn parse(input: &mut Peekable<Chars>, depth: u32) -> Option<Json> { // depth, because the stack has an end
    for (open, close) in [('[', ']'), ('{', '}')] {
        if depth == 0 || !skip(input, open) { continue; }
        let mut items = vec![];
        while !skip(input, close) {
            if !items.is_empty() && !skip(input, ',') || close == '}' && !skip(input, '"') { return None; }
            let name = if close == '}' { string(input).filter(|_| skip(input, ':'))? } else { String::new() };
            items.push((name, parse(input, depth - 1)?));
        }
        return Some(Json::Items(close, items));
    }
    if skip(input, '"') { return string(input).map(Json::Text); }
    let word: String = from_fn(|| input.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c))).collect();
    let digits = word.strip_prefix('-').unwrap_or(&word);
    let is_integer = digits == "0" || digits.starts_with(|c| c != '0') && digits.bytes().all(|b| b.is_ascii_digit());
    (!word.is_empty()).then(|| if is_integer { Json::Integer(word.parse().unwrap_or(i64::MAX)) } else { Json::Other })
}
fn string(input: &mut Peekable<Chars>) -> Option<String> {
    let mut units = vec![]; // UTF-16, because an escaped character beyond the BMP comes in two
    loop {
        match input.next()? {
            '"' => return String::from_utf16(&units).ok(),
            '\\' => units.push(match input.next()? {
                'u' => u16::from_str_radix(&input.take(4).collect::<String>(), 16).ok()?,
                code => b"\"\\/\x08\x0c\n\r\t"["\"\\/bfnrt".find(code)?].into(),
            }),
            c if c < ' ' => return None,
            c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }
}

fn replay(request: &Json) -> Option<String> {
    let config = request.get("config");
    let (n, semantics) = (config.get("channels").count()?, config.get("semantics"));
    let mut component: Box<dyn Component> = if request.get("component").text()? == "valve" {
        let corrected = !matches!(semantics, Json::Missing) && semantics.is_first("flink-40475", "flink-7728")?;
        Box::new(Valve { corrected, watermarks: vec![i64::MIN; n], active: vec![true; n], last: i64::MIN })
    } else {
        config.get("kind").is_first("hash", "hash")?;
        Box::new(Partitioner { channels: n, max_parallelism: config.get("max_parallelism").count()?, active: true })
    };
    let steps = request.get("events").list()?.iter().map(|e| Some(format!("[{}]", component.step(&e.1)?.join(","))));
    Some(format!("'ok':{{'steps':[{}]}}", steps.collect::<Option<Vec<_>>>()?.join(",")))
}

fn main() {
    let error = |kind| format!("'error':{{'kind':'{kind}','message':'not a request that this engine can answer'}}");
    for line in stdin().lock().split(b'\n').map_while(Result::ok) {
        let text = String::from_utf8(line).unwrap_or_default();
        let mut input = text.chars().peekable();
        let request = parse(&mut input, 64).filter(|_| input.all(char::is_whitespace)).unwrap_or(Json::Missing);
        let id = request.get("id").integer().map_or("null".into(), |id| id.to_string());
        let (name, kind) = (request.get("component").text(), request.get("config").get("kind").text().unwrap_or("hash"));
        let is_known = name == Some("valve") || name == Some("partitioner") && !OTHER_KINDS.contains(&kind);
        let reply = match request.get("op").text().filter(|_| id != "null") {
            Some("bye") => return,
            Some("hello") if request.get("protocol").list().into_iter().flatten().any(|v| v.1.integer() == Some(1)) => HELLO.into(),
            Some("replay") if name.is_some() && !is_known => error("unsupported"),
            Some("replay") => replay(&request).unwrap_or_else(|| error("bad_request")),
            _ => error("bad_request"),
        };
        println!("{}", format!("{{'id':{id},{reply}}}").replace('\'', "\"")); // everything was written with ' for "
    }
}
