import { expect, test } from 'vitest'
import { FINDING } from '../../../src/cli/finding-document.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { exampleTexts } from '../../../src/views/text/comparison-text.ts'
import { call, record } from '../../worlds.ts'

/** `web GET` on one of six hosts asks `geo` on one of six, then calls `dispatch Assign`, which asks for all drivers, or for each of 2 to 8. */
function period(seed: number, isOneEach: boolean) {
  return record({ seed, requests: 400, everyUs: 1e5 }, (r) => {
    const candidates = 2 + r.integer(7)
    const select = isOneEach ? 'dispatch SELECT driver' : 'dispatch SELECT drivers'
    const queries = Array.from({ length: isOneEach ? candidates : 1 }, () =>
      call(select, 1500 * (0.9 + 0.2 * r.next()), { kind: 'client' }),
    )
    const on = (service: string) => ({ host: `${service}-${r.integer(6)}` })
    const assign = call('dispatch Assign', [700 + 500 * r.next(), 300], on('dispatch'), queries)
    const geo = call('geo Nearest', 200, on('geo'))
    return call('web GET', [50, 300], { ...on('web'), attributes: { candidates } }, [geo, assign])
  })
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
