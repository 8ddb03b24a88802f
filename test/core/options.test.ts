import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { FlowdeltaError, OptionError } from '../../src/core/errors.ts'
import {
  count,
  custom,
  defineOptions,
  flag,
  level,
  list,
  number,
  type OptionsOf,
  oneOf,
  optionsCode,
  optionsSchema,
  pickOptions,
  readOptions,
  share,
  text,
} from '../../src/core/options.ts'

const OPTIONS = defineOptions({
  minRequests: count({ default: 2, unit: 'requests', sentence: 'Fewest requests to look at' }),
  slackUs: number({ default: 1, min: 0, unit: 'µs', sentence: 'Overlap that is ignored' }),
  depth: count({ default: 'auto', or: 'auto', max: 9, sentence: 'Most levels' }),
  alpha: level({ default: 0.05, sentence: 'Level of the tests' }),
  pruning: share({ default: 0.5, sentence: 'Score to stop at' }),
  correction: oneOf(['none', 'bh'], { default: 'none', sentence: 'Correction of the tests' }),
  omitHosts: flag({ default: false, sentence: 'Whether hosts are ignored' }),
  category: text({ default: null, or: null, sentence: 'Category to show' }),
  include: list({ default: [], unit: 'parameters', sentence: 'Parameters to use' }),
  label: custom<((host: string) => string) | null>({
    default: null,
    sentence: 'Label of a host',
    expected: 'a function or null',
    accepts: (value) => value === null || typeof value === 'function',
  }),
})
type Options = OptionsOf<typeof OPTIONS>

const DEFAULTS: Options = {
  minRequests: 2,
  slackUs: 1,
  depth: 'auto',
  alpha: 0.05,
  pruning: 0.5,
  correction: 'none',
  omitHosts: false,
  category: null,
  include: [],
  label: null,
}

describe('readOptions', () => {
  test('options that are missing or undefined get their defaults', () => {
    expect(readOptions(OPTIONS)).toEqual(DEFAULTS)
    const given = Object.freeze({ alpha: undefined, depth: 3, omitHosts: true })
    expect(readOptions(OPTIONS, given as object)).toEqual({
      ...DEFAULTS,
      depth: 3,
      omitHosts: true,
    })
  })

  test('null, false and 0 are values, not missing options', () => {
    const table = defineOptions({
      a: count({ default: 1, min: 0, or: null, sentence: 'A' }),
      b: flag({ default: true, sentence: 'B' }),
      c: number({ default: 1, sentence: 'C' }),
    })
    const given = { a: null, b: false, c: 0 }
    expect(readOptions(table, given)).toEqual(given)
  })

  test.each([
    ['minRequests', 0, 'a whole number of requests, 1 or more'],
    ['minRequests', 1.5, 'a whole number of requests, 1 or more'],
    ['slackUs', -1, 'a number of µs, 0 or more'],
    ['slackUs', Number.POSITIVE_INFINITY, 'a number of µs, 0 or more'],
    ['slackUs', '1', 'a number of µs, 0 or more'],
    ['depth', 'deep', "a whole number from 1 to 9 or 'auto'"],
    ['depth', 10, "a whole number from 1 to 9 or 'auto'"],
    ['alpha', 0, 'a level between 0 and 1'],
    ['alpha', 1, 'a level between 0 and 1'],
    ['pruning', 1.01, 'a share from 0 to 1'],
    ['pruning', Number.NaN, 'a share from 0 to 1'],
    ['correction', null, "'none' or 'bh'"],
    ['omitHosts', 1, 'true or false'],
    ['category', 7, 'a text or null'],
    ['include', 'user', 'a list of parameters'],
    ['label', 'host', 'a function or null'],
  ])('option %s rejects %s', (option, value, expected) => {
    const problem = catchProblem(() => readOptions(OPTIONS, { [option]: value }))
    expect(problem).toBeInstanceOf(OptionError)
    expect(problem).toMatchObject({ option, value, expected })
    const shown = typeof value === 'string' ? `"${value}"` : value
    expect(problem.message).toBe(`Option ${option} is ${shown}. Give ${expected}.`)
  })

  test.each([
    ['minRequest', 'Did you mean minRequests?'],
    ['minReqeusts', 'Did you mean minRequests?'],
    ['MINREQUESTS', 'Did you mean minRequests?'],
    ['apha', 'Did you mean alpha?'],
    ['threshold', `Give one of ${Object.keys(DEFAULTS).join(', ')}.`],
  ])('the unknown option %s is rejected with the next step', (name, next) => {
    const problem = catchProblem(() => readOptions(OPTIONS, { [name]: 1 }))
    expect(problem).toBeInstanceOf(FlowdeltaError)
    expect(problem.message).toBe(`There is no option ${name}. ${next}`)
  })

  test('options of an option are named with their path', () => {
    expect(() => readOptions(OPTIONS, { alpha: 2 }, 'mining.')).toThrow('Option mining.alpha is 2.')
    expect(() => readOptions(OPTIONS, { alpa: 2 } as object, 'mining.')).toThrow(
      'There is no option mining.alpa. Did you mean mining.alpha?',
    )
    expect(() => readOptions(OPTIONS, 3 as never, 'mining.')).toThrow('Option mining is 3. Give an')
  })
})

