import { group, sum } from 'd3-array'
import type { Account, TimedStep } from '../../compare/account.ts'
import { operationName } from '../../compare/findings/names.ts'
import { spoken } from '../../core/words.ts'
import { distinctTexts } from './builders.ts'

/** A part of a mean request: a step that changed, or all steps in between that hardly did. */
export interface RibbonPart {
  /** Empty where its steps hardly changed. */
  readonly name: string
  readonly change: 'more' | 'less' | 'little'
  readonly beforeUs: number
  readonly afterUs: number
  readonly steps: number
}

interface Wanted {
  /** Most parts that are told apart by name. */
  readonly limit: number
  readonly longest: number
}

type Key = (step: TimedStep) => readonly (string | null)[]

/** From fine to coarse: operations, services and the ways to them, services. */
const LEVELS: readonly Key[] = [
  ({ kind, service, caller, operation }) => [
    kind,
    service,
    operation,
    kind === 'call' ? caller : null,
  ],
  ({ kind, service, caller }) => [kind, service, '', kind === 'call' ? caller : null],
  ({ service }) => ['', service, '', null],
]

/** Share of all change that named parts hold, so that finer steps need not be pooled. */
const MOST_CHANGE = 2 / 3
/** Share of the largest change from which on a step has a part of its own. */
const MIN_CHANGE = 0.1

/**
 * Cuts a mean request into parts, in the order in which requests walk through them. Times of parts
 * add up to the means of both periods.
 */
export function ribbonParts({ steps }: Pick<Account, 'steps'>, wanted: Wanted): RibbonPart[] {
  const levels = LEVELS.map((key) => changedAt(steps, key, wanted.limit))
  const changed =
    levels.find(({ share }) => share >= MOST_CHANGE) ??
    levels.reduce((best, level) => (level.share > best.share ? level : best))
  const names = namesOf(changed.groups, wanted.longest)
  const nameOf = new Map(
    changed.groups.flatMap(({ members }, i) => members.map((step) => [step, names[i] as string])),
  )
  const startOf = new Map(
    changed.groups.flatMap(({ members }) => {
      const [first = 0] = members.map(({ startUs }) => startUs).sort((a, b) => a - b)
      return members.map((step) => [step, first])
    }),
  )
  const at = (step: TimedStep) => startOf.get(step) ?? step.startUs
  const walk = steps.toSorted(
    (a, b) => at(a) - at(b) || (nameOf.get(a) ?? '').localeCompare(nameOf.get(b) ?? ''),
  )
  const parts: { name: string; members: TimedStep[] }[] = []
  for (const step of walk) {
    const name = nameOf.get(step) ?? ''
    const last = parts.at(-1)
    if (last?.name === name) last.members.push(step)
    else parts.push({ name, members: [step] })
  }
  return parts.map(({ name, members }) => {
    const beforeUs = sum(members, (step) => step.beforeUs)
    const afterUs = sum(members, (step) => step.afterUs)
    const change = name === '' ? 'little' : afterUs > beforeUs ? 'more' : 'less'
    return { name, change, beforeUs, afterUs, steps: members.length }
  })
}

function changedAt(steps: readonly TimedStep[], key: Key, limit: number) {
  // Where trace points have no place, a step stands for itself.
  const all = Array.from(
    group(steps, (step) => JSON.stringify([...key(step), step.service || step.operation])).values(),
    (members) => {
      const changeUs = sum(members, ({ beforeUs, afterUs }) => afterUs - beforeUs)
      const [kind, service, operation, caller] = key(members[0] as TimedStep)
      const place = kind === 'call' ? `${caller ?? ''} → ${service}` : (service ?? '')
      const own = operation || (place === '' && members[0]?.operation)
      return { members, changeUs, place, operation: own && operationName({ operation: own }) }
    },
  ).sort((a, b) => Math.abs(b.changeUs) - Math.abs(a.changeUs))
  const wholeUs = sum(all, ({ changeUs }) => Math.abs(changeUs))
  const leastUs = MIN_CHANGE * Math.abs(all[0]?.changeUs ?? 0)
  const groups = all
    .slice(0, limit)
    .filter(({ changeUs }) => changeUs !== 0 && Math.abs(changeUs) >= leastUs)
  const share = wholeUs === 0 ? 1 : sum(groups, ({ changeUs }) => Math.abs(changeUs)) / wholeUs
  return { groups, share }
}

type Named = Pick<ReturnType<typeof changedAt>['groups'][number], 'place' | 'operation'>

/** Places and operations; where that is too long, places that say it alone. */
function namesOf(groups: readonly Named[], longest: number): string[] {
  const isAlone = ({ place }: Named) => groups.filter((one) => one.place === place).length === 1
  return distinctTexts(groups, longest, (one) => {
    const name = spoken([one.place, one.operation]).join(': ')
    return name.length > longest && one.place !== '' && isAlone(one) ? one.place : name
  })
}
