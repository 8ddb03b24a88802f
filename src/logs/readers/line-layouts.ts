import { datePattern, KNOWN_TIMES } from './date-pattern.ts'
import type { ReadSettings } from './log-read-options.ts'

/** What the first line of a message says. */
export interface LineParts {
  readonly time: string
  readonly name: string
  readonly isText: boolean
  readonly component: string
  readonly instance?: string | undefined
  readonly value?: string | undefined
  readonly numbers?: readonly (readonly [key: string, value: number])[]
}

/** How the lines of a file are made; `undefined` for a line on which no message begins. */
export type LineLayout = (line: string) => LineParts | undefined

const LEVEL = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL'
const EPOCH = '\\d{9,19}(?:\\.\\d+)?(?=\\s)'
/** Seconds since the kernel started, as dmesg writes them: `[   12.345678]`. */
const UPTIME = '\\d{1,8}\\.\\d{6}(?=\\])'
/** A time must not end where a fraction or a zone goes on: neither may be lost. */
const TIME_ENDS = '(?!\\w|[.,]\\d|[+-]\\d\\d:?\\d\\d)'
const ACCESS = datePattern('dd/MMM/yyyy:HH:mm:ss Z').source
const OWN_GROUPS = new Set(['time', 'name', 'message', 'component', 'value', 'instance'])

/**
 * log4j's `%d %p [%t] %c: %m` and its usual relatives: thread before level (logback), a process id
 * (Spring Boot), no thread, ` - ` before the message. The component is the class without its package.
 */
export function log4jLayout({ dateFormat }: Pick<ReadSettings, 'dateFormat'>): LineLayout {
  const pattern = new RegExp(
    `^\\[?(${timeSource(dateFormat)})${TIME_ENDS}\\]?\\s+(?:\\d+\\s+)?(?:\\[[^\\]]*\\]\\s+)?\\[?(?:${LEVEL})\\]?\\s+` +
      '(?:\\d+\\s+---\\s+)?(?:\\[[^\\]]*\\]\\s+)*([\\w.$/@-]+)(?:\\s*:|\\s+-)(?:\\s(.*))?$',
  )
  return (line) => {
    const found = pattern.exec(line)
    if (found === null) return undefined
    const [, time = '', logger = '', name = ''] = found
    return { time, name, isText: true, component: classOf(logger) }
  }
}

/** A time, and behind it free text; of syslog, host and process id are left out. */
export function textLayout({ dateFormat }: Pick<ReadSettings, 'dateFormat'>): LineLayout {
  // The letter is the level in glog's lines, the number the priority in those of syslog.
  const leading = new RegExp(
    `^(?:<\\d+>(?:\\d )?|[IWEFD](?=\\d))?(?:\\[\\s*(?=${UPTIME})|[[(])?(${timeSource(dateFormat)}|${EPOCH}|${UPTIME})${TIME_ENDS}[\\])]?(?!\\w)[\\s,;:|-]*(.*)$`,
  )
  const syslog = /^\S+ ([\w./@-]+)(?:\[\d+\])?: (.*)$/
  const access = new RegExp(`^(\\S+ \\S+ \\S+) \\[(${ACCESS})\\] (.*)$`)
  return (line) => {
    const found = leading.exec(line)
    if (found !== null) {
      const [, time = '', rest = ''] = found
      const [, component = '', name = rest] = (/^[A-Z]/.test(time) && syslog.exec(rest)) || []
      return { time, name, isText: true, component }
    }
    const request = access.exec(line)
    if (request === null) return undefined
    const [, client, time = '', rest] = request
    return { time, name: `${client} ${rest}`, isText: true, component: '' }
  }
}

/** Lines as option `template` says. */
export function templateLayout({ template, instance }: ReadSettings): LineLayout {
  return (line) => {
    for (const pattern of template) {
      const groups = pattern.exec(line)?.groups
      if (groups === undefined) continue
      const { time = '', name, message = '', component = '', value } = groups
      return {
        ...{ time, component, value },
        name: name ?? message,
        isText: name === undefined,
        instance: instance === undefined ? undefined : groups[instance],
        numbers: numbersIn(groups, instance),
      }
    }
    return undefined
  }
}

function numbersIn(
  groups: Readonly<Record<string, string | undefined>>,
  instance: string | undefined,
): [string, number][] {
  return Object.entries(groups).flatMap(([key, text]): [string, number][] => {
    if (OWN_GROUPS.has(key) || key === instance || text === undefined || text.trim() === '') {
      return []
    }
    const value = Number(text)
    return Number.isFinite(value) ? [[key, value]] : []
  })
}

function timeSource(dateFormat: string): string {
  return dateFormat === 'auto' ? KNOWN_TIMES : `(?:${datePattern(dateFormat).source})`
}

/** `org.apache.hadoop.hdfs.DFSClient` is `DFSClient`; names that are not Java's stay whole. */
function classOf(logger: string): string {
  const last = logger.slice(logger.lastIndexOf('.') + 1)
  return /^[A-Z]/.test(last) ? last : logger
}
