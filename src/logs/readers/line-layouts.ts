import { memoized } from '../../core/remembered.ts'
import { datePattern, KNOWN_TIMES } from './log-clock.ts'
import type { Pair } from './logfmt.ts'

export interface LineLayout {
  readonly groups: readonly string[]
  readonly read: (text: string) => readonly (string | undefined)[] | null
  readonly isEnvelope: boolean
  /** Whether other layouts come first, although this one is common: it would take their lines. */
  readonly isLast: boolean
  /** Patterns of the lines before the last of a message of several lines, in order. */
  readonly heads: readonly RegExp[]
}

/**
 * Layouts of text, the more special before the more general: a name, two blanks, and a pattern to the end of the line.
 * The pattern is a regular expression in which `{name}` stands for a part of that name and `{name=expression}` for one
 * of its own; a blank is any white space. Groups without a name are not kept.
 *
 * `time`, `level`, `logger`, `thrown` and `message` have their usual meaning; `text` is a message that fields may
 * follow, as `key=value` or JSON; `line` is a line within the line, read by itself. `head` precedes a message and holds
 * the time; `rest` follows all known parts: `readHead` and `readRest` read them. In a layout of several lines, those in
 * `(?:…)?` with their line end may be missing. `pod`, `container`, `host`, `program` and other names of `CONTEXT` say
 * where it was written. All other names are fields.
 */
