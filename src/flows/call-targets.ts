// Runs once a span: the loops index with `!`.

import { getOrInsert } from '../core/entries.ts'
import { TEXT } from '../traces/attributes.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { PEERS } from '../traces/outcomes.ts'
import { CLIENT, NO_PARENT } from '../traces/span-columns.ts'
import { SpanTraces } from '../traces/span-traces.ts'

/** Attributes that name the target of a call, the surest first: a system, or else a peer. */
const SAYING = ['db.system.name', 'db.system', ...PEERS]
/** Number of the first attributes of `SAYING` whose values are names, not addresses. */
const NAMES = SAYING.indexOf('peer.service') + 1

/** An operation that says nothing, whatever it calls. */
const BARE = /^(HTTP )?(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i
/** Most targets of one operation that count as kinds of it. */
const MAX_TARGETS = 8

/** Whether the name of an operation names its target. */
export function saysTarget(operation: string): boolean {
  return / to \S+$/.test(operation)
}

/**
 * Callees that a span names, the narrowest first: each as it is written, by the pattern that it shares with hosts whose
 * names differ in digits only.
 */
export type Targets = ReadonlyMap<string, string>

/** Returns a function that reads the targets of spans: the same map for those that say the same. */
export function targetReader({ attributes }: Pick<SpanTraces, 'attributes'>) {
  const { offsets, keys, columns } = attributes
  const rankOf = Uint8Array.from(keys.values, (key) => SAYING.indexOf(key) + 1)
  const known = new Map<string, Targets>()
  return (span: number): Targets => {
    const said: number[] = []
    for (let entry = offsets[span]!; entry < offsets[span + 1]!; entry++) {
      const isTarget = rankOf[columns.key[entry]!]! > 0 && columns.type[entry] === TEXT
      if (isTarget) said.push(entry)
    }
    const key = said.map((entry) => `${columns.key[entry]} ${columns.value[entry]}`).join()
    return getOrInsert(known, key, () => {
      const ranked = said.map((entry) => ({ rank: rankOf[columns.key[entry]!]!, entry }))
      ranked.sort((a, b) => b.rank - a.rank)
      return new Map(
        ranked.flatMap(({ rank, entry }) => {
          const target = targetOf(columns.texts.value(columns.value[entry]!), rank <= NAMES)
          return target === null ? [] : [target]
        }),
      )
    })
  }
}

/** Calls of the spans of one operation. */
interface Calls {
  readonly operation: string
  /** Targets of calls that another service recorded. */
  readonly answered: Set<string>
  /** Targets of the others. */
  readonly unanswered: Map<string, Target>
  /** Whether some of the others do not name their targets. */
  isUnsaid: boolean
}

interface Target {
  readonly calls: Calls
  shown: string
  /** Bits: 1 of before, 2 of after. */
  periods: number
}

/**
 * Names what calls of one operation go to, where nothing else tells them apart and nobody recorded the other side: `GET
 * to redis` and `GET to artwork.s3.amazonaws.com`. Hosts whose names differ in words with digits only are one. A target
 * of one period alone may have moved, so it is named only if other targets of that operation are services that record
 * spans.
 */
export function nameTargets(recordings: readonly SpanTraces[], runs: number): SpanTraces[] {
  const all = new Map<string, Calls>()
  const targets: Target[] = []
  const ofSpans = recordings.map((traces, i) =>
    readTargets(traces, { all, targets, period: i < runs ? 1 : 2 }),
  )
  const named = new Set(Array.from(all.values(), toldApart).flat())
  if (named.size === 0) return [...recordings]
  return recordings.map((traces, i) => {
    const operations = new Dictionary([...traces.operations.values])
    const codes = targets.map((target) =>
      named.has(target) ? operations.code(`${target.calls.operation} to ${target.shown}`) : -1,
    )
    const operation = traces.spans.operation.map((recorded, span) => {
      const target = ofSpans[i]![span]!
      return target === 0 || codes[target - 1] === -1 ? recorded : codes[target - 1]!
    })
    const columns = { ...traces, operations, spans: { ...traces.spans, operation } }
    return new SpanTraces(traces.name, columns, traces.quality())
  })
}

/** Targets of an operation that are distinguished from each other and from all else that it calls. */
function toldApart({ operation, answered, unanswered, isUnsaid }: Calls): Target[] {
  const own = [...unanswered].flatMap(([key, target]) => (answered.has(key) ? [] : target))
  const periods = own.reduce((sum, target) => sum | target.periods, 0)
  const told = own.filter((target) => answered.size > 0 || target.periods === periods)
  const isAlone = told.length === own.length && told.length < 2 && answered.size === 0
  if (isUnsaid || told.length > MAX_TARGETS || (isAlone && !BARE.test(operation))) return []
  return told
}

/** Returns the number of each span's target among all, from 1 on; 0 for answered calls and spans without calls. */
function readTargets(
  traces: SpanTraces,
  { all, targets, period }: { all: Map<string, Calls>; targets: Target[]; period: number },
): Uint32Array {
  const { spans, services, operations, attributes } = traces
  const { offsets, keys, texts, columns } = { ...attributes, texts: attributes.columns.texts }
  const rankOf = Uint8Array.from(keys.values, (key) => SAYING.indexOf(key) + 1)
  const isAnswered = new Uint8Array(spans.parent.length)
  spans.parent.forEach((caller, span) => {
    if (caller >= 0 && spans.service[caller] !== spans.service[span]) isAnswered[caller] = 1
  })
  const callsOf = new Map<number, Calls>()
  const known = new Map<number, readonly [key: string, text: string] | null>()
  const numbers = new Map<Target, number>(targets.map((target, i) => [target, i + 1]))
  const found = new Uint32Array(isAnswered.length)
  for (let span = 0; span < found.length; span++) {
    if (spans.kind[span] !== CLIENT || spans.parent[span] === NO_PARENT) continue
    const [service, code] = [spans.service[span]!, spans.operation[span]!]
    const calls = getOrInsert(callsOf, service * operations.size + code, () => {
      const operation = operations.value(code)
      return getOrInsert(all, JSON.stringify([services.value(service), operation]), () => ({
        operation,
        answered: new Set(),
        unanswered: new Map(),
        isUnsaid: false,
      }))
    })
    let [rank, value] = [SAYING.length + 1, 0]
    for (let entry = offsets[span]!; entry < offsets[span + 1]!; entry++) {
      const own = rankOf[columns.key[entry]!]!
      if (own === 0 || own >= rank || columns.type[entry] !== TEXT) continue
      ;[rank, value] = [own, columns.value[entry]!]
    }
    const said =
      rank > SAYING.length
        ? null
        : getOrInsert(known, rank * texts.size + value, () =>
            targetOf(texts.value(value), rank <= NAMES),
          )
    if (isAnswered[span] === 1) {
      if (said !== null) calls.answered.add(said[0])
    } else if (said === null) calls.isUnsaid = true
    else {
      const [key, text] = said
      const target = getOrInsert(calls.unanswered, key, () => {
        const made = { calls, shown: text, periods: 0 }
        numbers.set(made, targets.push(made))
        return made
      })
      if (target.shown !== text) target.shown = key
      target.periods |= period
      found[span] = numbers.get(target)!
    }
  }
  return found
}

/**
 * Returns a target, without what tells its hosts apart (`es-*.internal`), and as it is recorded; `null` for an address
 * that names nothing.
 */
function targetOf(text: string, isName: boolean): readonly [key: string, text: string] | null {
  const [, host = ''] = HOST.exec(text) ?? []
  if (host === '' && isName && text !== '') return [text, text]
  if (!/[a-z]/i.test(host) || host === 'localhost') return null
  const isOfMany = /[.-]/.test(host)
  return [(isOfMany ? host.replace(/[^.-]*\d[^.-]*/g, '*') : host).toLowerCase(), host]
}

/** An address, with or without scheme, user, port and path. */
const HOST = /^(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^@/]*@)?([\w.-]+)(?::\d*)?(?:[/?#]|$)/i
