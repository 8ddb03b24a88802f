import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { remembered } from '../../core/remembered.ts'
import { readDuration } from '../../core/words.ts'
import { isoTime, readMoment } from '../../traces/epoch-clock.ts'
import {
  type Condition,
  type ConditionOp,
  condition,
  parseConditions,
} from '../../traces/selection/condition.ts'
import { type LogField, numberIn } from '../features/field-variables.ts'
import type { LogBuilder } from '../features/log-builder.ts'
import type { LogClass, StateFeature } from '../features/log-set.ts'
import { performanceMetric } from '../performance/performance-metric.ts'
import { levelOf, roleOf } from './field-roles.ts'

export type Division = NonNullable<ReturnType<typeof readDivision>>

const MIN_WINDOWS = 5
const MAX_MISSED = 0.1

export function readDivision(options: Record<'window' | 'splitAt' | 'badIf', string | null>) {
  const { window, splitAt, badIf } = options
  if (window === null && splitAt === null && badIf === null) return null
  const windowUs = window === null ? null : readDuration(window.replace(/(\d)\s*m$/, '$1min'))
  if (windowUs !== null && !(windowUs > 0)) {
    throw new OptionError('window', window, "a duration, as '1m' or '30s'")
  }
  if (splitAt !== null && badIf !== null) {
    throw new OptionError('badIf', badIf, 'only one of `badIf` and `splitAt`')
  }
  if (splitAt !== null && readMoment(splitAt, { epochUs: SOME_DAY_US }) === null) {
    throw new OptionError('splitAt', splitAt, "a time, as '2026-10-01T11:15Z' or '11:15Z'")
  }
  const slowest: { readonly metric: string; readonly share: number }[] = []
  const others = (badIf ?? '').split(/\s+and\s+/).filter((one) => {
    const [, metric, percent] = SLOWEST.exec(one.trim()) ?? []
    const share = Number(percent) / 100
    if (metric === undefined || !(share > 0 && share < 1)) return true
    slowest.push({ metric: metric.replace(/^"(.*)"$/, '$1'), share })
    return false
  })
  const rest = slowest.length === 0 ? (badIf ?? '') : others.join(' and ')
  const conditions = rest === '' ? [] : parseConditions(rest)
  const call = conditions.find(({ op }) => op === 'calls' || op === 'does not call')
  if (call !== undefined) {
    throw new FlowdeltaError(`Logs do not say what is called: ${call.text}. Ask for a field.`)
  }
  return {
    windowUs,
    splitAt,
    badIf: conditions,
    slowest,
    isByBad: badIf !== null,
    text: badIf ?? '',
  }
}

/** `runTime in slowest 10 %`. */
const SLOWEST = /^(.+?)\s+in\s+(?:the\s+)?slowest\s+([\d.]+)\s*%$/
const SOME_DAY_US = Date.UTC(2020, 0, 1) * 1000

/** Operator to test on single messages for a negated one: no message of the instance may meet it. */
const POSITIVE: Partial<Record<ConditionOp, ConditionOp>> = {
  'is not': 'is',
  'not recorded': 'recorded',
}

/** Any message for which a condition holds makes an instance bad: the largest number, or the least. */
const FEATURES: Partial<Record<ConditionOp, StateFeature>> = {
  above: 'maximum',
  from: 'maximum',
  below: 'minimum',
  'up to': 'minimum',
}

type Message = Readonly<{ timeUs: number; fields: readonly LogField[] }>

function testOf(given: Condition) {
  const positive = POSITIVE[given.op]
  const asked = positive === undefined ? given : condition(given, positive, given.values)
  return { asked, isNegated: positive !== undefined, isKnown: false, held: new Set<number>() }
}

function windowsFrom(timeUs: number) {
  return { firstUs: timeUs, lastUs: timeUs, instances: new Map<number, number>() }
}

export class DividedLogs {
  readonly #division: Division
  readonly #builder: LogBuilder
  readonly #tests: readonly ReturnType<typeof testOf>[]
  readonly #windows = new Map<string, ReturnType<typeof windowsFrom>>()
  #splitUs = Number.NaN

  constructor(division: Division, builder: LogBuilder) {
    this.#division = division
    this.#builder = builder
    this.#tests = division.badIf.map(testOf)
  }

