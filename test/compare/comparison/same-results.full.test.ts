import { describe } from 'vitest'
import { testSameResults } from './same-results.ts'

describe('results of large recorded periods depend on inputs and options alone', () =>
  testSameResults(['mds-config', 'mds-prefetch']))
