import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import type { Parameter, ParameterDifference } from '../../../explain/parameters/parameter-table.ts'
import {
  differencesOf,
  effectTexts,
  type ParameterGroups,
  parameterChart,
} from '../../charts/parameter-differences.ts'
import { Button } from '../../drawing/controls.tsx'
import { DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'

export interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly onTakeOut: (column: string) => void
}

const MIN_LISTED = 10
const MAX_VALUES = 12

export function ParameterList(shown: Shown) {
  const { explanation, question } = shown
  const { root } = question.tree
  const [picked, setPicked] = useState<string | null | undefined>(undefined)
  const rows = useMemo(() => {
    const parameters = new Map(question.table.parameters.map((each) => [each.name, each]))
    return differencesOf(explanation, question).flatMap((difference) => {
      const parameter = parameters.get(difference.column)
      if (parameter === undefined) return []
      return [{ parameter, difference, texts: effectTexts(difference) }]
    })
  }, [explanation, question])
  const first = root.kind === 'split' ? root.column : null
  const open = picked === undefined ? first : picked
  const isOpen = ({ parameter }: (typeof rows)[number]) => parameter.name === open
  if (rows.length === 0) return <p class="fd-soft">There is no parameter left to compare.</p>
  return (
    <PageOnly>
      <DataTable<(typeof rows)[number]>
        label="Parameters"
        class="fd-parameters"
        rows={rows}
        rowKey={({ parameter }) => parameter.name}
        few={Math.max(MIN_LISTED, rows.findIndex(isOpen) + 1)}
        rowProps={(row) => ({ 'aria-selected': isOpen(row) })}
        opened={(row) => (isOpen(row) ? <ParameterDetails {...shown} {...row} /> : null)}
        columns={[
          textColumn('parameter', (row) => (
            <Button
              class="fd-parameter"
              aria-expanded={isOpen(row)}
              title={tooltipText(row.parameter.name)}
              onClick={() => setPicked(isOpen(row) ? null : row.parameter.name)}
            >
              {isOpen(row) ? '▾' : '▸'} {shortText(row.parameter.name, 70)}
            </Button>
          )),
          numberColumn('effect', ({ texts }) => texts.effect, {
            hint: '0: same distribution, 1: no overlap',
          }),
          numberColumn('q', ({ texts }) => texts.q, {
            hint: 'The p-value, corrected for the number of parameters',
          }),
        ]}
      />
    </PageOnly>
  )
}

interface DetailsProps extends Shown {
  readonly parameter: Parameter
  readonly difference: ParameterDifference
}

function ParameterDetails({ question, groups, onTakeOut, parameter, difference }: DetailsProps) {
  return (
    <div class="fd-details">
      <div class="fd-bar">
        <Button onClick={() => onTakeOut(parameter.name)}>Take out</Button>
      </div>
      <VegaChart spec={parameterChart(question, groups, difference, MAX_VALUES).spec} />
    </div>
  )
}
