import { describeTreeInvariance } from './tree-invariance.ts'

describeTreeInvariance(100)
