import { group, min, sum } from 'd3-array'
import type { Account, AccountStep, TimedStep } from '../../compare/account.ts'
import { spoken } from '../../core/words.ts'
import { operationAt } from '../../flows/node-labels.ts'
import { distinctTexts } from './builders.ts'

/** A part of a mean request: a step that changed, or all steps in between that hardly did. */
export interface RibbonPart {
  /** Empty where its steps hardly changed. */
  readonly name: string
  readonly change: 'more' | 'less' | 'little'
  readonly beforeUs: number
  readonly afterUs: number
  readonly steps: readonly TimedStep[]
}

interface Wanted {
  /** Most parts that are distinguished by name. */
  readonly limit: number
  /** Most characters of a name. */
  readonly longest: number
}

interface Place {
  readonly place: string
  readonly operation: string
}

type Level = (step: AccountStep) => Place

const OPERATIONS: Level = (step) => ({ place: placeOf(step), operation: step.operation })

/** Levels from fine to coarse: operations, services and the ways to them, services with the ways to them. */
const LEVELS: readonly Level[] = [
  OPERATIONS,
  (step) => ({ place: placeOf(step), operation: '' }),
  ({ service }) => ({ place: service, operation: '' }),
]

function placeOf({ kind, service, caller }: AccountStep): string {
  return kind === 'call' ? `${caller ?? ''} → ${service}` : service
}

/** Named parts hold at least this share of all change, else steps are pooled into coarser ones. */
const MOST_CHANGE = 2 / 3
/** Smallest share of the largest change at which a step is a part of its own. */
const MIN_CHANGE = 0.1

/**
 * Cuts a mean request into parts, in the order in which requests walk through them. Times of parts
 * add up to the means of both periods.
 */
export function ribbonParts({ steps }: Pick<Account, 'steps'>, wanted: Wanted): RibbonPart[] {
  const levels = LEVELS.map((level) => changedAt(steps, level, wanted.limit))
  const { changed } =
    levels.find(({ share }) => share >= MOST_CHANGE) ??
    levels.reduce((best, level) => (level.share > best.share ? level : best))
  const names = namesOf(changed, wanted.longest)
  const begins = changed.map(({ members }) => min(members, ({ startUs }) => startUs) as number)
  const partOf = new Map(changed.flatMap(({ members }, i) => members.map((step) => [step, i])))
  const walk = steps
    .map((step) => {
      const part = partOf.get(step) ?? -1
      return { step, part, atUs: begins[part] ?? step.startUs }
    })
    .sort((a, b) => a.atUs - b.atUs || a.part - b.part)
  const parts: { part: number; members: TimedStep[] }[] = []
  for (const { step, part } of walk) {
    const last = parts.at(-1)
    if (last?.part === part) last.members.push(step)
    else parts.push({ part, members: [step] })
  }
  return parts.map(({ part, members }) => {
    const beforeUs = sum(members, (step) => step.beforeUs)
    const afterUs = sum(members, (step) => step.afterUs)
    const change = part < 0 ? 'little' : afterUs > beforeUs ? 'more' : 'less'
    return { name: names[part] ?? '', change, beforeUs, afterUs, steps: members }
  })
}

/** Returns the largest changes at a level, and the share of all change that they hold. */
function changedAt(steps: readonly TimedStep[], level: Level, limit: number) {
  const all = Array.from(
    group(steps, (step) => JSON.stringify(named(level, step))).values(),
    (members) => ({
      ...named(level, members[0] as TimedStep),
      members,
      changeUs: Math.abs(sum(members, ({ beforeUs, afterUs }) => afterUs - beforeUs)),
    }),
  ).sort((a, b) => b.changeUs - a.changeUs)
  const leastUs = MIN_CHANGE * (all[0]?.changeUs ?? 0)
  const changed = all.slice(0, limit).filter(({ changeUs }) => changeUs > 0 && changeUs >= leastUs)
  const wholeUs = sum(all, ({ changeUs }) => changeUs)
  return { changed, share: sum(changed, ({ changeUs }) => changeUs) / (wholeUs || 1) }
}

/** Names the place of a step; a trace point without a place stands for itself. */
function named(level: Level, step: AccountStep): Place {
  const known = level(step)
  return known.place === '' ? { place: '', operation: step.operation || 'unnamed' } : known
}

/** Places and operations; where that is too long, places that say it alone. */
function namesOf(changed: readonly Place[], longest: number): string[] {
  const isAlone = (place: string) => changed.filter((one) => one.place === place).length === 1
  return distinctTexts(changed, longest, (one) => {
    const name = textOf(one)
    return name.length > longest && one.place !== '' && isAlone(one.place) ? one.place : name
  })
}

function textOf({ place, operation }: Place): string {
  const service = place.replace(/^.* → /, '')
  return spoken([place, operation && operationAt(service, operation)]).join(': ')
}

/** Names the working service, or caller and callee, and the operation. */
export function stepName(step: AccountStep): string {
  return step.kind === 'other' ? 'other steps' : textOf(named(OPERATIONS, step))
}