  instanceOf(id: string, given: LogClass, { timeUs, fields }: Message): number {
    const { windowUs, splitAt } = this.#division
    if (splitAt !== null && Number.isNaN(this.#splitUs)) {
      this.#splitUs = readMoment(splitAt, { epochUs: timeUs }) ?? Number.NaN
    }
    const logClass = splitAt === null ? given : timeUs < this.#splitUs ? 'before' : 'after'
    const inWindow = (windowUs: number) => {
      const own = getOrInsert(this.#windows, `${logClass} ${id}`, () => windowsFrom(timeUs))
      own.firstUs = Math.min(own.firstUs, timeUs)
      own.lastUs = Math.max(own.lastUs, timeUs)
      const origin = Number.isNaN(this.#splitUs) ? 0 : this.#splitUs
      const startUs = origin + Math.floor((timeUs - origin) / windowUs) * windowUs
      return getOrInsert(own.instances, startUs, () => {
        const name = `${id} ${isoTime(startUs, 0)}`.trim()
        const code = this.#builder.instanceCode(logClass, name)
        this.#builder.startAt(code, startUs)
        return code
      })
    }
    const instance =
      windowUs === null ? this.#builder.instanceCode(logClass, id) : inWindow(windowUs)
    for (const test of this.#tests) {
      const { asked } = test
      const own = fields.filter(([key]) => key === asked.attribute || isLevelOf(asked, key))
      test.isKnown ||= own.length > 0
      if (own.some((field) => holds(asked, field))) test.held.add(instance)
    }
    return instance
  }

  #areBad(): (instance: number) => boolean {
    const { slowest, text } = this.#division
    const logs = remembered((builder: LogBuilder) => builder.build())
    const metricOf = (name: string) => {
      try {
        return performanceMetric(logs(this.#builder), name)
      } catch (error) {
        const [, advice = ''] = /\. (Give .*)$/s.exec((error as Error).message) ?? []
        throw new FlowdeltaError(
          `\`badIf\` is ${show(text)}: ${show(name)} is no field, event or state of these logs. ${advice}`,
          { badIf: null },
        )
      }
    }
    const tests = this.#tests.map(({ asked, isNegated, isKnown, held }) => {
      if (isKnown) return (i: number) => held.has(i) !== isNegated
      const { values, unit, quantity } = metricOf(asked.attribute)
      // Values with a unit are compared in ms.
      const isDuration = !/^[-+.\de]+$/i.test(asked.values[0] ?? '')
      const us = unit === 'absolute time' ? 1 : isDuration ? quantity?.us : undefined
      const scale = us === undefined ? 1 : us / 1000
      return (i: number) =>
        !Number.isNaN(values[i]) &&
        holds(asked, [asked.attribute, Number(values[i]) * scale]) !== isNegated
    })
    const most = slowest.map(({ metric, share }) => {
      const { values } = metricOf(metric)
      const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => b - a)
      const limit = Number(sorted[Math.max(1, Math.round(share * sorted.length)) - 1])
      return (i: number) => Number(values[i]) >= limit
    })
    return (i) => [...tests, ...most].every((test) => test(i))
  }

  /** Ends after the last message: settles classes, and leaves out windows that the log covers only in part. */
  finish(): void {
    const { windowUs, isByBad, slowest } = this.#division
    const isBad = this.#areBad()
    const number = this.#tests.find(({ asked }) => asked.op in FEATURES)
    const { attribute = '', op = 'above' } = number?.asked ?? {}
    this.#builder.metric = number?.isKnown
      ? { variable: attribute, feature: FEATURES[op] ?? 'maximum' }
      : (slowest[0]?.metric ?? number?.asked.attribute)
    for (const instance of isByBad ? this.#builder.kept() : []) {
      if (isBad(instance)) this.#builder.setClass(instance, 'after')
    }
    if (windowUs === null) return
    for (const { firstUs, lastUs, instances } of this.#windows.values()) {
      if (instances.size < MIN_WINDOWS) continue
      for (const [startUs, instance] of instances) {
        const missed = Math.max(firstUs - startUs, startUs + windowUs - lastUs)
        if (missed > MAX_MISSED * windowUs) this.#builder.dropInstance(instance)
      }
    }
  }
}

function isLevelOf({ attribute }: Condition, key: string): boolean {
  return key === 'level' && roleOf(attribute).role === 'level'
}

function holds(asked: Condition, [key, value]: LogField): boolean {
  const { attribute, op, values } = asked
  const isLevel = isLevelOf(asked, key)
  if (op === 'recorded') return true
  if (op === 'is') {
    const isOne = (wanted: string) => isLevel && levelOf(wanted, attribute) === value
    return values.includes(String(value)) || values.some(isOne)
  }
  const number = typeof value === 'number' ? value : numberIn(value)
  const limit = numberIn(values[0] ?? '')
  if (number === limit) return op === 'from' || op === 'up to'
  return op === 'above' || op === 'from' ? number > limit : number < limit
}
