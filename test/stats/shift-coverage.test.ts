import { describeShiftCoverage } from './shift-coverage.ts'

// All cases in shift-coverage.full.test.ts.
describeShiftCoverage((name) => ['8/8 0.95', '20/30 5/6 10/4 0.9'].includes(name))
