import { describeBootstrapCoverage } from './bootstrap-coverage.ts'

// All cases in bootstrap-coverage.full.test.ts.
describeBootstrapCoverage((name) =>
  ['median log-normal 20/30 0.95', 'mean mixture 60/45 0.9'].includes(name),
)