const LAYOUTS: readonly (readonly [name: string, pattern: string])[] = String.raw`
# What carries lines of others.
kubectl logs --prefix  \[pod/{pod=[^/\]]+}/{container=[^\]]+}\]\x20?{line}
CRI  {time} {stream=stdout|stderr} {partial=[FP]}\x20?{line}
syslog (RFC 5424)  <{priority=\d+}>1 {time} {host} {program} {pid} {id} (?:-|(?:\[(?:[^\]"]|"(?:\\.|[^"\\])*")*\])+)(?:\x20\uFEFF?{line})?
syslog (RFC 3164)  (?:<{priority=\d+}>)?{time=[A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?} {host=(?!%LEVEL%\b)[\w.:-]+} {program=[\w./@()-]+}(?:\[{pid=\d+}\])?:(?: {line})?
syslog with ISO times  (?:<{priority=\d+}>)?{time=\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)|\d{10}\.\d{6}} {host=(?!%LEVEL%\b)[\w.:-]+} (?:{program=[\w./@()-]+}\[{pid=\d+}\]|{program=kernel|sudo|su}):(?: {line})?
Heroku  {time} {program=app|heroku}\[{container=[\w.-]+}\]: {line}
logcli  {time} \{{labels=(?:\w+="[^"]*"(?:, )?)*}\}\x20{line}
Fluent Bit  \[\d+\] {tag=[^:]+}: \[\[?{time}(?:, \{[^}]*\})?\]?, {line=\{.*\}}\]
Fluentd  {time} {tag=[\w.*-]+}\t{line=\{.*\}}
Docker Compose  {container=[\w.-]+} +\|\x20?{line}
stern  (?:[+-] )?{pod=[a-z0-9]+(?:-[a-z0-9]+)*-(?:[a-z0-9]{5}|\d+)} (?:› )?{container=[a-z0-9]+(?:-[a-z0-9]+)*}\x20{line}
Thunderbird  {alert=-|[A-Z_]+} {time=\d{9,10}} \d{4}\.\d\d\.\d\d {host} [A-Z][a-z]{2} \d+ [\d:]+ \S+ (?:{program=[\w./@()-]+}(?:\[{pid=\d+}\])?: )?{line}
# Web servers.
Django and Werkzeug  (?:{client=[\d.a-f:]+} - - )?\[{time}\] "{verb=[A-Z]+} {path} {protocol=HTTP/[\d.]+}" {status=\d{3}} (?:{bytes=\d+}|-)
uWSGI  \[pid: {pid=\d+}\|.*?\] {client=[\d.a-f:]+} .*?\[{time}\] {verb=[A-Z]+} {path} => generated {bytes=\d+} bytes in {duration_ms=\d+} msecs \(HTTP/[\d.]+ {status=\d+}\).*
access log  (?:{vhost=[\w.-]+:\d+} )?{client} {ident} {user=[^\[]*?} \[{time}\] "(?:{verb=[A-Z]+} {path}(?: {protocol=[^"]*})?|{request=[^"]*})" {status=\d{3}} (?:{bytes=\d+}|-)(?: "{referer=[^"]*}" "{agent=(?:[^"\\]|\\.)*}")?(?: {request_length=\d+} {request_time=[\d.]+} \[{upstream}\] \[[^\]]*\] {upstream_addr} (?:{upstream_bytes=\d+}|-) (?:{upstream_time=[\d.]+}|-) (?:{upstream_status=\d+}|-)| {request_time=\d+\.\d+}(?!\S)| {duration=\d+}(?!\S))?(?: {rest})?
nginx errors  {time} \[{level}\] {pid=\d+}#{tid=\d+}:(?: \*{connection=\d+})? {message=.*?}(?:, client: {client=[^,]+})?(?:, server: {server=[^,]*})?(?:, request: "(?:{verb=[A-Z]+} {path}|{request=[^"]*})[^"]*")?(?:, upstream: "{upstream=[^"]*}")?(?:, host: "{vhost=[^"]*}")?(?:, referrer: "[^"]*")?
Apache errors  \[{time=[A-Z][a-z]{2} [A-Z][a-z]{2} \d+ [\d:.]+ \d{4}}\] \[(?:{logger=[\w-]*}:)?{level}\](?: \[pid {pid=\d+}(?::tid {tid=\d+})?\])?(?: \[client {client=[^\]]+}\])? {message}
Envoy access log  \[{time}\] "{verb=[A-Z]+} {path} {protocol}" {status=\d+} {flags} (?:{via=\S+} (?:"{details=[^"]*}"|{details=\S+}) "{failure=[^"]*}" )?{bytes_received=\d+} {bytes=\d+} {duration_ms=\d+} {upstream_ms=\d+|-} "{forwarded_for=[^"]*}" "{agent=[^"]*}" "{request_id=[^"]*}" "{authority=[^"]*}" "{upstream=[^"]*}"(?: {rest})?
AWS load balancer  (?:https?|h2|grpcs?|wss?) {time} {balancer=app/\S+|net/\S+|[\w-]+} {client} {target} {request_time=-?[\d.]+} {target_time=-?[\d.]+} {response_time=-?[\d.]+} {status=\d+} {target_status=\d+|-} {bytes_received=\d+} {bytes=\d+} "{verb=[A-Z]+} {path} [^"]*"(?: "{agent=[^"]*}")?(?: {rest})?
HAProxy  {client=[\d.a-f:]+:\d+} \[{time}\] {frontend} {backend=[^\s/]+}/{server} (?:{request_ms=-?\d+}/{queue_ms=-?\d+}/{connect_ms=-?\d+}/{response_ms=-?\d+}/{duration_ms=\+?\d+}) {status=\d+} {bytes=\+?\d+} \S+ \S+ {termination} [\d/+]+ [\d/]+(?: \{{captured=[^{}]*}\})*? "(?:{verb=[A-Z]+} {path}|{request=[^"]*})[^"]*"(?: {rest})?
HAProxy, TCP  {client=[\d.a-f:]+:\d+} \[{time}\] {message={frontend=\S+} {backend=[^\s/]+}/{server=\S+}} {queue_ms=-?\d+}/{connect_ms=-?\d+}/{duration_ms=\+?\d+} {bytes=\+?\d+} {termination} [\d/+]+ [\d/]+
Squid  {time=\d{9,10}\.\d{3}} +{duration_ms=\d+} {client} {result=[A-Z_]+}/{status=\d+} {bytes=\d+} {verb=[A-Z]+} {path}(?: {rest})?
Gin  \[GIN\] {time} \| +{status=\d+} \| +{duration=[\d.a-zµ]+} \| +{client} \| +{verb=[A-Z]+} +"{path=[^"]*}"(?: {rest})?
morgan, short and tiny  (?:{client} {user} )?{verb=GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS} {path}(?: {protocol=HTTP/[\d.]+})? {status=\d{3}}(?: {bytes=\d+|-} -)? {duration_ms=[\d.]+} ms(?: - {bytes=\d+|-})?
# Services and libraries.
klog  {level=[IWEFD]}{time=(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+} +{pid=\d+} {caller=[\w./-]+:\d+}\] {text}
CockroachDB  {level=[IWEF]}{time=\d{6} \d\d:\d\d:\d\d\.\d+} {pid=\d+} (?:\d+@)?{caller=[\w./-]+:\d+} (?:⋮ |.\x20)?(?:\[{tags=[^\]]*}\] )?(?:\d+ )?{message}
Redis  \[?{pid=\d+}\]?(?::{role=[XCSM]})? {time=\d\d [A-Z][a-z]{2} (?:\d{4} )?\d\d:\d\d:\d\d\.\d+} {level=[.*#-]} {message}
BlueGene/L  {alert=-|[A-Z_]+} {time=\d{9,10}} \d{4}\.\d\d\.\d\d {host} \S+ \S+ {kind=[A-Z]+} {logger=[A-Z_]+} {level=INFO|WARNING|ERROR|SEVERE|FATAL|FAILURE} {message}
AWS Lambda, report  {message=REPORT} RequestId: {request_id}\tDuration: {duration_ms=[\d.]+} ms\t(?:Billed Duration: {billed_ms=\d+} ms\t)?Memory Size: \d+ MB(?:\tMax Memory Used: {memory_mb=\d+} MB)?.*
NATS  \[{pid=\d+}\] {time} \[{level}\] {message}
ClickHouse  {time} \[ {tid=\d+} \] \{{query_id=[\w-]*}\} <{level=\w+}> {logger=[^:]+}: {message}
Ceph  {time} {tid=[\da-f]{12,}} +-?\d+ {message}
Mosquitto  {time=\d{10}}: {message}
NestJS  \[Nest\] {pid=\d+} +- {time} +{level=LOG|ERROR|WARN|DEBUG|VERBOSE|FATAL} (?:\[{logger}\] )?{message=.*?}(?: \+\d+ms)?
Ray  (?:\([^)]+\) )?\[{time} {level=[DIWEFC]} {pid=\d+} {tid=\d+}\] (?:\([^)]+\) )?{caller=[\w./-]+:\d+}: {message}
TensorFlow  {time}: {level=[IWEF]} {caller=[\w./-]+:\d+}\] {message}
Jetty  {time}:{LEVEL}:{logger=[\w.$-]+}:{thread=[^:]*}: {message}
Solr  {time} {LEVEL} +\({thread=[^)]*}\) \[[^\]]*\] {logger=[\w.$]+} (?:\[[^\]]*\] )?{text}
Trino  {time}\t{LEVEL}\t{thread=[^\t]+}\t{logger=[\w.$]+}\t{message}
Swift  {time} {level=[a-z]+} {logger=[\w.-]+} : {text}
SQL Server  {time} {process=spid\d+s?|Server|Logon|Backup} +{message}
MongoDB, text  {time} {level=[FEWID]\d?} {logger=[A-Z]+|-} +\[{thread}\] {message}
PostgreSQL  {head=.*?}{level=DEBUG[1-5]|INFO|NOTICE|WARNING|ERROR|LOG|FATAL|PANIC}:\x20\x20(?:duration: {duration_ms=[\d.]+} ms(?:  ?(?:statement|execute|parse|bind)[^:]*: )?)?{message}
PostgreSQL, what a message is about  {head=.*?}{message=(?:STATEMENT|DETAIL|HINT|CONTEXT|QUERY|LOCATION):\x20\x20.*}
MySQL slow log  (?:# Time: {time}\n)?(?:# User@Host: {user=[^\[]*}.*\n)?(?:# Schema: .*\n)?# Query_time: {query_time_s=[\d.]+} +Lock_time: {lock_time_s=[\d.]+} +Rows_sent: {rows_sent=\d+} +Rows_examined: {rows_examined=\d+}.*\n(?:use {database=[^;]+};\n)?SET timestamp={time=[\d.]+};\n{message}
MySQL  {time} {thread=\d+} \[{level=System|Note|Warning|ERROR|Error}\](?: \[{code=MY-\d+}\] \[{logger}\])? {message}
Elasticsearch, slow log  \[{time}\]\[{level}\s*\]\[{logger=[\w.$-]+}\s*\] ?(?:\[{node=[^\]]+}\] ?)?\[{index=[^\]/]+}(?:/[^\]]+)?\](?:\[{shard=\d+}\])? {rest=took\[.*}
Elasticsearch  \[{time}\]\[{level}\s*\]\[{logger=[\w.$-]+}\s*\] ?(?:\[{node=[^\]]+}\] ?)?{message}
Kafka  \[{time}\] {level} {message} \({logger=[\w.$-]+}\)
ZooKeeper  {time} (?:\[myid:[^\]]*\] )?- {level} +\[{thread=.*}:{logger=[\w$.]+}@{line_number=\d+}\] - {message}
Cassandra  {level} +\[{thread}\] {time} {logger=[\w$]+}\.java:{line_number=\d+} - {message}
RabbitMQ  {time} \[{level}\] <{process=[\d.]+}> {message}
Envoy  \[{time}\]\[{tid=\d+}\]\[{level}\]\[{logger=\w+}\] (?:\[{caller=[^\]]+}\] )?{message}
Java garbage collector  \[{time=\d+\.\d+(?=s\])|\d{4}-[^\]]+}s?\](?:\[{uptime=[\d.]+s}\])?\[{level}\s*\]\[{logger=[\w,+-]+}\s*\] {message}
Celery  \[{time}: {level}/{process=[^\]]+}\] (?:{logger=[\w.]+}: )?{message}
loguru  {time} \| {level}\s*\| {logger=[\w.<>]+}:{function=[\w.<>]+}:{line_number=\d+} - {text}
OpenStack  (?:\S+\.log\S* )?{time} {pid=\d+} {level} {logger=[\w.]+} \[{request=[^\]]*}\] {message}
Android  {time} +{pid=\d+} +{tid=\d+} {level=[VDIWEFA]} {logger=.*?}\s*: {message}
Ruby Logger  [DIWEFUA], \[{time} #{pid=\d+}\] +{level=[A-Z]+} -- {logger=[^:]*}: {text}
Monolog  \[{time}\] {logger=[\w.-]+}\.{level}: {text=.*?}(?: \[\])*
Rails, start of a request  Started {verb=[A-Z]+} "{path=[^"]*}" for {client} at {time}
Rails, end of a request  {message=Completed {status=\d+}[^(]*?} in {duration=[\d.]+ms}(?: \(.*\))?
PHP  \[{time}\] (?:PHP )?{level=Notice|Warning|Deprecated|Parse error|Fatal error|NOTICE|WARNING|ERROR|DEBUG|ALERT}: +{message}
Rust env_logger  \[{time} {level} +{logger=[\w:]+}\] {text}
zap and Istio  {time}\t{level}(?:\t{logger=[\w.-]+})?(?:\t{caller=[\w./-]+\.go:\d+})?\t{text}
zerolog console  {time=\d{1,2}:\d\d[AP]M|\S+} {level=TRC|DBG|INF|WRN|ERR|FTL|PNC} (?:{caller=[\w./-]+:\d+} > )?{text}
logrus console  {level}\[{time=\d{4}-[^\]]+}\] {text}
Serilog  \[{time} {level}\] {message}
log4js and Play  \[?{time}\]? \[{level}\] {logger=[\w.-]+} - {text}
.NET console  (?:{time} )?{level=trce|dbug|info|warn|fail|crit}: {logger=[\w.+\x60]+}\[{id=\d+}\]\n {message}
java.util.logging  {time=[A-Z][a-z]{2} \d+, \d{4},? \d+:\d\d:\d\d\s[AP]M} {logger=[\w.$]+} {method=[\w$<>]+}\n{level=[A-Z]+}: {message}
# log4j and its many relatives: time, level, thread and class in some order.
log4j  \[?{time}\]?,? (?:\d+ )?(?:\[{thread}\] )?\[?{LEVEL}\]? (?:\[[\w.-]*,{trace_id=[\da-f]*},{span_id=[\da-f]*}(?:,\w*)?\] )?(?:{pid=\d+} --- )?(?:\[{thread}\] ?)*{logger}(?: +\([^)]*\)| +\[{rest=[^\]]*}\])?(?:\s*:| -)(?:\x20(?:{message=\w+=.*}|{text}))?
log4j since its start  {uptime_ms=\d+} \[{thread}\] {LEVEL} +{logger}(?: {rest=\w*})? - {text}
Python logging  {time} - {logger=[\w.$-]+} - (?:{caller=[\w.]+:\d+} - )?{LEVEL} - {text}
structlog console  {time} \[{level} *\] {text}
winston  {time} (?:\[{logger=[\w\x20.-]+}\] )?\[?{level}\]?: {text}
Python basicConfig  {LEVEL}:{logger=[\w.]+}:{message}
Uvicorn  {LEVEL}:\x20\x20+(?:{client=[\d.a-f:]+} - "{verb=[A-Z]+} {path} HTTP/[\d.]+" {status=\d+}.*|{message})
in any order  {head}{text}
spdlog  \[{time}\] (?:\[{thread=0x[\da-f]+|\d+}\] |\[{logger=[\w.$-]+}\] )\[{level}\] {text}
brackets  \[{time}\] ?\[ *{level} *\](?: ?\[{logger=[\w.$-]+}\])?:? {text}
level first  \[?{LEVEL}\]?:? +\[?{time}\]?(?: \[{thread}\])? (?:{logger=[\w.$]+\.[\w$]+|[A-Z]\w+}(?: -|:) )?{message}
audit  type={logger=\w+} msg=audit\({time=[\d.]+}:{id=\d+}\): ?{text}
Go  {time=\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?} {caller=[\w./-]+\.go:\d+}: {line}
RFC 1123 first  {time=[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]+ \w+} (?:{logger=[\w:.-]+} )?{message}
text  (?:\[ *(?=%UPTIME%)|[[(])?{time}[\])]?(?!\w)[\s,;:|-]*{line}
`
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('# '))
  .map((line) => {
    const end = line.indexOf('  ')
    return [line.slice(0, end), line.slice(end + 2)]
  })

