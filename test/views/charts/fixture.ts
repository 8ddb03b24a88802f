import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import {
  type Comparison,
  type ComparisonOptions,
  compare,
} from '../../../src/comparison/comparison.ts'
import { type Chart, Drawing } from '../../../src/views/charts/chart.ts'
import { compileChart } from '../../../src/views/notebook/vega-renderer.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

/** Properties that Vega evaluates as expressions. */
export const EXPRESSIONS: readonly string[] = [
  'labelExpr',
  'expr',
  'signal',
  'calculate',
  'filter',
  'test',
  'format',
  'field',
]

export type Row = Readonly<Record<string, unknown>>

const validate = vegaLiteValidator()

function vegaLiteValidator(): ValidateFunction {
  const path = createRequire(import.meta.url).resolve('vega-lite/vega-lite-schema.json')
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  ajv.addFormat('color-hex', true)
  return ajv.compile(JSON.parse(readFileSync(path, 'utf8')))
}

/** Expects a chart to be valid Vega-Lite that compiles and draws without a warning or a NaN. */
export function expectDrawable(chart: Chart | Drawing): string {
  if (chart instanceof Drawing) {
    const svg = chart.svg()
    expect(svg.match(/.{30}(NaN|Infinity|undefined)/g) ?? []).toEqual([])
    return svg
  }
  const plain = JSON.parse(JSON.stringify(chart.spec))
  expect(plain).toEqual(chart.spec)
  validate(plain)
  expect((validate.errors ?? []).slice(0, 6)).toEqual([])
  const { svg, warnings } = compileChart(chart.spec)
  expect(warnings).toEqual([])
  expect(svg.match(/.{30}(NaN|Infinity|undefined|null)/g) ?? []).toEqual([])
  for (const row of dataOf(chart).flat()) {
    for (const value of Object.values(row)) expect(Number.isNaN(value)).toBe(false)
  }
  return svg
}

/** The inline data of a chart, in the order in which its layers and views stand. */
export function dataOf(chart: Chart | Drawing): Row[][] {
  if (chart instanceof Drawing) return []
  return partsOf(chart.spec).flatMap(([key, value]) =>
    key === 'data' ? [(value as { values: Row[] }).values] : [],
  )
}

/** Every property of a specification, data aside, with its name. */
export function partsOf(part: unknown): [string, unknown][] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]): [string, unknown][] => [
    [key, value],
    ...(key === 'data' ? [] : partsOf(value)),
  ])
}

/** `columns` of rows. */
export function pick(rows: readonly Row[] | undefined, ...columns: string[]): unknown[][] {
  return (rows ?? []).map((row) => columns.map((column) => row[column]))
}

/** Requests of one kind: a chain of trace points, one response time each, arriving 1 ms apart. */
export function chain(
  points: readonly string[],
  responseTimesUs: readonly number[],
): GraphSketch[] {
  return responseTimesUs.map((responseTimeUs, i) => ({
    labels: points.map((point) => `m1__t1__${point}`),
    edges: points.slice(1).map((_, edge) => [edge, edge + 1] as const),
    latencyUs: points.slice(1).map(() => responseTimeUs / (points.length - 1)),
    responseTimeUs,
    startUs: 1000 * i,
  }))
}

/** `count` values from `from` on, 1 apart. */
export function upFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i)
}

export function comparisonOf(
  before: readonly GraphSketch[],
  after: readonly GraphSketch[],
  options: Partial<ComparisonOptions> = {},
): Comparison {
  return compare(makeGraphs(before, 'before'), makeGraphs(after, 'after'), options)
}

/**
 * READ, as fast as ever; WRITE, slower; and 12 requests that went from a cache (category 2) to a
 * disk (category 3).
 */
export function smallComparison(): Comparison {
  const before = [
    ...chain(['READ', 'READ_REPLY'], upFrom(100, 10)),
    ...chain(['WRITE', 'LOG', 'WRITE_REPLY'], upFrom(1000, 10)),
    ...chain(['GET', 'CACHE', 'GET_REPLY'], upFrom(50, 12)),
  ]
  const after = [
    ...chain(['READ', 'READ_REPLY'], upFrom(100, 10)),
    ...chain(['WRITE', 'LOG', 'WRITE_REPLY'], upFrom(3000, 10)),
    ...chain(['GET', 'DISK', 'GET_REPLY'], upFrom(9000, 12)),
  ]
  return comparisonOf(before, after, { smPThreshold: 5 })
}

/** 1,602 categories of one to six requests, most of which change a little. */
export function manyCategories(): Comparison {
  const period = (shift: number) =>
    upFrom(0, 1602).flatMap((category) =>
      chain(
        [`OP${category % 7}`, `STEP${category}`, 'REPLY'],
        upFrom(100, 1 + ((category + shift) % 6)),
      ),
    )
  return comparisonOf(period(0), period(4), { smPThreshold: 3 })
}
