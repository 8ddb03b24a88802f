import { bisector, extent, sort } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { OptionError } from '../../../core/errors.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  readDuration,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import { divergenceText } from '../../../whatif/diagnosis/evaluate-scenario.ts'
import type { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import type { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import { type ProfileSummary, profileSummary } from '../../../whatif/recompute/latency-profile.ts'
import type { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { type Point, profileSteps } from '../../charts/ecdf-curves.ts'
import { fittedText } from '../../charts/text-width.ts'
import {
  BottomAxis,
  curvePath,
  LeftAxis,
  logDurationScale,
  plotPoint,
  shareScale,
} from '../../drawing/axes.tsx'
import {
  Button,
  Choice,
  FoldMark,
  foldKeys,
  StateCode,
  useStops,
  useWidth,
} from '../../drawing/controls.tsx'
import {
  barColumn,
  type DataColumn,
  DataTable,
  numberColumn,
  textColumn,
} from '../../drawing/data-table.tsx'
import { Caption, Figure, PageOnly, useInk, useIsStill } from '../../drawing/figure.tsx'
import { LegendRows, layOutLegend } from '../../drawing/legend.tsx'
import { type LineLook, strokeOf } from '../../drawing/node-link.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import {
  type CarriedProfile,
  changesText,
  factorAt,
  isSameSlider,
  MAX_KEPT,
  PARTS,
  placeOfFactor,
  predictedProfile,
  readChanges,
  restoreRequests,
  SLIDER_REACH,
  shortChange,
  WHAT_IF_WIDGET_OPTIONS,
  type WhatIfCause,
  type WhatIfChange,
  type WhatIfData,
  type WhatIfDiagnosis,
  type WhatIfPart,
  type WhatIfRow,
  type WhatIfUnit,
  type WhatIfWidgetOptions,
  whatIfCode,
  whatIfData,
  whatIfRows,
  withChange,
} from './what-if-data.ts'

interface CausesProps {
  readonly diagnosis: WhatIfDiagnosis
  readonly chosen: number | null
  readonly onChoose: (rank: number | null) => void
}

const INDENT = 16
const MAX_TITLE_LENGTH = 130
/** A column that stills have no room for. */
const PAGE_ONLY = { still: null }

function WhatIfCauses({ diagnosis, chosen, onChoose }: CausesProps) {
  const { causes, causesInAll, divergence, unchanged, isComplete } = diagnosis
  const isStill = useIsStill()
  const [open, setOpen] = useState<ReadonlySet<number>>(() => {
    const first = causes.findIndex(({ rank }) => rank === (chosen ?? 1))
    return new Set(callersOf(causes, first))
  })
  const [reached, setReached] = useState(0)
  const shown = shownCauses(causes, open)
  const { goTo, stopAt } = useStops(shown, reached, setReached)
  const parents = new Set(causes.map(({ parent }) => parent))
  const distance = (value: number) => divergenceText(divergence, value)
  const fold = (place: number) => {
    const next = new Set(open)
    if (!next.delete(place)) next.add(place)
    setOpen(next)
  }
  const choose = (rank: number) => onChoose(rank === chosen ? null : rank)
  const isOpenAt = (place: number) => (parents.has(place) ? open.has(place) : null)
  const stopAtCause = ({ place, rank, parent }: PlacedCause) =>
    stopAt(place, {
      ...foldKeys(
        isOpenAt(place),
        () => fold(place),
        () => goTo(parent),
      ),
      Enter: () => choose(rank),
      ' ': () => choose(rank),
      Escape: () => onChoose(null),
    })
  const verdicts = new Set(causes.map(verdictText))
  const placed = causes.map((cause, place) => ({ ...cause, place }))
  const columns: readonly DataColumn<PlacedCause>[] = [
    {
      title: 'cause',
      still: titleText,
      cell: (cause) => (
        <div style={`padding-left:${18 + INDENT * Math.min(8, cause.level)}px`} title={cause.title}>
          <FoldMark
            isOpen={isOpenAt(cause.place)}
            label={open.has(cause.place) ? 'close' : 'open'}
            onFold={() => fold(cause.place)}
          />
          {titleText(cause)}
        </div>
      ),
    },
    barColumn(
      'explains',
      ({ gain }) => gainText(gain),
      ({ gain }) => gain,
    ),
    numberColumn('divergence', (cause) => distance(cause.divergence), PAGE_ONLY),
    numberColumn('p50', ({ profile }) => formatDuration(profile.facts.p50Us)),
    numberColumn('p99', ({ profile }) => formatDuration(profile.facts.p99Us), PAGE_ONLY),
    numberColumn('requests', ({ touched }) => grouped(touched), PAGE_ONLY),
    textColumn('a cause?', verdictText, {
      hint: 'Whether the part it changes differs beyond chance, and brings the response times closer',
    }),
  ]
  const [first] = causes
  const chance = first?.q == null ? '' : ` (${pValue(first.q, 'q')})`
  const all = first?.significant ? 'Each cause differs' : 'No cause surely differs'
  const said = spoken([
    `Divergence is how far response times are from the target: ${distance(unchanged)} as recorded before.`,
    verdicts.size === 1 && `${all} beyond chance${chance}.`,
    !isComplete && 'The diagnosis was stopped before everything was tried.',
  ])
  return (
    <div>
      <Caption text="Which single change brings it to the target?" isHeading />
      <Caption text={said.join(' ')}>
        Click a cause, or press Enter, to lay its profile over the others; arrows go up and down and
        open what lies within.
      </Caption>
      <DataTable
        label="Causes"
        role="treegrid"
        class="fd-what-if-causes"
        max={6}
        columns={verdicts.size === 1 ? columns.slice(0, -1) : columns}
        rows={
          isStill
            ? sort(placed, ({ rank }) => rank)
            : shown.map((place) => placed[place] as PlacedCause)
        }
        rowKey={({ rank }) => rank}
        rowProps={(cause) => ({
          class: 'fd-openable',
          'aria-level': cause.level + 1,
          'aria-selected': cause.rank === chosen,
          'aria-expanded': isOpenAt(cause.place) ?? undefined,
          onClick: () => choose(cause.rank),
          ...stopAtCause(cause),
        })}
      />
      {causes.length < causesInAll && (
        <p class="fd-soft">
          The best {grouped(causes.length)} of {counted(causesInAll, 'scenario')} that were tried.
        </p>
      )}
    </div>
  )
}

type PlacedCause = WhatIfCause & { readonly place: number }

function titleText({ rank, title }: WhatIfCause): string {
  return `${rank}. ${shortText(title, MAX_TITLE_LENGTH)}`
}

function verdictText({ significant, q }: WhatIfCause): string {
  return `${significant ? 'yes' : 'unsure'}${q === null ? '' : ` (${pValue(q, 'q')})`}`
}

function gainText(gain: number): string {
  return gain < 0 ? 'none' : percent(Math.min(1, gain))
}

export function shownCauses(
  causes: readonly WhatIfCause[],
  open: ReadonlySet<number>,
): readonly number[] {
  const shown = new Set<number>()
  causes.forEach(({ parent }, place) => {
    if (parent < 0 || (shown.has(parent) && open.has(parent))) shown.add(place)
  })
  return [...shown]
}

export function callersOf(causes: readonly WhatIfCause[], place: number): number[] {
  const callers: number[] = []
  for (let at = causes[place]?.parent ?? -1; at >= 0; at = causes[at]?.parent ?? -1) {
    callers.unshift(at)
  }
  return callers
}

interface DrawnProfile {
  readonly name: string
  readonly look: keyof typeof LOOKS
  readonly curve: readonly Point[]
  readonly shape: 'lines' | 'steps'
  readonly facts: ProfileSummary
}

const LOOKS = {
  before: { color: 'before', width: 2 },
  target: { color: 'after', width: 2 },
  cause: { color: 'text', dash: '2 3', width: 2 },
  changed: { color: 'change', dash: '7 3', width: 2.5 },
  kept0: { color: 'soft', dash: '10 3', width: 1.5 },
  kept1: { color: 'soft', dash: '8 3 2 3', width: 1.5 },
  kept2: { color: 'soft', dash: '2 2', width: 1.5 },
} as const satisfies Readonly<Record<string, LineLook>>
const MAX_NAME_LENGTH = 100
const STEPS = 400

export function carriedCurve(
  name: string,
  look: DrawnProfile['look'],
  { latencyUs, facts }: CarriedProfile,
): DrawnProfile {
  const points = latencyUs.length - 2
  const shareAt = (i: number) => Math.min(1, Math.max(0, (i - 0.5) / points))
  return { name, look, curve: latencyUs.map((us, i) => [us, shareAt(i)]), shape: 'lines', facts }
}

/** Draws the requests of the sample under some changes, or as recorded without any. */
export function predictedCurve(
  model: RequestModel,
  changes: readonly WhatIfChange[],
  look: DrawnProfile['look'] = changes.length > 0 ? 'changed' : 'before',
): DrawnProfile {
  const profile = predictedProfile(model, changes)
  const steps = profileSteps(profile, STEPS)
  const [[firstUs] = [0]] = steps
  return {
    name: look === 'before' ? look : changesText(changes, MAX_NAME_LENGTH),
    look,
    curve: [[firstUs, 0], ...steps],
    shape: 'steps',
    facts: profileSummary(profile),
  }
}

const PLOT = { left: 46, right: 18, bottom: 42, height: 230 }
const QUANTILES = [
  [0.5, 'p50Us'],
  [0.9, 'p90Us'],
  [0.99, 'p99Us'],
] as const

/** Returns the share of the requests that take at most that long, as the curve is drawn. */
export function shareWithin({ curve, shape }: DrawnProfile, us: number): number {
  const above = bisector(([time]: Point) => time).right(curve, us)
  const [earlierUs, share] = curve[above - 1] ?? [0, 0]
  const [laterUs, next] = curve[above] ?? [earlierUs, share]
  if (shape === 'steps' || laterUs === earlierUs) return share
  return share + ((next - share) * (us - earlierUs)) / (laterUs - earlierUs)
}

interface ProfilesProps {
  readonly profiles: readonly DrawnProfile[]
  readonly within: number | null
}

/** Draws the share of requests that took no longer, anew at every step of a drag: Vega-Lite is too slow. */
function ProfilesFigure({ profiles, within, width }: ProfilesProps & { width: number }) {
  const names = profiles.map(({ name }) => name).join('; ')
  const ink = useInk()
  const { left, right, height } = PLOT
  const room = width - left - right
  const entries = profiles.map(({ name, look }) => ({
    text: fittedText(name, room - 40, 11),
    look: LOOKS[look],
  }))
  const legend = layOutLegend(entries, room)
  const box = { left, top: legend.height + 10, width: room, height }
  // Spans all that is drawn from round number to round number: it stays while a change moves within.
  const times = profiles.flatMap(({ curve }) => curve.map(([us]) => us).filter((us) => us > 0))
  const [low = 1, high = 10] = extent(times)
  const x = logDurationScale({ low, high, ticks: Math.max(3, Math.floor(room / 60)) })
  const plot = { box, x, y: shareScale() }
  const marked = within === null ? null : plotPoint(plot, [within, 0]).x
  return (
    <Figure
      width={width}
      height={box.top + height + PLOT.bottom}
      label={`Share of requests that took no longer: ${names}`}
      role="img"
    >
      <g font-size="11">
        <g transform={`translate(${left} 0)`}>
          <LegendRows entries={entries} width={room} />
        </g>
        <BottomAxis
          scale={plot.x}
          box={box}
          title="response time (share of requests that took no longer)"
        />
        <LeftAxis scale={plot.y} box={box} />
        {marked === null || marked < left || marked > left + box.width ? null : (
          <line
            class="fd-what-if-within"
            x1={marked}
            x2={marked}
            y1={box.top}
            y2={box.top + height}
            stroke={ink.text}
            stroke-dasharray="4 4"
          />
        )}
        {profiles.map(({ look, curve, shape }) => (
          <path
            key={look}
            class={`fd-what-if-${look}`}
            d={curvePath(plot, curve, shape)}
            fill="none"
            stroke-linejoin="round"
            {...strokeOf(LOOKS[look], ink)}
          />
        ))}
        {profiles.flatMap(({ name, look, facts }) =>
          QUANTILES.map(([share, fact]) => {
            const { x, y } = plotPoint(plot, [facts[fact], share])
            return (
              <circle key={`${look} ${share}`} cx={x} cy={y} r={3.5} fill={ink[LOOKS[look].color]}>
                <title>{`${name}: p${share * 100} ${formatDuration(facts[fact])}`}</title>
              </circle>
            )
          }),
        )}
      </g>
    </Figure>
  )
}

const MEASURES = [
  ...QUANTILES.map(([share, fact]) => [`p${100 * share}`, fact] as const),
  ['mean', 'meanUs'] as const,
]

function Numbers({ profiles, within }: ProfilesProps) {
  return (
    <DataTable
      label="Response times"
      class="fd-what-if-numbers"
      rows={profiles}
      columns={[
        {
          title: 'requests',
          isHead: true,
          cell: ({ name }) => <span title={name}>{name}</span>,
          still: ({ name }) => name,
        },
        ...MEASURES.map(([title, fact]) =>
          numberColumn(title, ({ facts }: DrawnProfile) => formatDuration(facts[fact])),
        ),
        ...[within ?? []]
          .flat()
          .map((us) =>
            numberColumn(
              `≤ ${formatDuration(us)}`,
              (profile: DrawnProfile) => percent(shareWithin(profile, us)),
              { hint: 'Share of the requests that take no longer' },
            ),
          ),
      ]}
    />
  )
}

const WHAT_IF_STYLE = `
.fd-what-if-sides { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; margin-bottom: 8px; }
.fd-what-if-sides input[type="search"] { margin-bottom: 6px; }
.fd-what-if-sides > div { flex: 1 1 360px; min-width: 0; }
.fd-what-if-sides > div:first-child { flex-basis: 430px; }
.fd-what-if-sliders { max-height: 340px; border-bottom: 1px solid var(--fd-line); }
.fd-what-if-sliders table { width: 100%; }
.fd-what-if-sliders :is(th, td), .fd-what-if-numbers :is(th, td) { padding: 3px 5px; }
:is(.fd-what-if-sliders, .fd-what-if-causes) thead th { z-index: 1; }
.fd-what-if-sliders input[type="range"] { display: block; width: 104px; margin: 0; }
.fd-what-if-sliders input[type="number"] { width: 4em; padding: 2px 4px; text-align: right; }
tbody th { font-weight: normal; position: static; max-width: 170px; overflow: hidden; text-overflow: ellipsis; }
.fd-what-if-sides tr[aria-selected="true"] th { background: var(--fd-selected); }
.fd-what-if-numbers table { width: 100%; }
.fd-what-if-numbers tbody th { width: 60%; max-width: 0; }
.fd-what-if-chips { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; margin: 4px 0; min-height: 1.8em; }
.fd-what-if-chips button { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fd-what-if-causes { max-height: 440px; }
.fd-what-if-causes :is(th, td) { padding: 4px 6px; }
.fd-what-if-causes td:first-child { min-width: 19em; overflow-wrap: anywhere; text-indent: -18px; }
.fd-what-if-causes td:last-child { white-space: nowrap; }
.fd-what-if-causes tr:focus-visible { outline-offset: -2px; }
`

const PART_NAMES: Readonly<Record<WhatIfPart, string>> = {
  server: 'server time',
  network: 'network',
  preprocessing: 'own time',
}
/** Explanation of the sliders of a part, for first-time readers. */
const PART_HELP: Readonly<Record<WhatIfPart, string>> = {
  server:
    'Server time is all the time that calls take in a service, including the calls it makes itself: changes to those do not count while it is changed.',
  network: 'Network is the time between a caller and the service.',
  preprocessing:
    'Own time is what a service does itself: before, between and after the calls it makes.',
}
const UNIT_NAMES = { service: 'services', operation: 'operations' } as const
const MIN_SEARCHED = 12

function WhatIfView({ data, ...props }: ViewProps<WhatIfData, WhatIfWidgetOptions>) {
  const { options, change, code } = useWidgetOptions(WHAT_IF_WIDGET_OPTIONS, props)
  const { part, by, cause, within } = options
  const changes = useMemo(() => readChanges(options.changes), [options.changes])
  const model = useMemo(() => restoreRequests(data.sample), [data])
  const fixed = useMemo(() => {
    const before = predictedCurve(model, [])
    if (data.target === null) return [before]
    const { title, profile } = data.target
    return [before, carriedCurve(title === 'after' ? title : `target: ${title}`, 'target', profile)]
  }, [data, model])
  const changed = useMemo(
    () => (changes.length === 0 ? null : predictedCurve(model, changes)),
    [model, changes],
  )
  const overlay = useMemo(() => {
    const own = data.diagnosis?.causes.find(({ rank }) => rank === cause)
    return own === undefined
      ? null
      : carriedCurve(`cause ${own.rank}: ${own.title}`, 'cause', own.profile)
  }, [data, cause])
  const kept = useMemo(
    () => options.kept.map((each, i) => predictedCurve(model, readChanges(each), `kept${i as 0}`)),
    [model, options.kept],
  )
  const profiles = [...fixed, ...[changed, overlay].filter((each) => each !== null), ...kept]
  const effects = QUANTILES.map(([share, fact]) => {
    const [was, is] = [fixed[0], changed].map((profile) =>
      formatDuration(profile?.facts[fact] ?? 0),
    )
    return `p${100 * share} ${was} → ${is}`
  })
  const rows = useMemo(() => whatIfRows(data.rows, by, model.models.paths), [data, by, model])
  const [place, width] = useWidth<HTMLDivElement>()
  const { name } = props.call
  const prediction = whatIfCode(data.diagnosis === null ? name : `${name}.models`, changes)
  const setChanges = (next: readonly WhatIfChange[]) => change({ changes: next.map(shortChange) })
  return (
    <section aria-label="What if?">
      <div class="fd-bar">
        <Choice
          name="change the"
          help="Which time the sliders change"
          value={part}
          values={PART_NAMES}
          onChoose={(next) => change({ part: next })}
        />
        <Choice
          name="of"
          help="What has a slider of its own"
          value={by}
          values={UNIT_NAMES}
          onChoose={(next) => change({ by: next })}
        />
        <Button disabled={changes.length === 0} onClick={() => setChanges([])}>
          As it was
        </Button>
        <Button
          disabled={changes.length === 0 || kept.length === MAX_KEPT}
          title={`Show this scenario beside the next ones, at most ${MAX_KEPT}`}
          onClick={() => change({ kept: [...options.kept, changes.map(shortChange)], changes: [] })}
        >
          Keep
        </Button>
        <label title="A time limit: the table shows how many requests stay within it, the dashed line marks it">
          how many within{' '}
          <input
            type="text"
            size={8}
            placeholder="300 ms"
            value={within === null ? '' : formatDuration(within)}
            onChange={({ currentTarget }) => {
              const us = readDuration(currentTarget.value)
              if (!(us > 0)) currentTarget.value = ''
              change({ within: us > 0 ? us : null })
            }}
          />
        </label>
      </div>
      <p class="fd-soft">{PART_HELP[part]}</p>
      <div class="fd-what-if-sides">
        <PageOnly>
          <div>
            <Sliders
              {...{ rows, part, by, changes }}
              onChange={(moved) => setChanges(withChange(changes, moved))}
            />
            <Chips
              label="changed"
              title="as it was"
              names={changes.map((each) => changesText([each], 80))}
              onTakeBack={(taken) => setChanges(changes.filter((_, i) => i !== taken))}
            />
            <Chips
              label="kept"
              title="no longer show"
              names={kept.map(({ name: text }) => text)}
              onTakeBack={(taken) => change({ kept: options.kept.filter((_, i) => i !== taken) })}
            />
          </div>
        </PageOnly>
        <div>
          <div ref={place}>
            <ProfilesFigure profiles={profiles} within={within} width={width} />
          </div>
          <p aria-live="polite">
            {changed === null ? 'Nothing is changed.' : `${changed.name}: ${effects.join(', ')}.`}
          </p>
          <Numbers profiles={profiles} within={within} />
        </div>
      </div>
      <Caption text={sampleText(data, by)}>
        {prediction === null ? undefined : 'The code below predicts all of them.'}
      </Caption>
      {data.diagnosis && (
        <WhatIfCauses
          diagnosis={data.diagnosis}
          chosen={cause}
          onChoose={(rank) => change({ cause: rank })}
        />
      )}
      {prediction === null ? null : <StateCode code={prediction} />}
      {cause === null ? null : <StateCode code={`${name}.profile(${cause})`} />}
      <StateCode code={code} />
    </section>
  )
}

interface SlidersProps extends Pick<WhatIfWidgetOptions, 'part' | 'by'> {
  readonly rows: readonly WhatIfRow[]
  readonly changes: readonly WhatIfChange[]
  readonly onChange: (moved: WhatIfChange) => void
}

function Sliders({ rows, part, by, changes, onChange }: SlidersProps) {
  const [search, setSearch] = useState('')
  const found = rows.filter((row) =>
    nameOf(row).toLowerCase().includes(search.trim().toLowerCase()),
  )
  const factorOf = (row: WhatIfRow) =>
    changes.find((each) => isSameSlider(each, { ...row, part }))?.factor ?? 1
  const set = ({ service, operation }: WhatIfRow, factor: number) =>
    onChange({ service, operation, part, factor })
  return (
    <div>
      {rows.length < MIN_SEARCHED ? null : (
        <input
          type="search"
          value={search}
          placeholder="search"
          aria-label={`Only ${UNIT_NAMES[by]} with`}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      <DataTable<WhatIfRow>
        label={`Factors of ${PART_NAMES[part]}`}
        class="fd-what-if-sliders"
        rows={found}
        rowProps={(row) => ({ 'aria-selected': factorOf(row) !== 1 })}
        columns={[
          {
            title: `${PART_NAMES[part]} of`,
            isHead: true,
            cell: (row) => <span title={nameOf(row)}>{nameOf(row) || '(no name)'}</span>,
          },
          textColumn('× 0.1 … × 10', (row) => (
            <input
              type="range"
              aria-label={`${PART_NAMES[part]} of ${nameOf(row)}`}
              aria-valuetext={`× ${factorOf(row)}`}
              min={-SLIDER_REACH}
              max={SLIDER_REACH}
              step={1}
              value={placeOfFactor(factorOf(row))}
              onInput={({ currentTarget }) => set(row, factorAt(Number(currentTarget.value)))}
              onDblClick={() => set(row, 1)}
            />
          )),
          numberColumn('factor', (row) => (
            <input
              type="number"
              aria-label={`factor of ${PART_NAMES[part]} of ${nameOf(row)}`}
              min={0}
              step="any"
              value={factorOf(row)}
              onChange={({ currentTarget }) => {
                const typed = currentTarget.valueAsNumber
                if (typed >= 0 && typed < Number.POSITIVE_INFINITY) set(row, typed)
                // A text that is no number has the same value as nothing, and would stay.
                else currentTarget.value = String(factorOf(row))
              }}
            />
          )),
          numberColumn(
            'if halved',
            ({ halved }) => (
              <span class="fd-soft">{halvedText(halved[PARTS.indexOf(part)] ?? 0)}</span>
            ),
            { hint: 'Change of the mean response time if this took half as long' },
          ),
        ]}
      />
      {found.length === 0 ? <p class="fd-soft">Nothing has such a name.</p> : null}
    </div>
  )
}

interface ChipsProps {
  readonly label: string
  readonly title: string
  readonly names: readonly string[]
  readonly onTakeBack: (taken: number) => void
}

function Chips({ label, title, names, onTakeBack }: ChipsProps) {
  return (
    <div class="fd-what-if-chips">
      {names.length > 0 && <span class="fd-soft">{label}</span>}
      {names.map((name, i) => (
        <Button
          key={name}
          title={title}
          aria-label={`take back: ${name}`}
          onClick={() => onTakeBack(i)}
        >
          {name} ✕
        </Button>
      ))}
    </div>
  )
}

function nameOf({ service, operation }: WhatIfRow): string {
  return tooltipText(operation === '' ? service : `${service} ${operation}`)
}

function sampleText({ sample, rowsInAll, rows, before }: WhatIfData, by: WhatIfUnit): string {
  const { requests, ofRequests, tooLarge } = sample
  const all = counted(ofRequests, 'request')
  const size =
    requests === ofRequests
      ? `all ${all} before`
      : `a sample of ${grouped(requests)} of ${all} before (of all: p50 ${formatDuration(before.p50Us)}, p99 ${formatDuration(before.p99Us)})`
  const parts = spoken([
    `Recomputed in this page, over ${size}`,
    tooLarge > 0 && `${counted(tooLarge, 'request')} of very many calls cannot be in it`,
    rows[by].length < rowsInAll[by] &&
      `the ${grouped(rows[by].length)} of ${grouped(rowsInAll[by])} ${UNIT_NAMES[by]} that matter most have sliders`,
  ])
  return `${parts.join('; ')}.`
}

/** Says by how much the mean changes if something takes half as long: `−12 %`, `−0.21 %`. */
export function halvedText(share: number): string {
  const size = Number(Math.abs(share * 100).toPrecision(2))
  if (size === 0) return '0 %'
  if (size < 0.01) return 'under 0.01 %'
  return `${share < 0 ? '−' : '+'}${size < 1 ? size : Math.round(size)} %`
}

/**
 * A slider for every service: dragging recomputes requests in the page by the code of
 * `applyScenario`, on a sample that fits 200 kB; the code below predicts all. Source: Ostrowski,
 * Mann and Sandler 2011, §3.3 and §4.
 */
export const whatIfWidget = defineWidget({
  name: 'what-if',
  title: 'What if?',
  description: ({ sample, target }: WhatIfData) => {
    const all = counted(sample.ofRequests, 'request')
    const size =
      sample.requests === sample.ofRequests ? all : `${grouped(sample.requests)} of ${all}`
    return `Drag a service’s speed, and the response times of ${size} follow${target === null ? '' : `, beside those of ${target.title}`}.`
  },
  options: WHAT_IF_WIDGET_OPTIONS,
  data: (subject: LatencyDiagnosis | ExecutionModels, { changes, kept, cause, ...sampled }) => {
    const carried = whatIfData(subject, sampled)
    const causes = carried.diagnosis?.causes ?? []
    if (cause !== null && !causes.some(({ rank }) => rank === cause)) {
      const expected =
        causes.length === 0 ? 'null: there are no causes' : 'the rank of one of the best causes'
      throw new OptionError('cause', cause, expected)
    }
    // A service that no request of the sample calls has no slider.
    const model = restoreRequests(carried.sample)
    predictedProfile(model, readChanges(changes))
    kept.forEach((each, i) => void predictedProfile(model, readChanges(each, `kept[${i}]`)))
    return carried
  },
  view: WhatIfView,
  style: WHAT_IF_STYLE,
})
