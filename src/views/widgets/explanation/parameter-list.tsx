import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { percent } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import type { Parameter } from '../../../explain/parameters/left-out.ts'
import type { ParameterDifference } from '../../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import { parameterChart } from '../../charts/parameter-differences.ts'
import { differencesOf, effectTexts, type ParameterGroups } from '../../charts/parameter-groups.ts'
import { numberText, type ParameterShares, parameterShares } from '../../charts/parameter-shares.ts'
import { parameterStripChart } from '../../charts/parameter-strip.ts'
import { Button } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/medium.tsx'
import { groupColors } from '../../drawing/parameter-tree.tsx'
import { VegaChart } from '../vega-chart.tsx'

/** A question of an explanation, and how a parameter is taken out. */
export interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly onTakeOut: (column: string) => void
}

/** Parameters that are listed at first. */
const MIN_LISTED = 10
/** Values of a parameter of names that are seen without opening it, and opened. */
const MAX_VALUES = { glance: 24, open: 12 }
const GLANCE = { width: 110, height: 36 }
/** More dots make a page slow, and hide each other. */
const MAX_DOTS = 3000

/** Lists all parameters, the most different first; one opens into its rows. */
export function ParameterList(shown: Shown) {
  const { explanation, question, groups } = shown
  const { root } = question.tree
  const [picked, setPicked] = useState<string | null | undefined>(undefined)
  const rows = useMemo(() => {
    const parameters = new Map(question.table.parameters.map((each) => [each.name, each]))
    return differencesOf(explanation, question).flatMap((difference) => {
      const parameter = parameters.get(difference.column)
      if (parameter === undefined) return []
      const shares = parameterShares(parameter, groups.labels, { limit: MAX_VALUES.glance })
      return [{ parameter, difference, shares, texts: effectTexts(difference) }]
    })
  }, [explanation, question, groups])
  const first = root.kind === 'split' ? root.column : null
  const open = picked === undefined ? first : picked
  const isOpen = ({ parameter }: (typeof rows)[number]) => parameter.name === open
  if (rows.length === 0) return <p class="fd-soft">There is no parameter left to compare.</p>
  return (
    <PageOnly>
      <DataTable
        label="Parameters"
        class="fd-parameters"
        rows={rows}
        rowKey={({ parameter }) => parameter.name}
        few={Math.max(MIN_LISTED, rows.findIndex(isOpen) + 1)}
        rowProps={(row) => ({ 'aria-selected': isOpen(row) })}
        opened={(row) => (isOpen(row) ? <ParameterDetails {...shown} {...row} /> : null)}
        columns={[
          {
            title: 'parameter',
            cell: (row) => (
              <Button
                class="fd-parameter"
                aria-expanded={isOpen(row)}
                title={tooltipText(row.parameter.name)}
                onClick={() => setPicked(isOpen(row) ? null : row.parameter.name)}
              >
                {isOpen(row) ? '▾' : '▸'} {shortText(row.parameter.name, 70)}
              </Button>
            ),
          },
          {
            title: 'both groups',
            cell: ({ shares }) => (
              <svg {...GLANCE} aria-hidden="true">
                <SharesDrawing {...{ shares, groups, question, ...GLANCE }} />
              </svg>
            ),
          },
          {
            title: 'effect',
            hint: '0: distributed alike, 1: nothing in common',
            isNumber: true,
            cell: ({ texts }) => texts.effect,
          },
          {
            title: 'q',
            hint: 'The p-value, corrected for the number of parameters',
            isNumber: true,
            cell: ({ texts }) => texts.q,
          },
        ]}
      />
    </PageOnly>
  )
}

interface DetailsProps extends Shown {
  readonly parameter: Parameter
  readonly difference: ParameterDifference
}

