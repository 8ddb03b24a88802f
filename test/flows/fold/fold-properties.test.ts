import { describeFoldProperties } from './fold-properties.ts'

// 150 of each in fold-properties.full.test.ts.
describeFoldProperties(6)
