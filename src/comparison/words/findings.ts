import { cumsum, greatest, sum } from 'd3-array'
import { roleMeans } from '../../calls/roles.ts'
import type { Detectable } from '../../compare/findings/detectable.ts'
import { moreFailed } from '../../compare/findings/error-findings.ts'
import { type Finding, isOpen } from '../../compare/findings/finding.ts'
import { placeTitle, stepTitle } from '../../compare/findings/names.ts'
import { clearShift, type WholeShift } from '../../compare/findings/request-findings.ts'
import type {
  FewSlow,
  SlowCounts,
  SlowRequests,
  SlowStretch,
} from '../../compare/findings/slow-stretch.ts'
import type { ErrorChange } from '../../compare/steps/compare-errors.ts'
import { slowSample } from '../../compare/steps/slow-sample.ts'
import type { StepChange } from '../../compare/steps/step-changes.ts'
import {
  APART,
  HARDLY_ANY,
  LARGE,
  MIN_RUNS,
  NEGLIGIBLE,
  NOTABLE,
  TWICE,
} from '../../compare/thresholds.ts'
import { at } from '../../core/entries.ts'
import { defineOptions, number } from '../../core/options.ts'
import { changeWords, formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import {
  capitalized,
  certaintyText,
  counted,
  formatDuration,
  grouped,
  listed,
  MAX_NAMED,
  percent,
  printable,
  spoken,
} from '../../core/words.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import {
  burstsText,
  deadlineText,
  hasDays,
  intervalText,
  lookText,
  OWN_P,
  shareText,
  timeText,
} from './finding-facts.ts'
import { errorWords, failuresText } from './segment-words.ts'

export const FINDINGS_OPTIONS = defineOptions({
  findingsThreshold: number({
    default: 'auto',
    min: 0,
    or: 'auto',
    unit: 'requests',
    sentence:
      "Requests that a category must gain or lose to become a finding; 'auto' tests its share of the requests of its type",
  }),
})

/** Says that nothing could be tested. */
const NOTHING_TESTABLE =
  'Too few requests: no type of request has enough in both periods for a test.'

const WIDTH = 100
const INDENT = '    '
const FACT_SEPARATOR = ' · '

interface FindingColumns extends SlowRequests {
  readonly findings: readonly Finding[]
  /** Number of findings beyond the limit, which are left out. */
  readonly omitted: number
  /** Number of findings of times that changed in the direction that `alternative` leaves out. */
  readonly otherWay: number
  /** Sum of response times after, less their sum at the mean before, in µs. */
  readonly observedChangeUs: number
  /** Part of it due to the changed request mix alone; 0 where the mix is the same. */
  readonly mixUs: number
  /** Whether the 95 % interval of that change leaves 0 out; shares of it mean little where not. */
  readonly changeIsClear: boolean
  /** Whether anything had enough requests in both periods to be tested. */
  readonly testable: boolean
  /** Requests of both periods. */
  readonly flows: FlowSet
  /** Requests after, or as many as those recorded stand for where weights count. */
  readonly requests: number
  /** Detectable shift of each type of request; empty if something was found. */
  readonly detectable: readonly Detectable[]
  /** Step closest to a change; `null` if there is a finding or a slow stretch, or if no step came close. */
  readonly nearest: StepChange | null
  /** Failures that came close to a change; `null` next to a finding. */
  readonly nearestFailure: ErrorChange | null
}

const FEW_RUNS = ' With fewer than 4 runs, even large changes may be missed.'

/** Changes, one entry per cause, the most important first. */
export class Findings extends columnarStage<FindingColumns>() {
  /** Writes all findings, in lines of at most `width` characters where names allow; default 100. */
  text(width = WIDTH): string {
    const { findings } = this
    const isTested = findings.length > 0 || this.flows.runs.length > 1
    return spoken([
      ...findings.map((finding) => `${this.textOf(finding, width)}\n`),
      this.summary(),
      this.slowStretchText,
      this.fewSlowText,
      isTested && this.testedAgainst,
    ]).join('\n')
  }

  /** Quantity of all amounts. */
  get quantity(): Quantity {
    return this.flows.quantity
  }

  /** The sum of the findings. */
  get attributedUs(): number {
    return this.findings.reduce((sum, { contributionUs }) => sum + contributionUs, 0)
  }

  /** Share of the change that neither findings nor the mix explain; 0 where too small to mention. */
  get unexplainedShare(): number {
    const isTold = this.findings.length > 0 ? this.attributedUs !== 0 : this.unexplained !== null
    const left = 1 - this.attributedUs / this.observedChangeUs - mixShare(this)
    return isTold && left > 1 - LARGE ? left : 0
  }

