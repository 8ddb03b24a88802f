import { describeNullLevel } from './null-level.ts'

describeNullLevel()
