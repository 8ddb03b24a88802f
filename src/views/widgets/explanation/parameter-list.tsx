import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { grouped } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import type { Parameter } from '../../../explain/parameters/parameter.ts'
import type { ParameterDifference } from '../../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import { differencesOf, effectTexts } from '../../charts/parameter-comparison.ts'
import type { ParameterGroups } from '../../charts/parameter-groups.ts'
import { type ParameterShares, parameterShares } from '../../charts/parameter-shares.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { ParameterDetails } from './parameter-details.tsx'
import { SharesDrawing } from './shares-drawing.tsx'

interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly colours: readonly [string, string]
  readonly traces: readonly string[] | null
  readonly onTakeOut: (column: string) => void
}

const AT_FIRST = 10
/** Values of a parameter of names that are seen without opening it. */
const AT_A_GLANCE = 24

/** All parameters at a glance, the most different first; one opens into its rows. */
export function ParameterList(shown: Shown) {
  const { explanation, question } = shown
  const { root } = question.tree
  const first = root.kind === 'split' ? root.column : null
  const [picked, setPicked] = useState<string | null | undefined>(undefined)
  const [isAll, setAll] = useState(false)
  const differences = useMemo(() => differencesOf(explanation, question), [explanation, question])
  const open = picked === undefined ? first : picked
  const listed = differences.filter(({ column }, i) => isAll || i < AT_FIRST || column === open)
  if (differences.length === 0) return <p class="fd-soft">There is no parameter left to compare.</p>
  return (
    <>
      <div class="fd-scroll fd-fit">
        <table aria-label="Parameters" class="fd-parameters">
          <thead>
            <tr>
              <th scope="col">parameter</th>
              <th scope="col">both groups</th>
              <th scope="col" class="fd-amount" title="0: distributed alike, 1: nothing in common">
                effect
              </th>
              <th
                scope="col"
                class="fd-amount"
                title="The p-value, corrected for the number of parameters"
              >
                q
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map((difference) => (
              <ParameterRow
                key={difference.column}
                {...shown}
                difference={difference}
                isOpen={difference.column === open}
                onPick={setPicked}
              />
            ))}
          </tbody>
        </table>
      </div>
      {differences.length > listed.length ? (
        <button type="button" class="fd-more" onClick={() => setAll(true)}>
          {grouped(differences.length - listed.length)} more
        </button>
      ) : null}
    </>
  )
}

function ParameterRow({
  difference,
  isOpen,
  onPick,
  ...shown
}: Shown & {
  readonly difference: ParameterDifference
  readonly isOpen: boolean
  readonly onPick: (column: string | null) => void
}) {
  const { question, groups, colours } = shown
  const { column } = difference
  const texts = effectTexts(difference)
  const parameter = question.table.parameters.find(({ name }) => name === column)
  if (parameter === undefined) return null
  return (
    <>
      <tr aria-selected={isOpen}>
        <td>
          <button
            type="button"
            class="fd-parameter"
            aria-expanded={isOpen}
            title={tooltipText(column)}
            onClick={() => onPick(isOpen ? null : column)}
          >
            {isOpen ? '▾' : '▸'} {shortText(column, 70)}
          </button>
        </td>
        <td>
          <Glance {...{ parameter, groups, colours }} />
        </td>
        <td class="fd-amount">{texts.effect}</td>
        <td class="fd-amount">{texts.q}</td>
      </tr>
      {isOpen ? (
        <tr class="fd-open">
          <td colSpan={4}>
            <ParameterDetails {...shown} parameter={parameter} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

function Glance({
  parameter,
  groups,
  colours,
}: {
  readonly parameter: Parameter
  readonly groups: ParameterGroups
  readonly colours: readonly [string, string]
}) {
  const shares = useMemo(
    () => withoutOthers(parameterShares(parameter, groups.labels, { limit: AT_A_GLANCE })),
    [parameter, groups],
  )
  const size = { width: 110, height: 36 }
  return (
    <svg {...size} aria-hidden="true">
      <SharesDrawing {...{ shares, names: groups.names, colours, ink: PAGE_INK, ...size }} />
    </svg>
  )
}

/** The sum of many values would dwarf each of them; opened, the list has it. */
function withoutOthers(shares: ParameterShares): ParameterShares {
  if (shares.kind === 'histogram') return shares
  return { ...shares, values: shares.values.filter(({ kind }) => kind !== 'others') }
}
