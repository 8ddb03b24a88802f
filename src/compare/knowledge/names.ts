import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import type { Rename } from '../../flows/flow-set.ts'
import { stripIds } from '../../flows/label-parts.ts'
import { labelText, parsePointLabel } from '../../flows/node-labels.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { GraphTraces } from '../../traces/graph-traces.ts'
import { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { Knowledge, Name } from './knowledge.ts'

const SERVICE = 'service:'
const STEP = 'step:'

/** Returns the id of a service in a knowledge file. */
function serviceKey(service: string): string {
  return SERVICE + service
}

/** Returns the id of an operation of a service, or of a trace point, in a knowledge file. */
export function stepKey({ service, operation }: { service: string; operation: string }): string {
  return `${STEP}${service === '' ? '' : `${service} `}${operation}`
}

/** Returns the keys of a service and its operation under their shown names. */
export function shownKeys(
  { service, operation }: { readonly service: string; readonly operation: string },
  knowledge: Knowledge | null,
): { readonly ofService: string; readonly ofStep: string } {
  const recorded = withoutNames(service, knowledge)
  const of = { service: recorded, operation: withoutNames(operation, knowledge) }
  return { ofService: serviceKey(recorded), ofStep: stepKey(of) }
}

type Naming = (about: string, recorded: string) => string

/** Returns one function per list of names, so that its results can be recognized as the same. */
const namingOf = remembered((names: readonly Name[]): Naming => {
  const known = new Map(names.map(({ about, name }) => [about, name]))
  return (about, recorded) => {
    const name = known.get(about) ?? known.get(stripIds(about))
    // The recorded name stays, so that none is lost or mixed up: `storage node (SN)`.
    return name === undefined ? recorded : `${name} (${recorded})`
  }
})

/**
 * Returns traces whose services and steps are called as people call them: the one place where names
 * are applied, before anything is made of traces, so that whatever shows a label shows its name.
 */
export function nameTraces<Traces extends TraceSet>(
  traces: Traces,
  knowledge: Knowledge | null,
): Traces {
  const names = namesOf(knowledge)
  const isOne = ({ about }: Name) => about.startsWith(SERVICE) || about.startsWith(STEP)
  return names.some(isOne) ? (namedBy(names)(traces) as Traces) : traces
}

/** Returns traces whose services or operations have other names, as those of the other period have. */
export function renameIn<Traces extends TraceSet>(
  traces: Traces,
  renames: readonly Rename[],
): Traces {
  const known = new Map(
    renames.map(({ service, operation, renamed }) => [
      operation === null ? serviceKey(service) : stepKey({ service, operation }),
      renamed,
    ]),
  )
  const naming: Naming = (about, recorded) => known.get(about) ?? recorded
  return traces.kind === 'spans' ? (nameSpans(traces, naming) as Traces) : traces
}

/** Returns people's names for a service and its operation. */
export function nameOf(
  knowledge: Knowledge | null,
  { service, operation = '' }: { readonly service: string; readonly operation?: string },
) {
  const naming = namingOf(namesOf(knowledge))
  return {
    service: naming(serviceKey(service), service),
    operation: naming(stepKey({ service, operation }), operation),
  }
}

/** Returns a type of request, `shop GET`, as people call its service or its operation. */
export function nameType(knowledge: Knowledge | null, type: string): string {
  const words = type.split(' ')
  // The border between the service's name and the operation's is unknown; points have no service.
  const named = words.map((_, i) => {
    const end = (i + 1) % words.length
    const [service, operation] = [words.slice(0, end).join(' '), words.slice(end).join(' ')]
    const shown = nameOf(knowledge, { service, operation })
    return end === 0 ? shown.operation : `${shown.service} ${shown.operation}`
  })
  return named.find((one) => one !== type) ?? type
}

/** Returns the names that are known; one list for one state of knowledge. */
export function namesOf(knowledge: Knowledge | null): readonly Name[] {
  return knowledge?.names ?? NONE
}

const NONE: readonly Name[] = []

const namedBy = remembered((names: readonly Name[]) =>
  remembered((traces: TraceSet): TraceSet => {
    const naming = namingOf(names)
    return traces.kind === 'spans' ? nameSpans(traces, naming) : namePoints(traces, naming)
  }),
)

function nameSpans(traces: SpanTraces, naming: Naming): SpanTraces {
  const { spans, services, operations, serviceLogs } = traces
  const nameServices = ({ values }: Dictionary) =>
    new NamedDictionary(values, (service) => naming(serviceKey(service), service))
  const named = new Dictionary([...operations.values])
  const codes = new Map<number, number>()
  const operation = spans.operation.map((code, span) => {
    const of = spans.service[span] as number
    return getOrInsert(codes, of * operations.size + code, () => {
      const recorded = operations.value(code)
      const about = stepKey({ service: services.value(of), operation: recorded })
      return named.code(naming(about, recorded))
    })
  })
  const columns = {
    ...traces,
    services: nameServices(services),
    operations: named,
    spans: { ...spans, operation },
    serviceLogs: serviceLogs && { ...serviceLogs, services: nameServices(serviceLogs.services) },
  }
  return new SpanTraces(traces.name, columns, traces.quality())
}

function namePoints(traces: GraphTraces, naming: Naming): GraphTraces {
  const labels = traces.labels.map((text) => {
    const point = parsePointLabel(text)
    const { operation } = point
    return labelText({ ...point, operation: naming(stepKey(point), operation) })
  })
  return new GraphTraces(traces.name, { ...traces, labels }, traces.quality())
}

/** Services by their names, which can be found by their recorded names as well. */
class NamedDictionary extends Dictionary {
  readonly #recorded: ReadonlyMap<string, number>

  constructor(recorded: readonly string[], name: (recorded: string) => string) {
    super(recorded.map(name))
    this.#recorded = new Map(recorded.map((value, code) => [value, code]))
  }

  override find(value: string): number | undefined {
    return super.find(value) ?? this.#recorded.get(value)
  }
}

/** Returns text with the recorded names in place of people's, because kept text must survive a change of names. */
export function withoutNames(text: string, knowledge: Knowledge | null): string {
  return expressionsOf(namesOf(knowledge)).reduce(
    (one, named) => one.replace(named, (all, recorded) => recorded ?? all),
    text,
  )
}

const expressionsOf = remembered((names: readonly Name[]): RegExp[] =>
  names.flatMap(({ about, name }) => {
    const [, kind, recorded = ''] = /^(service:|step:)(.*)$/s.exec(about) ?? []
    if (kind === undefined) return []
    const words = recorded.split(' ')
    // The border between a service's name and its operation is unknown.
    const given = kind === SERVICE ? [recorded] : words.map((_, i) => words.slice(i).join(' '))
    return [name, JSON.stringify(name).slice(1, -1)].map((shown) => {
      const all = given.map((one) => escaped(one).replaceAll('#', '.+?')).join('|')
      return new RegExp(`${escaped(shown)} \\((${all})\\)`, 'gs')
    })
  }),
)

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