  /** Says when requests were slow for a while, and where; `null` if they were not. */
  get slowStretchText(): string | null {
    return this.slowStretch && stretchText(this.slowStretch, this.flows)
  }

  /** Says how slow a few requests were, and where; `null` if none were. */
  get fewSlowText(): string | null {
    return this.fewSlow && fewSlowText(this.fewSlow, this.flows)
  }

  /** Says what changes were tested against. */
  get testedAgainst(): string {
    const runs = this.flows.runs.length
    if (runs === 1) {
      return 'p is corrected for multiple tests. Differences between runs are unknown with only one run before.'
    }
    const few = runs < MIN_RUNS ? FEW_RUNS : ''
    return areFromSpans(this.flows)
      ? `Tested against the differences between ${runs} runs.${few}`
      : `Tested against ${runs} runs as one: differences between runs need traces with spans.`
  }

  /** Says how much of the change findings explain; without findings, how large a change could be missed. */
  summary(): string {
    const { findings, omitted, observedChangeUs, quantity } = this
    if (findings.length === 0) return this.nothingText()
    const smaller = omitted > 0 && `${counted(omitted, 'smaller finding')} left out.`
    const otherWay = this.otherWay > 0 && this.#otherWayText()
    const recorded = this.flows.wholes(AFTER)
    const part =
      recorded === this.requests
        ? ''
        : ` (${grouped(recorded)} of them ${this.flows.isOfSample ? 'compared' : 'recorded'})`
    // In a drawn sample, each request may count once, without those it stands for.
    const isDrawn = recorded === this.requests && this.flows.isOfSample
    const all = `${grouped(this.requests)} requests${part}${isDrawn ? ' of a sample' : ''}`
    const took = `Together, ${all} took ${moreText(observedChangeUs, quantity)} than they would have before.`
    const why =
      accountedText(this) ??
      (this.changeIsClear ? 'No finding explains the difference.' : 'That may be chance.')
    return spoken([smaller, otherWay, took, why]).join(' ')
  }

