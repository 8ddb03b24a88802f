import type { Case } from './case.ts'
import { delay1ms } from './delay-1ms.ts'
import { rmw } from './rmw.ts'

/** Every case that can be recorded. */
export const cases: readonly Case[] = [delay1ms, rmw]
