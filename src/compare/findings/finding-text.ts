import { formatDuration } from '../../core/units.ts'
import { grouped, percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChange } from '../edges/edge-changes.ts'
import { typicalTimeUs } from '../ranking/typical-time.ts'
import { changedServices } from './changed-services.ts'
import { enumerated, printable, quoted, stepName } from './edge-words.ts'
import type { Finding } from './finding.ts'

type Described = Omit<Finding, 'text'>

/** A finding in two sentences that need no knowledge of the method. */
export function findingText(categories: Categories, finding: Described): string {
  switch (finding.kind) {
    case 'edges':
      return edgesText(categories, finding)
    case 'requests':
      return requestsText(categories, finding)
    case 'structure':
      return structureText(categories, finding)
  }
}

function requestsText(categories: Categories, finding: Described): string {
  const [category = 0] = finding.categories
  const [then, now] = ([BEFORE, AFTER] as const).map((period) =>
    formatDuration(typicalTimeUs(categories, { category, period, centre: 'median' })),
  )
  return (
    `${shareOf(finding.requests, categories.flows.count(AFTER))} are concerned (the median of ` +
    `${stepName(categories.nodeLabel(category, 0))} went from ${then} to ${now}), which ` +
    `${cost(finding)}. ` +
    `Chance alone ${byChance(finding.q)}; no single step changed by enough, so look at what all steps ` +
    `share (host, runtime, load)${examples(finding)}.`
  )
}

function edgesText(categories: Categories, finding: Described): string {
  const [edge] = finding.changedEdges as [EdgeChange]
  const { interval, probabilitySlower } = edge
  const all = categories.flows.count(AFTER)
  const [least, most] = interval.map(Math.abs).sort((a, b) => a - b) as [number, number]
  const slower = finding.direction === 'slower'
  const chance = slower ? probabilitySlower : 1 - probabilitySlower
  return (
    `In ${shareOf(finding.requests, all)} one such step typically takes ` +
    `${formatDuration(Math.abs(edge.shiftUs))} ${slower ? 'longer' : 'less'} than before ` +
    `(${within(least, most)}); where requests wait for it, that ${cost(finding)}. ` +
    `Pick one request of each period: the later one is ${finding.direction} there ` +
    `${percent(chance)} of the time, and chance alone ${byChance(finding.q)}; look next at ` +
    `${edgePlaces(finding)}${examples(finding)}.`
  )
}

/** The services at the edges; where none is known, what is. */
function edgePlaces({ services }: Described): string {
  if (services.length === 0) return 'what runs between these two points'
  return services.slice(0, 2).map(printable).join(' and ')
}

/** An interval; one that is narrower than what is shown of its ends by its width. */
function within(leastUs: number, mostUs: number): string {
  const [least, most] = [formatDuration(leastUs), formatDuration(mostUs)]
  return least === most
    ? `give or take ${formatDuration((mostUs - leastUs) / 2)}`
    : `between ${least} and ${most}`
}

function structureText(categories: Categories, finding: Described): string {
  const { moves } = finding
  const all = categories.flows.count(AFTER)
  const [move] = moves
  const to = move?.to ?? 0
  const whichWay = moves.length > 1 ? 'the commonest new one' : 'the new one'
  return (
    `About ${shareOf(finding.requests, all)} take another path than they would have before ` +
    `(${whichWay} was taken by ${grouped(categories.count(to, BEFORE))} requests before, by ` +
    `${grouped(categories.count(to, AFTER))} after), which ${cost(finding)}. ` +
    `Chance alone ${byChance(finding.q)}; look next at ${whereNext(categories, finding)}${examples(finding)}.`
  )
}

/** Services named that an answer rests on, the last to answer first. */
const RESTS_ON = 4

function whereNext(categories: Categories, finding: Described): string {
  const { gained, lost } = changedServices(categories, finding.moves)
  const decides = whatDecides(finding)
  if (gained.length > 0) return `${decides}, and at ${enumerated(gained.map(printable))}`
  const endsEarly = lost.length > 0 && finding.direction === 'faster'
  return endsEarly ? `${decides}, and whether they fail: those that stop early are fast` : decides
}

function whatDecides({ changedStructure }: Described): string {
  const change = changedStructure.find(({ answered }) => answered !== null) ?? changedStructure[0]
  if (change?.after == null) return 'what such requests begin with'
  const { answered } = change
  if (answered === null) return `what decides how it goes on after ${stepName(change.after.node)}`
  const whose = `what ${quoted(answered.operation)} of ${printable(answered.service)} answered just before`
  const { restsOn } = answered
  if (restsOn.length === 0) return whose
  const more = restsOn.length > RESTS_ON ? ` and ${restsOn.length - RESTS_ON} more` : ''
  return `${whose}, which rests on ${restsOn.slice(0, RESTS_ON).map(printable).join(', ')}${more}`
}

function shareOf(requests: number, all: number): string {
  const share = all === 0 ? '' : ` (${percent(requests / all)})`
  return `${grouped(requests)} of ${grouped(all)} requests after${share}`
}

function cost({ contributionUs, requests, shareOfChange }: Described): string {
  const verb = contributionUs < 0 ? 'saves' : 'adds'
  const size = Math.abs(contributionUs)
  const each =
    requests > 1 ? ` (${formatDuration(size / requests)} for each of these requests)` : ''
  const total = `${verb} ${formatDuration(size)} in all${each}`
  if (!(shareOfChange > 0)) return total
  return `${total}, ${percent(shareOfChange)} of the observed change`
}

/** A corrected p in words, after “chance”. */
export function byChance(q: number): string {
  if (!(q < 0.5)) return 'may well do as much'
  if (q < 1e-6) return 'would do as much less than once in a million times'
  const once = 1 / q
  const round = once >= 100 ? Number(once.toPrecision(1)) : Math.floor(once)
  return `would do as much about once in ${grouped(round)} times`
}

function examples({ exemplars: { before, after } }: Described): string {
  const traces = [
    ...(before[0] === undefined ? [] : [`${printable(before[0])} (before)`]),
    ...(after[0] === undefined ? [] : [`${printable(after[0])} (after)`]),
  ]
  return traces.length === 0 ? '' : `, for example in traces ${traces.join(' and ')}`
}