/** One parameter: its distribution in both groups, and every row along it. */
function ParameterDetails({ explanation, question, groups, onTakeOut, ...row }: DetailsProps) {
  const { parameter, difference } = row
  const shares = useMemo(
    () => parameterShares(parameter, groups.labels, { limit: MAX_VALUES.open }),
    [parameter, groups],
  )
  const strip = useMemo(
    () =>
      parameterStripChart(explanation, {
        parameter: parameter.name,
        question: question.question,
        limit: MAX_DOTS,
      }),
    [explanation, question, parameter],
  )
  return (
    <div class="fd-details">
      <div class="fd-bar">
        <Button onClick={() => onTakeOut(parameter.name)}>Take out</Button>
      </div>
      {shares.kind === 'values' ? (
        <SharesTable values={shares.values} groups={groups} question={question} />
      ) : (
        <div class="fd-scroll">
          <VegaChart spec={parameterChart(question, groups, difference).spec} />
        </div>
      )}
      <div class="fd-scroll">
        <VegaChart spec={strip.spec} />
      </div>
    </div>
  )
}

interface GroupsProps {
  readonly groups: ParameterGroups
  readonly question: ParameterQuestion
}

interface SharesProps extends GroupsProps {
  readonly shares: ParameterShares
  readonly width: number
  readonly height: number
}

/** A distribution at a glance: one group above the line, the other below, values side by side. */
function SharesDrawing({ shares: of, groups: { names }, question, width, height }: SharesProps) {
  const ink = useInk()
  const colors = groupColors(question.question, ink)
  const columns = columnsOf(of)
  const largest = Math.max(...columns.flatMap(({ shares }) => shares), 1e-9)
  const slot = width / Math.max(1, columns.length)
  const thick = Math.max(1, Math.min(26, slot - 1))
  const half = height / 2
  return (
    <>
      <line x1={0} x2={width} y1={half} y2={half} stroke={ink.line} />
      {columns.map(({ label, shares }, i) => (
        <g key={`${i} ${label}`}>
          <title>
            {`${tooltipText(label)}: ${shares.map((share, group) => `${percent(share)} ${names[group]}`).join(', ')}`}
          </title>
          {/* Room to point at where bars are small. */}
          <rect x={i * slot} width={slot} height={height} fill="transparent" />
          {shares.map((share, group) => {
            const length = share === 0 ? 0 : Math.max(1, (share / largest) * (half - 1))
            return (
              <rect
                key={names[group]}
                x={i * slot + (slot - thick) / 2}
                y={group === 0 ? half - length : half}
                width={thick}
                height={length}
                style={`fill:${colors[group]}`}
              />
            )
          })}
        </g>
      ))}
    </>
  )
}

function columnsOf(shares: ParameterShares) {
  if (shares.kind === 'values') {
    // The sum of many values would dwarf each of them; opened, the list has it.
    return shares.values.filter(({ kind }) => kind !== 'others')
  }
  const bins = shares.bins.map(({ from, to, shares: pair }) => ({
    label: `${numberText(from)} to ${numberText(to)}`,
    shares: pair,
  }))
  return shares.missing.some((share) => share > 0)
    ? [...bins, { label: 'missing', shares: shares.missing }]
    : bins
}

const BAR = 130

type Values = Extract<ParameterShares, { kind: 'values' }>['values']

/** The values of a parameter with the share of either group that has them. */
function SharesTable({ values, groups, question }: GroupsProps & { readonly values: Values }) {
  const colors = groupColors(question.question, useInk())
  return (
    <DataTable
      class="fd-shares"
      rows={values}
      columns={[
        {
          title: 'value',
          cell: ({ label, kind }) => (
            <span class={kind === 'value' ? '' : 'fd-soft'} title={tooltipText(label)}>
              {shortText(label, 34)}
            </span>
          ),
        },
        {
          title: 'shares',
          cell: ({ shares }) => (
            <svg width={BAR} height="16" aria-hidden="true">
              {shares.map((share, group) => (
                <rect
                  key={colors[group]}
                  y={1 + group * 7}
                  width={share * BAR}
                  height="6"
                  style={`fill:${colors[group]}`}
                />
              ))}
            </svg>
          ),
        },
        ...groups.names.map((title, group) => ({
          ...{ title, isNumber: true },
          cell: ({ shares }: Values[number]) => percent(shares[group] ?? 0),
        })),
      ]}
    />
  )
}