const WORDS =
  'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|FINE|FINER|FINEST|CONFIG|VERBOSE|PANIC|ALERT|EMERG'
const ABBREVIATIONS = 'VRB|TRC|DBG|INF|WRN|ERR|FTL|CRIT|EMERGENCY|Information|information'
const ANY_LEVEL = [
  WORDS,
  WORDS.toLowerCase(),
  WORDS.replace(/\B\w+/g, (rest) => rest.toLowerCase()),
]
  .concat(ABBREVIATIONS, ABBREVIATIONS.toLowerCase())
  .join('|')
const EPOCH = '\\d{9,19}(?:\\.\\d+)?(?=[\\s\\]),])'
/** Seconds since a start, as dmesg writes them: `[   12.345678]`. */
const UPTIME = '\\d{1,8}\\.\\d{6}(?=\\])'
/** A time must not end where a fraction or a zone goes on: neither may be lost. */
const TIME_ENDS = '(?!\\w|[.,]\\d|[+-]\\d\\d:?\\d\\d)'

const PARTS: Readonly<Record<string, string>> = {
  level: `(?:${ANY_LEVEL})`,
  LEVEL: `(?:${WORDS})`,
  logger: '[\\w.$/@-]+',
  thread: '[^\\]]*',
  message: '.*',
  text: '.*',
  line: '.*',
  rest: '.+',
}
/** A part, or a quantifier, which is none. */
const PART = /\{(\w*[A-Za-z]\w*)(?:=((?:\\.|[^{}\\]|\{[^}]*\})*))?\}/g

