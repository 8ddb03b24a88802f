import { expect, test } from 'vitest'
import { firstSeconds, flowdelta, schemaErrors } from './run-cli.ts'

const [, FILE = ''] = await firstSeconds('rmw', 1)

test('plan says how many requests find a slowdown of each step, as a document and as text', async () => {
  const { code, out } = await flowdelta(
    'plan',
    FILE,
    '--shift',
    '1ms',
    '--within',
    '1min',
    '--json',
  )
  expect(code).toBe(0)
  const plan = JSON.parse(out)
  expect(schemaErrors('plan', plan)).toBeNull()
  expect(plan).toMatchObject({ schema: 'flowdelta.plan/1', shiftUs: 1000, periodUs: 60e6 })
  for (const { requests, needed, rate } of plan.steps) {
    if (needed !== null) expect(rate).toBeCloseTo(needed / requests)
  }
  const text = await flowdelta('plan', FILE, '--shift', '1ms', '--within', '1min')
  const [first] = plan.steps
  expect(text.out).toMatch(/^To find that a call takes 1 ms longer, compare two periods of 1 min /)
  expect(text.out).toContain(`${first.step} `)
  expect(text.out).toMatch(/ needs the most: a head sampler that keeps [\d.]+ % of all requests /)
})

test('plan refuses what is no duration', async () => {
  const { code, err } = await flowdelta('plan', FILE, '--shift', 'long')
  expect(code).toBe(2)
  expect(err).toContain("Give a duration above 0, such as '5ms'")
})
