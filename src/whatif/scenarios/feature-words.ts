const PREFIX = 'attribute:'

/** What something is divided by, in words: `what they call`, `cache.hit`. */
export function featureWords(feature: string): string {
  if (feature === 'calls') return 'what they call'
  if (feature === 'concurrency') return 'how many are under way'
  return feature.startsWith(PREFIX) ? feature.slice(PREFIX.length) : feature
}

/**
 * What one part has in common, in words that follow what it is a part of: `on host web-0`,
 * `with cache.hit = true`, `calling cart GET, price GET`.
 */
export function partWords(feature: string, part: string): string {
  switch (feature) {
    case 'host':
      return `on host ${part}`
    case 'calls':
      return `calling ${part}`
    case 'load':
      return `at a load of ${part}`
    case 'concurrency':
      return `with ${part} under way`
    default:
      return attributeWords(featureWords(feature), part)
  }
}

/** Of a pattern the feature is called `KEY~PATTERN`, and its parts are three. */
function attributeWords(key: string, part: string): string {
  const at = key.indexOf('~')
  const pattern = { name: key.slice(0, at), source: key.slice(at + 1) }
  if (at >= 0 && part === 'fits') return `whose ${pattern.name} fits /${pattern.source}/`
  if (at >= 0 && part === 'fits not')
    return `whose ${pattern.name} does not fit /${pattern.source}/`
  if (at >= 0 && part === 'absent') return `without ${pattern.name}`
  return `with ${key} = ${part}`
}