/** Layouts in which times are written as `dateFormat` says, `'auto'` in any known way. */
export const lineLayouts = memoized((dateFormat: string): readonly LineLayout[] => {
  const time = timeSource(dateFormat)
  const endOfTime = timeFinder(dateFormat)
  return LAYOUTS.map(([name, pattern]) => {
    const groups: string[] = []
    const expression = new RegExp(`^(?:${compiled(pattern, time, groups)})$`)
    const lines = pattern.replace(/\(\?:((?:[^()]|\([^()]*\))*\\n)\)\?/g, '$1').split('\\n')
    return {
      groups,
      read:
        readerWithHead(pattern, endOfTime) ??
        readerAroundTime(pattern, endOfTime) ??
        ((text) => expression.exec(text)?.slice(1) ?? null),
      isEnvelope: groups.includes('line'),
      isLast: name === 'text' || pattern.startsWith('{head}'),
      heads: lines.slice(0, -1).map((line) => new RegExp(`^(?:${compiled(line, time, [])})$`)),
    }
  })
})

/** Returns a function for the end of a time at a place of a line, or −1, which remembers the last one. */
export function timeFinder(dateFormat: string): TimeFinder {
  const expression = new RegExp(`${timeSource(dateFormat)}${TIME_ENDS}`, 'y')
  let known = { text: '', at: 0, end: -1 }
  return (text, at) => {
    if (text === known.text && at === known.at) return known.end
    const found = matchAt(expression, text, at)
    known = { text, at, end: found === null ? -1 : at + found[0].length }
    return known.end
  }
}

