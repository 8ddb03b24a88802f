import { expect, test } from 'vitest'
import { featureWords, partWords } from '../../../src/whatif/scenarios/features.ts'

test.each([
  ['host', 'web-0', 'on host web-0'],
  ['calls', '2 × cart GET', 'calling 2 × cart GET'],
  ['load', '4-7/s', 'at a load of 4-7/s'],
  ['concurrency', '2-3', 'with 2-3 under way'],
  ['attribute:cache.hit', 'true', 'with cache.hit = true'],
  ['attribute:a~b', 'c', 'with a~b = c'],
  ['attribute:url~^/api', 'fits', 'whose url fits /^/api/'],
  ['attribute:url~^/api', 'fits not', 'whose url does not fit /^/api/'],
  ['attribute:url~^/api', 'absent', 'without url'],
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
