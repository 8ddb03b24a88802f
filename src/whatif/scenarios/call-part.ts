import type { RequestModel } from '../recompute/request-model.ts'

/** One of the times that make up a call; `reply` is what its server does after the last call of its own. */
export type CallPart = 'server' | 'network' | 'preprocessing' | 'reply'

/** One time of every call of a period, by row, µs. */
export function partUs(model: RequestModel, part: CallPart): (call: number) => number {
  const { forest, preprocessingUs, replyUs } = model
  const { latencyUs, serverUs } = forest
  switch (part) {
    case 'server':
      return (call) => serverUs[call] as number
    case 'network':
      return (call) => (latencyUs[call] as number) - (serverUs[call] as number)
    case 'preprocessing':
      return (call) => preprocessingUs[call] as number
    case 'reply':
      return (call) => replyUs[call] as number
  }
}

/** Which field of a `LatencyChange` gives a part its new time. */
export const CHANGE_FIELD = {
  server: 'serverUs',
  network: 'networkUs',
  preprocessing: 'preprocessingUs',
  reply: 'replyUs',
} as const satisfies Record<CallPart, string>