/** Reads the head of a message, whose parts may have any order: all of it, or up to the first unknown part. */
function readerWithHead(pattern: string, endOfTime: TimeFinder): LineLayout['read'] | undefined {
  const [, own, rest = ''] = /^\{head(?:=([^}]*))?\}(.*)$/.exec(pattern) ?? []
  if (own === undefined) {
    if (!pattern.startsWith('{head}')) return undefined
    return (text) => {
      const head = readHead(text, endOfTime)
      return head && [text.slice(0, head.end), text.slice(head.end)]
    }
  }
  const expression = new RegExp(`^(${own})${compiled(rest, '', [])}$`)
  return (text) => {
    const found = expression.exec(text)
    const head = found?.[1]
    const isHead = head !== undefined && readHead(head, endOfTime, head.length) !== null
    return isHead ? (found?.slice(1) ?? null) : null
  }
}

/** Reads what stands before and behind a time apart, as an expression of all ways to write times is long. */
function readerAroundTime(pattern: string, endOfTime: TimeFinder): LineLayout['read'] | undefined {
  const [before = '', ...behind] = pattern.split('{time}')
  const rest = behind.join('{time}')
  const isPart = before.split(/(?<!\\)\(/).length !== before.split(/(?<!\\)\)/).length
  if (behind.length === 0 || isPart || /^[?*+]/.test(rest)) return undefined
  const head = new RegExp(compiled(before, '', []), 'y')
  const tail = new RegExp(`(?:${compiled(rest, '', [])})$`, 'y')
  return (text) => {
    const first = matchAt(head, text, 0)
    if (first === null) return null
    const from = first[0].length
    const to = endOfTime(text, from)
    const last = to < 0 ? null : matchAt(tail, text, to)
    return last && [...first.slice(1), text.slice(from, to), ...last.slice(1)]
  }
}

