import { traceLink, traceTemplate } from '../../../core/trace-links.ts'
import { shortText, tooltipText } from '../../../core/words.ts'

/** Returns the address of a trace's page; `null` if none was given. */
export type TraceLinks = (id: string) => string | null

export function traceLinks(traceUrl: string | null): TraceLinks {
  const template = traceUrl === null ? null : traceTemplate(traceUrl)
  return (id) => (template === null ? null : traceLink(template, id))
}

const SHORT = 8
const SHORT_ID = 12

/** Names a trace by the first digits of its id, and links to it. */
export function TraceLink({ id, linkOf }: { readonly id: string; readonly linkOf: TraceLinks }) {
  const link = linkOf(id)
  const short = /^[0-9a-f]+$/.test(id) && id.length > SHORT_ID
  const text = (
    <code title={tooltipText(id)}>{short ? `${id.slice(0, SHORT)}…` : shortText(id, 40)}</code>
  )
  if (link === null) return text
  return (
    <a href={link} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  )
}

interface ExemplarsProps {
  readonly exemplars: Readonly<Record<'before' | 'after', readonly string[]>>
  readonly linkOf: TraceLinks
}

/** Lists the traces to look at of both periods. */
export function Exemplars({ exemplars, linkOf }: ExemplarsProps) {
  return (
    <div>
      {(['before', 'after'] as const).map((period) =>
        exemplars[period].length === 0 ? null : (
          <div key={period} class="fd-exemplars">
            <span class={`fd-key fd-key-${period}`} /> {period}:{' '}
            {exemplars[period].map((id) => (
              <span key={id}>
                <TraceLink id={id} linkOf={linkOf} />{' '}
              </span>
            ))}
          </div>
        ),
      )}
    </div>
  )
}
