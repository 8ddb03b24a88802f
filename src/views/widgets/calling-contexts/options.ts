import {
  defineOptions,
  most,
  type OptionsOf,
  oneOf,
  optionalNumber,
  text,
} from '../../../core/options.ts'
import { STAGE_NAME } from '../define-widget.ts'

/** Options of the explorer of calling contexts, and its state. */
export const CALLING_CONTEXT_OPTIONS = defineOptions({
  widths: oneOf(['after', 'before'], {
    default: 'after',
    sentence: 'Period whose time is drawn; after shows what came, before what went',
  }),
  measure: oneOf(['time', 'requests'], {
    default: 'time',
    sentence: 'By time, slow requests count for more; by requests, each counts the same',
  }),
  color: oneOf(['self', 'total'], {
    default: 'self',
    sentence: 'Whether colors show the change of own work, or of that and all it calls',
  }),
  focus: optionalNumber(
    'Number of the context to begin at, as in the table; null for all requests',
  ),
  search: text({ default: '', sentence: 'Text to look for in services and names' }),
  limit: most(1000, 'contexts', 'Contexts that are shown at most, those that take most'),
  name: STAGE_NAME,
})

export type CallingContextOptions = OptionsOf<typeof CALLING_CONTEXT_OPTIONS>
