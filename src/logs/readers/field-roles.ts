import { LEVELS, type Level } from '../features/log-set.ts'

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
