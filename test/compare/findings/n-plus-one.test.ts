import { expect, test } from 'vitest'
import { FINDING } from '../../../src/cli/finding-document.ts'
import { compare } from '../../../src/compare/comparison.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { exampleTexts } from '../../../src/views/text/example-calls.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** `web GET` on one of six hosts asks `geo` on one of six, then calls `dispatch Assign`, which asks for all drivers, or for each of 2 to 8. */
function period(seed: number, isOneEach: boolean) {
  const random = randomSource(seed)
  return makeSpans(
    Array.from({ length: 400 }, (_, i): SpanSketch[] => {
      const trace = `${seed} ${i}`
      const startUs = 1e5 * i
      const candidates = 2 + random.integer(7)
      const queries = isOneEach ? candidates : 1
      const eachUs = () => Math.round(1500 * (0.9 + 0.2 * random.next()))
      let nowUs = startUs + 1000 + Math.round(500 * random.next())
      const calls = Array.from({ length: queries }, (_, query): SpanSketch => {
        const operation = isOneEach ? 'SELECT driver' : 'SELECT drivers'
        const begins = nowUs
        nowUs += eachUs()
        const own = { service: 'dispatch', operation, kind: 'client' as const }
        return { trace, id: `q${query}`, parent: 'd', ...own, startUs: begins, endUs: nowUs }
      })
      const host = `web-${random.integer(6)}`
      const attributes = { candidates }
      const [root, assign] = [
        { trace, id: 'w', service: 'web', operation: 'GET', host, attributes, startUs },
        { trace, id: 'd', parent: 'w', service: 'dispatch', operation: 'Assign' },
      ]
      return [
        { ...root, endUs: nowUs + 600 },
        {
          ...assign,
          host: `dispatch-${random.integer(6)}`,
          startUs: startUs + 300,
          endUs: nowUs + 300,
        },
        {
          ...{ trace, id: 'g', parent: 'w', service: 'geo', operation: 'Nearest' },
          host: `geo-${random.integer(6)}`,
          startUs: startUs + 50,
          endUs: startUs + 250,
        },
        ...calls,
      ]
    }).flat(),
  )
}

const comparison = compare(period(1, false), period(2, true))
const [finding] = comparison.findings.findings

test('a call that is made anew says how many times each, where that is more than once', () => {
  expect(finding?.what).toMatch(
    /^Assign calls SELECT driver instead of SELECT drivers, in 400 of 400 calls \(0 of 400 before\), [45](\.\d)? times each$/,
  )
  const [printed] = listedFindings(comparison).map((one) => FINDING.write(one))
  expect(JSON.parse(JSON.stringify(printed)).calls).toContainEqual(
    expect.objectContaining({ kind: 'calls', times: [null, expect.closeTo(5, 0)] }),
  )
})

test('other hosts are nothing that requests do differently', () => {
  const hosts = finding?.changedStructure.filter(({ label }) => !label.includes('SELECT'))
  expect(hosts).toEqual([])
})

test('repeated calls of an example are one line with their number', () => {
  if (finding === undefined) throw new Error('no finding')
  const [, after = ''] = exampleTexts(comparison.flows, finding)
  const lines = after.split('\n').filter((line) => line.includes('SELECT driver'))
  expect(lines).toEqual([
    expect.stringMatching(/dispatch SELECT driver × [2-8] +[\d.]+ ms +[\d.]+ ms$/),
  ])
})
