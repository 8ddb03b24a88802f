// Runs once a variable, instance and feature: the loops index with `!`.
import { EVENT_FEATURES, type Feature, STATE_FEATURES, type VariableKind } from './feature-types.ts'
import { LogReport, type ThinnedVariable } from './log-report.ts'
import { LogSet } from './log-set.ts'
import type { ClosedInstance, InstanceFeatures } from './open-instance.ts'
import type { Notes } from './reading-notes.ts'
import { VariableFeatures } from './variable-features.ts'

export interface LogParts {
  readonly ids: readonly string[]
  readonly classOf: ArrayLike<number>
  readonly instances: readonly ClosedInstance[]
  /** By code. */
  readonly names: Readonly<Record<VariableKind, readonly string[]>>
  readonly notes: Notes
}

/** Lays the features of single instances out by feature and variable, in the order of names. */
export function buildLogSet({ ids, classOf, instances, names, notes }: LogParts): LogSet {
  return new LogSet({
    instances: [...ids],
    classOf: Uint8Array.from(classOf),
    runTimeUs: Float64Array.from(instances, ({ runTimeUs }) => runTimeUs),
    events: laidOut(
      names.event,
      EVENT_FEATURES,
      instances.map(({ events }) => events),
    ),
    states: laidOut(
      names.state,
      STATE_FEATURES,
      instances.map(({ states }) => states),
    ),
    report: new LogReport({
      ...notes,
      messages: {
        event: instances.reduce((sum, { messages }) => sum + messages.event, 0),
        state: instances.reduce((sum, { messages }) => sum + messages.state, 0),
      },
      thinned: thinnedVariables(instances, names),
      emptyInstances: ids.filter((_, i) => Number.isNaN(instances[i]?.runTimeUs)),
    }),
  })
}

function laidOut<F extends Feature>(
  names: readonly string[],
  types: readonly F[],
  instances: readonly InstanceFeatures[],
): VariableFeatures<F> {
  const logged = new Int32Array(names.length)
  for (const { codes } of instances) for (const code of codes) logged[code] = logged[code]! + 1
  // A name may have been numbered without ever having a message: all of them were refused.
  const order = [...names.keys()]
    .filter((code) => logged[code]! > 0)
    .sort((a, b) => compareNames(names[a]!, names[b]!))
  const starts = new Int32Array(order.length + 1)
  const next = new Int32Array(names.length)
  for (const [row, code] of order.entries()) {
    next[code] = starts[row]!
    starts[row + 1] = starts[row]! + logged[code]!
  }
  const entries = starts[order.length]!
  const places = { starts, instances: new Int32Array(entries) }
  const columns = types.map(() => new Float64Array(entries))
  for (const [instance, { codes, values }] of instances.entries()) {
    for (const [i, code] of codes.entries()) {
      const entry = next[code]!
      next[code] = entry + 1
      places.instances[entry] = instance
      for (const [feature, column] of columns.entries()) {
        column[entry] = values[i * types.length + feature]!
      }
    }
  }
  return new VariableFeatures(
    order.map((code) => names[code]!),
    instances.length,
    new Map(types.map((type, feature) => [type, columns[feature]!])),
    places,
  )
}

/** By code units: the same on every machine. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function thinnedVariables(
  instances: readonly ClosedInstance[],
  names: LogParts['names'],
): ThinnedVariable[] {
  const found = new Map<string, ThinnedVariable>()
  for (const { kind, code, stride } of instances.flatMap(({ thinned }) => thinned)) {
    const name = names[kind][code] as string
    const known = found.get(`${kind} ${name}`)
    found.set(`${kind} ${name}`, {
      kind,
      name,
      instances: (known?.instances ?? 0) + 1,
      stride: Math.max(known?.stride ?? 1, stride),
    })
  }
  return [...found.values()]
}
