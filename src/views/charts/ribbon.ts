import { cross, greatest, group, max, min, range, sort, sum } from 'd3-array'
import { allVisits, operationAt, type ShapeVisits } from '../../calls/visits.ts'
import type { Categories } from '../../compare/categories/categories.ts'
import type { Finding, FindingStep } from '../../compare/findings/finding.ts'
import { isSame } from '../../compare/steps/call-order.ts'
import { rootTypes } from '../../compare/steps/root-types.ts'
import {
  type Account,
  type AccountStep,
  accountOf,
  type TimedStep,
} from '../../comparison/account.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { OptionError } from '../../core/errors.ts'
import {
  count,
  defineOptions,
  most,
  optionalNumber,
  optionalText,
  readOptions,
} from '../../core/options.ts'
import { formatAmount, moreText, signedAmount, TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { counted, shortText, spoken } from '../../core/words.ts'
import { BEFORE } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { operationAt as shownOperation } from '../../flows/node-labels.ts'
import { digits, distinctTexts, tooltip } from './builders.ts'
import type { Chart } from './chart.ts'
import { defineChart, framedChart, PALETTE, PERIOD_NAMES, type SpecPart } from './chart-frame.ts'
import { textWidth } from './text-width.ts'

/** A part of a mean request: a step that changed, or all steps in between that hardly did. */
export interface RibbonPart {
  /** Empty where its steps hardly changed. */
  readonly name: string
  readonly change: 'more' | 'less' | 'little'
  readonly beforeUs: number
  readonly afterUs: number
  readonly steps: readonly TimedStep[]
}

type Place = Readonly<Record<'place' | 'operation', string>>

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

/** Cuts a mean request into parts, in the order of its walk; their times add up to the means of both periods. */
export function ribbonParts(
  { steps }: Pick<Account, 'steps'>,
  { limit, longest }: { readonly limit: number; readonly longest: number },
): RibbonPart[] {
  const levels = LEVELS.map((level) => changedAt(steps, level, limit))
  const best =
    levels.find(({ share }) => share >= MOST_CHANGE) ?? greatest(levels, ({ share }) => share)
  const { changed = [] } = best ?? {}
  const names = namesOf(changed, longest)
  const begins = changed.map(({ members }) => min(members, ({ startUs }) => startUs) as number)
  const partOf = new Map(changed.flatMap(({ members }, i) => members.map((step) => [step, i])))
  const placed = steps.map((step) => ({ step, part: partOf.get(step) ?? -1 }))
  const walk = sort(
    placed,
    ({ step, part }) => begins[part] ?? step.startUs,
    ({ part }) => part,
  )
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

function changedAt(steps: readonly TimedStep[], level: Level, limit: number) {
  const together = group(steps, (step) => JSON.stringify(named(level, step)))
  const unsorted = Array.from(together.values(), (members) => ({
    ...named(level, members[0] as TimedStep),
    members,
    changeUs: Math.abs(sum(members, ({ beforeUs, afterUs }) => afterUs - beforeUs)),
  }))
  const all = sort(unsorted, ({ changeUs }) => -changeUs)
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
  return spoken([place, operation && shownOperation(service, operation)]).join(': ')
}

/** Names the working service, or caller and callee, and the operation. */
export function stepName(step: AccountStep): string {
  return step.kind === 'other' ? 'other steps' : textOf(named(OPERATIONS, step))
}

const LIMIT = most(5, 'parts', 'Maximum number of changed parts named, the largest first')
const WIDTH = count({ default: 1160, min: 640, unit: 'pixels', sentence: 'Width of the picture' })
/** Width of pictures in pages, which have that room in windows of 800 pixels: letters keep their size. */
export const PAGE_WIDTH = 712
const ACCOUNT_OPTIONS = defineOptions({ limit: LIMIT, width: WIDTH })

/** Returns a ribbon as wide as its place, and its parts, which its marks name by number. */
export function ribbonOf(account: Account, look: Pick<Look, 'isClear' | 'whose'>) {
  const { chart, parts } = drawn(account, { ...readOptions(ACCOUNT_OPTIONS, {}), ...look })
  return { spec: chart.spec, parts }
}

/** Draws an account as a ribbon: see {@link ribbonChart}. */
export const accountChart = defineChart(
  ACCOUNT_OPTIONS,
  (account: Account, options) =>
    drawn(account, { ...options, isClear: true, whose: 'A mean request' }).chart,
)

/** Draws a mean request before and after, cut into the steps on its path, which add up to the change. */
export const ribbonChart = defineChart(
  {
    ...ACCOUNT_OPTIONS,
    category: optionalNumber('Category whose requests are drawn; by default all requests'),
    finding: optionalText('Id of the finding whose requests are drawn', null),
  },
  (comparison: Comparison, { category, finding, ...options }) =>
    drawn(accountFor(comparison, category, finding), {
      ...options,
      isClear: category !== null || ribbonIsClear(comparison),
      whose:
        finding !== null
          ? AFFECTED
          : `A mean request${category === null ? '' : ` of category ${category}`}`,
    }).chart,
)

/** Whether more than chance changed; if not, no part is named. */
export function ribbonIsClear({ findings }: Comparison): boolean {
  return findings.findings.length > 0 || findings.changeIsClear || findings.unexplainedShare > 0
}

/** Accounts for the requests of a category or a finding, and their former categories; else for all. */
export function accountFor(
  comparison: Comparison,
  category: number | null,
  id: string | null,
): Account {
  const { categories, findings } = comparison
  if (category === null && id === null) return comparison.account
  const finding = findings.findings.find((one) => one.id === id)
  if (id !== null && finding === undefined) {
    const ids = findings.findings.map((one) => one.id).join(', ')
    throw new OptionError('finding', id, ids || 'null: nothing was found')
  }
  if (category !== null && category >= categories.size) {
    throw new OptionError('category', category, `a category from 0 to ${categories.size - 1}`)
  }
  if (finding?.doing !== undefined) return accountOfCalls(categories, finding, finding.doing)
  const wanted = new Set(finding?.categories ?? [category])
  // Categories that these requests were in before.
  const was = new Set([...wanted, ...(finding?.moves ?? []).map(({ from }) => from)])
  const { categoryOf, flows } = categories
  return accountOf(categories, (request) =>
    (flows.period[request] === BEFORE ? was : wanted).has(categoryOf[request] as number),
  )
}

/** Accounts for requests that make calls otherwise, against all before in which the operation could have made them. */
function accountOfCalls(categories: Categories, { calls }: Finding, doing: readonly number[]) {
  const flows = recordedFlows(categories.flows)
  const { typeOf } = rootTypes(flows)
  const now = new Set(doing)
  const types = new Set(doing.map((request) => typeOf[request]))
  const hasAny = memoized((shape: number) => {
    const visits = allVisits(flows).get(shape) as ShapeVisits
    return range(visits.tree.size).some((span) => {
      const operation = operationAt(visits, span)
      return calls.some(({ of }) => isSame(of, operation))
    })
  })
  return accountOf(categories, (request) =>
    flows.period[request] === BEFORE
      ? types.has(typeOf[request]) && hasAny(flows.shapeOf[request] as number)
      : now.has(request),
  )
}

/** Pixels of the picture, from above: labels, the bar before, ribbons, the bar after, labels. */
const BAR = 42
const RIBBONS = 58
const ROW = 19
const FONT = 12
/** Room for the names of the bars. */
const AROUND = 110
/** Narrowest bars for which labels must not touch. */
const NARROWEST = 600
/** Characters of names, where there is room for them. */
const NAMES = [46, 36] as const
/** Smallest share of the change at which the mix is mentioned. */
const MIN_MIX = 0.1

/** Name of the mean request that a finding is about. */
export const AFFECTED = 'A mean affected request'

const COLORS = { more: PALETTE.change, less: PALETTE.less, little: PALETTE.faint } as const

interface Look {
  readonly limit: number
  readonly width: number
  readonly isClear: boolean
  /** Request that is drawn: the subject of the title. */
  readonly whose: string
}

function drawn(account: Account, { limit, ...look }: Look): { chart: Chart; parts: RibbonPart[] } {
  // Names as many labels as there is room for, with shorter names rather than fewer labels.
  for (let named = limit; ; named--) {
    for (const longest of NAMES) {
      const parts = ribbonParts(account, { limit: look.isClear ? limit : 0, longest })
      const labels = placeLabels(parts, account, { width: look.width - AROUND, named })
      if (labels !== null) return { chart: picture(account, { parts, labels, ...look }), parts }
    }
  }
}

interface Drawn extends Omit<Look, 'limit'> {
  readonly parts: readonly RibbonPart[]
  readonly labels: readonly Label[]
}

function picture(account: Account, { parts, labels, width, isClear, whose }: Drawn): Chart {
  const of = account.quantity
  const rows = (side: Label['side']) =>
    1 + (max(labels, (label) => (label.side === side ? label.row : -1)) ?? -1)
  const before = rows('above') * ROW
  const after = before + BAR + RIBBONS
  const height = after + BAR + rows('below') * ROW
  const bars = [before, after]
  const means = meansOf(parts)
  const barLabel = (i: 0 | 1) => JSON.stringify([PERIOD_NAMES[i], formatAmount(means[i], of)])
  const x = {
    field: 'fromUs',
    type: 'quantitative',
    axis: null,
    scale: { domain: [0, Math.max(...means) || 1], nice: false },
  }
  const y = {
    field: 'y',
    type: 'quantitative',
    scale: { domain: [height, 0], nice: false },
    axis: {
      title: null,
      domain: false,
      ticks: false,
      grid: false,
      labelPadding: 10,
      labelOffset: -8,
      labelFontSize: FONT,
      labelLineHeight: 16,
      values: bars.map((top) => top + BAR / 2),
      labelExpr: `datum.value < ${after} ? ${barLabel(0)} : ${barLabel(1)}`,
    },
  }
  const x2 = { field: 'toUs' }
  const color = {
    field: 'change',
    type: 'nominal',
    legend: null,
    scale: { domain: Object.keys(COLORS), range: Object.values(COLORS) },
  }
  const said = tooltip({ step: 'name', before: 'before', after: 'after', change: 'amount' })
  const pieces = piecesOf(parts, account)
  const marked = labels.map(({ side, row, text, ...label }) => {
    const edge = side === 'above' ? before : after + BAR
    const far = side === 'above' ? edge - row * ROW : edge + row * ROW
    const way = side === 'above' ? -1 : 1
    const middle = far + way * (ROW / 2 + 2)
    // Below a text in the middle of its line, the line ends; next to another text it goes on.
    const end = label.align === 'center' ? far + way * (row === 0 ? 4 : 3) : middle
    return {
      ...label,
      edge,
      end,
      middle,
      text,
      dx: { left: BESIDE, right: -BESIDE, center: 0 }[label.align],
    }
  })
  const labelX = { ...x, field: 'atUs' }
  return framedChart(
    {
      title: titleOf(account, means, whose),
      subtitle: subtitles(account, { parts, labels, isClear }),
      width: width - 2 * BAR,
    },
    {
      width,
      height,
      autosize: { type: 'fit-x', contains: 'padding' },
      layer: [
        {
          data: {
            values: pieces.flatMap(({ sides: [from, to], ...piece }) => [
              { ...piece, ...from, y: before },
              { ...piece, ...from, y: before + BAR },
              { ...piece, ...to, y: after },
              { ...piece, ...to, y: after + BAR },
            ]),
          },
          mark: {
            type: 'area',
            orient: 'horizontal',
            interpolate: 'monotone',
            stroke: 'white',
            strokeWidth: 1,
          },
          encoding: {
            ...{ x, x2, y, color, ...faint(0.4), tooltip: said },
            detail: [{ field: 'part' }, { field: 'isSame' }],
          },
        },
        {
          data: {
            values: pieces.flatMap(({ sides, ...piece }) =>
              sides.map((side, i) => ({
                ...piece,
                ...side,
                y: bars[i] as number,
                bottom: (bars[i] as number) + BAR,
              })),
            ),
          },
          mark: { type: 'rect', stroke: 'white', strokeWidth: 1 },
          encoding: { x, x2, y, y2: { field: 'bottom' }, color, ...faint(1), tooltip: said },
        },
        {
          data: { values: marked },
          mark: { type: 'rule', color: PALETTE.rule, tooltip: false },
          encoding: { x: labelX, y: { ...y, field: 'edge' }, y2: { field: 'end' } },
        },
        {
          data: { values: marked },
          mark: {
            type: 'text',
            fontSize: FONT,
            align: { expr: 'datum.align' },
            dx: { expr: 'datum.dx' },
            baseline: 'middle',
            color: PALETTE.text,
            limit: 0,
            tooltip: false,
          },
          encoding: {
            x: labelX,
            y: { ...y, field: 'middle' },
            text: { field: 'text', type: 'nominal' },
          },
        },
      ],
    },
  )
}

/** Draws the time that both periods have fainter than the change. */
function faint(opacity: number): SpecPart {
  const condition = { test: 'datum.isSame', value: 0.4 * opacity }
  return { fillOpacity: { condition, value: opacity } }
}

function meansOf(parts: readonly RibbonPart[]): [beforeUs: number, afterUs: number] {
  return [sum(parts, ({ beforeUs }) => beforeUs), sum(parts, ({ afterUs }) => afterUs)]
}

function titleOf(
  { totalUs, quantity: of }: Account,
  [beforeUs, afterUs]: readonly number[],
  whose: string,
) {
  if (beforeUs === 0 || afterUs === 0) {
    return `No requests ${beforeUs === 0 ? 'before' : 'after'} to compare with`
  }
  const [verb, same] = of === TIME ? ['takes', 'as long'] : ['has', 'as much']
  return totalUs === 0
    ? `${whose} ${verb} ${same} as before`
    : `${whose} ${verb} ${moreText(totalUs, of)}`
}

function subtitles(
  account: Account,
  { parts, labels, isClear }: Omit<Drawn, 'width' | 'whose'>,
): string[] {
  const { totalUs, mixUs, quantity: of } = account
  const more = unplacedLabels(parts, account).slice(labels.length)
  const small = parts.filter(({ change }) => change === 'little')
  const isPale = (part: RibbonPart) =>
    part.change !== 'little' && Math.min(part.beforeUs, part.afterUs) > 0
  const stepsOf = (some: readonly RibbonPart[]) => sum(some, (part) => part.steps.length)
  const smallUs = sum(small, ({ beforeUs, afterUs }) => afterUs - beforeUs)
  const others = counted(stepsOf(small), small.length < parts.length ? 'other step' : 'step')
  const isMixed = Math.abs(mixUs) >= MIN_MIX * Math.abs(totalUs) && mixUs !== 0
  return spoken([
    !isClear && 'The difference may be chance, so no part is named.',
    more.length > 0 && `+${more.length} more: ${more.map(({ text }) => text).join(' · ')}.`,
    small.length > 0 && `Gray: ${others}, ${signedAmount(smallUs, of)} in total.`,
    parts.some(isPale) && 'Pale: what a changed step takes in both periods.',
    isMixed && `The changed request mix makes up ${signedAmount(mixUs, of)} of the change.`,
  ])
}

/** Divides each part into the time that both bars have, and the change. */
function piecesOf(parts: readonly RibbonPart[], { quantity: of }: Account) {
  const atUs = [0, 0]
  const sidesOf = (lengths: readonly number[]) =>
    lengths.map((us, period) => {
      const fromUs = atUs[period] as number
      atUs[period] = fromUs + us
      return { fromUs: digits(fromUs, 9), toUs: digits(fromUs + us, 9) }
    })
  return parts.flatMap((part, i) => {
    const { name, change, beforeUs, afterUs, steps } = part
    const sameUs = change === 'little' ? 0 : Math.min(beforeUs, afterUs)
    const said = {
      part: i,
      name: name || counted(steps.length, 'step'),
      change,
      before: formatAmount(beforeUs, of),
      after: formatAmount(afterUs, of),
      amount: signedAmount(afterUs - beforeUs, of),
    }
    return [
      { ...said, isSame: true, sides: sidesOf([sameUs, sameUs]) },
      { ...said, isSame: false, sides: sidesOf([beforeUs - sameUs, afterUs - sameUs]) },
    ].filter(({ sides }) => sides.some(({ fromUs, toUs }) => toUs > fromUs))
  })
}

/** A text at the end of a line from a part: below the bar after if it grew, else above that before. */
interface Label {
  readonly side: 'above' | 'below'
  readonly row: number
  readonly align: (typeof ALIGNS)[number]
  readonly atUs: number
  readonly text: string
}

const ALIGNS = ['center', 'left', 'right'] as const
const MAX_ROWS = 5
/** Distances between two texts, between a text and the line of another, and between a text and its own line. */
const GAP = 12
const CLEAR = 3
const BESIDE = 6
/** Arrangements that are looked at before one part fewer is named. */
const MAX_TRIES = 20_000

/** Places labels, the largest change first, in the nearest row where they touch no other; `null` if there is no way. */
function placeLabels(
  parts: readonly RibbonPart[],
  account: Account,
  { width, named }: { readonly width: number; readonly named: number },
): readonly Label[] | null {
  const longestUs = Math.max(...meansOf(parts))
  const least = Math.min(NARROWEST, width)
  const widths = range(0, 1.01, 0.25).map((share) => least + (width - least) * share)
  let tries = 0
  const isFree = (label: Label, others: readonly Label[]) =>
    widths.every((whole) => {
      const [from, to] = extentOf(label, whole / longestUs)
      return (
        from >= 0 && to <= whole && others.every((one) => areApart(label, one, whole / longestUs))
      )
    })
  const arranged = (
    labels: readonly Unplaced[],
    placed: readonly Label[],
  ): readonly Label[] | null => {
    const [first, ...others] = labels
    if (first === undefined) return placed
    const beside = placed.filter(({ side }) => side === first.side)
    for (const [row, align] of CHOICES) {
      if (tries++ > MAX_TRIES) return null
      const label = { ...first, row, align }
      if (!isFree(label, beside)) continue
      const all = arranged(others, [...placed, label])
      if (all !== null) return all
    }
    return null
  }
  return arranged(unplacedLabels(parts, account).slice(0, named), [])
}

const CHOICES = cross(range(MAX_ROWS), ALIGNS)

type Unplaced = Omit<Label, 'row' | 'align'>

function unplacedLabels(parts: readonly RibbonPart[], account: Account): Unplaced[] {
  const labels = piecesOf(parts, account).flatMap(({ sides, name, amount, part, isSame }) => {
    const { change, beforeUs, afterUs } = parts[part] as RibbonPart
    if (change === 'little' || isSame) return []
    const { fromUs = 0, toUs = 0 } = sides[change === 'more' ? 1 : 0] ?? {}
    const news = beforeUs === 0 ? ' (new)' : afterUs === 0 ? ' (gone)' : ''
    return {
      side: change === 'more' ? ('below' as const) : ('above' as const),
      atUs: (fromUs + toUs) / 2,
      text: `${amount} ${name}${news}`,
      changeUs: Math.abs(afterUs - beforeUs),
    }
  })
  return sort(labels, ({ changeUs }) => -changeUs).map(({ changeUs: _, ...label }) => label)
}

function extentOf({ align, atUs, text }: Label, scale: number): readonly [number, number] {
  const [at, wide] = [atUs * scale, textWidth(text, FONT)]
  const from =
    align === 'left' ? at + BESIDE : align === 'right' ? at - BESIDE - wide : at - wide / 2
  return [from, from + wide]
}

/** Whether texts of two labels are apart, and the line to the farther one passes the nearer text. */
function areApart(a: Label, b: Label, scale: number): boolean {
  const [near, far] = a.row <= b.row ? [a, b] : [b, a]
  const [from, to] = extentOf(near, scale)
  if (near.row < far.row) {
    const line = far.atUs * scale
    return line < from - CLEAR || line > to + CLEAR
  }
  const [start, end] = extentOf(far, scale)
  return end < from - GAP || start > to + GAP
}

/** Blocks of changed parts, the largest change first; all else is `REST`. */
const BLOCKS = ['█', '▓', '▒'] as const
const REST = '░'
const INDENT = ' '.repeat('before '.length)
const MAX_NAME = 46

/** Writes a mean request as two lines of blocks on one scale, and names what changed; no lines if it may be chance. */
export function ribbonLines(comparison: Comparison, width: number): string[] {
  const { account, flows } = comparison
  if (!ribbonIsClear(comparison)) return []
  const { findings } = comparison.findings
  const parts = ribbonParts(account, { limit: BLOCKS.length, longest: MAX_NAME }).map((part) => ({
    ...part,
    name: part.name + ranksText(part, findings),
  }))
  return blockLines(parts, {
    width,
    amount: (us) => formatAmount(us, flows.quantity),
    signed: (us) => signedAmount(us, flows.quantity),
  })
}

/** Writes the ranks of the findings about a part that changed, of several: ` (#1)`. */
function ranksText({ change, steps }: RibbonPart, findings: readonly Finding[]): string {
  const isOf = (one: Pick<FindingStep, 'service' | 'operation'> & Partial<FindingStep>) =>
    steps.some(
      (step) =>
        step.service === one.service &&
        (one.part === 'within' || step.operation === one.operation) &&
        (one.kind === undefined || step.kind === one.kind),
    )
  const isAbout = (finding: Finding) =>
    finding.steps.some(isOf) || finding.calls.some(({ call }) => call !== null && isOf(call))
  const told = change === 'little' || findings.length < 2 ? [] : findings
  const ranks = told.filter(isAbout).map(({ rank }) => `#${rank}`)
  return ranks.length === 0 ? '' : ` (${ranks.join(', ')})`
}

/** Parts of two means that follow each other, as two lines of blocks on one scale; a third names what changed. */
export function blockLines(
  parts: readonly Pick<RibbonPart, 'name' | 'change' | 'beforeUs' | 'afterUs'>[],
  { width, ...write }: { width: number } & Record<'amount' | 'signed', (us: number) => string>,
): string[] {
  const { amount, signed } = write
  const changeUs = ({ beforeUs, afterUs }: (typeof parts)[0]) => afterUs - beforeUs
  const named = parts.filter(({ change }) => change !== 'little')
  const changed = sort(named, (part) => -Math.abs(changeUs(part))).slice(0, BLOCKS.length)
  const lengths = PERIOD_NAMES.map((period) => parts.map((part) => part[`${period}Us`]))
  const means = lengths.map((us) => sum(us))
  if (changed.length === 0 || means.includes(0)) return []
  const amounts = means.map(amount)
  const room = width - INDENT.length - 1 - Math.max(...amounts.map(({ length }) => length))
  const scale = room / Math.max(...means)
  let said = INDENT
  const blockOf = new Map<(typeof parts)[0], string>()
  for (const [i, part] of changed.entries()) {
    const block = BLOCKS[i] as string
    const head = `${i === 0 ? '' : '  '}${block} ${signed(changeUs(part))} `
    const left = width - said.length - head.length
    // A name that would be cut has no part, but the first.
    if (i > 0 && part.name.length > left) break
    said += head + shortText(part.name, Math.max(1, left))
    blockOf.set(part, block)
  }
  const others = parts.filter((part) => !blockOf.has(part))
  const rest = `  ${REST} ${signed(sum(others, changeUs))} other steps`
  if (others.length > 0 && said.length + rest.length <= width) said += rest
  const bars = lengths.map((ofPeriod, period) => {
    let atUs = 0
    const blocks = ofPeriod.map((us, i) => {
      const from = Math.round(atUs * scale)
      atUs += us
      const block = blockOf.get(parts[i] as (typeof parts)[0]) ?? REST
      return block.repeat(Math.round(atUs * scale) - from)
    })
    return `${`${PERIOD_NAMES[period]} `.padEnd(INDENT.length)}${blocks.join('')} ${amounts[period]}`
  })
  return [...bars, said]
}
