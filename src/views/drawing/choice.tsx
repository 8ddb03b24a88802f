/** Buttons of which one is pressed. */
export function Choice<V extends string>({
  name,
  help,
  value,
  values,
  onChoose,
}: {
  readonly name: string
  readonly help: string
  readonly value: V
  readonly values: Readonly<Record<V, string>>
  readonly onChoose: (value: V) => void
}) {
  return (
    <fieldset class="fd-choice" aria-label={name} title={help}>
      <span style="align-self:center;margin-right:2px">{name}</span>
      {(Object.keys(values) as V[]).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onChoose(each)}
        >
          {values[each]}
        </button>
      ))}
    </fieldset>
  )
}
