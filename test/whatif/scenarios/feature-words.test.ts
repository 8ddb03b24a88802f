import { expect, test } from 'vitest'
import { featureWords, partWords } from '../../../src/whatif/scenarios/features.ts'

test.each([
  ['host', 'web-0', 'on host web-0'],
  ['calls', '2 × cart GET', 'calling 2 × cart GET'],
  ['load', '4-7/s', 'at a load of 4-7/s'],
  ['attribute:cache.hit', 'true', 'with cache.hit = true'],
  ['attribute:a~b', 'c', 'with a~b = c'],
  ['has:retry', 'present', 'with retry'],
  ['event:gc', 'absent', 'without event gc'],
])('%s, %s: %s', (feature, part, words) => {
  expect(partWords(feature, part)).toBe(words)
})

test('what is divided by', () => {
  expect(['host', 'calls', 'load', 'attribute:cache.hit'].map(featureWords)).toEqual([
    'host',
    'what they call',
    'load',
    'cache.hit',
  ])
})
