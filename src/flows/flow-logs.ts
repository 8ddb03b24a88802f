// Runs once a record: the loops index with `!`.
import { ascending, max, min, sum } from 'd3-array'
import { addAt, getOrInsert } from '../core/entries.ts'
import { DrainTree, tokensOf } from '../logs/readers/drain/log-templates.ts'
import { welch } from '../stats/welch.ts'
import { entriesWithin, groupRows } from '../traces/group-rows.ts'
import { gather, growingUint32 } from '../traces/growing-columns.ts'
import { GRAVE_LEVELS, type SpanLogs, statementParts } from '../traces/log-records.ts'
import { AFTER, BEFORE, type Period } from '../traces/period.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { NodeLabels } from './node-labels.ts'

/** Logs of requests: one entry per record, those of a request next to each other. */
export interface FlowLogColumns {
  readonly statements: readonly Statement[]
  /** Index in `statements`. */
  readonly statement: Uint32Array
  /** Span of the request's shape that each was written in; those of one span in order of time. */
  readonly span: Uint32Array
  /** The records of request `i` are entries `offsets[i]` to `offsets[i + 1]`. */
  readonly offsets: Uint32Array
}

/** Returns the logs of requests, by spans of their shapes; `undefined` unless all recordings have logs. */
export function flowLogs(
  recordings: readonly SpanTraces[],
  runs: number,
  {
    recordedIn,
    spanRows,
    spanOffsets,
  }: {
    readonly recordedIn: Uint8Array
    readonly spanRows: Uint32Array
    readonly spanOffsets: Uint32Array
  },
): FlowLogColumns | undefined {
  const logs = recordings.flatMap((traces) => traces.logs ?? [])
  if (logs.length < recordings.length || logs.length === 0) return undefined
  const { statements, codes } = nameStatements(logs, runs)
  const starts = logs.map(
    (own, i) => groupRows(own.span, recordings[i]!.spans.parent.length).offsets,
  )
  const [statement, span] = [growingUint32(), growingUint32()]
  const offsets = new Uint32Array(recordedIn.length + 1)
  recordedIn.forEach((recording, request) => {
    const [first, end] = [spanOffsets[request]!, spanOffsets[request + 1]!]
    const start = starts[recording]!
    for (let at = first; at < end; at++) {
      const row = spanRows[at]!
      for (let record = start[row]!; record < start[row + 1]!; record++) {
        statement.push(codes[recording]![logs[recording]!.statement[record]!]!)
        span.push(at - first)
      }
    }
    offsets[request + 1] = statement.length
  })
  return { statements, statement: statement.finish(), span: span.finish(), offsets }
}

export function selectLogs(logs: FlowLogColumns, requests: Uint32Array): FlowLogColumns {
  const { offsets, entries } = entriesWithin(logs.offsets, requests)
  const { statements, statement, span } = logs
  return { statements, statement: gather(statement, entries), span: gather(span, entries), offsets }
}

