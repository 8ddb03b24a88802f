import { describeShiftCoverage } from './shift-coverage.ts'

describeShiftCoverage()
