import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { setDisplaySink } from '../../src/core/display.ts'
import { entryNamed, FlowdeltaError, OptionError } from '../../src/core/errors.ts'

const SINK = { send: () => {}, complete: <T>(bundle: T) => bundle, replaceNextPrint: () => {} }

afterEach(() => setDisplaySink(undefined))

test('an error shows its stack outside notebooks, and its sentence alone in one', () => {
  const error = new OptionError('alpha', 7, 'a level between 0 and 1')
  expect(inspect(error)).toMatch(/^OptionError: Option alpha is 7\. [\s\S]*\n +at .*errors\.test/)
  setDisplaySink(SINK)
  expect(inspect(error)).toBe('Option alpha is 7. Give a level between 0 and 1.')
  expect(inspect([new FlowdeltaError('No traces.')])).toBe('[ No traces. ]')
})

test('another name is refused with what there is, and with what was meant where it is near', () => {
  const entries = { arrivals: 1, edge: 2 }
  expect(entryNamed(entries, 'edge', 'no picture')).toBe(2)
  expect(() => entryNamed(entries, 'arival', 'no picture', 'There are')).toThrow(
    "'arival' is no picture. Did you mean 'arrivals'? There are 'arrivals', 'edge'.",
  )
  expect(() => entryNamed(entries, 'toString', 'no picture')).toThrow(
    "'toString' is no picture. Give 'arrivals', 'edge'.",
  )
  expect(() => entryNamed(entries, 7, 'no picture')).toThrow('7 is no picture.')
})