function timeSource(dateFormat: string): string {
  const dates = dateFormat === 'auto' ? KNOWN_TIMES : `(?:${datePattern(dateFormat).source})`
  return `(?:${dates}|${EPOCH}|${UPTIME})`
}

function compiled(pattern: string, time: string, groups: string[]): string {
  const blanks = pattern.replace(/ [*?]/g, '[\\x20\\t]*').replace(/ \+?/g, '[\\x20\\t]+')
  return withParts(blanks, time, groups)
    .replaceAll('%LEVEL%', `(?:${WORDS})`)
    .replaceAll('%UPTIME%', UPTIME)
}

function withParts(pattern: string, time: string, groups: string[]): string {
  return pattern.replace(PART, (_, name: string, own: string | undefined) => {
    groups.push(name === 'LEVEL' ? 'level' : name)
    if (own !== undefined) return `(${withParts(own, time, groups)})`
    return name === 'time' ? `(${time})${TIME_ENDS}` : `(${PARTS[name] ?? '\\S+'})`
  })
}

export type TimeFinder = (text: string, at: number) => number

const PAIR_KEY = '[A-Za-z_][\\w.@/-]*'
/** A value; of a list, as nginx writes it for a request that was tried again, all of it. */
const VALUE =
  '"(?:[^"\\\\]|\\\\.)*"|[^\\s",;\\])}]*(?:(?:, ?| : )[^\\s=",;\\])}]+(?=[\\s,;\\])}-]|$))*'
