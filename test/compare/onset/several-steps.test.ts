import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

const PERIOD_US = 300e6

/*
 * web   GET    |----------------------|
 * web   GENERATE |------------------|     the call: on the way, then
 * model GENERATE      |-----------|       at work
 */
function periodOf(name: string, fromUs: number, isAfter: boolean) {
  const given = { seed: isAfter ? 2 : 1, requests: 600, everyUs: PERIOD_US / 600, fromUs, name }
  return record(given, (r) => {
    const workUs = r.about(20_000, 0.3) + (isAfter ? 40_000 : 0)
    const slowUs = isAfter ? 75_000 * Math.max(0, r.part - 0.3) : 0
    const wayUs = 500 + 20 * r.normal() + slowUs
    const how = { kind: 'server', client: { us: [wayUs, wayUs] } } as const
    return call('web GET', 200, {}, [call('model GENERATE', workUs, how)])
  })
}

test('of several steps, the one that holds most of a finding says since when', () => {
  const { findings } = compare(
    periodOf('before', NOON_US, false),
    periodOf('after', NOON_US + PERIOD_US, true),
  ).findings
  const [{ title, since } = {}] = findings
  expect(title).toMatch(/work takes 40.* longer and calls to it take/)
  expect(since?.fromStart).toBe(true)
})
