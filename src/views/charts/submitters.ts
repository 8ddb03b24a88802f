import { greatest } from 'd3-array'
import { formatAmount } from '../../core/quantity.ts'
import { counted, percent, shortText, tooltipText } from '../../core/words.ts'
import type { Submitter, Submitters } from '../../explain/submitters.ts'
import { linearDurationAxis } from './axes.ts'
import { moves } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'

const MAX_NAME_LENGTH = 50

/** Draws whose requests make a service work, before and after, for `findSubmitters`. */
export const submittersChart = defineChart(
  {
    limit: mostDrawn(12, 'submitters', 'those that cause most work first'),
  },
  ({ service, submitters, quantity }: Submitters, { limit }) => {
    const drawn = submitters.slice(0, limit)
    const time = (us: number) => (Number.isNaN(us) ? 'none' : formatAmount(us, quantity))
    const movedText = (fromUs: number, toUs: number) => `${time(fromUs)} → ${time(toUs)}`
    const rows = drawn.map(({ submitter, before, after }, i) => ({
      label: `${i + 1}. ${shortText(submitter, MAX_NAME_LENGTH)}`,
      name: tooltipText(submitter),
      before: before.causedUs,
      after: after.causedUs,
      // Beside the larger one: there is no room before the smaller one near 0.
      beforeText:
        before.causedUs > after.causedUs ? movedText(before.causedUs, after.causedUs) : '',
      afterText: before.causedUs > after.causedUs ? '' : movedText(before.causedUs, after.causedUs),
      requests: `${before.requests} → ${after.requests}`,
      share: `${percent(before.causedShare)} → ${percent(after.causedShare)}`,
      waited: movedText(before.waitedUs, after.waitedUs),
    }))
    const largest = Math.max(1, ...rows.flatMap(({ before, after }) => [before, after]))
    const moved = greatest(drawn, (one) => Math.abs(changeOf(one)))
    return framedChart(
      {
        title: `Whose requests make ${shortText(service, 60)} work`,
        subtitle: [
          'Its own work for a mean request, by submitter. Orange: before. Blue: after.',
          moved === undefined
            ? 'Nobody calls it.'
            : `Most changed: ${shortText(moved.submitter, 60)}, ${movedText(moved.before.causedUs, moved.after.causedUs)}.`,
        ],
        omissions:
          drawn.length < submitters.length &&
          `Leaves out ${counted(submitters.length - drawn.length, 'submitter')}.`,
        width: 700,
      },
      moves({
        rows,
        axis: linearDurationAxis({
          lowUs: 0,
          highUs: largest * 1.35,
          title: 'work for a mean request',
          of: quantity,
        }),
        from: 'before',
        fromColor: PALETTE.before,
        to: 'after',
        fromText: 'beforeText',
        toText: 'afterText',
        tooltip: {
          submitter: 'name',
          requests: 'requests',
          'share of its work': 'share',
          'a request waits': 'waited',
        },
      }),
    )
  },
)

function changeOf({ before, after }: Submitter): number {
  return after.causedUs - before.causedUs
}