  /** Says what `alternative` leaves out. */
  #otherWayText(): string {
    return `${counted(this.otherWay, 'finding')} in the other direction left out.`
  }

  /**
   * Mean or median of all requests if it clearly changed (its 95 % interval excludes 0) but nothing was
   * found; `null` if something was found, neither moved, or only the mix did by chance.
   */
  get unexplained(): WholeShift | null {
    if (this.findings.length + this.otherWay > 0) return null
    return clearShift(this.flows, { mixChanged: this.mixUs !== 0 })
  }

  /** Says that only some slow requests were found; `null` without them. */
  get onlySlowText(): string | null {
    if (this.slowStretch !== null) return 'No lasting change found, but one slow stretch'
    return this.fewSlow && 'Most requests did not change, but a few took far longer'
  }

  /** Says that nothing was found, and how large a change could be missed. */
  nothingText(): string {
    const isSure = this.nearest !== null && isSureStep(this.nearest)
    const none = `No ${isSure ? 'change large enough to matter' : 'significant change'}`
    const nothing = this.testable && `${this.onlySlowText ?? none}.`
    return spoken([this.movedText() ?? nothing, this.seenText()]).join(' ')
  }

  /**
   * Says how far response times moved without a finding, and how much of that the mix explains; `null` if they did not.
   */
  movedText(): string | null {
    const { unexplained, quantity } = this
    if (unexplained === null) return null
    const { measure, shiftUs, interval } = unexplained
    const more = moreText(shiftUs, quantity)
    const bounds = shiftUs < 0 ? ([-interval[1], -interval[0]] as const) : interval
    const who =
      measure === 'mean' ? `Requests took ${more} on average` : `The median request took ${more}`
    const share = mixShare(this)
    const ofMix = moreText(this.mixUs / this.requests, quantity)
    const why =
      measure === 'median' && share > 0
        ? `; the changed request mix alone makes them take ${ofMix} on average`
        : this.fewSlow !== null && measure === 'mean'
          ? `, ${formatAmount(this.fewSlow.excessUs / this.flows.wholes(AFTER), quantity)} of it from ${counted(this.fewSlow.requests, 'request')} alone`
          : share <= 0
            ? this.#isSlowKept()
              ? ': slow ones seem to have been kept preferentially'
              : ', but no single step or type of request explains it'
            : `: ${mixOfAll(share, shiftUs, quantity)}${share < LARGE ? '; no single step or type of request explains the rest' : ''}`
    return `${who}${intervalText(bounds, quantity)}${why}.`
  }

  #isSlowKept(): boolean {
    return slowSample(recordedFlows(this.flows)) !== null
  }

  /** Names the step whose mean differs most in the direction of the whole; it need not have changed. */
  #largestStep(): string {
    const flows = recordedFlows(this.flows)
    if (!areFromSpans(flows)) return ''
    const { roles, beforeUs, afterUs } = roleMeans(flows, { omitHosts: false })
    const changesUs = roles.map((_, i) => at(afterUs, i) - at(beforeUs, i))
    const totalUs = sum(changesUs)
    const largest = greatest(roles.keys(), (i) => at(changesUs, i) * totalUs)
    if (largest === undefined || at(changesUs, largest) * totalUs <= 0) return ''
    const role = at(roles, largest)
    const differs = moreText(at(changesUs, largest), flows.quantity)
    const ofAll = formatAmount(Math.abs(totalUs), flows.quantity)
    return `Largest difference: ${placeTitle(role, role.operation)} takes ${differs}, of ${ofAll} in total.`
  }

  /** Says how large a change could be missed; empty next to a few slow requests. */
  seenText(): string {
    if (this.otherWay > 0) return this.#otherWayText()
    const kind = this.detectable.find(({ testable }) => testable)
    if (!this.testable || kind === undefined)
      return spoken([NOTHING_TESTABLE, this.#largestStep()]).join(' ')
    if (this.fewSlow !== null) return ''
    const { name, before, after, shiftUs, step } = kind
    const isAll = this.detectable.length === 1
    const many = `${grouped(before)} requests before, ${grouped(after)} after`
    const type = isAll ? `With ${many}` : `In the most frequent type (${printable(name)}; ${many})`
    const seen =
      shiftUs === 0
        ? 'any change would show'
        : Number.isFinite(shiftUs)
          ? `changes under ${formatAmount(shiftUs, this.quantity)} may be missed`
          : 'even large changes may be missed'
    const ofStep = step && `; in ${step.name}, under ${formatAmount(step.shiftUs, this.quantity)}`
    const isOfRuns = this.flows.runs.length > 1
    const higher = spoken([!isAll && 'in rarer types', isOfRuns && 'where runs differ'])
    const others = higher.length === 0 ? '' : ` The limit is higher ${listed(higher)}.`
    return `${type}, ${seen}${ofStep ?? ''}.${others}${this.#nearestText()}`
  }

  /** Names the step closest to a change, which more requests might confirm, or a change too small to matter. */
  #nearestText(): string {
    if (this.nearestFailure !== null) {
      const { service, q } = this.nearestFailure
      const failures = `${errorWords(this.nearestFailure)}, ${failuresText(moreFailed(this.nearestFailure))}`
      return ` Closest to a change: ${printable(service)} ${failures}, ${certaintyText(q)}.`
    }
    if (this.nearest === null) return ''
    if (isSureStep(this.nearest)) return this.#smallText(this.nearest)
    const { q, beforeRequests, afterRequests, probabilitySlower } = this.nearest
    const isSlower = probabilitySlower >= 0.5
    const { how } = changeWords(this.quantity, isSlower)
    const chance = percent(isSlower ? probabilitySlower : 1 - probabilitySlower)
    return (
      ` Closest to a change: ${stepTitle(this.nearest)}, ${how} than ${chance} of comparable requests before ` +
      `(${counted(afterRequests, 'request')} after, ${grouped(beforeRequests)} before), ${certaintyText(q)}.`
    )
  }

  #smallText(step: StepChange): string {
    const { shiftUs, interval, effect, minority, probabilitySlower, q } = step
    const calls = minority === null ? '' : `${percent(minority.share)} of its calls took `
    const bounds = shiftUs < 0 ? ([-interval[1], -interval[0]] as const) : interval
    // The test sees more than the typical call, whose interval this is.
    const isUnsure = isOpen({ eachInterval: interval })
    const size =
      shiftUs === 0
        ? `typically the same, above ${percent(probabilitySlower)} of requests before`
        : `${calls}${moreText(shiftUs, this.quantity)}${intervalText(bounds, this.quantity)}, ` +
          `${percent(Math.abs(effect))} of the mean of these requests`
    const own = isUnsure ? OWN_P : ''
    return ` Changed, but too little to matter: ${stepTitle(step)}, ${size}, ${own}${certaintyText(q)}.`
  }

  /**
   * Returns one row per finding. `remainingUs` is the part of the change left once this finding and those above it are
   * repaired. Rerun the comparison then: one cause may show in several findings.
   *
   * Source: Sambasivan 2013, §2.5.
   */
  table(): StageTable {
    const repairedUs = cumsum(this.findings, ({ contributionUs }) => contributionUs)
    return rowTable(
      this.findings,
      {
        ...own('rank title direction requests contributionUs'),
        remainingUs: (_, i) => this.observedChangeUs - at(repairedUs, i),
        ...own('shareOfChange q'),
        mutations: ({ mutations }) => mutations.map(({ rank }) => rank).join(', '),
        categories: ({ categories }) => categories.length,
        id: 'id',
      },
      this.quantity,
    )
  }

  /** Writes one finding: place and change, facts, where to look, and where else it shows. */
  textOf(finding: Finding, width = WIDTH): string {
    const { rank, title, text, consequences } = finding
    const left = consequences.length - MAX_NAMED
    const titled = wrapped(`#${rank}`.padEnd(INDENT.length) + title, '', width)
    const last = titled.pop() ?? ''
    const share = shareText(finding, this)
    // At the right edge if there is room, else the first of the facts.
    const hasRoom = share !== '' && last.length + 2 + share.length <= width
    return [
      ...titled,
      hasRoom ? last + share.padStart(width - last.length) : last,
      ...wrapped(hasRoom || share === '' ? text : share + FACT_SEPARATOR + text, INDENT, width),
      ...wrapped(lookText(finding), INDENT, width),
      ...consequences.slice(0, MAX_NAMED).flatMap((consequence) => {
        const { kind, title, requests } = consequence
        // Its time is part of the finding above and may come from other requests, too.
        const where = kind === 'latency' ? ` (${counted(requests, 'request')})` : ''
        return wrapped(`also seen in ${title}${where}`, INDENT, width)
      }),
      ...(left > 0 ? [`${INDENT}and in ${counted(left, 'more place')}`] : []),
    ].join('\n')
  }
}

