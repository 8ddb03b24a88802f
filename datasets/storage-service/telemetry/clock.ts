import type { HrTime } from '@opentelemetry/api'

const NS_PER_SECOND = 1_000_000_000n

/**
 * What has to be added to this machine's monotonic clock to get nanoseconds since 1970. The
 * recorder reads it once and hands it to every process: the monotonic clock is one per machine, so
 * spans of different processes then share a clock to the nanosecond. (The SDK's own clock starts
 * each span at a whole millisecond.)
 */
export function readClockAnchorNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint()
}

/** Turns a reading of the monotonic clock into the SDK's time; without one, reads it now. */
export type Clock = (monotonicNs?: bigint) => HrTime

export function anchoredClock(anchorNs: bigint): Clock {
  return (monotonicNs = process.hrtime.bigint()) => {
    const epochNs = monotonicNs + anchorNs
    return [Number(epochNs / NS_PER_SECOND), Number(epochNs % NS_PER_SECOND)]
  }
}
