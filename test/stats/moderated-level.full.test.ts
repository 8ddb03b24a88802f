import { testLevel } from './moderated-level.ts'

const INDEPENDENT = { level: 0, kept: 0 }
const FEW = { sizes: [4, 4], ...INDEPENDENT } as const
const MANY = { sizes: [100, 80], seed: 4 } as const

testLevel({ name: 'one measure of 4 and 4 independent values', measures: 1, ...FEW, seed: 1 }, 4000)
testLevel(
  { name: 'two measures of 4 and 4 independent values', measures: 2, ...FEW, seed: 2 },
  4000,
)
testLevel({ name: '30 measures of independent values', measures: 30, ...MANY, ...INDEPENDENT }, 400)
for (const measures of [1, 30]) {
  const runs = 12_000 / (measures + 10)
  const name = `${measures} with levels`
  for (const level of [0.3, 1]) {
    testLevel(
      {
        name: `${name} that wander by ${level} from stretch to stretch`,
        measures,
        level,
        kept: 0,
        ...MANY,
      },
      runs,
    )
    testLevel(
      {
        name: `${name} that wander by ${level} and keep 30 %`,
        measures,
        level,
        kept: 0.3,
        ...MANY,
      },
      runs,
    )
    for (const kept of [0.5, 0.7]) {
      testLevel(
        {
          name: `${name} that wander by ${level} and keep ${100 * kept} %`,
          measures,
          level,
          kept,
          ...MANY,
          // Of a single measure, how far it wanders is known less well.
          ...(measures === 1 && kept === 0.7 && { atMost: 0.08 }),
        },
        runs,
      )
    }
  }
}
for (const measures of [1, 30]) {
  for (const kept of [0, 0.5]) {
    testLevel(
      {
        name: `${measures} of periods apart that both get warm, with levels that keep ${100 * kept} %`,
        phases: true,
        measures,
        level: 0.3,
        kept,
        ...MANY,
      },
      12_000 / (measures + 10),
    )
  }
}
