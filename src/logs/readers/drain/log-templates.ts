import { FlowdeltaError, OptionError, show } from '../../../core/errors.ts'
import { Stage } from '../../../core/stage.ts'
import { rowTable, type StageTable } from '../../../core/stage-table.ts'
import type { LogMask } from './masks.ts'

/** Messages of one form. */
export interface LogPattern {
  /** What writes it: a class, a service, `threw` and an exception; `''` if that is not known. */
  readonly component: string
  /** With wildcards: `<*>` for one token, `<num>` and the like for what a mask matches. */
  readonly text: string
}

/** One kind of message in free text, and what it is called. */
export interface LogTemplate {
  readonly id: number
  /** The name of its event, and the beginning of those of its state variables. */
  readonly name: string
  /** What it matches; several where templates were merged. */
  readonly patterns: readonly LogPattern[]
  /** Messages it was mined from. */
  readonly count: number
  /** The first of them. */
  readonly example: string
}

interface TemplatesData {
  readonly templates: readonly LogTemplate[]
  readonly masks: readonly {
    readonly name: string
    readonly pattern: string
    readonly flags: string
    readonly isNumber: boolean
  }[]
}

/**
 * The templates that free text in logs is named by, as `mineLogTemplates` finds them. Immutable:
 * what edits them gives others, which option `templates` of `loadLogs` takes.
 *
 * @example
 * const log = { name: 'node.log', bytes: '2015-10-17 21:47:48 sent 5 kB\n2015-10-17 21:47:49 sent 7 kB' }
 * const templates = await mineLogTemplates([log])
 * templates.table().get('template', 0) // 'sent <num> kB'
 * const edited = templates.rename('sent <num> kB', 'send')
 * const logs = await loadLogs({ before: [log], after: [] }, { templates: edited })
 * logs.events.names // [ 'send' ]
 * logs.states.names // [ 'send #1' ]
 */
export class LogTemplates extends Stage {
  /** By number of messages, most first, as long as nothing was edited. */
  readonly templates: readonly LogTemplate[]
  readonly masks: readonly LogMask[]

  constructor(templates: readonly LogTemplate[], masks: readonly LogMask[]) {
    super()
    this.templates = templates
    this.masks = masks
  }

  get size(): number {
    return this.templates.length
  }

  /** One row a template: id, template (its name), count of messages, and the first of them. */
  table(): StageTable {
    const rows = this.templates.map((each) => ({ ...each, template: each.name }))
    return rowTable(rows, ['id', 'template', 'count', 'example'])
  }

  /**
   * Calls a template something else. Templates of one name are one event.
   *
   * @param which its id or its name
   * @throws OptionError for a template there is none of
   */
  rename(which: number | string, name: string): LogTemplates {
    const renamed = this.#find(which)
    return this.#with(this.templates.map((one) => (renamed.includes(one) ? { ...one, name } : one)))
  }

  /**
   * Makes one template of several.
   *
   * @param which their ids or names
   * @param name default: that of the first
   * @throws OptionError for a template there is none of, or fewer than two
   */
  merge(which: readonly (number | string)[], name?: string): LogTemplates {
    const merged = [...new Set(which.flatMap((one) => this.#find(one)))]
    const [first] = merged
    if (first === undefined || merged.length < 2) {
      throw new OptionError('which', which.join(', '), 'the ids or names of two templates or more')
    }
    const whole: LogTemplate = {
      ...first,
      name: name ?? first.name,
      patterns: merged.flatMap(({ patterns }) => patterns),
      count: merged.reduce((sum, { count }) => sum + count, 0),
    }
    const kept = this.templates.filter((one) => one === first || !merged.includes(one))
    return this.#with(kept.map((one) => (one === first ? whole : one)))
  }

  /** What `JSON.stringify` keeps; `LogTemplates.fromJSON` makes templates of it again. */
  toJSON(): TemplatesData {
    return {
      templates: this.templates,
      masks: this.masks.map(({ name, pattern, isNumber = false }) => ({
        ...{ name, pattern: pattern.source, flags: pattern.flags, isNumber },
      })),
    }
  }

  /** @throws FlowdeltaError for data that `toJSON` did not make */
  static fromJSON(data: unknown): LogTemplates {
    const { templates, masks } = (data ?? {}) as Partial<TemplatesData>
    if (!Array.isArray(templates) || !Array.isArray(masks)) {
      throw new FlowdeltaError(`${show(data)} are no templates. Give what toJSON() made.`)
    }
    return new LogTemplates(
      templates as LogTemplate[],
      (masks as TemplatesData['masks']).map(({ name, pattern, flags, isNumber }) => ({
        ...{ name, pattern: new RegExp(pattern, flags), isNumber },
      })),
    )
  }

  #with(templates: readonly LogTemplate[]): LogTemplates {
    return new LogTemplates(templates, this.masks)
  }

  #find(which: number | string): LogTemplate[] {
    const found = this.templates.filter(({ id, name }) => id === which || name === which)
    if (found.length > 0) return found
    throw new OptionError('which', which, 'the id or the name of a template, as table() shows them')
  }
}

/** The name of a template that nobody has named. */
export function templateName(component: string, text: string): string {
  if (component === '') return text === '' ? '(empty)' : text
  return text === '' ? component : `${component}: ${text}`
}