test('a table gives the types of its options', () => {
  expectTypeOf<Options['minRequests']>().toEqualTypeOf<number>()
  expectTypeOf<Options['depth']>().toEqualTypeOf<number | 'auto'>()
  expectTypeOf<Options['correction']>().toEqualTypeOf<'none' | 'bh'>()
  expectTypeOf<Options['category']>().toEqualTypeOf<string | null>()
  expectTypeOf<Options['include']>().toEqualTypeOf<readonly string[]>()
  expectTypeOf<Options['label']>().toEqualTypeOf<((host: string) => string) | null>()
})

test('a default that its own option rejects is a bug of the table', () => {
  expect(() => defineOptions({ a: count({ default: 0, sentence: 'A' }) })).toThrow(
    'option a rejects its default, 0',
  )
})

test('pickOptions takes the options of one table out of those of several', () => {
  const { alpha, depth } = OPTIONS
  expect(pickOptions({ alpha, depth }, DEFAULTS)).toEqual({ alpha: 0.05, depth: 'auto' })
})

test('optionsCode writes only what differs from the defaults, safely quoted', () => {
  expect(optionsCode(OPTIONS, DEFAULTS)).toBe('')
  const differing = {
    depth: 3,
    category: "it's",
    include: ['a', 'b'],
    omitHosts: true,
    alpha: 0.05,
  }
  expect(optionsCode(OPTIONS, differing)).toBe(
    "{ depth: 3, omitHosts: true, category: 'it\\'s', include: ['a', 'b'] }",
  )
})

test('an option says in words what it takes', () => {
  expect(
    [OPTIONS.minRequests, OPTIONS.slackUs, OPTIONS.depth].map(({ expected }) => expected),
  ).toEqual([
    'a whole number of requests, 1 or more',
    'a number of µs, 0 or more',
    "a whole number from 1 to 9 or 'auto'",
  ])
})

test('optionsSchema accepts and rejects what readOptions does', () => {
  const { label: _, ...table } = OPTIONS
  const { label: __, ...defaults } = DEFAULTS
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
    optionsSchema(table),
  )
  expect(validate(defaults)).toBe(true)
  const values = [null, true, 0, 1, 2, 0.5, 9, 10, -1, 'auto', 'none', 'bh', [], ['a'], [1]]
  for (const [name, row] of Object.entries(table)) {
    for (const value of values) {
      const options = { ...defaults, [name]: value }
      expect([name, value, validate(options)]).toEqual([name, value, row.accepts(value)])
    }
  }
})

function catchProblem(run: () => unknown): Error {
  try {
    run()
  } catch (problem) {
    return problem as Error
  }
  throw new Error('nothing was thrown')
}
