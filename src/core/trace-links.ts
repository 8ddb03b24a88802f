import { OptionError, requireArgument, requireText } from './errors.ts'

const PLACE = '{traceId}'
/** The id inside a quoted text of percent-encoded JSON, as in Grafana's Explore. */
const IN_JSON = /(?:%22|")\{traceId\}(?:%22|")/
const HALF_CHARACTERS = /\p{Cs}/gu
const PRESET = /^(jaeger|tempo|zipkin)=(.*)$/s

const PRESETS: Readonly<Record<string, (base: URL) => string>> = {
  jaeger: (base) => `${pathOf(base)}/trace/${PLACE}`,
  zipkin: (base) => `${pathOf(base)}/zipkin/traces/${PLACE}`,
  tempo: exploreTemplate,
}

/**
 * Returns the template of links to traces: the text itself, or the meaning of a preset.
 *
 * - `https://traces.example/{traceId}`: any http or https address with `{traceId}` in it;
 * - `jaeger=BASE`: Jaeger's UI at BASE;
 * - `zipkin=BASE`: Zipkin's UI at BASE;
 * - `tempo=BASE`: Explore of the Grafana at BASE, data source `tempo`; `tempo=BASE?datasource=UID`
 *   for one with another uid.
 *
 * @throws OptionError for anything else, and for addresses with a password in them
 *
 * @example
 * traceTemplate('jaeger=http://localhost:16686') // 'http://localhost:16686/trace/{traceId}'
 */
export function traceTemplate(text: string): string {
  requireText('traceTemplate(text)', text)
  const [, preset, base] = PRESET.exec(text) ?? []
  if (preset !== undefined && base !== undefined) {
    const url = parsed(base)
    const query = preset === 'tempo' ? url?.search.replace(/^\?datasource=[^&]+$/, '') : url?.search
    if (url === undefined || query !== '' || url.hash !== '' || base.includes(PLACE)) {
      const allowed =
        preset === 'tempo' ? '; of a query, only ?datasource=UID' : ', without a query'
      throw refused(text, `${preset}= and the http or https address of its UI${allowed}`)
    }
    return (PRESETS[preset] as (base: URL) => string)(url)
  }
  const [one, other] = ['1', '2'].map((id) => parsed(text.replaceAll(PLACE, id)))
  if (!text.includes(PLACE) || one === undefined || one.origin !== other?.origin) {
    throw refused(
      text,
      'an http or https address with {traceId} after its host, or jaeger=, tempo= or zipkin= and the address of its UI',
    )
  }
  return text
}

/**
 * Returns the address of one trace.
 *
 * @param template from {@link traceTemplate}
 * @param traceId any text; encoded so that it stays one part of the address
 *
 * @example
 * traceLink('http://localhost:16686/trace/{traceId}', 'a/b') // 'http://localhost:16686/trace/a%2Fb'
 */
export function traceLink(template: string, traceId: string): string {
  requireText('traceLink(template, traceId)', template)
  requireText('traceLink(template, traceId)', traceId)
  const whole = traceId.replace(HALF_CHARACTERS, '\ufffd')
  const id = IN_JSON.test(template) ? JSON.stringify(whole).slice(1, -1) : whole
  const link = template.replaceAll(PLACE, () => encodeURIComponent(id))
  requireArgument(
    'traceLink(template, traceId)',
    template,
    URL.canParse(link),
    'what traceTemplate returns',
  )
  return new URL(link).href
}

function parsed(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPublic = url.username === '' && url.password === ''
  return ['http:', 'https:'].includes(url.protocol) && isPublic ? url : undefined
}

function refused(value: string, expected: string): OptionError {
  return new OptionError('traceUrl', value, expected)
}

function pathOf({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

/** Returns Explore's address since Grafana 10: the state of its panes as JSON. */
function exploreTemplate(base: URL): string {
  const uid = base.searchParams.get('datasource') ?? 'tempo'
  const query = {
    refId: 'A',
    datasource: { type: 'tempo', uid },
    queryType: 'traceql',
    query: PLACE,
  }
  const panes = encodeURIComponent(JSON.stringify({ trace: { datasource: uid, queries: [query] } }))
  const state = panes.replace(encodeURIComponent(PLACE), PLACE)
  return `${pathOf(base)}/explore?schemaVersion=1&panes=${state}`
}
