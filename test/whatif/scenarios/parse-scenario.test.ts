import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../../src/whatif/scenarios/apply-scenario.ts'
import { parseScenario } from '../../../src/whatif/scenarios/parse-scenario.ts'
import { makeSpans } from '../../make-traces.ts'

const models = learnExecutionModels(
  makeSpans([
    { id: 'web', startUs: 0, endUs: 100_000 },
    { id: 'my stock', parent: 'web', startUs: 10_000, endUs: 60_000, operation: 'GET /a*b' },
  ]),
)
const timeUnder = (text: string) => applyScenario(models, parseScenario(text)).profile.latencyUs[0]

describe('scenarios as text', () => {
  test.each([
    ['web*0.5', 50_000],
    ['my stock*2', 150_000],
    ['server:my stock × 0', 50_000],
    ['my stock GET /a*b*0.5', 75_000],
    ['my stock+10ms', 110_000],
    ['my stock -1.5 ms', 98_500],
    ['my stock+250us', 100_250],
    ['my stock+250µs', 100_250],
    ['server:web+1s', 1_100_000],
    ['network:my stock+3ms', 103_000],
    ['preprocessing:web*2', 150_000],
    ['  web*1  ', 100_000],
  ])('%s', (text, timeUs) => {
    expect(timeUnder(text)).toBe(timeUs)
  })

  test('shares of requests', () => {
    const { title, kind } = parseScenario('attribute:cache.hit=true:90%')
    expect([kind, title]).toEqual(['reweight', '90 % of requests with cache.hit = true'])
    expect(parseScenario('host=a:b:12.5%').title).toBe('12.5 % of requests on host a:b')
  })

  test('a service that there is not, with those that there are', () => {
    expect(() => timeUnder('stock*2')).toThrow(
      'Option service is "stock". Give one of my stock, web.',
    )
    expect(() => timeUnder('my stock PUT*2')).toThrow('Option operation is "PUT"')
  })

  test.each(['', 'web', 'web*', 'web*two', 'web+10', 'web+10min', 'disk:', 'attribute:hit:90%'])(
    'what is no scenario: %j',
    (text) => {
      expect(() => parseScenario(text)).toThrow(
        `Scenario ${JSON.stringify(text)} has none of the known forms. Give 'inventory*0.5'`,
      )
    },
  )

  test('more than all requests', () => {
    expect(() => parseScenario('host=a:120%')).toThrow('Option shares.a is 1.2')
  })
})

describe('names between double quotes', () => {
  test.each([
    ['"network:ads"*2', 'network:ads', ''],
    ['server:"auth*2"+5ms', 'auth*2', ''],
    ['"a b" "GET /x*2"*0.5', 'a b', 'GET /x*2'],
    ['"a b" GET /x*0.5', 'a b', 'GET /x'],
    ['"two\\nlines \\"q\\" \\\\"*2', 'two\nlines "q" \\', ''],
    ['"two\nlines"*2', 'two\nlines', ''],
  ])('%j', (text, service, operation) => {
    expect(parseScenario(text)).toMatchObject({ service, operation })
  })

  test('of attributes and their values', () => {
    const { title, kind } = parseScenario('attribute:"k:=y"="a:10%":12.5%')
    expect(kind).toBe('reweight')
    expect(title).toBe('12.5 % of requests with k:=y = a:10%')
  })

  test('without them, a name stays on its line', () => {
    expect(() => parseScenario('two\nlines*2')).toThrow('go between double quotes')
  })
})

test('what is no text is said to be none', () => {
  expect(() => parseScenario(null as unknown as string)).toThrow(
    'Option scenario is null. Give text',
  )
})
