import { memoized, remembered } from '../../core/remembered.ts'
import { isJsonObject } from '../../traces/readers/json-values.ts'
import { otlpAttributes, otlpValue } from '../../traces/readers/otlp-values.ts'
import type { LogField } from '../features/field-variables.ts'
import { LEVELS, type Level } from '../features/log-set.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type Pair, parsedObject } from './logfmt.ts'

/** Context that tells streams of lines in one file apart. */
const STREAMS: ReadonlySet<string> = new Set(['service', 'pod', 'container', 'stream'])

type Slot = Role | 'given' | 'instance'
/** Several numbers, as nginx lists those of a request that was tried again; none is `-`. */
const NUMBERS = /^(?:-|\d+(?:\.\d+)?)(?:(?:, ?| : )(?:-|\d+(?:\.\d+)?))+$/
/** Roles that name a message, unless a field is given that does. */
const NAMING: ReadonlySet<Slot | undefined> = new Set(['event', 'message', 'line', 'name'])
const MAX_DEPTH = 6
const MAX_NESTED = 1 << 16

const rolesOf = remembered(({ time, name, value, instance }: ReadSettings) =>
  memoized((path: string) => {
    const found = roleOf(path)
    const isGiven = (given: string | null | undefined) =>
      given?.toLowerCase() === path.toLowerCase()
    const rankOf = (given: string | null | undefined) => Number(given !== path)
    let { role, rank }: { role: Slot | undefined; rank: number } = found
    if (isGiven(name)) [role, rank] = ['given', rankOf(name)]
    else if (isGiven(time)) [role, rank] = ['time', rankOf(time)]
    else if (isGiven(value)) [role, rank] = ['value', rankOf(value)]
    else if (role === 'time' && time !== null) role = 'context'
    else if (role === 'value' || (name !== null && NAMING.has(role))) role = undefined
    const isInstance =
      isGiven(instance) || found.key === instance || path === `resource.${instance}`
    return { role: role ?? ('field' as const), rank, key: found.key, isInstance }
  }),
)

export interface LogRecord {
  readonly line: number
  readonly timeUs: number
  /** `undefined` where the path is the instance. */
  readonly instance: string | undefined
  readonly origin: string
  readonly name: string
  /** Whether `name` is free text, of which a template is the name. */
  readonly isText: boolean
  /** Writer of the text, which precedes the template; `''` if unknown. */
  readonly component: string
  readonly value: number | undefined
  readonly level: Level | undefined
  readonly fields: readonly LogField[]
  /** Fields of the message that reported an exception. */
  readonly of?: readonly LogField[]
}

/** Content of one line, from all its layers; inner ones have priority, but for a time of day before a date. */
export class LogDraft {
  time: unknown
  /** Time of an outer layer, if that of the inner one cannot be read. */
  outerTime: unknown
  level: Level | undefined
  logger: string | undefined
  instance: string | undefined
  name: string | undefined
  isText = false
  value: unknown
  readonly fields: LogField[] = []
  said: string | undefined
  thrown: string | undefined
  thrownType: string | undefined
  thrownMessage: string | undefined
  /** Whether the part read last has no time of its own. */
  isTimeless = false
  isHalf = false
  inner: { readonly text: string; readonly stream: string } | undefined
  stream = ''
  isPartial = false
  /** Whether the last layer holds a carried line and no message of its own. */
  isCarried = false

  readonly #settings: ReadSettings
  readonly #roleOf: ReturnType<typeof rolesOf>
  readonly #slots = new Map<Slot, { rank: number; value: unknown; key: string }>()

  constructor(settings: ReadSettings) {
    this.#settings = settings
    this.#roleOf = rolesOf(settings)
  }

  object(object: object, prefix = '', depth = 0): void {
    for (const [key, value] of Object.entries(object)) {
      const path = prefix + key
      if (Array.isArray(value)) this.#list(path, value, depth)
      else if (!isJsonObject(value)) this.field(path, value)
      else if (typeof value['epochSecond'] === 'number') {
        this.field(path, value['epochSecond'] + Number(value['nanoOfSecond'] ?? 0) / 1e9)
      } else {
        const plain = otlpValue(value) ?? value
        if (!isJsonObject(plain)) this.field(path, plain)
        else if (depth < MAX_DEPTH) this.object(plain, `${path}.`, depth + 1)
      }
    }
  }

