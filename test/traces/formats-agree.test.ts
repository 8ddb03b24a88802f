import { describeFormats } from './formats-agree.ts'

// Every byte in formats-agree.full.test.ts.
describeFormats(7)
