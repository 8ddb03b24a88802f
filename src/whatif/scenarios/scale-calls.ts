import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { signedDuration } from '../../core/words.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import { isEntry } from './call-group.ts'
import { type ChangedPart, changeParts, type NewTime } from './change-parts.ts'
import type { Scenario } from './scenario.ts'

export interface ScaleOptions {
  /** The service whose calls change. */
  readonly service: string
  /** Only its calls of this operation. Default: all of them. */
  readonly operation?: string
  /**
   * `'server'`: what its calls take in it, with all that they call; `'network'`: between the callers
   * and it; `'preprocessing'`: what it does itself, before, between and after the calls it makes.
   * Default `'server'`.
   */
  readonly part?: 'server' | 'network' | 'preprocessing'
  /** How many times as long, from 0 up. */
  readonly factor?: number
  /** µs longer, or shorter if negative; nothing gets shorter than 0. Give this or `factor`. */
  readonly addUs?: number
}

const WORDS = { server: '', network: 'network to ', preprocessing: 'own time of ' }

/**
 * What if a service were slower or faster? Its calls' time becomes `factor` times as long, or
 * `addUs` longer, wherever they are made; calls that a service makes to itself count once, as part
 * of the call from outside.
 *
 * @throws OptionError unless one of `factor` (from 0 up) and `addUs` is given; when it is applied,
 *   for a service or an operation that no call has.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.2.
 *
 * @example
 * scaleCalls({ service: 'inventory', factor: 0.5 }).title // 'inventory × 0.5'
 * scaleCalls({ service: 'inventory', part: 'network', addUs: 10_000 }).title // 'network to inventory +10 ms'
 */
export function scaleCalls(options: ScaleOptions): Scenario {
  rejectUnknownOptions(options, ['service', 'operation', 'part', 'factor', 'addUs'])
  const { service, operation = '', part = 'server' } = options
  if (typeof service !== 'string') throw new OptionError('service', service, 'the name of one')
  if (WORDS[part] === undefined) {
    throw new OptionError('part', part, `'server', 'network' or 'preprocessing'`)
  }
  const { newTime, words } = change(options)
  const name = operation === '' ? service : `${service} ${operation}`
  return {
    ...{ kind: 'scale', service, operation, path: null },
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

function change({ factor, addUs }: ScaleOptions): { newTime: NewTime; words: string } {
  if (factor !== undefined && addUs === undefined) {
    if (typeof factor !== 'number' || !(factor >= 0 && factor < Number.POSITIVE_INFINITY)) {
      throw new OptionError('factor', factor, 'a number from 0 up')
    }
    return { newTime: (us) => us * factor, words: `× ${factor}` }
  }
  if (addUs === undefined || factor !== undefined) {
    throw new OptionError('factor', factor, 'either factor or addUs')
  }
  if (!Number.isFinite(addUs)) throw new OptionError('addUs', addUs, 'a number of µs')
  // What is below 0 already comes of clocks that differ, and stays comparable to itself.
  const newTime: NewTime = (us) => Math.max(us + addUs, Math.min(us, 0))
  return { newTime, words: addUs === 0 ? `+${formatDuration(0)}` : signedDuration(addUs) }
}

/** Paths that end in a service, and in one of its operations if one is named. */
function matchingPaths(
  paths: CallPaths,
  { service, operation }: { readonly service: string; readonly operation: string },
): number[] {
  const ofService = Array.from({ length: paths.size }, (_, path) => path).filter(
    (path) => paths.service(path) === service,
  )
  if (ofService.length === 0) {
    const known = Array.from({ length: paths.size }, (_, path) => paths.service(path))
    throw new OptionError('service', service, `one of ${listed(known)}`)
  }
  if (operation === '') return ofService
  const chosen = ofService.filter((path) => paths.operation(path) === operation)
  if (chosen.length > 0) return chosen
  const known = ofService.map((path) => paths.operation(path))
  throw new OptionError(
    'operation',
    operation,
    `one of ${listed(known)}, which ${shortText(service, LONGEST_NAME)} has`,
  )
}

function changedParts(
  paths: CallPaths,
  members: readonly number[],
  part: 'server' | 'network' | 'preprocessing',
): ChangedPart[] {
  const chosen = new Set(members)
  if (part === 'preprocessing') {
    const called = Array.from({ length: paths.size }, (_, path) => path).filter((path) =>
      chosen.has(paths.parent(path)),
    )
    return [
      { part, paths: called },
      { part: 'reply', paths: members },
    ]
  }
  // Steps within a service are in the time of the call from outside already.
  const outermost = members.filter((path) => !isBelowSome(paths, path, chosen))
  return [
    { part, paths: part === 'server' ? outermost : members.filter((path) => isEntry(paths, path)) },
  ]
}

function isBelowSome(paths: CallPaths, path: number, chosen: ReadonlySet<number>): boolean {
  for (let at = paths.parent(path); at >= 0; at = paths.parent(at)) {
    if (chosen.has(at)) return true
  }
  return false
}

const LONGEST_NAME = 80

function listed(names: readonly string[]): string {
  const distinct = [...new Set(names)].sort().map((name) => shortText(name, LONGEST_NAME))
  return distinct.length > 30
    ? `${distinct.slice(0, 30).join(', ')} and ${distinct.length - 30} more`
    : distinct.join(', ')
}