  /** Takes a list: OTLP's attributes, journald's bytes, structlog's exceptions; of other lists their sum and length. */
  #list(path: string, list: readonly unknown[], depth: number): void {
    const { role } = this.#roleOf(path)
    const attributes = [...otlpAttributes(list)]
    for (const [key, value] of attributes) {
      const isOfResource = path.startsWith('resource.') && key !== 'service.name'
      this.field(isOfResource ? `resource.${key}` : key, value)
    }
    if (role === 'message' && list.every((one) => typeof one === 'number')) {
      this.field(path, new TextDecoder().decode(Uint8Array.from(list)))
    } else if (role === 'thrown' && isJsonObject(list[0])) {
      this.object(list[0], `${path}.`, depth + 1)
    } else if (role === 'field' && attributes.length === 0) {
      if (list.every((one) => typeof one === 'number')) this.#numbers(path, list as number[])
      else this.#plain(`${path}.count`, list.length)
    }
  }

  /** Takes the times of something repeated, such as a retried request: their sum and their number. */
  #numbers(path: string, list: readonly number[]): void {
    if (list.length === 0) return
    this.#plain(path, Number(list.reduce((sum, one) => sum + one, 0).toPrecision(12)))
    this.#plain(`${path}.count`, list.length)
  }

  pairs(pairs: readonly Pair[]): void {
    for (const [key, value] of pairs) this.field(key, value)
  }

  field(path: string, value: unknown): void {
    if (value === null || value === undefined || value === '' || value === '-') return
    const { role, rank, key, isInstance } = this.#roleOf(path)
    if (isInstance) this.#take('instance', Number(path !== this.#settings.instance), value, key)
    if (role === 'field') {
      if (!isInstance) this.#plain(key, value)
    } else if (role === 'level' && levelOf(value, path) === undefined) this.#plain(key, value)
    else if (role === 'level') this.#take(role, rank, levelOf(value, path), key)
    else if (role === 'time' && Number(value) === 0 && /nano$/i.test(path)) return
    else if (role === 'thrown' && typeof value !== 'string') return
    else if (role !== 'context') this.#take(role, rank, value, key)
    else if (STREAMS.has(key)) this.stream += `${value}\n`
  }

  #take(slot: Slot, rank: number, value: unknown, key: string): void {
    const known = this.#slots.get(slot)
    if (known === undefined || rank < known.rank) this.#slots.set(slot, { rank, value, key })
  }

  #plain(key: string, value: unknown): void {
    const text = typeof value === 'string' ? value : ''
    const nested = text.startsWith('{') && text.length < MAX_NESTED ? parsedObject(text) : undefined
    if (nested !== undefined) this.object(nested, `${key}.`, 1)
    else if (NUMBERS.test(text)) {
      const numbers = text.split(/[,:]/).map((one) => one.trim())
      this.#numbers(key, numbers.filter((one) => one !== '-').map(Number))
    } else if (['string', 'number', 'boolean'].includes(typeof value)) {
      this.fields.push([key, value as LogField[1]])
    }
  }

  /** Completes a layer, whose content then counts. Returns the line within it that is to be read by itself. */
  endLayer(): string | undefined {
    const slots = this.#slots
    const text = (slot: Slot) => {
      const found = slots.get(slot)
      return found === undefined ? undefined : String(found.value)
    }
    const time = slots.get('time')?.value
    const isDate = typeof time === 'number' || HAS_DATE.test(String(time))
    if (time !== undefined && (this.time === undefined || isDate)) {
      this.outerTime = this.time
      this.time = time
    }
    this.level = (text('level') as Level | undefined) ?? this.level
    this.value = slots.get('value')?.value ?? this.value
    for (const slot of ['instance', 'thrown', 'thrownType', 'thrownMessage'] as const) {
      this[slot] = text(slot) ?? this[slot]
    }
    this.isPartial = text('partial') === 'P'
    this.isCarried = !slots.has('message')
    const line = text('message') ?? text('line')
    const named = text('given') ?? text('event') ?? (line === undefined ? text('name') : undefined)
    this.said = named === undefined ? undefined : line
    const said = line ?? (named === undefined ? requestOf(text('verb'), text('path')) : undefined)
    this.logger = text('logger') ?? (said === undefined ? undefined : text('name')) ?? this.logger
    if (named !== undefined || line !== undefined) {
      for (const slot of ['verb', 'path'] as const) {
        const { key, value } = slots.get(slot) ?? {}
        if (key !== undefined) this.#plain(key, value)
      }
    }
    if (named !== undefined || said !== undefined) {
      this.name = named ?? said
      this.isText =
        named === undefined ||
        (slots.has('given') && this.#settings.isText(this.#settings.name ?? ''))
    }
    slots.clear()
    return named === undefined ? line : undefined
  }

  /** Completes the message, and returns it by the first line of its text. */
  record(line: number, timeUs: number): LogRecord {
    if (this.value !== undefined && this.isText && this.#settings.value === 'value') {
      this.fields.push(['value', String(this.value)])
      this.value = undefined
    }
    const { instance, isText, name: text = '', level, logger = '', stream, fields, value } = this
    const component = classOf(logger)
    const end = isText ? text.indexOf('\n') : -1
    const name = end < 0 ? text : text.slice(0, end).trimEnd()
    const number =
      typeof value === 'string' && value.trim() !== '' ? Number(value) : (value ?? undefined)
    return {
      line,
      timeUs,
      instance,
      origin: stream + component,
      name,
      isText,
      component,
      value: number === undefined || typeof number === 'number' ? number : Number.NaN,
      level,
      fields: level === undefined ? fields : [...fields, ['level', level]],
    }
  }
}

