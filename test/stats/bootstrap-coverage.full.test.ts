import { describeBootstrapCoverage } from './bootstrap-coverage.ts'

describeBootstrapCoverage()