/** Pairs as `took=5` or, in Elasticsearch's slow logs, `took[5], id[]`. */
const PAIR = new RegExp(`(${PAIR_KEY})(?:=(${VALUE})|\\[(.*?)\\](?=,(?:\\s|$)|$))`, 'y')

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function pairAt(text: string, at: number): { readonly said: Pair; readonly end: number } | null {
  const [whole, key = '', plain, boxed = ''] = matchAt(PAIR, text, at) ?? []
  const value = plain ?? boxed
  return whole === undefined
    ? null
    : { said: [key, value.replace(/^"(.*)"$/s, '$1')], end: at + whole.length }
}

/** Returns the value of a key that a text has: `req=77`, `req: 77` or `"req":"77"`. */
export function pairIn(text: string, key: string): string | undefined {
  const at = text.indexOf(key)
  if (at < 0 || (at > 0 && /[\w.]/.test(text[at - 1] as string))) return undefined
  const sign = /^"?(?:=|: ?)/.exec(text.slice(at + key.length))?.[0]
  if (sign === undefined) return undefined
  const value = /^"((?:[^"\\]|\\.)*)"|^[^\s",;\])}]+/.exec(
    text.slice(at + key.length + sign.length),
  )
  return value?.[1] ?? value?.[0]
}

const TOKEN = /"((?:[^"\\]|\\.)*)"|\[([^\]]*)\]|[^\s"[\]]+/y
/** A word that may be one of few: what has other signs in it is in a form that is not known. */
const PLAIN = /^[\w.:@/%+-]*$/

/** Reads the rest of a line: pairs by their keys, the others as `rest 1`; not `isWhole` if something is neither. */
export function readRest(text: string): { readonly said: readonly Pair[]; isWhole: boolean } {
  const said: Pair[] = []
  let isWhole = true
  let place = 0
  for (let at = 0; at < text.length; ) {
    if (/[\s,;]/.test(text[at] as string)) {
      at++
      continue
    }
    const pair = pairAt(text, at)
    const token = pair === null ? matchAt(TOKEN, text, at) : null
    at = pair?.end ?? at + (token?.[0].length ?? 1)
    if (pair !== null) said.push(pair.said)
    else {
      place++
      const [whole = '', quoted, boxed] = token ?? []
      if (quoted === undefined && !PLAIN.test(boxed ?? whole)) isWhole = false
      else said.push([`rest ${place}`, quoted ?? boxed ?? whole])
    }
  }
  return { said, isWhole }
}

const LEVEL = new RegExp(`(?:${WORDS})(?![\\w.=/@])`, 'y')
const BOX = /\[([^\]]*)\]|\(([^)]*)\)|\{([^}]*)\}|<([^>]*)>/y
const WORD = /[^\s|[\]{}<>="]+/y
const SEPARATORS = /(?:[\s|:,;>\])}-]|<(?=\s))*/y
/** Names of classes and of callers, as in Java and its relatives: `a.b.App`, `App.java:12`, `App:12`. */
const QUALIFIED = /^[A-Za-z_$][\w$]*(?:[.:]{1,2}[\w$*]+)+$|^[A-Z][\w$]*$/
const CALL = /^([\w$.]+)\.[\w$<>]+\([\w$]+\.\w+:\d+\)$/
const CALLER = /^(?:.*\.\w+|[A-Z][\w$]*):\d+$/
const NAME = /^[\w$-]+$/
/** Numbers and hexadecimal ids name processes and sessions. */
const IS_ID = /^[\da-f.:/-]*\d[\da-f.:/-]*$/i
const MAX_WORDS = 3

/**
 * Reads what stands before a message in any order, as logback and PostgreSQL lay it out: time, level, pairs, and the
 * thread, process, class and place that wrote it. `null` without a time or, but before `end`, a level.
 */
