import { tooltipText } from '../../../core/shown-text.ts'
import { counted } from '../../../core/words.ts'
import type { CallingContext } from '../../../explain/calling-contexts/calling-contexts.ts'
import type { PlacedFrame } from './calling-context-layout.ts'
import { type CallingContextState, saidAmount, saidChange } from './calling-context-model.ts'

export const ALL_REQUESTS = 'all requests'

/** What a frame is called. */
export function frameName(context: CallingContext | null): string {
  if (context === null) return ALL_REQUESTS
  const { service, name } = context
  return [service, name].filter((part) => part !== '').join(' ')
}

/** A frame in words, for tooltips and for those who do not see it. */
export function frameWords(
  { context, amount, change }: PlacedFrame,
  { widths, measure, colour }: CallingContextState,
  isCompared: boolean,
): string {
  const name = tooltipText(frameName(context))
  const said = saidAmount(measure, amount)
  const takes = measure === 'time' ? `${said} a request` : `${said} of a request`
  if (!isCompared) return `${name}: ${takes}`
  const of = colour === 'self' && context !== null ? 'its own work' : 'with all it calls'
  return `${name}: ${takes} ${widths}; ${saidChange(measure, change)} ${of}`
}

/** What the colours mean. */
export function colourTitle({ measure, colour }: CallingContextState): string {
  const of = colour === 'self' ? 'in its own work' : 'with all it calls'
  return measure === 'time'
    ? `change a request, after − before, ${of}`
    : `change of its share of a request, after − before, ${of}`
}

/** What the widths mean; `whole` is what fills the width. */
export function widthTitle(
  { widths, measure }: CallingContextState,
  [before, after]: readonly [number, number],
  whole: number,
): string {
  const period = after === 0 ? '' : ` ${widths}`
  const of = counted(widths === 'before' || after === 0 ? before : after, 'request')
  if (!(whole > 0)) {
    return `Nothing here took any time${period} (${of}): widths are equal and say nothing.`
  }
  return measure === 'time'
    ? `Widths: time that requests waited${period}, mean of ${of}.`
    : `Widths: shares of a request${period}, each of ${of} counted the same.`
}
