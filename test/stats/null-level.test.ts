import { describeNullLevel } from './null-level.ts'

// All cases in null-level.full.test.ts.
describeNullLevel((name) =>
  ['Mann-Whitney, tied', 'Anderson-Darling', 'van Elteren', 'tail', 'KS, exact'].includes(name),
)