/** Returns a statement by its line, or else by its text: `WARN Records: no key for <*>`. */
export function statementText({ level, source, text }: Statement): string {
  const said = [source, /#\d+$/.test(source) ? '' : text].filter((part) => part !== '')
  return `${GRAVE_LEVELS.has(level) ? `${level.toUpperCase()} ` : ''}${said.join(': ')}`
}

/** Before, a statement is stable if this share of an operation's spans logged it, or left it out. */
const STABLE = 0.99
/** Fewest spans, and smallest share of them, that log otherwise after. */
const [MIN_OTHERWISE, MIN_SHARE] = [5, 0.05]

/**
 * Says in the replies of spans which statements they logged, of those that tell paths of the code apart:
 * stable before, and not so after. Others vary freely and would split each structure.
 */
export function shapesByLogs(
  { statements, statement, span, offsets }: FlowLogColumns,
  {
    labels,
    shapes,
    shapeOf,
    period,
  }: { labels: NodeLabels; shapes: ShapeTable; shapeOf: Uint32Array; period: Uint8Array },
): Uint32Array {
  /** Returns the replies of a request's spans, with what each span logged. */
  const repliesOf = (request: number) => {
    const codes = shapes.labels(shapeOf[request]!)
    let at = offsets[request]!
    return Array.from({ length: codes.length / 2 }, (_, own) => {
      const logged = new Set<number>()
      while (at < offsets[request + 1]! && span[at] === own) logged.add(statement[at++]!)
      return { reply: codes[2 * own + 1]!, logged }
    })
  }
  const counts = new Map<string, { all: [number, number]; did: Map<number, [number, number]> }>()
  const none = (): [number, number] => [0, 0]
  const keyOf = (reply: number) => {
    const { service, operation } = labels.get(reply)
    return `${service}\t${operation}`
  }
  period.forEach((of, request) => {
    for (const { reply, logged } of repliesOf(request)) {
      const own = getOrInsert(counts, keyOf(reply), () => ({ all: none(), did: new Map() }))
      own.all[of as Period]++
      for (const one of logged) getOrInsert(own.did, one, none)[of as Period]++
    }
  })
  const telling = new Map<string, ReadonlySet<number>>()
  for (const [key, { all, did }] of counts) {
    const told = [...did].filter(([, [before, after]]) => {
      const isLogged = before >= STABLE * all[BEFORE]
      const isStable = all[BEFORE] > 0 && (isLogged || before <= (1 - STABLE) * all[BEFORE])
      const otherwise = isLogged ? all[AFTER] - after : after
      return isStable && otherwise >= Math.max(MIN_OTHERWISE, MIN_SHARE * all[AFTER])
    })
    if (told.length > 0) telling.set(key, new Set(told.map(([one]) => one)))
  }
  if (telling.size === 0) return shapeOf
  return shapeOf.map((shape, request) => {
    const changed = new Map<number, number>()
    repliesOf(request).forEach(({ reply, logged }, own) => {
      const told = [...logged].filter((one) => telling.get(keyOf(reply))?.has(one))
      if (told.length === 0) return
      const said = told.map((one) => statementText(statements[one]!)).sort()
      changed.set(2 * own + 1, labels.code({ ...labels.get(reply), logged: said.join(', ') }))
    })
    if (changed.size === 0) return shape
    const codes = shapes.labels(shape).map((code, node) => changed.get(node) ?? code)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    return shapes.intern(codes, codes.length, { from, to, edgeCount: from.length })
  })
}

/** A statement that a service logs more or less often, or anew. */
export interface ServiceLogChange extends Statement {
  readonly service: string
  /** Messages before and after, and per window of time. */
  readonly messages: readonly [number, number]
  readonly means: readonly [number, number]
  readonly p: number
}

/** Windows of the shorter recording. */
const WINDOWS = 20
const ALPHA = 0.05
/** Smallest factor by which a statement must become more frequent, or less. */
const MIN_FACTOR = 2

/**
 * Finds changes in logs of services, from records that name no trace: compares the messages of each statement in
 * windows of time by Welch's t-test, corrected for all statements of all services. Windows lie within the time that
 * both traces and logs cover.
 */
export function serviceLogChanges(
  recordings: readonly SpanTraces[],
  runs: number,
): readonly ServiceLogChange[] {
  const logs = recordings.flatMap((traces) => traces.serviceLogs ?? [])
  if (logs.length < recordings.length || logs.some(({ timeUs }) => timeUs.length === 0)) return []
  const ranges = recordings.map(({ spans: { startUs } }, i): readonly [number, number] => {
    const own = logs[i]?.timeUs ?? []
    return [Math.max(min(startUs) ?? 0, min(own) ?? 0), Math.min(max(startUs) ?? 0, max(own) ?? 0)]
  })
  const windowUs = (min(ranges, ([from, to]) => to - from) ?? 0) / WINDOWS
  if (!(windowUs > 0)) return []
  const windows = ranges.map(([from, to]) => Math.floor((to - from) / windowUs + 1e-9))
  const ofPeriod = (recording: number): Period => (recording < runs ? BEFORE : AFTER)
  const starts = windows.map((_, i) => {
    const earlier = windows.slice(0, i).filter((__, other) => ofPeriod(other) === ofPeriod(i))
    return sum(earlier)
  })
  const sizes = [BEFORE, AFTER].map((period) =>
    sum(windows.filter((_, recording) => ofPeriod(recording) === period)),
  )
  const { statements, codes } = nameStatements(logs, runs)
  const counts = new Map<string, readonly [Float64Array, Float64Array]>()
  logs.forEach(({ timeUs, service, services, statement }, recording) => {
    const [from] = ranges[recording] as readonly [number, number]
    const last = Number(windows[recording]) - 1
    const endUs = from + (last + 1) * windowUs + 1
    timeUs.forEach((us, record) => {
      if (us < from || us > endUs) return
      const window = Math.min(last, Math.floor((us - from) / windowUs))
      const code = codes[recording]?.[Number(statement[record])]
      const key = `${code}\t${services.value(Number(service[record]))}`
      const [before = 0, after = 0] = sizes
      const windowsOf = () => [new Float64Array(before), new Float64Array(after)] as const
      const own = getOrInsert(counts, key, windowsOf)
      addAt(own[ofPeriod(recording)], Number(starts[recording]) + window, 1)
    })
  })
  return Array.from(counts, ([key, [before, after]]): ServiceLogChange => {
    const [code, service = ''] = key.split('\t')
    const { p, beforeMean, afterMean } = welch(before, after)
    const means = [beforeMean, afterMean] as const
    const of = statements[Number(code)] as Statement
    return { ...of, service, messages: [sum(before), sum(after)], means, p: p * counts.size }
  })
    .filter(({ p, means }) => p < ALPHA && Math.max(...means) >= MIN_FACTOR * Math.min(...means))
    .sort((a, b) => a.p - b.p || b.messages[1] - a.messages[1])
}

export interface Statement {
  readonly level: string
  readonly source: string
  readonly text: string
}

const LINE = /#\d+$/

interface Known extends Omit<Statement, 'text'> {
  readonly key: string
  readonly groups: Set<{ readonly tokens: string[] } | undefined>
}

/**
 * Names log statements consistently over recordings: by the line of code, where records give it (lines only before
 * and only after that log the same are one moved statement), else by templates that are mined from all of them.
 */
export function nameStatements(
  recordings: readonly Pick<SpanLogs, 'statements'>[],
  runs: number,
): { readonly statements: readonly Statement[]; readonly codes: readonly Uint32Array[] } {
  const tree = new DrainTree()
  const known = new Map<string, Known>()
  const keyOf = new Map<string, string>()
  const firstOf = new Map<unknown, string>()
  // Groups depend on the order of messages, which must not depend on the order of recordings.
  const all = new Set(recordings.flatMap(({ statements }) => statements.values))
  for (const said of [...all].sort(ascending)) {
    const { level, source, text } = statementParts(said)
    const group = tree.add(`${level}\t${source.replace(LINE, '')}`, tokensOf(text), '')
    // The tokens of a group may still change: its first text stands for it.
    const rest = LINE.test(source) ? '' : `\t${getOrInsert(firstOf, group, () => text)}`
    const key = `${level}\t${source}${rest}`
    const unknown = (): Known => ({ key, level, source, groups: new Set() })
    getOrInsert(known, key, unknown).groups.add(group)
    keyOf.set(said, key)
  }
  const keysOf = (some: readonly Pick<SpanLogs, 'statements'>[]) =>
    new Set(some.flatMap(({ statements }) => statements.values.map((said) => keyOf.get(said))))
  const [before, after] = [keysOf(recordings.slice(0, runs)), keysOf(recordings.slice(runs))]
  const moved = new Map<string, string>()
  if (before.size > 0 && after.size > 0) {
    const lined = [...known.values()].filter(({ source }) => LINE.test(source))
    const isNew = new Set(lined.filter(({ key }) => !before.has(key)))
    for (const was of lined.filter(({ key }) => !after.has(key))) {
      const is = [...isNew].find(
        ({ level, source, groups }) =>
          level === was.level &&
          source.replace(LINE, '') === was.source.replace(LINE, '') &&
          [...groups].some((group) => was.groups.has(group)),
      )
      if (is === undefined) continue
      moved.set(was.key, is.key)
      isNew.delete(is)
    }
  }
  const named = [...known.values()].filter(({ key }) => !moved.has(key))
  const numbers = new Map(named.map(({ key }, number) => [key, number]))
  const codeOf = (said: string) => {
    const key = keyOf.get(said) ?? ''
    return numbers.get(moved.get(key) ?? key) ?? 0
  }
  return {
    statements: named.map(({ level, source, groups: [first] }): Statement => {
      return { level, source, text: first?.tokens.join(' ') ?? '' }
    }),
    codes: recordings.map(({ statements }) => Uint32Array.from(statements.values, codeOf)),
  }
}
