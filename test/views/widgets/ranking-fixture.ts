import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { recordedCase } from '../../recorded.ts'

connectCharts()

/** A slower disk: response-time mutations. */
export const slower = await recordedCase('delay-1ms')

/** Prefetching: structural mutations with precursors. */
export const other = await recordedCase('mds-prefetch')
