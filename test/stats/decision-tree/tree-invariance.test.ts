import { describeTreeInvariance } from './tree-invariance.ts'

// 100 of each in tree-invariance.full.test.ts.
describeTreeInvariance(12)
