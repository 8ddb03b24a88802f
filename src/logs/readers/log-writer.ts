import type { LogBuilder } from '../features/log-builder.ts'
import type { LogClass } from '../features/log-class.ts'
import { templateName } from './drain/log-templates.ts'
import type { TemplateMatch, TemplateMatcher } from './drain/template-matcher.ts'
import { type LogLane, type LogRecord, type LogSink, SKIPPED } from './log-sink.ts'

interface WriterOptions {
  readonly builder: LogBuilder
  readonly logClass: LogClass
  readonly file: string
  /** The instance that the path is, −1 where a field says it. */
  readonly pathInstance: number
  /** `'none'` where text is a name as it stands; absent where no file has any, as far as is known. */
  readonly matcher: TemplateMatcher | 'none' | undefined
}

/** Hands what is found in one file on to a `LogBuilder`. */
export class LogWriter implements LogSink {
  readonly lane: LogLane
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
    const { builder, logClass, pathInstance } = options
    const instances = new Map<string, number>()
    this.lane = {
      pathInstance,
      instanceCode(id) {
        const known = instances.get(id)
        if (known !== undefined) return known
        const code = builder.instanceCode(logClass, id)
        instances.set(id, code)
        return code
      },
      eventCode: (name) => builder.eventCode(name),
      stateCode: (name) => builder.stateCode(name),
      event: (instance, code, timeUs) => builder.event(instance, code, timeUs),
      state: (instance, code, timeUs, value) => builder.state(instance, code, timeUs, value),
    }
  }

  record(record: LogRecord): void {
    const { line, timeUs, isText, value } = record
    const { builder, matcher } = this.#options
    const name =
      isText && matcher === 'none' ? templateName(record.component ?? '', record.name) : record.name
    const instance = this.#instanceOf(record)
    if (instance < 0) {
      this.skip(SKIPPED.noInstance, line, name)
      return
    }
    if (Number.isNaN(timeUs)) {
      this.skip(SKIPPED.noTime, line, name)
      return
    }
    if (isText && matcher !== 'none') {
      this.#text(record, instance)
      return
    }
    if (value !== undefined) builder.state(instance, builder.stateCode(name), timeUs, value)
    else builder.event(instance, builder.eventCode(name), timeUs)
    this.#numbers(record, instance, name)
  }

  skip(reason: string, line: number, text: string): void {
    const { builder, file } = this.#options
    builder.skipLine(reason, line > 0 ? { file, line, text } : { file, text })
  }

  skipFile(): void {
    this.#options.builder.skipFile(this.#options.file)
  }

  countLines(count: number): void {
    this.#options.builder.countLines(count)
  }

  #instanceOf({ instance }: LogRecord): number {
    const { pathInstance } = this.#options
    if (pathInstance >= 0) return pathInstance
    return instance === undefined ? -1 : this.lane.instanceCode(instance)
  }

  #text(record: LogRecord, instance: number): void {
    const { line, timeUs, name: text, component = '', value } = record
    const { builder, matcher } = this.#options
    const found = matcher === 'none' ? undefined : matcher?.match(component, text)
    if (found === undefined) {
      this.skip(SKIPPED.noTemplate, line, text)
      return
    }
    const { match, values } = found
    if (match.event < 0) this.#number(match)
    if (value !== undefined) builder.state(instance, builder.stateCode(match.name), timeUs, value)
    else builder.event(instance, match.event, timeUs)
    for (let i = 0; i < match.wildcards.length; i++) {
      if (match.wildcards[i] === 0) continue
      builder.state(instance, match.states[i] as number, timeUs, Number(values[i]))
    }
    this.#numbers(record, instance, match.name)
  }

  #numbers({ numbers, timeUs }: LogRecord, instance: number, name: string): void {
    if (numbers === undefined || numbers.length === 0) return
    const { builder } = this.#options
    for (const [key, value] of numbers) {
      builder.state(instance, builder.stateCode(`${name}.${key}`), timeUs, value)
    }
  }

  /** Asks for the codes of a template that comes for the first time. */
  #number(match: TemplateMatch): void {
    const { builder } = this.#options
    match.event = builder.eventCode(match.name)
    for (const place of match.wildcards) {
      match.states.push(place === 0 ? -1 : builder.stateCode(`${match.name} #${place}`))
    }
  }
}
