import { formatDuration, type Microseconds } from '../../core/units.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { firstOf, percent, signedPercent } from './number-text.ts'
import { type RootTypes, rootTypes } from './root-types.ts'

const LEVEL = 0.001
/** A type differs whose share lies further than this from what is expected, in standard errors. */
const LARGE_RESIDUAL = 3
/** A change of share matters from this on: in parts of all requests, or of the share itself. */
const LEAST_POINTS = 0.01
const LEAST_RELATIVE = 0.2
/** Types expected less often than this are tested as one: the χ² test needs it. */
const LEAST_EXPECTED = 5

/** A type of requests, or all rare ones. */
interface Cell {
  readonly name: string
  readonly before: number
  readonly after: number
}

/** Before and after are shares of all requests. */
interface TypeShares extends Cell {
  /** See `chiSquareTest`. */
  readonly residual: number
}

/**
 * Whether another mix of request types came than before. Types are told apart by service and
 * operation of the root; tested with χ² at 0.001, rare types as one.
 */
export function requestMix({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  const types = rootTypes(flows)
  const differing = differingTypes(flows, types)
  if (differing.length === 0) return []
  const { beforeUs, shiftUs } = shiftByMix(flows, types)
  const isAuto = options.smPThreshold === 'auto'
  const shares = differing.map(
    ({ name, before, after }) => `${name} ${percent(before)} → ${percent(after)}`,
  )
  return [
    warning('request-mix', {
      finding: `The requests are of another mix: ${firstOf(shares)} of all requests.`,
      effect:
        `By the mix alone the mean response time of all requests moves by ${signed(shiftUs)} ` +
        `(${signedPercent(shiftUs / beforeUs)} of ${formatDuration(beforeUs)})` +
        (isAuto
          ? '.'
          : ', and categories of these types gain or lose requests without a change of structure.'),
      answer:
        'Compare times within categories, as response-time mutations do' +
        (isAuto
          ? ', and not the means of all requests.'
          : "; `smPThreshold: 'auto'` (--sm-p-threshold auto) compares numbers within each type."),
    }),
  ]
}

/** Types whose shares differ by more than chance and enough to matter, the largest change first. */
function differingTypes(flows: FlowSet, types: RootTypes): TypeShares[] {
  const cells = countCells(flows, types)
  const { p, residuals } = chiSquareTest(
    cells.map(({ before }) => before),
    cells.map(({ after }) => after),
  )
  if (!(p < LEVEL)) return []
  return cells
    .map(({ name, before, after }, cell) => ({
      name,
      before: before / flows.count(BEFORE),
      after: after / flows.count(AFTER),
      residual: residuals[cell] as number,
    }))
    .filter(matters)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
}

/** How many requests of each type there are; all the rare types are one. */
function countCells(flows: FlowSet, { names, typeOf }: RootTypes): Cell[] {
  const before = new Float64Array(names.length)
  const after = new Float64Array(names.length)
  typeOf.forEach((type, request) => {
    const counts = flows.period[request] === BEFORE ? before : after
    counts[type] = (counts[type] as number) + 1
  })
  const smaller = Math.min(flows.count(BEFORE), flows.count(AFTER)) / Math.max(1, flows.size)
  const cells = names.map((name, type) => ({
    name,
    before: before[type] as number,
    after: after[type] as number,
  }))
  const isRare = (cell: Cell) => (cell.before + cell.after) * smaller < LEAST_EXPECTED
  const rare = cells.filter(isRare)
  const rest = {
    name: `${rare.length} rare types together`,
    before: rare.reduce((sum, cell) => sum + cell.before, 0),
    after: rare.reduce((sum, cell) => sum + cell.after, 0),
  }
  return [...cells.filter((cell) => !isRare(cell)), rest]
}

function matters({ before, after, residual }: TypeShares): boolean {
  const change = Math.abs(after - before)
  return (
    Math.abs(residual) > LARGE_RESIDUAL &&
    (change >= LEAST_POINTS || change >= LEAST_RELATIVE * before)
  )
}

/**
 * The mean response time before, and by how much it would move if every type kept its own mean and
 * only the mix became that of after. A type that is new has the mean it has after.
 */
function shiftByMix(flows: FlowSet, { names, typeOf }: RootTypes) {
  const sums = [new Float64Array(names.length), new Float64Array(names.length)] as const
  const counts = [new Float64Array(names.length), new Float64Array(names.length)] as const
  typeOf.forEach((type, request) => {
    const timeUs = flows.responseTimeUs[request] as number
    if (!Number.isFinite(timeUs)) return
    const period = flows.period[request] === BEFORE ? BEFORE : AFTER
    sums[period][type] = (sums[period][type] as number) + timeUs
    counts[period][type] = (counts[period][type] as number) + 1
  })
  const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0)
  const beforeUs = total(sums[BEFORE]) / total(counts[BEFORE])
  const means = counts[BEFORE].map((count, type) => {
    const period = count > 0 ? BEFORE : AFTER
    return (sums[period][type] as number) / Math.max(1, counts[period][type] as number)
  })
  const mixed = means.map((meanUs, type) => meanUs * (counts[AFTER][type] as number))
  return { beforeUs, shiftUs: total(mixed) / total(counts[AFTER]) - beforeUs }
}

function signed(shiftUs: Microseconds): string {
  return `${shiftUs > 0 ? '+' : ''}${formatDuration(shiftUs)}`
}
