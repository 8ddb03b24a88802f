import { mean, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { isOfOneCall } from './concurrency-findings.ts'
import { type Compared, strataOf } from './consequences.ts'
import type { Draft } from './finding.ts'
import { MIN_USUAL } from './form-prices.ts'

/**
 * Of the time that requests gain by another structure, the part that delays account for: what these add to
 * its requests, less what they add to those of the usual form, if there are any after (`priceOf`). Each request
 * has the part of a delay that its own calls take more. Never more than all of it; of a price of calls alone,
 * only what delays of these calls add alike. What no step explains is left beside the structure as it is.
 */
export function toldAsDelays(
  { categories, steps }: Compared,
  drafts: readonly Draft[],
): (draft: Draft) => number {
  const { flows } = categories
  const countAll = (requests: readonly number[]) => sum(requests, (one) => flows.countOf(one))
  const membersOf = (ids: readonly number[]) =>
    ids.flatMap((id) => [...categories.members(id, AFTER)])
  const delays = drafts.flatMap((draft) => {
    const { kind, categories: ids, contributionUs, covers } = draft
    const services = new Set(draft.steps.map((step) => step.service))
    const isLeft = draft.steps.some((step) => step.kind === 'request')
    if (kind !== 'latency' || covers || isLeft) return []
    const delayUs = new Float64Array(flows.size)
    const moreUs = new Map<number, number>()
    for (const stratum of strataOf(draft, steps)) addMoreUs(moreUs, stratum)
    const allUs = sum(moreUs, ([one, us]) => us * flows.countOf(one))
    if (allUs * contributionUs > 0) {
      for (const [one, us] of moreUs) addAt(delayUs, one, (contributionUs * us) / allUs)
    } else {
      const own = membersOf(ids)
      const eachUs = contributionUs / countAll(own)
      for (const one of own) addAt(delayUs, one, eachUs)
    }
    return [{ delayUs, services }]
  })
  const addedUs = ({
    moves,
    requests,
    calls,
    categories: ids,
    doing,
    isOfCalls = false,
  }: Draft) => {
    const [call] = calls
    const known = isOfCalls
      ? delays.filter(({ services }) => calls.some((one) => services.has(one.call?.service ?? '')))
      : delays
    const totalUs = (all: readonly number[]) =>
      sum(known, ({ delayUs }) => sum(all, (one) => at(delayUs, one) * flows.countOf(one)))
    // Requests that call again may be those that would be slow anyway.
    const isOfAll = call && (isOfOneCall(call) || call.kind === 'again')
    if (isOfAll) return totalUs(membersOf(ids))
    const [from, to] = [moves.map((move) => move.from), moves.map((move) => move.to)].map(membersOf)
    const now = doing ?? to ?? []
    const isNow = new Set(now)
    const usual = (doing ? membersOf(ids) : (from ?? [])).filter((one) => !isNow.has(one))
    const usualUs = usual.length < MIN_USUAL ? 0 : totalUs(usual) / countAll(usual)
    return requests * (totalUs(now) / countAll(now) - usualUs) || 0
  }
  return (draft) => {
    const { contributionUs, isOfCalls } = draft
    const sign = Math.sign(contributionUs)
    const part = sign * addedUs(draft)
    return sign * Math.min(Math.abs(contributionUs), isOfCalls ? Math.max(0, part) : part)
  }
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