export function readHead(text: string, endOfTime: TimeFinder, end?: number) {
  const said: Pair[] = []
  const known = new Set<string>()
  const say = (name: string, value: string) => {
    known.add(name)
    said.push([name, value])
    return true
  }
  const take = (part: string): boolean => {
    const isTime = () => part !== '' && endOfTime(part, 0) === part.length
    if (!known.has('time') && isTime()) return say('time', part)
    if (!known.has('level') && matchAt(LEVEL, part, 0)?.[0] === part) return say('level', part)
    if (pairAt(part, 0) !== null) return said.push(...readRest(part).said) > 0
    if (CALLER.test(part)) return say('caller', part)
    if (/^[\w.-]+\(\d+\)$/.test(part)) return say('client', part)
    const [, user, database = ''] = /^([\w.-]+)@([\w.-]+)(?:\(\d+\))?$/.exec(part) ?? []
    if (user !== undefined) return say('user', user) && say('database', database)
    if (IS_ID.test(part) || part === '') return say('pid', part)
    const isLogger = part.includes('.') && QUALIFIED.test(part)
    return isLogger && !known.has('logger') && say('logger', part)
  }
  let [at, words, boxes] = [0, 0, 0]
  const stop = end ?? text.length
  while (at < stop) {
    const start = at + (matchAt(SEPARATORS, text, at)?.[0].length ?? 0)
    if (start >= stop) break
    const endOfOwn = known.has('time') ? -1 : endOfTime(text, start)
    const pair = pairAt(text, start)
    const [box = '', ...boxed] = matchAt(BOX, text, start) ?? []
    // A box may begin with the time, and have more in it.
    const endInBox = box === '' || known.has('time') ? -1 : endOfTime(text, start + 1)
    const word = wordIn(matchAt(WORD, text, start)?.[0] ?? '')
    if (endOfOwn > 0) {
      say('time', text.slice(start, endOfOwn))
      at = endOfOwn
    } else if (pair !== null && (!known.has('level') || text[start - 1] === '-')) {
      said.push(pair.said)
      at = pair.end
    } else if (endInBox > 0 && endInBox < start + box.length - 1) at = start + 1
    else if (box !== '') {
      const content = boxed.find((one) => one !== undefined) ?? ''
      const isClass = !known.has('logger') && content.includes('.') && QUALIFIED.test(content)
      const isOwn = isClass || pairAt(content, 0) !== null || (boxes === 0 && NAME.test(content))
      if (known.has('level') && !isOwn) break
      if (!take(content)) {
        said.push(['thread', content])
        boxes++
      }
      at = start + box.length
    } else if (word === '') break
    else if (known.has('level')) {
      // After the level, a class and a caller still belong to the head, not to the message.
      const logger = CALL.exec(word)?.[1]
      const isCell = NAME.test(word) && /^\s*\|/.test(text.slice(start + word.length))
      const isOwn = logger !== undefined || isNamed(text, start, word)
      if (!isCell && (known.has('logger') || !isOwn)) break
      if (isCell) said.push(['thread', word])
      else if (logger !== undefined) said.push(['logger', logger])
      else if (!take(word)) said.push(['logger', word])
      if (!isCell) known.add('logger')
      at = start + word.length
    } else {
      if (!take(word)) said.push([`head ${++words}`, word])
      if (words > MAX_WORDS) return null
      at = start + word.length
    }
  }
  if (!known.has('time') || (end === undefined && !known.has('level'))) return null
  return { said, end: at + (text.slice(at).match(/^[\s|:>-]*/)?.[0].length ?? 0) }
}

function wordIn(text: string): string {
  const word = text.replace(/[:,;-]+$/, '')
  const isWhole = [CALL, CALLER, QUALIFIED, IS_ID].some((form) => form.test(word))
  return isWhole ? word : (word.split(':', 1)[0] ?? '')
}

/** Whether a word behind the level is a class: it is qualified, and a sign stands between it and the message. */
function isNamed(text: string, start: number, word: string): boolean {
  const behind = text.slice(start + word.length)
  return (
    (QUALIFIED.test(word) || CALLER.test(word)) && (word.includes('.') || /^\s*[|:-]/.test(behind))
  )
}
