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
import {
  LatencyProfile,
  type ProfileSummary,
  profileSummary,
} from '../../../whatif/recompute/latency-profile.ts'
import type { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { ruleAt } from '../../charts/builders.ts'
import { framedChart, PALETTE } from '../../charts/chart-frame.ts'
import { ecdfView } from '../../charts/latency-profiles.ts'
import { Button, Choice, StateCode, useStops } from '../../drawing/controls.tsx'
import {
  CellBar,
  type DataColumn,
  DataTable,
  numberColumn,
  textColumn,
} from '../../drawing/data-table.tsx'
import { Caption, PageOnly, useIsStill } from '../../drawing/figure.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { VegaChart } from '../vega-chart.tsx'
import { restoreRequests } from './request-sample.ts'
import type { CarriedProfile } from './what-if-data.ts'
import {
  changesText,
  factorAt,
  isSameSlider,
  PARTS,
  placeOfFactor,
  predictedProfile,
  readChanges,
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

const BAR = 50
const INDENT = 16
/** Causes that are listed at first. */
const FEW = 12
const MAX_TITLE_LENGTH = 130
/** A column that stills have no room for. */
const PAGE_NUMBER = { isNumber: true, still: null }

function WhatIfCauses({ diagnosis, chosen, onChoose }: CausesProps) {
  const { causes, causesInAll, divergence, unchanged, isComplete } = diagnosis
  const isStill = useIsStill()
  const [reached, setReached] = useState(1)
  const { stopAt } = useStops(
    causes.map(({ rank }) => rank),
    chosen ?? reached,
    setReached,
  )
  const distance = (value: number) => divergenceText(divergence, value)
  const choose = (rank: number) => onChoose(rank === chosen ? null : rank)
  const verdicts = new Set(causes.map(verdictText))
  const columns: readonly DataColumn<WhatIfCause>[] = [
    {
      title: 'cause',
      still: titleText,
      cell: (cause) => (
        <div style={`padding-left:${INDENT * Math.min(8, cause.level)}px`} title={cause.title}>
          {titleText(cause)}
        </div>
      ),
    },
    {
      title: 'explains',
      isNumber: true,
      still: ({ gain }) => gainText(gain),
      cell: ({ gain }) => (
        <div class="fd-with-bar">
          <span>{gainText(gain)}</span>
          <CellBar share={Math.max(0, Math.min(1, gain))} width={BAR} color="var(--fd-change)" />
        </div>
      ),
    },
    { title: 'divergence', ...PAGE_NUMBER, cell: (cause) => distance(cause.divergence) },
    { title: 'p50', isNumber: true, cell: ({ profile }) => formatDuration(profile.facts.p50Us) },
    { title: 'p99', ...PAGE_NUMBER, cell: ({ profile }) => formatDuration(profile.facts.p99Us) },
    { title: 'requests', ...PAGE_NUMBER, cell: ({ touched }) => grouped(touched) },
    ...(verdicts.size === 1
      ? []
      : [
          textColumn('a cause?', verdictText, {
            hint: 'Whether the part it changes differs beyond chance, and brings the response times closer',
          }),
        ]),
  ]
  const [first] = causes
  const chance = first?.q == null ? '' : ` (${pValue(first.q, 'q')})`
  const same =
    verdicts.size === 1
      ? ` ${first?.significant ? 'Each cause differs beyond chance' : 'No cause surely differs beyond chance'}${chance}.`
      : ''
  const stopped = isComplete ? '' : ' The diagnosis was stopped before everything was tried.'
  return (
    <div>
      <Caption text="Which single change brings it to the target?" isHeading />
      <Caption
        text={`Divergence is how far response times are from the target: ${distance(unchanged)} as recorded before.${same}${stopped}`}
      >
        Click a cause, or press Enter, to lay its profile over the others; those within another
        stand indented below it.
      </Caption>
      <DataTable
        label="Causes"
        class="fd-what-if-causes"
        max={6}
        few={FEW}
        columns={columns}
        rows={isStill ? causes.toSorted((a, b) => a.rank - b.rank) : causes}
        rowKey={({ rank }) => rank}
        rowProps={(cause) => ({
          class: 'fd-openable',
          'aria-selected': cause.rank === chosen,
          onClick: () => choose(cause.rank),
          ...stopAt(cause.rank, {
            Enter: () => choose(cause.rank),
            ' ': () => choose(cause.rank),
            Escape: () => onChoose(null),
          }),
        })}
      />
      {causes.length < causesInAll ? (
        <p class="fd-soft">
          The best {grouped(causes.length)} of {counted(causesInAll, 'scenario')} that were tried.
        </p>
      ) : null}
    </div>
  )
}

function titleText({ rank, title }: WhatIfCause): string {
  return `${rank}. ${shortText(title, MAX_TITLE_LENGTH)}`
}

function verdictText({ significant, q }: WhatIfCause): string {
  return `${significant ? 'yes' : 'unsure'}${q === null ? '' : ` (${pValue(q, 'q')})`}`
}

function gainText(gain: number): string {
  return gain < 0 ? 'none' : percent(Math.min(1, gain))
}

interface DrawnProfile {
  readonly name: string
  readonly look: keyof typeof LOOKS
  readonly profile: LatencyProfile
  readonly facts: ProfileSummary
}

const LOOKS = {
  before: { color: PALETTE.before },
  target: { color: PALETTE.after },
  cause: { color: PALETTE.text, dash: [2, 3] },
  changed: { color: PALETTE.change, dash: [7, 3] },
} as const
const MAX_NAME_LENGTH = 76

/** Returns a profile as a page carries it: its points stand for equally many requests. */
export function carriedCurve(
  name: string,
  look: DrawnProfile['look'],
  { latencyUs, facts }: CarriedProfile,
): DrawnProfile {
  return { name, look, profile: LatencyProfile.ofRequests(latencyUs), facts }
}

/** Returns the requests of the sample under some changes, or as recorded without any. */
export function predictedCurve(
  model: RequestModel,
  changes: readonly WhatIfChange[],
): DrawnProfile {
  const profile = predictedProfile(model, changes)
  const isChanged = changes.length > 0
  return {
    name: isChanged ? changesText(changes, MAX_NAME_LENGTH) : 'before',
    look: isChanged ? 'changed' : 'before',
    profile,
    facts: profileSummary(profile),
  }
}

interface NumbersProps {
  readonly profiles: readonly DrawnProfile[]
  readonly within: number | null
}

/** Draws the share of requests that took no longer, anew at every step of a drag. */
function Profiles({ profiles, within }: NumbersProps) {
  const spec = useMemo(() => {
    const drawn = profiles.map(({ look, name, ...rest }) => ({
      ...rest,
      ...LOOKS[look],
      name: shortText(name, MAX_NAME_LENGTH),
    }))
    const limit =
      within === null ? [] : [ruleAt(within, { color: PALETTE.text, strokeDash: [4, 4] })]
    return framedChart(
      { title: 'Share of requests that took no longer', subtitle: [], width: 560 },
      ecdfView(drawn, limit),
    ).spec
  }, [profiles, within])
  return <VegaChart spec={spec} />
}

const MEASURES = [
  ['p50', 'p50Us'],
  ['p90', 'p90Us'],
  ['p99', 'p99Us'],
  ['mean', 'meanUs'],
] as const

function Numbers({ profiles, within }: NumbersProps) {
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
        ...[within ?? []].flat().map((us) => ({
          title: `≤ ${formatDuration(us)}`,
          hint: 'Share of the requests that take no longer',
          isNumber: true,
          cell: ({ profile }: DrawnProfile) => percent(profile.shareWithin(us)),
        })),
      ]}
    />
  )
}

