import { useMemo } from 'preact/hooks'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import type { Parameter } from '../../../explain/parameters/parameter.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import { parameterDots } from '../../charts/parameter-dots.ts'
import type { ParameterGroups } from '../../charts/parameter-groups.ts'
import { numberText, parameterShares } from '../../charts/parameter-shares.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { SharesTable } from './shares-table.tsx'
import { StripDrawing } from './strip-drawing.tsx'

interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly parameter: Parameter
  readonly colours: readonly [string, string]
  readonly traces: readonly string[] | null
  readonly onTakeOut: (column: string) => void
}

/** More dots make a page slow, and hide each other. */
const MOST_DOTS = 3000
const MOST_VALUES = 12
const WIDEST = 780

/** One parameter: its distribution in both groups, and every row along it. */
export function ParameterDetails(shown: Shown) {
  const { explanation, question, groups, parameter, colours, traces, onTakeOut } = shown
  const [place, width] = useWidth<HTMLDivElement>(600)
  const shares = useMemo(
    () => parameterShares(parameter, groups.labels, { limit: MOST_VALUES }),
    [parameter, groups],
  )
  const dots = useMemo(
    () => parameterDots(explanation, question, { parameter, limit: MOST_DOTS }),
    [explanation, question, parameter],
  )
  const { rows, time } = explanation.subject
  const { slowAboveUs } = question
  return (
    <div class="fd-details" ref={place}>
      <div class="fd-bar">
        <button type="button" onClick={() => onTakeOut(parameter.name)}>
          Take out
        </button>
      </div>
      <SharesTable {...{ shares, groups, colours, width }} />
      <h3>
        {dots.thinned > 0
          ? `${grouped(dots.dots.length)} of ${counted(dots.dots.length + dots.thinned, rows)}`
          : `Every ${rows}`}
      </h3>
      <p class="fd-soft">{wordsOf(dots, slowAboveUs, rows)}</p>
      <StripDrawing
        {...{ dots, groups, slowAboveUs, time, colours, width: Math.min(width, WIDEST), traces }}
      />
    </div>
  )
}

/** What the lines mean, and what has no place. */
function wordsOf(
  { thresholds, firstSide, levels, withoutPlace }: ReturnType<typeof parameterDots>,
  slowAboveUs: number | null,
  rows: string,
): string {
  const [first] = thresholds
  return [
    first === undefined
      ? firstSide > 0 && firstSide < levels.length
        ? 'The tree divides the values at the line between them.'
        : 'The tree does not divide these values.'
      : `The tree divides at the line: at most ${numberText(first)}, or above.`,
    slowAboveUs === null
      ? ''
      : `Beyond the dashed line, ${formatDuration(slowAboveUs)}, ${rows}s are slow.`,
    withoutPlace > 0 ? `${counted(withoutPlace, rows)} without a value not drawn.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
