// Runs once a span: the loops index with `!`.
import { greatest, rollup, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { spoken } from '../../core/words.ts'
import { AFTER, BEFORE, type Rename } from '../../flows/flow-set.ts'
import { stripIds } from '../../flows/label-parts.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { SPAN_KINDS } from '../../traces/span-columns.ts'
import { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { MAX_IN_OTHER, MIN_SPANS } from './recorded-otherwise.ts'

/** Attributes that name an operation whatever the name of its span: the last of each list, with its context. */
const NAMING = [
  ['http.route'],
  ['url.template'],
  ['rpc.service', 'rpc.method'],
  ['db.query.summary'],
  ['messaging.destination.template'],
]
const METHODS = ['http.request.method', 'http.method']
/** The method that a name begins with. */
const VERB = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)(?= )/
/** Share of spans with the same names in both periods, equally often, from which names are not compared. */
const MIN_COMMON = 0.95
/**
 * Largest share of a period's spans with names of both periods at which names with the same meaning are different ones.
 */
const MAX_COMMON = 0.5
/** Fewest values, all rare, that make a part of names an id. */
const MANY = 10
/** The placeholder of an id, as in templates of routes. */
const ID = '{id}'
/** Sets parts of a name apart, and is kept. */
const PARTS = /([/ ])/
/** A part of a template of a route: `{cart}`, `:cart`, `<int:cart>`, `*`. */
const TEMPLATE = /^(?:\{.*\}|:\w+|<.*>|\*+|#|\$\w+)$/

/** Spans of a service and kind with the same name and the same attributes that name operations. */
interface Named {
  /** Order among all. */
  readonly order: number
  readonly service: string
  readonly operation: string
  readonly method: string
  /** Values of `NAMING`; `undefined` for none. */
  readonly said: readonly (string | undefined)[]
  /** Number of spans, before and after. */
  readonly spans: [number, number]
  /** Common name in both periods; `null` while it keeps its own. */
  renamed: string | null
}

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

interface Renamed {
  readonly periods: Periods
  readonly renames: readonly Rename[]
}

/**
 * Gives operations one name in both periods if their spans have another name in one, or names that contain ids: that of
 * an attribute (`http.route` …), else the common part of their names without ids. A service's spans of one kind keep
 * their names where these are those of the other period.
 */
export function withCommonNames([runs, after]: Periods): Renamed {
  const recordings = [...runs, after].filter((traces) => traces.kind === 'spans')
  const unchanged = { periods: [runs, after] as const, renames: [] }
  if (recordings.length <= runs.length) return unchanged
  const periodOf = (traces: SpanTraces) => (traces === after ? AFTER : BEFORE)
  const asked = kindsApart(recordings, periodOf)
  if (asked.size === 0) return unchanged
  const groups = new Map<string, Map<string, Named>>()
  let order = 0
  const namedOf = new Map(
    recordings.map((traces) => {
      const readers = NAMING.map((names) => names.map((name) => traces.attributes.reader(name)))
      const methods = METHODS.flatMap((name) => traces.attributes.reader(name) ?? [])
      const { service, operation, kind } = traces.spans
      const found = Array.from(operation, (code, span): Named | null => {
        const own = traces.services.value(service[span]!)
        const group = groupOf(own, kind[span]!)
        if (!asked.has(group)) return null
        const name = traces.operations.value(code)
        const said = readers.map((own) => {
          const values = own.map((read) => read?.(span)?.toString() ?? '')
          return values.at(-1) === '' ? undefined : spoken(values).join('/')
        })
        const recorded = methods.map((read) => read(span)).find((one) => one !== undefined)
        const method = (recorded ?? VERB.exec(name)?.[0] ?? '').toString().toUpperCase()
        const members = getOrInsert(groups, group, () => new Map<string, Named>())
        const named = getOrInsert(members, JSON.stringify([name, method, said]), () => ({
          ...{ order: order++, service: own, operation: name, method, said, renamed: null },
          spans: [0, 0] as [number, number],
        }))
        named.spans[periodOf(traces)]++
        return named
      })
      return [traces as TraceSet, found] as const
    }),
  )
  // Callers come first.
  const renames = [...groups.values()]
    .flatMap((members) => renamesOf([...members.values()]))
    .sort((a, b) => a.order - b.order)
  if (renames.length === 0) return unchanged
  const renamed = (traces: TraceSet) => rename(traces, namedOf.get(traces) ?? [])
  return { periods: [runs.map(renamed), renamed(after)], renames }
}

function groupOf(service: string, kind: number): string {
  return `${SPAN_KINDS[kind]} ${service}`
}

/** Services and kinds of spans whose names are not those of the other period. */
function kindsApart(
  recordings: readonly SpanTraces[],
  periodOf: (traces: SpanTraces) => number,
): Set<string> {
  const counts = new Map<string, Map<string, [number, number]>>()
  for (const traces of recordings) {
    const { service, operation, kind } = traces.spans
    const period = periodOf(traces)
    const codes = new Map<number, [number, number]>()
    for (let span = 0; span < operation.length; span++) {
      const kinds = service[span]! * SPAN_KINDS.length + kind[span]!
      const of = getOrInsert(codes, kinds * traces.operations.size + operation[span]!, () => {
        const group = groupOf(traces.services.value(service[span]!), kind[span]!)
        const names = getOrInsert(counts, group, () => new Map<string, [number, number]>())
        const name = traces.operations.value(operation[span]!)
        return getOrInsert(names, name, (): [number, number] => [0, 0])
      })
      of[period]!++
    }
  }
  const apart = [...counts].filter(
    ([, names]) => inBoth(names.values()) && commonShare(names.values()) < MIN_COMMON,
  )
  return new Set(apart.map(([group]) => group))
}

function inBoth(counts: Iterable<readonly [number, number]>): boolean {
  const all = [...counts]
  return [BEFORE, AFTER].every((period) => all.some((one) => one[period]! > 0))
}

/** Returns the share of the spans of both periods that have the same names, as often. */
function commonShare(counts: Iterable<readonly [number, number]>): number {
  const all = [...counts]
  const [before, after] = [BEFORE, AFTER].map((period) => sum(all, (one) => one[period]!))
  return sum(all, ([was, is]) => Math.min(was / before!, is / after!))
}

/** Names what spans of one service and kind do in both periods, and lists the lost names. */
function renamesOf(members: readonly Named[]): (Rename & Pick<Named, 'order'>)[] {
  const renames: (Rename & Pick<Named, 'order'>)[] = []
  const isOpen = ({ renamed }: Named) => renamed === null
  const join = (own: readonly Named[], name: string) => {
    const names = new Set(own.map(({ operation }) => operation))
    const most = greatest(own, (one) => (one.operation === name ? -1 : sum(one.spans)))!
    for (const one of own) one.renamed = name
    names.delete(name)
    if (names.size === 0) return
    const { service, operation, order } = most
    renames.push({ service, operation, renamed: name, names: names.size, order })
  }
  for (const at of NAMING.keys()) {
    const known = members.filter((one) => isOpen(one) && one.said[at] !== undefined)
    for (const own of groupsOf(known, ({ said }) => said[at]!)) {
      const isOfMethods = own.every(({ method }) => method !== '')
      const parts = isOfMethods ? groupsOf(own, ({ method }) => method) : [own]
      for (const part of parts.filter(areApart)) {
        const { method, said } = part[0]!
        join(part, nameOf(part, isOfMethods ? `${method} ${said[at]}` : said[at]!))
      }
    }
  }
  for (const own of groupsOf(members.filter(isOpen), ({ operation }) => withoutIds(operation))) {
    if (areApart(own)) join(own, nameOf(own, withoutIds(own[0]!.operation)))
  }
  for (const [name, own] of templatesOf(members.filter(isOpen))) join(own, nameOf(own, name))
  return renames
}

function groupsOf(members: readonly Named[], keyOf: (one: Named) => string): Named[][] {
  return [...rollup(members, (own) => own, keyOf).values()]
}

/** Whether spans that are one operation are called otherwise in one period, or each by a rare name of its own. */
function areApart(own: readonly Named[]): boolean {
  const byName = rollup(
    own,
    (same) => [BEFORE, AFTER].map((period) => sum(same, ({ spans }) => spans[period]!)),
    ({ operation }) => operation,
  )
  const counts = [...byName.values()] as [number, number][]
  if (counts.length < 2) return false
  if (!inBoth(counts)) return counts.every(isRare)
  const common = counts.filter(
    (one) =>
      Math.min(...one) > MAX_IN_OTHER * Math.max(...one) &&
      (counts.length < MANY || Math.min(...one) >= MIN_SPANS),
  )
  return [BEFORE, AFTER].some(
    (period) =>
      sum(common, (one) => one[period]!) < MAX_COMMON * sum(counts, (one) => one[period]!),
  )
}

function isRare(counts: readonly [number, number]): boolean {
  return sum(counts) < MIN_SPANS
}

/** Returns the only name after, or before; else a template of a route; else the common part of the names. */
function nameOf(own: readonly Named[], common: string): string {
  for (const period of [AFTER, BEFORE]) {
    const some = own.filter(({ spans }) => spans[period]! > 0)
    const names = new Set(some.map(({ operation }) => operation))
    if (names.size === 1) return some[0]!.operation
  }
  const isTemplate = ({ operation }: Named) =>
    operation.split(PARTS).some((one) => TEMPLATE.test(one))
  return greatest(own.filter(isTemplate), ({ spans }) => sum(spans))?.operation ?? common
}

/** Returns a name with `{id}` in place of templates, numbers and hashes; of parts of paths, all that have digits. */
function withoutIds(name: string): string {
  const parts = name.split(PARTS)
  return parts
    .map((part, i) => {
      if (TEMPLATE.test(part)) return ID
      if (!/\d/.test(part)) return part
      const stripped = stripIds(part)
      return parts[i - 1] === '/' || stripped === part ? ID : stripped.replaceAll('#', ID)
    })
    .join('')
}

/** Groups names whose parts have many rare values by their common parts: `GET /users/{id}`. */
function templatesOf(members: readonly Named[]): Map<string, Named[]> {
  const found = new Map<string, Named[]>()
  const partsOf = new Map(members.map((one) => [one, one.operation.split(PARTS)]))
  const countOf = (own: readonly Named[]) => sum(own, ({ spans }) => sum(spans))
  const visit = (some: readonly Named[], at: number, prefix: string, isTemplate: boolean) => {
    const [ended, open] = [true, false].map((is) =>
      some.filter((one) => partsOf.get(one)!.length <= at === is),
    ) as [Named[], Named[]]
    if (isTemplate && ended.length > 0) found.set(prefix, ended)
    const children = rollup(
      open,
      (same) => same,
      (one) => partsOf.get(one)![at]!,
    )
    const rare = [...children].filter(([, same]) => countOf(same) < MIN_SPANS)
    const own = rare.flatMap(([, same]) => same)
    const isId = prefix !== '' && rare.length >= MANY && countOf(own) > countOf(open) / 2
    if (isId) visit(own, at + 1, prefix + ID, true)
    for (const [part, same] of children) {
      if (isId && rare.some(([one]) => one === part)) continue
      visit(same, at + 1, prefix + part, isTemplate)
    }
  }
  visit(members, 0, '', false)
  return found
}

function rename(traces: TraceSet, named: readonly (Named | null)[]): TraceSet {
  if (traces.kind !== 'spans' || !named.some((one) => one !== null && one.renamed !== null))
    return traces
  const operations = new Dictionary([...traces.operations.values])
  const operation = traces.spans.operation.map((code, span) => {
    const name = named[span]?.renamed ?? null
    return name === null ? code : operations.code(name)
  })
  const columns = { ...traces, operations, spans: { ...traces.spans, operation } }
  return new SpanTraces(traces.name, columns, traces.quality())
}
