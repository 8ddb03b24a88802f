import { formatDuration } from '../../../core/units.ts'
import { percent, pValue, shortNumber } from '../../../core/words.ts'
import type { FeatureTest, PerformanceTest } from '../../../logs/divergence/divergence.ts'
import { type Feature, featureText } from '../../../logs/features/features.ts'
import { missingText } from '../../charts/log-strip.ts'
import { tText, unitOf, valueText } from '../../charts/log-values.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { LogsData } from './logs-data.ts'
import { nameText } from './logs-words.ts'
import type { OpenVariable } from './open-variable.ts'
import { StripDrawing } from './strip-drawing.tsx'

interface Shown {
  readonly data: LogsData
  readonly variable: OpenVariable
  readonly onClose: () => void
}

interface Row {
  readonly name: string
  readonly test: PerformanceTest
  readonly values: readonly (number | null)[] | null
  readonly textOf: (value: number) => string
}

/** One variable in both classes, feature by feature, and its tests. */
export function VariableDetails({ data, variable, onClose }: Shown) {
  const { values, counts } = data
  const all = rowsOf(data, variable)
  const rows = all.filter(({ test }) => test.beforeCount + test.afterCount > 0)
  const empty = all.filter((row) => !rows.includes(row))
  const hasValues = rows.some((row) => row.values !== null)
  return (
    <section
      class="fd-logs-details"
      aria-label={`${nameText(variable.name)}, feature by feature`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <div class="fd-bar">
        <h3>{nameText(variable.name)}</h3>
        <button type="button" onClick={onClose} aria-label="Close the variable">
          Close
        </button>
      </div>
      <p class="fd-soft">
        {variable.note}
        {hasValues ? (
          <>
            A dot is an instance, the line the mean of its class:
            <span class="fd-key fd-key-before" /> before <span class="fd-key fd-key-after" /> after.
          </>
        ) : (
          'Its values are not in the page; the code below draws them.'
        )}
      </p>
      <div class="fd-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">feature</th>
              {hasValues ? <th scope="col">before above after</th> : null}
              {['before, mean', 'after, mean', 't', 'p', 'significant'].map((head) => (
                <th key={head} scope="col" class="fd-amount">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, test, values: column, textOf }) => (
              <tr key={name}>
                <th scope="row">
                  {name}
                  <div class="fd-soft">{missingText(test, counts)}</div>
                </th>
                {hasValues ? (
                  <td>
                    <StripDrawing
                      {...{ values: column ?? [], textOf, ink: PAGE_INK }}
                      {...{ classOf: values.classOf, instances: values.instances }}
                      means={[test.beforeMean, test.afterMean]}
                    />
                  </td>
                ) : null}
                <td class="fd-amount">{meanText(test.beforeMean, textOf)}</td>
                <td class="fd-amount">{meanText(test.afterMean, textOf)}</td>
                <td class="fd-amount">{test.tested ? tText(test.t) : 'not tested'}</td>
                <td class="fd-amount" title="not corrected; whether it is significant is">
                  {test.tested ? pValue(test.p).replace(/^p (= )?/, '') : ''}
                </td>
                <td class="fd-amount">{test.significant ? <b>yes</b> : 'no'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {empty.length === 0 ? null : (
        <p class="fd-soft">No instance has: {empty.map(({ name }) => name).join('; ')}.</p>
      )}
    </section>
  )
}

/** What differs most first. */
function rowsOf(data: LogsData, { tests, performance, number }: OpenVariable): Row[] {
  if (tests === null) return [performanceRow(data, performance)]
  const columns = number === null ? null : (data.values.ofVariable[number] ?? null)
  return tests
    .map((test, i) => ({ ...featureRow(test), values: columns?.[i] ?? null }))
    .sort((a, b) => size(b.test) - size(a.test))
}

function featureRow(test: FeatureTest): Omit<Row, 'values'> {
  const { feature } = test
  return { name: featureText(feature), test, textOf: (value) => exactText(feature, value) }
}

function performanceRow({ metric, values }: LogsData, test: PerformanceTest): Row {
  const textOf = {
    ...{ 'absolute time': formatDuration, 'relative time': percent, value: shortNumber },
  }[metric.unit]
  return { name: 'performance', test, values: values.metric, textOf }
}

/** Shares near 0 or 1 are told apart. */
function exactText(feature: Feature, value: number): string {
  if (unitOf(feature) !== 'share') return valueText(feature, value)
  return `${Number((100 * value).toPrecision(4))} %`.replace('-', '−')
}

function size({ tested, t }: PerformanceTest): number {
  return tested ? Math.abs(t) : -1
}

function meanText(mean: number, textOf: (value: number) => string): string {
  return Number.isFinite(mean) ? textOf(mean) : 'none'
}