function effectText(before: ProfileSummary, now: ProfileSummary): string {
  return MEASURES.slice(0, 3)
    .map(([name, fact]) => `${name} ${formatDuration(before[fact])} → ${formatDuration(now[fact])}`)
    .join(', ')
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
.fd-what-if-causes { max-height: 440px; }
.fd-what-if-causes :is(th, td) { padding: 4px 6px; }
.fd-what-if-causes td:first-child { min-width: 19em; overflow-wrap: anywhere; }
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
const UNIT_NAMES: Readonly<Record<WhatIfUnit, string>> = {
  service: 'services',
  operation: 'operations',
}
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
  const overlay = useMemo(() => causeCurve(data, cause), [data, cause])
  const profiles = useMemo(
    () => [...fixed, ...[changed, overlay].filter((each) => each !== null)],
    [fixed, changed, overlay],
  )
  const rows = useMemo(() => whatIfRows(data.rows, by, model.models.paths), [data, by, model])
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
              rows={rows}
              part={part}
              by={by}
              changes={changes}
              onChange={(moved) => setChanges(withChange(changes, moved))}
            />
          </div>
        </PageOnly>
        <div>
          <Profiles profiles={profiles} within={within} />
          <p aria-live="polite">
            {changed === null
              ? 'Nothing is changed.'
              : `${changed.name}: ${effectText(fixed[0]?.facts ?? changed.facts, changed.facts)}.`}
          </p>
          <Numbers profiles={profiles} within={within} />
        </div>
      </div>
      <Caption text={sampleText(data, by)}>
        {prediction === null ? undefined : 'The code below predicts all of them.'}
      </Caption>
      {data.diagnosis === null ? null : (
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

function causeCurve({ diagnosis }: WhatIfData, rank: number | null): DrawnProfile | null {
  const cause = diagnosis?.causes.find((each) => each.rank === rank)
  return cause === undefined
    ? null
    : carriedCurve(`cause ${cause.rank}: ${cause.title}`, 'cause', cause.profile)
}

interface SlidersProps {
  readonly rows: readonly WhatIfRow[]
  readonly part: WhatIfPart
  readonly by: WhatIfUnit
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
          {
            title: 'if halved',
            hint: 'Change of the mean response time if this took half as long',
            isNumber: true,
            cell: ({ halved }) => (
              <span class="fd-soft">{halvedText(halved[PARTS.indexOf(part)] ?? 0)}</span>
            ),
          },
        ]}
      />
      {found.length === 0 ? <p class="fd-soft">Nothing has such a name.</p> : null}
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
  data: (subject: LatencyDiagnosis | ExecutionModels, { changes, cause, ...sampled }) => {
    const carried = whatIfData(subject, sampled)
    const causes = carried.diagnosis?.causes ?? []
    if (cause !== null && !causes.some(({ rank }) => rank === cause)) {
      const expected =
        causes.length === 0 ? 'null: there are no causes' : 'the rank of one of the best causes'
      throw new OptionError('cause', cause, expected)
    }
    // A service that no request of the sample calls has no slider.
    predictedProfile(restoreRequests(carried.sample), readChanges(changes))
    return carried
  },
  view: WhatIfView,
  style: WHAT_IF_STYLE,
  hasCharts: true,
})
