import { expect, test } from 'vitest'
import { describeWithShared } from '../../shared.ts'
import { runEvaluate } from '../run-evaluate.ts'

describeWithShared('npm run evaluate -- --suite nezha', () => {
  test('ranks services, checks sentences and counts null alarms of the named cases', async () => {
    const cases = ['220822-042703', 'half-22-08-22-220822-043603']
    const args = ['--suite', 'nezha', ...cases, '--check-sentences', '--json']
    const { code, out, err } = await runEvaluate(...args)
    expect(code).toBe(0)
    expect(err).toMatch(/^2 of 2, \d+ s: half-22-08-22-220822-043603$/m)
    const document = JSON.parse(out)
    expect(document.accuracy[0]).toMatchObject({ system: 'OB', type: 'all', faults: 1 })
    expect(document.nullAlarms.comparisons).toBe(1)
    expect(document.cases[0]).toMatchObject({
      id: cases[0],
      type: 'network_delay',
      service: 'cartservice',
      ranks: { flowdelta: 1, p95Tripled: null, ownTimeRise: 1 },
    })
  })

  test('an unknown case names those there are', async () => {
    const { code, err } = await runEvaluate('--suite', 'nezha', 'no-such-case')
    expect(code).toBe(2)
    expect(err).toMatch(/^evaluate: .* has no case no-such-case\. There are: 220822-035354,/)
  })
})

test('a suite takes neither --null nor --whatif, and nulls no cases', async () => {
  const refused = await runEvaluate('--suite', 'nulls', '--null')
  expect(refused.code).toBe(2)
  expect(refused.err).toContain('does nothing with --null. Leave one of the two out.')
  const named = await runEvaluate('--suite', 'nulls', 'rmw')
  expect(named.err).toContain('--suite nulls takes no cases, and was given rmw.')
})
