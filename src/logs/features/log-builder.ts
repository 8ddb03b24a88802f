import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { buildLogSet } from './build-log-set.ts'
import type { VariableKind } from './feature-types.ts'
import { codeOfClass, type LogClass } from './log-class.ts'
import type { SkippedLine } from './log-report.ts'
import type { LogSet } from './log-set.ts'
import { type ClosedInstance, OpenInstance } from './open-instance.ts'
import { ReadingNotes } from './reading-notes.ts'

/**
 * Takes log messages one by one and keeps their features: how the logs of a program that flowdelta
 * has no reader for come in.
 *
 * A log instance is what is compared: a node, a request, a run; it belongs to one of two classes.
 * An event message says that something happened at a time, a state message what a variable was at
 * a time. Times are microseconds on any clock that one instance agrees on, in any order. Readers
 * use the numbered methods: `instanceCode`, `eventCode` and `stateCode` once a name, then `event`
 * and `state` a message, and `close` when an instance is complete.
 *
 * Memory: an open instance keeps of each of its variables at most 65,536 messages; beyond that
 * every second is dropped, and so on, and medians and snapshots are of those kept. Everything else
 * is exact. `LogSet.report` says where that was so. A closed instance keeps only its features.
 *
 * A time or value that is no finite number is left out and counted in the report.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, figure 2 and §3.1.
 *
 * @example
 * const builder = new LogBuilder()
 * builder.setInstance('before', 'node 1')
 * builder.logEvent(1_000, 'request received')
 * builder.logState(1_500, 'queue length', 3)
 * builder.setInstance('after', 'node 2')
 * builder.logEvent(2_000, 'request received')
 * builder.build().counts // { before: 1, after: 1 }
 */
export class LogBuilder {
  readonly #classOf: number[] = []
  readonly #ids: string[] = []
  readonly #codes = new Map<string, number>()
  /** An instance that is closed is replaced by its features. */
  readonly #instances: (OpenInstance | ClosedInstance)[] = []
  readonly #names: Record<VariableKind, Dictionary> = {
    event: new Dictionary(),
    state: new Dictionary(),
  }
  readonly #notes = new ReadingNotes()
  #current = -1

  /**
   * Says what the messages to come are of. May be called again for an instance, which then goes on;
   * the same id in the other class is another instance.
   *
   * @param options.startUs when the instance started; default, and at the latest: its first message
   * @throws OptionError for an unknown class or a start that is no finite number
   */
  setInstance(logClass: LogClass, id: string, { startUs }: { startUs?: number } = {}): void {
    this.#current = this.instanceCode(logClass, id)
    if (startUs !== undefined) this.startAt(this.#current, startUs)
  }

  /**
   * Something happened in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logEvent(timeUs: number, name: string): void {
    this.event(this.#requireCurrent(name), this.eventCode(name), timeUs)
  }

  /**
   * What a variable was in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logState(timeUs: number, name: string, value: number): void {
    this.state(this.#requireCurrent(name), this.stateCode(name), timeUs, value)
  }

  /** The number of an instance, which is added if it is new; see `setInstance`. */
  instanceCode(logClass: LogClass, id: string): number {
    const key = `${codeOfClass(logClass)} ${id}`
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    const code = this.#ids.length
    this.#codes.set(key, code)
    this.#ids.push(id)
    this.#classOf.push(codeOfClass(logClass))
    this.#instances.push(new OpenInstance())
    return code
  }

  eventCode(name: string): number {
    return this.#names.event.code(name)
  }

  stateCode(name: string): number {
    return this.#names.state.code(name)
  }

  /** An event message, by numbers. */
  event(instance: number, code: number, timeUs: number): void {
    if (Number.isFinite(timeUs)) this.#open(instance).event(code, timeUs)
    else this.#refuse('event', { instance, code }, `time ${timeUs}`)
  }

  /** A state message, by numbers. */
  state(instance: number, code: number, timeUs: number, value: number): void {
    if (Number.isFinite(timeUs) && Number.isFinite(value)) {
      this.#open(instance).state(code, timeUs, value)
    } else this.#refuse('state', { instance, code }, `time ${timeUs}, value ${value}`)
  }

  /** Sets when an instance started; default, and at the latest: its first message. */
  startAt(instance: number, startUs: number): void {
    if (!Number.isFinite(startUs)) throw new OptionError('startUs', startUs, 'microseconds')
    this.#open(instance).startUs = startUs
  }

  /** Says that an instance is complete: its features are computed, its messages freed. */
  close(instance: number): void {
    const open = this.#instances[instance]
    if (open instanceof OpenInstance) this.#instances[instance] = open.close()
  }

  /** Counts lines that were read. */
  countLines(count: number): void {
    this.#notes.lines += count
  }

  /** Notes a line that gave no message; the first few of each reason are kept. */
  skipLine(reason: string, line: SkippedLine): void {
    this.#notes.skip(reason, line)
  }

  /** Notes a file that is in no log format that is known. */
  skipFile(file: string): void {
    this.#notes.unreadFiles.push(file)
  }

  /** Notes paths that were given for both classes. */
  noteBoth(paths: readonly string[]): void {
    this.#notes.inBothClasses.push(...paths)
  }

  /** The features of all instances. Messages may still be added afterwards, to open instances. */
  build(): LogSet {
    return buildLogSet({
      ids: this.#ids,
      classOf: this.#classOf,
      instances: this.#instances.map((each) =>
        each instanceof OpenInstance ? each.close() : each,
      ),
      names: { event: this.#names.event.values, state: this.#names.state.values },
      notes: this.#notes.data,
    })
  }

  #open(instance: number): OpenInstance {
    const found = this.#instances[instance]
    if (found instanceof OpenInstance) return found
    if (found === undefined) {
      throw new RangeError(`There is no instance ${instance}. Ask instanceCode for numbers.`)
    }
    throw new FlowdeltaError(
      `Instance ${show(this.#ids[instance])} got a message after it was closed. Close an instance when all its messages are read.`,
    )
  }

  #requireCurrent(name: string): number {
    if (this.#current >= 0) return this.#current
    throw new FlowdeltaError(
      `Message ${show(name)} belongs to no instance. Call setInstance(class, id) first.`,
    )
  }

  #refuse(
    kind: VariableKind,
    { instance, code }: { readonly instance: number; readonly code: number },
    found: string,
  ): void {
    const name = this.#names[kind].value(code)
    this.#notes.refuse(kind, name, () => `${found} in instance ${this.#ids[instance]}`)
  }
}
