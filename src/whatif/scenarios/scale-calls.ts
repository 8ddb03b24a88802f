import type { CallPaths } from '../../calls/call-paths.ts'
import { OptionError } from '../../core/errors.ts'
import {
  defineOptions,
  number,
  type OptionsOf,
  oneOf,
  readOptions,
  text,
} from '../../core/options.ts'
import { firstOf, formatDuration, shortText, signedDuration } from '../../core/words.ts'
import { isEntry } from './call-group.ts'
import { type ChangedPart, changeParts, type NewTime } from './change-parts.ts'
import { MAX_NAME_LENGTH, type Scenario } from './scenario.ts'

export const SCALE_OPTIONS = defineOptions({
  service: text({ default: '', sentence: 'Service whose calls change' }),
  operation: text({ default: '', sentence: "Operation whose calls change; '' for all" }),
  part: oneOf(['server', 'network', 'preprocessing'], {
    default: 'server',
    sentence:
      "Time that changes: 'server' all of it, 'network' to the service, 'preprocessing' its own time between the calls it makes",
  }),
  factor: number({
    default: null,
    or: null,
    min: 0,
    sentence: 'Factor that times are multiplied by',
  }),
  addUs: number({
    default: null,
    or: null,
    unit: 'µs',
    sentence: 'Time to add, instead of factor; none gets shorter than 0',
  }),
})
export type ScaleOptions = Pick<Scaling, 'service'> & Partial<Scaling>
type Scaling = OptionsOf<typeof SCALE_OPTIONS>

const WORDS = { server: '', network: 'network to ', preprocessing: 'own time of ' }

/**
 * Describes a scenario in which a service is slower or faster: its calls take `factor` times as long, or
 * `addUs` longer, wherever they are made. Calls that a service makes to itself count once, as part of the
 * call from outside.
 *
 * @param options see {@link SCALE_OPTIONS}
 * @throws OptionError unless either `factor` or `addUs` is given; when applied, for a service or an
 *   operation that no call has
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.2.
 *
 * @example
 * scaleCalls({ service: 'inventory', factor: 0.5 }).title // 'inventory × 0.5'
 * scaleCalls({ service: 'inventory', part: 'network', addUs: 10_000 }).title // 'network to inventory +10 ms'
 */
export function scaleCalls(given: ScaleOptions): Scenario {
  const options = readOptions(SCALE_OPTIONS, given)
  const { service, operation, part } = options
  if (given?.service === undefined) throw new OptionError('service', undefined, 'the name of one')
  const { newTime, words } = change(options)
  const name = operation === '' ? service : `${service} ${operation}`
  return {
    kind: 'scale',
    service,
    operation,
    path: null,
    title: `${WORDS[part]}${name} ${words}`,
    apply(base) {
      const { paths } = base.models
      const members = matchingPaths(paths, { service, operation })
      const parts = changedParts(paths, members, part)
      const changes = parts.map((each) => ({ ...changeParts(base, each, newTime), newTime }))
      return { changes, weight: null }
    },
  }
}

function change({ factor, addUs }: Scaling): { newTime: NewTime; words: string } {
  if (factor !== null && addUs === null) {
    return { newTime: (us) => us * factor, words: `× ${factor}` }
  }
  if (addUs === null || factor !== null) {
    throw new OptionError('factor', factor ?? undefined, 'either factor or addUs')
  }
  // A time below 0 comes from differing clocks already, and stays comparable to itself.
  const newTime: NewTime = (us) => Math.max(us + addUs, Math.min(us, 0))
  return { newTime, words: addUs === 0 ? `+${formatDuration(0)}` : signedDuration(addUs) }
}

/** @throws OptionError if there is none, with a list of the existing ones */
function matchingPaths(
  paths: CallPaths,
  { service, operation }: Pick<Scaling, 'service' | 'operation'>,
): number[] {
  const all = paths.all()
  const ofService = all.filter((path) => paths.service(path) === service)
  const chosen = ofService.filter((path) => ['', paths.operation(path)].includes(operation))
  if (chosen.length > 0) return chosen
  if (ofService.length === 0) {
    const known = listed(all.map((path) => paths.service(path)))
    throw new OptionError('service', service, `one of ${known}`)
  }
  const known = listed(ofService.map((path) => paths.operation(path)))
  const expected = `one of ${known}, which ${shortText(service, MAX_NAME_LENGTH)} has`
  throw new OptionError('operation', operation, expected)
}

function changedParts(
  paths: CallPaths,
  members: readonly number[],
  part: Scaling['part'],
): ChangedPart[] {
  const chosen = new Set(members)
  if (part === 'preprocessing') {
    const called = paths.all().filter((path) => chosen.has(paths.parent(path)))
    return [
      { part, paths: called },
      { part: 'reply', paths: members },
    ]
  }
  // Steps within a service are in the time of the call from outside already.
  const isOutermost = (path: number) => !paths.above(path).some((each) => chosen.has(each))
  const isCounted = part === 'server' ? isOutermost : (path: number) => isEntry(paths, path)
  return [{ part, paths: members.filter(isCounted) }]
}

function listed(names: readonly string[]): string {
  const distinct = [...new Set(names)].sort().map((name) => shortText(name, MAX_NAME_LENGTH))
  return firstOf(distinct, { most: 30 })
}
