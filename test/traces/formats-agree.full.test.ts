import { describeFormats } from './formats-agree.ts'

describeFormats(1)
