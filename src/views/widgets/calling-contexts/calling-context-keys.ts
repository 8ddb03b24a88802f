import type { PlacedFrame } from './calling-context-layout.ts'

/** Shares nearer than this are the same. */
const CLOSE = 1e-9

/**
 * Where an arrow key leads from a frame: down to the first it calls, up to its caller, left and
 * right to the next in its row. `undefined` where there is none, or for another key.
 */
export function frameAfterKey(
  frames: readonly PlacedFrame[],
  from: number,
  key: string,
): number | undefined {
  const at = frames[from]
  if (at === undefined) return undefined
  const middle = at.x + at.width / 2
  const first = (fits: (frame: PlacedFrame) => boolean, best: 'left' | 'right') => {
    const fitting = [...frames.keys()].filter((i) => fits(frames[i] as PlacedFrame))
    fitting.sort((a, b) => (frames[a] as PlacedFrame).x - (frames[b] as PlacedFrame).x)
    return best === 'left' ? fitting[0] : fitting.at(-1)
  }
  switch (key) {
    case 'ArrowDown':
      return first(
        ({ row, x, width }) =>
          row === at.row + 1 && x >= at.x - CLOSE && x + width <= at.x + at.width + CLOSE,
        'left',
      )
    case 'ArrowUp':
      return first(
        ({ row, x, width }) => row === at.row - 1 && x <= middle && middle <= x + width,
        'left',
      )
    case 'ArrowRight':
      return first(({ row, x }) => row === at.row && x > at.x, 'left')
    case 'ArrowLeft':
      return first(({ row, x }) => row === at.row && x < at.x, 'right')
    default:
      return undefined
  }
}
