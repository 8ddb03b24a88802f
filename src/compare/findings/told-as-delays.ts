import { mean, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { isOfOneCall } from './concurrency-findings.ts'
import { type Compared, isSameWork, strataOf } from './consequences.ts'
import type { Draft } from './finding.ts'
import { MIN_USUAL } from './form-prices.ts'

/**
 * Of the time that requests gain by another structure, the part that delays account for: what these add to
 * its requests, less what they add to those of the usual form, if there are any after (`priceOf`). Each request
 * has the part of a delay that its own calls take more.
 */
export function toldAsDelays(
  compared: Compared,
  drafts: readonly Draft[],
): (draft: Draft) => number {
  const { categories } = compared
  const { flows } = categories
  const ofAll = delaysOf(compared, drafts)
  const countAll = (requests: readonly number[]) => sum(requests, (one) => flows.countOf(one))
  const membersOf = (ids: readonly number[]) =>
    ids.flatMap((id) => [...categories.members(id, AFTER)])
  return (told) => {
    const {
      moves,
      requests,
      calls: [call],
      categories: ids,
      doing,
      isOfCalls,
    } = told
    // What the calls alone take holds no other delay.
    const isPart = (draft: Draft) => isSameWork(compared, { cause: told, draft })
    const delayUs = isOfCalls ? delaysOf(compared, drafts.filter(isPart)) : ofAll
    const totalUs = (requests: readonly number[]) =>
      sum(requests, (one) => at(delayUs, one) * flows.countOf(one))
    // Requests that call again may be those that would be slow anyway.
    const isOfAll = call && (isOfOneCall(call) || call.kind === 'again')
    if (isOfAll) return totalUs(membersOf(ids))
    const [from, to] = [moves.map((move) => move.from), moves.map((move) => move.to)].map(membersOf)
    const now = doing ?? to ?? []
    const known = new Set(now)
    const usual = (doing ? membersOf(ids) : (from ?? [])).filter((one) => !known.has(one))
    const usualUs = usual.length < MIN_USUAL ? 0 : totalUs(usual) / countAll(usual)
    return requests * (totalUs(now) / countAll(now) - usualUs) || 0
  }
}

/** What delays that are told add to each request. */
function delaysOf({ categories, steps }: Compared, drafts: readonly Draft[]): Float64Array {
  const { flows } = categories
  const delayUs = new Float64Array(flows.size)
  for (const draft of drafts) {
    const { kind, categories: ids, contributionUs, covers } = draft
    if (kind !== 'latency' || covers) continue
    const moreUs = new Map<number, number>()
    for (const stratum of strataOf(draft, steps)) addMoreUs(moreUs, stratum)
    const allUs = sum(moreUs, ([one, us]) => us * flows.countOf(one))
    if (allUs * contributionUs > 0) {
      for (const [one, us] of moreUs) addAt(delayUs, one, (contributionUs * us) / allUs)
    } else {
      const own = ids.flatMap((id) => [...categories.members(id, AFTER)])
      const eachUs = contributionUs / sum(own, (one) => flows.countOf(one))
      for (const one of own) addAt(delayUs, one, eachUs)
    }
  }
  return delayUs
}

/** Slower ones than this share are cut: one that hangs would hold all that others take more. */
const CUT = 0.99

/** Adds what the calls of each request after take more than on average before. */
function addMoreUs(moreUs: Map<number, number>, stratum: StepStratum): void {
  const [before, after] = [stratum.before.recorded, stratum.after.recorded]
  if (before.values.length === 0 || after.values.length === 0) return
  const most = Math.max(...[before, after].map(({ values }) => quantile(values, CUT)))
  const usualUs = mean(before.values, (value) => Math.min(most, value)) as number
  for (const [i, request] of after.requests.entries()) {
    const us = Math.min(most, at(after.values, i)) - usualUs
    moreUs.set(request, (moreUs.get(request) ?? 0) + us)
  }
}