/** Whether a step changed significantly, though by too little to matter: its size was only then estimated. */
function isSureStep({ interval }: StepChange): boolean {
  return !Number.isNaN(interval[0])
}

/** Says how the findings, the mix and the rest add up to the change: as shares, or else as amounts. */
function accountedText(all: Findings): string | null {
  const { findings, observedChangeUs, quantity, attributedUs, mixUs } = all
  const ofMix = mixShare(all)
  if (attributedUs === 0)
    return ofMix > 0 ? `${capitalized(mixOfAll(ofMix, observedChangeUs, quantity))}.` : null
  const isOne = findings.length === 1
  const these = isOne ? 'The finding' : 'Findings'
  const share = attributedUs / observedChangeUs
  const isUnsure =
    sum(findings.filter(isOpen), (one) => Math.abs(one.contributionUs)) >
    NOTABLE * Math.abs(attributedUs)
  const told = (verb: string, isSingular: boolean) => (isSingular ? `${verb}s` : verb)
  if (share > 0 && ofMix >= 0 && share + ofMix <= APART) {
    const explain = isUnsure ? 'may explain' : told('explain', isOne)
    if (share >= 1 - NEGLIGIBLE && ofMix === 0) return `${these} ${explain} all of it.`
    const mix = ofMix === 0 ? '' : `, the changed request mix ${percent(ofMix)}`
    const left = all.unexplainedShare
    return `${these} ${explain} ${percent(share)} of it${mix}${left > 0 ? `; ${percent(left)} is unexplained` : ''}.`
  }
  const amount = (us: number, verb: string) => `${verb} ${formatAmount(Math.abs(us), quantity)}`
  const verbOf = (us: number) => (us > 0 ? 'add' : 'save')
  const ownVerb = verbOf(attributedUs)
  const ofMixUs = ofMix === 0 ? 0 : mixUs
  const others = [
    ['the changed request mix', ofMixUs],
    ['everything else', observedChangeUs - attributedUs - ofMixUs],
  ] as const
  return `${[
    `${these} ${amount(attributedUs, isUnsure ? `may ${ownVerb}` : told(ownVerb, isOne))}`,
    ...others.flatMap(([name, us]) =>
      us === 0 ? [] : `${name} ${amount(us, told(verbOf(us), true))}`,
    ),
  ].join(', ')}.`
}

/** Returns the share of the change from another mix of requests, if worth reporting; below 0 if it hides some. */
function mixShare({ mixUs, observedChangeUs }: Findings): number {
  const share = mixUs / observedChangeUs
  return Math.abs(share) >= NOTABLE ? share : 0
}

/** Says what of a change the mix is, where it may be more than all of it. */
function mixOfAll(share: number, changeUs: number, quantity: Quantity): string {
  const how = share > 0 ? 'explains' : 'offsets'
  if (share <= 1 + NEGLIGIBLE) {
    return `the changed request mix ${how} ${percent(Math.abs(share))} of it`
  }
  const [mix, rest] = [share, 1 - share].map((part) => moreText(part * changeUs, quantity))
  return `the changed request mix alone makes it ${mix}, everything else ${rest}`
}

