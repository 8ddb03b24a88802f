import { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import {
  CallingContexts,
  type ContextMeasure,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { findCallingContexts } from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import {
  type CallingContextData,
  type CallingContextState,
  largestContexts,
  saidAmount,
  USUAL_LIMIT,
  usualState,
} from './calling-context-model.ts'
import { CallingContextPicture } from './calling-context-picture.tsx'

/** What the calling context explorer begins with. */
export interface CallingContextOptions {
  /**
   * The period whose time is drawn: `'after'` shows what came, `'before'` what went. Colours show
   * the same change with both. Default `'after'`.
   */
  readonly widths?: 'before' | 'after'
  /**
   * `'time'`: a slow request counts for more; `'requests'`: each counts once, divided up as its time
   * is. Default `'time'`.
   */
  readonly measure?: ContextMeasure
  /** Coloured by the change of its own work, or with all it calls. Default `'self'`. */
  readonly colour?: 'self' | 'total'
  /** Number of the context to begin at, as in the table. Default `null`: all requests. */
  readonly focus?: number | null
  /** Text to look for in services and names. Default none. */
  readonly search?: string
  /** At most so many contexts, those that take most. Default 1,000. */
  readonly limit?: number
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

const OPTIONS = ['widths', 'measure', 'colour', 'focus', 'search', 'limit', 'name']

/**
 * Where the time of all requests goes, as an icicle: what is called stands below its caller, as wide
 * as the time that requests waited for it, coloured by what changed. A click goes into a context.
 *
 * @param source from `compare`, or from `findCallingContexts`, which also takes one period alone
 * @param options see {@link CallingContextOptions}
 * @throws OptionError for a value that an option cannot have, FlowdeltaError for an unknown option
 *
 * Source: B. Gregg, The Flame Graph, CACM 59(6), 2016, for the differences in both directions.
 *
 * @example
 * exploreCallingContexts(comparison, { widths: 'before' }).title // 'Calling contexts'
 */
export function exploreCallingContexts(
  source: Comparison | CallingContexts,
  options: CallingContextOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  const isComparison = source instanceof Comparison
  const contexts = isComparison ? findCallingContexts(source.flows) : source
  if (!(contexts instanceof CallingContexts)) {
    throw new OptionError('source', source, 'a comparison or what `findCallingContexts` gives')
  }
  const { limit = USUAL_LIMIT, name = isComparison ? 'comparison' : 'contexts', ...given } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new OptionError('limit', limit, 'a number of contexts, 1 or more')
  }
  const kept = largestContexts(contexts, limit)
  const initial = checkedState({ ...usualState(contexts.requests), ...given }, kept)
  const shown = new CallingContexts(kept, contexts.requests)
  const data: CallingContextData = {
    ...{ contexts: kept, requests: contexts.requests, initial, limit, name },
    omitted: contexts.contexts.length - kept.length,
  }
  return new Widget({
    ...{ view: 'calling-contexts', title: 'Calling contexts', data },
    description: description(contexts),
    picture: () => renderSvg(CallingContextPicture({ contexts: shown, state: initial })),
  })
}

function checkedState(
  state: CallingContextState,
  contexts: CallingContextData['contexts'],
): CallingContextState {
  const { widths, measure, colour, focus, search } = state
  oneOf('widths', widths, ['before', 'after'])
  oneOf('measure', measure, ['time', 'requests'])
  oneOf('colour', colour, ['self', 'total'])
  if (focus !== null && !contexts.some(({ context }) => context === focus)) {
    throw new OptionError('focus', focus, 'the number of a context that is shown, or null')
  }
  if (typeof search !== 'string') throw new OptionError('search', search, 'a text')
  return state
}

function oneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return
  throw new OptionError(option, value, allowed.map((each) => `'${each}'`).join(' or '))
}

function description(contexts: CallingContexts): string {
  const mean = (period: 0 | 1) =>
    saidAmount('time', contexts.totalUs(period) / Math.max(1, contexts.requests[period]))
  const where = `${counted(contexts.contexts.length, 'chain')} of calls; a mean request took `
  return contexts.requests[AFTER] === 0
    ? `${where}${mean(BEFORE)}. Widths are the time that requests waited there.`
    : `${where}${mean(BEFORE)} before and ${mean(AFTER)} after. Widths are the time that requests ` +
        'waited there, colours what changed.'
}
