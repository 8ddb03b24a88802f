import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { grouped, percent } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import type { Parameter } from '../../../explain/parameters/left-out.ts'
import type { ParameterDifference } from '../../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../../explain/parameters/parameter-question.ts'
import { differencesOf, effectTexts, type ParameterGroups } from '../../charts/parameter-groups.ts'
import { numberText, type ParameterShares, parameterShares } from '../../charts/parameter-shares.ts'
import { parameterStripChart } from '../../charts/parameter-strip.ts'
import { useWidth } from '../../drawing/controls.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import { groupColors } from '../../drawing/parameter-tree.tsx'
import { VegaChart } from '../vega-chart.tsx'

interface Shown {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly onTakeOut: (column: string) => void
}

/** Parameters that are listed at first. */
const MIN_LISTED = 10
/** Values of a parameter of names that are seen without opening it, and opened. */
const MAX_VALUES = { glance: 24, open: 12 }
/** More dots make a page slow, and hide each other. */
const MAX_DOTS = 3000

/** Lists all parameters, the most different first; one opens into its rows. */
export function ParameterList(shown: Shown) {
  const { explanation, question } = shown
  const { root } = question.tree
  const first = root.kind === 'split' ? root.column : null
  const [picked, setPicked] = useState<string | null | undefined>(undefined)
  const [isAll, setAll] = useState(false)
  const differences = useMemo(() => differencesOf(explanation, question), [explanation, question])
  const open = picked === undefined ? first : picked
  const listed = differences.filter(({ column }, i) => isAll || i < MIN_LISTED || column === open)
  if (differences.length === 0) return <p class="fd-soft">There is no parameter left to compare.</p>
  return (
    <PageOnly>
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
    </PageOnly>
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
  const { question, groups } = shown
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
          <Glance parameter={parameter} groups={groups} question={question} />
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

/** One parameter: its distribution in both groups, and every row along it. */
function ParameterDetails({
  explanation,
  question,
  groups,
  parameter,
  onTakeOut,
}: Shown & { readonly parameter: Parameter }) {
  const [place, width] = useWidth<HTMLDivElement>()
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
    <div class="fd-details" ref={place}>
      <div class="fd-bar">
        <button type="button" onClick={() => onTakeOut(parameter.name)}>
          Take out
        </button>
      </div>
      {shares.kind === 'values' ? (
        <SharesTable values={shares.values} groups={groups} question={question} />
      ) : (
        <Histogram shares={shares} groups={groups} question={question} width={width} />
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

function Glance({ parameter, groups, question }: GroupsProps & { readonly parameter: Parameter }) {
  const shares = useMemo(
    () => parameterShares(parameter, groups.labels, { limit: MAX_VALUES.glance }),
    [parameter, groups],
  )
  return (
    <svg width={110} height={36} aria-hidden="true">
      <SharesDrawing
        {...{ groups, question, width: 110, height: 36 }}
        columns={columnsOf(shares)}
      />
    </svg>
  )
}

interface ShareColumn {
  readonly label: string
  readonly shares: readonly [number, number]
}

function columnsOf(shares: ParameterShares): readonly ShareColumn[] {
  if (shares.kind === 'values') {
    // The sum of many values would dwarf each of them; opened, the list has it.
    return shares.values.filter(({ kind }) => kind !== 'others')
  }
  const bins = shares.bins.map(({ from, to, shares: pair }) => ({
    label: `${numberText(from)} to ${numberText(to)}`,
    shares: pair,
  }))
  const hasMissing = shares.missing.some((share) => share > 0)
  return hasMissing ? [...bins, { label: 'missing', shares: shares.missing }] : bins
}

/** A distribution at a glance: one group above the line, the other below, values side by side. */
function SharesDrawing({
  columns,
  groups: { names },
  question,
  width,
  height,
}: GroupsProps & {
  readonly columns: readonly ShareColumn[]
  readonly width: number
  readonly height: number
}) {
  const ink = useInk()
  const colors = groupColors(question.question, ink)
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

const HISTOGRAM = { width: 480, height: 130 }

function Histogram({
  shares,
  groups,
  question,
  width,
}: GroupsProps & {
  readonly shares: Extract<ParameterShares, { kind: 'histogram' }>
  readonly width: number
}) {
  const room = Math.min(width, HISTOGRAM.width)
  const { bins, isClipped, missing } = shares
  const y = HISTOGRAM.height + 14
  return (
    <svg
      width={room}
      height={HISTOGRAM.height + 18}
      role="img"
      aria-label={`Distribution of ${groups.names[0]} above the line and of ${groups.names[1]} below it`}
      font-size="11"
    >
      <SharesDrawing
        groups={groups}
        question={question}
        columns={columnsOf(shares)}
        width={room}
        height={HISTOGRAM.height}
      />
      <text x={0} y={y} class="fd-soft">
        {isClipped[0] ? '≤ ' : ''}
        {numberText(bins[0]?.from ?? 0)}
      </text>
      <text x={room} y={y} text-anchor="end" class="fd-soft">
        {isClipped[1] ? '≥ ' : ''}
        {numberText(bins.at(-1)?.to ?? 0)}
        {missing.some((share) => share > 0) ? ', missing' : ''}
      </text>
    </svg>
  )
}

const BAR = 130

/** The values of a parameter with the share of either group that has them. */
function SharesTable({
  values,
  groups: { names },
  question,
}: GroupsProps & {
  readonly values: Extract<ParameterShares, { kind: 'values' }>['values']
}) {
  const colors = groupColors(question.question, useInk())
  return (
    <div class="fd-scroll">
      <table class="fd-shares">
        <thead>
          <tr>
            <th scope="col">value</th>
            <th scope="col">
              <span class="fd-unseen">shares as bars</span>
            </th>
            {names.map((name) => (
              <th key={name} scope="col" class="fd-amount">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {values.map(({ label, shares, kind }, i) => (
            <tr key={`${i} ${label}`}>
              <td class={kind === 'value' ? '' : 'fd-soft'} title={tooltipText(label)}>
                {shortText(label, 34)}
              </td>
              <td>
                <svg width={BAR} height="16" aria-hidden="true">
                  {shares.map((share, group) => (
                    <rect
                      key={names[group]}
                      y={1 + group * 7}
                      width={share * BAR}
                      height="6"
                      style={`fill:${colors[group]}`}
                    />
                  ))}
                </svg>
              </td>
              {shares.map((share, group) => (
                <td key={names[group]} class="fd-amount">
                  {percent(share)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
