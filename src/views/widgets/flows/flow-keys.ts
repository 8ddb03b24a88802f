import type { FlowDrawing } from './flow-drawing.ts'

/** A box in a drawing: the number of its part, and its place in that. */
export interface StepPlace {
  readonly part: number
  readonly place: number
}

/** The middle of a box. */
export function stepMiddle(
  { parts }: FlowDrawing,
  { part, place }: StepPlace,
): { x: number; y: number } | null {
  const drawn = parts[part]
  const step = drawn?.placed.steps[place]
  if (drawn === undefined || step === undefined) return null
  return {
    x: drawn.x + (drawn.placed.placement.middles[place] as number),
    y: drawn.y + (drawn.tops[place] as number) + step.height / 2,
  }
}

/**
 * Where an arrow leads: down and up along the flow, to the left and right to what is beside, also
 * in the other graph; Home and End to the first and the last step. `null` where there is nothing.
 */
export function stepAfterKey(drawing: FlowDrawing, from: StepPlace, key: string): StepPlace | null {
  const part = drawing.parts[from.part]
  if (part === undefined) return null
  const { links, steps } = part.placed
  const seen = (place: number) => {
    const step = steps[place]
    return step !== undefined && part.opacity(step) > 0
  }
  const inPart = (place: number | undefined) =>
    place === undefined ? null : { part: from.part, place }
  if (key === 'ArrowDown') {
    return inPart(links.find((link) => link.from === from.place && seen(link.to))?.to)
  }
  if (key === 'ArrowUp') {
    return inPart(links.find((link) => link.to === from.place && seen(link.from))?.from)
  }
  if (key === 'Home') return inPart([...steps.keys()].find(seen))
  if (key === 'End') return inPart([...steps.keys()].findLast(seen))
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return null
  return beside(drawing, from, key === 'ArrowRight' ? 1 : -1)
}

/** The nearest box on one side; what is at the same height is nearer than what is not. */
function beside(drawing: FlowDrawing, from: StepPlace, way: 1 | -1): StepPlace | null {
  const start = stepMiddle(drawing, from)
  if (start === null) return null
  let nearest: StepPlace | null = null
  let least = Number.POSITIVE_INFINITY
  drawing.parts.forEach(({ placed, opacity }, part) => {
    placed.steps.forEach((step, place) => {
      const middle = stepMiddle(drawing, { part, place })
      if (middle === null || opacity(step) <= 0 || way * (middle.x - start.x) < 8) return
      const distance = Math.abs(middle.x - start.x) + 3 * Math.abs(middle.y - start.y)
      if (distance >= least) return
      least = distance
      nearest = { part, place }
    })
  })
  return nearest
}
