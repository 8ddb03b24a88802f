import { greatest, sum } from 'd3-array'
import { AFTER } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { categoriesOf, surest } from './names.ts'

/** Returns one finding in place of several, with the requests (`rows`) of both periods. */
export function headOf(
  covered: readonly Draft[],
  {
    categories,
    rows,
    ...told
  }: Pick<Draft, 'evidence' | 'key'> &
    Partial<Pick<Draft, 'kind' | 'place' | 'failedRequests' | 'weightUs' | 'size'>> & {
      readonly categories: Categories
      readonly rows: readonly number[]
    },
): Draft {
  const { flows } = categories
  const largest = greatest(covered, (one) => Math.abs(one.contributionUs))
  const { kind, direction, inTime } = largest as Draft
  const concerned = countByPeriod(flows, new Set(rows))
  const contributionUs = sum(covered, (one) => one.contributionUs)
  const widths = covered.map(({ eachInterval: [low, high], requests }) => requests * (high - low))
  const eachUs = contributionUs / concerned[AFTER]
  const widthUs = Math.hypot(...widths) / 2 / concerned[AFTER]
  return {
    ...NO_EVIDENCE,
    kind,
    ...told,
    direction,
    categories: categoriesOf(
      categories,
      rows.filter((request) => flows.period[request] === AFTER),
    ),
    requests: concerned[AFTER],
    concerned,
    contributionUs,
    eachInterval: [eachUs - widthUs, eachUs + widthUs],
    probabilitySlower: Number.NaN,
    services: [...new Set(covered.flatMap(({ services }) => services))],
    steps: covered.flatMap((draft) => draft.steps),
    calls: covered.flatMap((draft) => draft.calls),
    covers: covered.map(({ key }) => key),
    ...(inTime && { inTime }),
    ...surest(covered),
  }
}