/** A year, or seconds since 1970; behind a point digits are a fraction. */
const HAS_DATE = /^[^.,]*\d{4}|^\w+, \d|^\d{6} /

function requestOf(verb: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const route = path.replace(/ HTTP\/[\d.]+$/, '').replace(/[?#].*/s, '')
  return verb === undefined ? route : `${verb} ${route}`
}

/** `org.apache.hadoop.hdfs.DFSClient` is `DFSClient`; names that are not Java's stay whole. */
export function classOf(logger: string): string {
  const last = logger.slice(logger.lastIndexOf('.') + 1)
  return /^[A-Z]/.test(last) ? last : logger
}

export type Role = keyof typeof NAMES | 'context'

/**
 * Names of fields by role, in lower case and without the matches of `WRAPPERS`; the first of several in one record
 * counts. They come from Logstash, ECS, GELF, journald, Docker, Kubernetes, Loki, Fluent Bit, CloudWatch, GCP, Azure,
 * OpenTelemetry, MongoDB, and of pino, winston, bunyan, zap, zerolog, logrus, slog, structlog, logback, log4j2, Serilog
 * and .NET.
 */
const NAMES = {
  time: 'time timestamp ts @timestamp datetime @t t.$date instant timemillis asctime timeunixnano eventtime event_time time_iso8601 time_local timegenerated timegenerated_[utc] __realtime_timestamp _time written_at log_time logtime date observedtimeunixnano receivetimestamp requesttime start_time ingestiontime @ingestiontime',
  level:
    'level severity log.level @l lvl loglevel log_level levelname level_name severitytext severitynumber severitylevel priority l s levelno',
  logger:
    'logger logger_name loggername log.logger component category categoryname sourcecontext channel c class service.name syslog_identifier program app_name appname',
  event: 'messagetemplate @mt {originalformat} message_template event eventname event.name',
  message: 'msg message body renderedmessage @m short_message text',
  line: 'log @message textpayload line logmessage logentry log_message _raw event.original full_message content payload',
  name: 'name',
  partial: 'partial',
  verb: 'method http.request.method request_method request.method http.method verb requestmethod cs-method',
  path: 'path route url uri request_uri request.uri url.path request.url http.route http.target http.url requesturl request request_path cs-uri-stem',
  value: 'value',
  thrown:
    'stack_trace stacktrace stack exception exc_info exc_text error.stack_trace error.stack err.stack exception.stack exception.stacktrace thrown.extendedstacktrace thrown @x errorverbose error err exception_message',
  thrownType:
    'error.type error.kind err.type err.name error.name exception.type thrown.name exc_type exception.exc_type exception.class exception.classname exception_type',
  thrownMessage:
    'err.message error.message exception.message thrown.message exc_value exception.exc_value',
}

/** Fields on the place of a record: they name instances, but no subjects of messages. */
const CONTEXT: Readonly<Record<string, string>> = {
  pod: 'pod pod_name podname kubernetes.pod_name kubernetes.pod.name k8s.pod.name labels.pod resource.labels.pod_name service.instance.id service.node.name',
  container:
    'container container_name containername container_id containerid kubernetes.container_name kubernetes.container.name k8s.container.name container.name container.id labels.container resource.labels.container_name dyno',
  host: 'host hostname host.name _hostname nodename node_name computer kubernetes.host k8s.node.name beat.hostname host.hostname machinename machine_name computername serverhost syslog_hostname',
  namespace:
    'namespace namespace_name kubernetes.namespace_name k8s.namespace.name labels.namespace',
  service: 'service service_name app application labels.app labels.service',
  file: 'file filename log.file.path logstreamname logstream @logstream log_stream source_file path_file labels.filename',
  stream: 'stream logsource containerlogsource',
  pid: 'pid process_id processid process.pid _pid tid thread thread_name threadname threadid thread_id ctx process thread.name thread.id syslog_pid process.thread.name',
  caller:
    'caller line_number linenumber lineno line_no source.line code.lineno code.function code.filepath func function funcname method_name pathname module sourcelocation.line sourcelocation.file sourcelocation.function log.origin.file.line log.origin.file.name log.origin.function code_file code_line code_func',
}
const CONTEXT_PREFIX =
  /^(?:_|@|kubernetes\.|k8s\.|docker\.|labels\.|resource\.|resourcelabels\.|agent\.|ecs\.|input\.|beat\.|log\.|host\.|container\.|cloud\.|process\.|telemetry\.|syslog_|insertid$|logname$|v$|version$|seq$|flags$|endofbatch$|loggerfqcn$|level_value$|priority$|hash$|tag$|tags$|eventid$|logger$)/
/** Objects around a record, of which nothing is reported. */
const WRAPPERS =
  /^(?:jsonpayload|attributes|properties|fields|_source|result|attr|state|additional|contextmap|mdc|extra|customdimensions|log_processed|context|_(?=[a-z]+$))\.?/

/** Role, `undefined` for a mere field; order among several of one role; name as a variable or an instance. */
interface FieldRole {
  readonly role: Role | undefined
  readonly rank: number
  readonly key: string
}

const ROLES = new Map<string, FieldRole>()
for (const [role, names] of Object.entries(NAMES)) {
  for (const [i, key] of names.split(' ').entries())
    ROLES.set(key, { role: role as Role, rank: 2 * i, key })
}
for (const [key, names] of Object.entries(CONTEXT)) {
  for (const [i, name] of names.split(' ').entries()) {
    for (const path of [name, `resource.${name}`])
      if (!ROLES.has(path)) ROLES.set(path, { role: 'context', rank: 2 * i, key })
  }
}

export function roleOf(path: string): FieldRole {
  const lower = path.toLowerCase()
  const known = ROLES.get(lower)
  if (known !== undefined) {
    const key = known.role === 'context' ? known.key : path
    return { role: known.role, rank: known.rank + Number(path !== lower), key }
  }
  const wrapped = WRAPPERS.exec(lower)?.[0].length ?? 0
  if (wrapped > 0 && wrapped < path.length) return roleOf(path.slice(wrapped))
  return { role: CONTEXT_PREFIX.test(lower) ? 'context' : undefined, rank: 0, key: path }
}

const LEVEL_WORDS: Readonly<Record<Level, string>> = {
  trace: 'trace trce trc finest finer verbose vrb v',
  debug: 'debug dbug dbg fine config d d1 d2 d3 d4 d5 debug1 debug2 debug3 debug4 debug5 .',
  info: 'info information informational inf notice note log message system statement detail hint context i * - default',
  warn: 'warn warning wrn w # deprecated',
  error: 'error err severe fail failed failure e',
  fatal: 'fatal critical crit alert emerg emergency panic ftl f dpanic pnc a',
}
const LEVEL_OF = new Map(
  LEVELS.flatMap((level) => LEVEL_WORDS[level].split(' ').map((word) => [word, level] as const)),
)
const OF_SYSLOG = 'fatal fatal fatal error warn info info debug'.split(' ') as Level[]
const OF_AZURE: readonly Level[] = ['trace', 'info', 'warn', 'error', 'fatal']

/**
 * Returns the level that a text or a number stands for; `undefined` for none. Numbers are syslog's from 0 to 7 (in a
 * priority, the rest after the facility), else those of pino and Python, 10 to 60; by their names those of
 * OpenTelemetry, 1 to 24, and of Application Insights, 0 to 4.
 */
export function levelOf(value: unknown, field = ''): Level | undefined {
  const word = String(value).trim().toLowerCase()
  if (!/^\d+$/.test(word)) return LEVEL_OF.get(word) ?? LEVEL_OF.get(word.replace(/.*[ _]/, ''))
  const number = Number(word)
  const name = field.toLowerCase()
  if (name.endsWith('severitynumber')) return LEVELS[Math.floor((number - 1) / 4)]
  if (name.endsWith('severitylevel')) return OF_AZURE[number]
  if (name === 'priority') return OF_SYSLOG[number % 8]
  return number < 8 ? OF_SYSLOG[number] : LEVELS[Math.min(5, Math.round(number / 10) - 1)]
}