/** Breaks a line between words, not within facts that fit; all lines but the first are indented. */
function wrapped(text: string, first: string, width: number): string[] {
  const facts = text.split(FACT_SEPARATOR)
  const parts = facts.flatMap((fact, i) => {
    const end = i < facts.length - 1 ? ' ·' : ''
    const fits = facts.length > 1 && fact.length + end.length <= width - INDENT.length
    return fits ? [fact + end] : (fact + end).split(' ')
  })
  const lines: string[] = []
  let line = first
  for (const part of parts) {
    const isEmpty = line.trim() === ''
    if (isEmpty || line.length + 1 + part.length <= width) line += isEmpty ? part : ` ${part}`
    else {
      lines.push(line.replace(/ ·$/, ''))
      line = INDENT + part
    }
  }
  return [...lines, line]
}

/** Describes the stretch: its time, how slow its requests were, the place, and traces to look at. */
export function stretchText(stretch: SlowStretch, flows: FlowSet): string {
  const { quantity } = flows
  const { fromUs, untilUs, isTimeOfDay, inside, outside, before, where, affected } = stretch
  const [from, to] = [fromUs, untilUs].map((us) =>
    isTimeOfDay ? timeText(us, { days: hasDays(flows) }) : formatDuration(us),
  )
  const of = ({ slow, requests }: SlowCounts) => `${grouped(slow)} of ${grouped(requests)}`
  const counts = `(at other times ${of(outside)}, before ${of(before)})`
  const when = `from ${from} to ${to} ${isTimeOfDay ? 'UTC' : 'into the after period'}`
  const slowest = `one stretch may be chance. Slowest: ${stretch.examples.map(printable).join(', ')}.`
  // A slow call there need not make the request slow for its kind.
  const all = affected > inside.slow ? `, where ${grouped(affected)} requests were slow` : ''
  const told = { ...stretch, where: where && where + all }
  return (
    `Slow stretch: ${when}, ${of(inside)} requests took ` +
    `longer than ${100 * HARDLY_ANY} % of their type before ${counts}, ` +
    `${slowText(told, inside.requests + outside.requests, quantity)}; ${slowest}`
  )
}

/** Describes the slow requests: their number, their excess, the place, and traces to look at. */
export function fewSlowText(few: FewSlow, flows: FlowSet): string {
  const { quantity } = flows
  const where = fewSlowWhere(few)
  const longest = few.of === 'calls' ? `the longest in ${where}` : 'the longest of their type'
  const told = { ...few, where: few.of === 'calls' ? null : where }
  const only = few.condition === null ? '' : `, nearly all where ${few.condition}`
  const when = fewSlowWhen(few, flows)
  return (
    `Few but slow: ${counted(few.requests, 'request')} took more than ${TWICE} times ${longest} before, ` +
    `${slowText({ ...told, only }, flows.wholes(AFTER), quantity)}, but may be chance. ` +
    `${when === null ? '' : `They come ${when}. `}` +
    `Slowest: ${few.examples.map(printable).join(', ')}.`
  )
}

/** Says where a few requests are slow, or fail, and when they are given up. */
export function fewSlowWhere({ where, deadline, failing }: FewSlow): string {
  if (deadline !== null) return `${where}, ${deadlineText(deadline)}`
  return failing === null ? where : `${where}, where ${errorWords(failing)}`
}

/** `in 2 bursts, from 10:01:00 and 10:03:00 UTC`; of more than are listed, how long they are apart. */
export function fewSlowWhen({ bursts }: FewSlow, flows: FlowSet): string | null {
  if (bursts === null) return null
  const { count, beginUs } = bursts
  if (count > MAX_NAMED || periodOverlap(flows) === null) return `in ${burstsText(bursts)}`
  const days = hasDays(flows)
  return `in ${count} bursts, from ${listed(beginUs.map((us) => timeText(us, { days })))} UTC`
}

function slowText(
  {
    typicalUs,
    excessUs,
    where,
    only = '',
  }: Pick<SlowStretch, 'typicalUs' | 'excessUs' | 'where'> & { readonly only?: string },
  after: number,
  quantity: Quantity,
): string {
  return (
    `typically ${moreText(typicalUs, quantity)} than usual${where === null ? '' : `, mostly in ${where}`}${only}. ` +
    `This adds ${formatAmount(excessUs / after, quantity)} to the mean`
  )
}
